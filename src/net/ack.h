/* ack.h - the JSON of a signed write's answer: RequestAck and success style (json.md J4). Pure. */
#ifndef NET_ACK_H
#define NET_ACK_H

#include "base/message.h"
#include "base/reason.h"
#include "base/status.h"
#include "net/writer.h"

enum { ACK_BYTES_MAX = 1024 }; /* no answer is longer */

/* `secret` (32 bytes) is shown when the code makes one and the status says that it was made; NULL
 * for the others. */
void ack_write(struct writer *writer, const struct answer *answer, const uint8_t *secret);

/* The status that R11 gives to a request whose key the keyring does not have (step 11). */
enum status ack_unauthorized(uint16_t code);

#endif
