#include "crypto/operator_message.h"

enum { CODE_AT = 2, EXCHANGE_ID_BYTES = 32, DOMAIN_BYTES = sizeof OPERATOR_DOMAIN - 1 };

static_assert(DOMAIN_BYTES + EXCHANGE_ID_BYTES == OPERATOR_PREFIX_BYTES, "both, without a zero");

bool operator_message_is_needed(const uint8_t *payload, size_t count)
{
    if (count < REQUEST_HEADER_BYTES)
        return false;
    const struct request *request = request_find(cc_load16(payload + CODE_AT));
    return request != NULL && request->signer == SIGNER_OPERATOR;
}

struct operator_message operator_message_of(uint8_t buffer[OPERATOR_MESSAGE_MAX],
                                            const uint8_t exchange_id[32], const uint8_t *payload,
                                            size_t count)
{
    if (!operator_message_is_needed(payload, count))
        return (struct operator_message){ payload, count };
    INVARIANT(count <= REQUEST_PAYLOAD_MAX);
    memcpy(buffer, OPERATOR_DOMAIN, DOMAIN_BYTES);
    memcpy(buffer + DOMAIN_BYTES, exchange_id, EXCHANGE_ID_BYTES);
    memcpy(buffer + OPERATOR_PREFIX_BYTES, payload, count);
    return (struct operator_message){ buffer, OPERATOR_PREFIX_BYTES + count };
}
