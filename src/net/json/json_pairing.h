/* json_pairing.h - device pairings as JSON (json.md J3). Pure. */
#ifndef NET_JSON_JSON_PAIRING_H
#define NET_JSON_JSON_PAIRING_H

#include "base/query_message.h"
#include "base/row.h"
#include "net/http/writer.h"

enum { JSON_PAIRING_TOKEN_BYTES = 32 };

/* A new pairing with its token; `rows` are the reply's, as below. */
void json_pairing_opened(struct writer *writer, const uint8_t *rows,
                         const uint8_t token[JSON_PAIRING_TOKEN_BYTES]);

/* What a deposit or a completion answers: id and status. */
void json_pairing_changed(struct writer *writer, const struct reply *reply, const uint8_t *rows);

/* The pairing with the keys of the new device, null while it is pending. */
void json_pairing_shown(struct writer *writer, const struct reply *reply, const uint8_t *rows);

/* The pairing with the ciphertext, null until it is completed. */
void json_pairing_result(struct writer *writer, const struct reply *reply, const uint8_t *rows);

#endif
