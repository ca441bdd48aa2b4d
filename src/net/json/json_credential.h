/* json_credential.h - sessions and API keys as JSON (json.md J2). Pure. */
#ifndef NET_JSON_JSON_CREDENTIAL_H
#define NET_JSON_JSON_CREDENTIAL_H

#include "base/query_message.h"
#include "base/row.h"
#include "net/http/writer.h"

void json_credential_session(struct writer *writer, const struct row_session *row);

/* {"master_keys":[..]}; `rows` are the reply's. */
void json_credential_master_keys(struct writer *writer, const struct reply *reply,
                                 const uint8_t *rows);

/* {"api_keys":[..],"device_keys":[..]}; `rows` are the reply's, the device keys last. */
void json_credential_api_keys(struct writer *writer, const struct reply *reply,
                              const uint8_t *rows);

#endif
