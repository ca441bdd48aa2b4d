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

/* The forms that a client may request (headers X-Ack and Accept). */
enum ack_form { ACK_BRIEF, ACK_FULL, ACK_BINARY, ACK_RECEIPT };

/* What the key is that signed a find_account (code 36): portfolio_index of its answer, which has
 * the key's subaccount as subaccount_index, or ACK_KEY_NO_PIN. */
enum ack_key { ACK_KEY_ADMIN, ACK_KEY_FULL_ACCESS, ACK_KEY_TRADING_ONLY };
#define ACK_KEY_NO_PIN UINT32_MAX

struct ack_stages {
    uint64_t verified_ns, sequenced_ns, matched_ns, ack_ns;
};

/* Writes the JSON answer. `secret` (32 bytes) is included if the code creates one and the status
 * says that it did; else NULL. `stages`: include the evidence of X-Ack: full; NULL: do not. */
void ack_write(struct writer *writer, const struct answer *answer, const uint8_t *secret,
               const struct ack_stages *stages);

/* Whether the answer shows the secret that the request made. */
CC_MUST_USE bool ack_shows_secret(const struct answer *answer);

/* Writes the answer of a logout (W6) that was judged. */
void ack_write_logout(struct writer *writer, const struct answer *answer);

/* Whether the code has evidence: codes 0 to 8. */
CC_MUST_USE bool ack_has_evidence(uint16_t code);

/* Writes the binary acknowledgement. Numbers that are null in JSON are 0; order_status is then 255.
 * quantity_ahead is UINT64_MAX for an order too far from both ends of its queue to be counted. */
void ack_write_binary(struct writer *writer, const struct answer *answer,
                      const uint8_t request_id[16], const struct ack_stages *stages);

/* The status of a request whose key is not in the keyring (R11, step 11). */
enum status ack_unauthorized(uint16_t code);

#endif
