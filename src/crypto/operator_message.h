/* operator_message.h - what a key of the operator signs: the payload, bound to one exchange, so
 * that it is worth nothing on another (wire.md W4).
 *
 * Wait.  Pure computation.
 * Owner. Any thread. All inputs are public. */
#ifndef CRYPTO_OPERATOR_MESSAGE_H
#define CRYPTO_OPERATOR_MESSAGE_H

#include "base/request.h"

/* Of GET /exchange too. */
#define OPERATOR_DOMAIN "perpd operator 1"

enum {
    OPERATOR_PREFIX_BYTES = 16 + 32, /* the domain and the exchange id */
    OPERATOR_MESSAGE_MAX = OPERATOR_PREFIX_BYTES + REQUEST_PAYLOAD_MAX,
    OPERATOR_RULES_VERSION = 6, /* records under an older one are signed over the payload alone */
};

/* What a signature of Ed25519 is over. */
struct operator_message {
    const uint8_t *bytes;
    size_t count;
};

/* The message that signs the payload: the payload itself, or of an operator's code OPERATOR_DOMAIN,
 * the exchange id and the payload, built in `buffer`. The result points to one of both. A payload
 * has at most REQUEST_PAYLOAD_MAX bytes; one without a whole header is its own message. */
CC_MUST_USE struct operator_message operator_message_of(uint8_t buffer[OPERATOR_MESSAGE_MAX],
                                                        const uint8_t exchange_id[32],
                                                        const uint8_t *payload, size_t count);

/* Whether the payload's code is one that operators sign. */
CC_MUST_USE bool operator_message_is_needed(const uint8_t *payload, size_t count);

#endif
