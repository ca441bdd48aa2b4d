/* ack.h - a signed write's answer: RequestAck and success style as JSON (json.md J4), and the 64
 * bytes of the binary acknowledgement (wire.md W5). Pure.
 *
 *   0 status u16       8 processed_at_ns u64    24 request_id 16   48 quantity_ahead u64
 *   2 order_status u8  16 sequence u64          40 remaining u64   56 verify_ns u32
 *   3 version u8                                                   60 match_ns u32
 *
 * Units. Stages are ns since the request was received, 0: not reached. */
#ifndef NET_JSON_ACK_H
#define NET_JSON_ACK_H

#include "base/message.h"
#include "base/reason.h"
#include "base/status.h"
#include "net/http/writer.h"

enum {
    ACK_BYTES_MAX = 5120, /* no JSON answer is longer: that of a batch of 64 */
    ACK_BINARY_BYTES = 64,
    ACK_BINARY_VERSION = 1,
};

/* What a client may ask for (headers X-Ack and Accept). */
enum ack_form { ACK_BRIEF, ACK_FULL, ACK_BINARY };

struct ack_stages {
    uint64_t verified_ns, sequenced_ns, matched_ns, ack_ns;
};

/* `secret` (32 bytes) is shown when the code makes one and the status says that it was made; NULL
 * for the others. `stages` asks for the evidence of X-Ack: full; NULL: none. */
void ack_write(struct writer *writer, const struct answer *answer, const uint8_t *secret,
               const struct ack_stages *stages);

/* Does the code have evidence to show: codes 0 to 8. */
CC_MUST_USE bool ack_has_evidence(uint16_t code);

/* Numbers that are null in JSON are 0, order_status is 255; quantity_ahead is UINT64_MAX for an
 * order that rests too far from both ends of its queue to be counted. */
void ack_write_binary(struct writer *writer, const struct answer *answer,
                      const uint8_t request_id[16], const struct ack_stages *stages);

/* The status that R11 gives to a request whose key the keyring does not have (step 11). */
enum status ack_unauthorized(uint16_t code);

#endif
