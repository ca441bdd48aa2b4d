#include "base/assertion.h"

enum { SIGN_COUNT_AT = 33 }; /* after the hash of the relying party's id and the flags */

bool assertion_read(struct assertion *assertion, const uint8_t *bytes, size_t count)
{
    if (count < ASSERTION_HEADER_BYTES)
        return false;
    uint16_t id = cc_load16(bytes), authenticator = cc_load16(bytes + 2);
    uint16_t client = cc_load16(bytes + 4);
    if (id < 1 || id > ASSERTION_CREDENTIAL_MAX || authenticator < ASSERTION_AUTHENTICATOR_MIN ||
        authenticator > ASSERTION_AUTHENTICATOR_MAX || client < 1 ||
        client > ASSERTION_CLIENT_DATA_MAX || cc_load16(bytes + 6) != 0 ||
        count != (size_t)ASSERTION_HEADER_BYTES + id + authenticator + client)
        return false;
    *assertion = (struct assertion){
        .credential_id = bytes + ASSERTION_HEADER_BYTES,
        .authenticator_data = bytes + ASSERTION_HEADER_BYTES + id,
        .client_data = bytes + ASSERTION_HEADER_BYTES + id + authenticator,
        .credential_id_bytes = id,
        .authenticator_data_bytes = authenticator,
        .client_data_bytes = client,
    };
    return true;
}

void assertion_write_header(uint8_t bytes[ASSERTION_HEADER_BYTES],
                            const struct assertion *assertion)
{
    cc_store16(bytes, assertion->credential_id_bytes);
    cc_store16(bytes + 2, assertion->authenticator_data_bytes);
    cc_store16(bytes + 4, assertion->client_data_bytes);
    cc_store16(bytes + 6, 0);
}

uint32_t assertion_sign_count(const struct assertion *assertion)
{
    return __builtin_bswap32(cc_load32(assertion->authenticator_data + SIGN_COUNT_AT));
}
