/* Client data of an assertion, JSON from strangers (wire.md W4): it is malformed exactly if it is
 * no JSON object, and what passes its checks has the type and the origin that are asked for. */
#include <stdlib.h>

#include "base/json_scan.h"
#include "crypto/passkey.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The key of RFC 6979, A.2.5. */
static const uint8_t key[P256_KEY_BYTES] = {
    0x03, 0x60, 0xfe, 0xd4, 0xba, 0x25, 0x5a, 0x9d, 0x31, 0xc9, 0x61,
    0xeb, 0x74, 0xc6, 0x35, 0x6d, 0x68, 0xc0, 0x49, 0xb8, 0x92, 0x3b,
    0x61, 0xfa, 0x6c, 0xe6, 0x69, 0x62, 0x2e, 0x60, 0xf2, 0x9f, 0xb6,
};

static bool is_member(struct json_member *members, unsigned at, const char *text)
{
    return members[at].kind == JSON_STRING &&
           json_scan_equal(&members[at].value, text, strlen(text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct relying_party party;
    static const uint8_t payload[80], authenticator_data[ASSERTION_AUTHENTICATOR_MIN];
    static const uint8_t signature[P256_SIGNATURE_BYTES] = { [31] = 1, [63] = 1 };
    char error[RELYING_PARTY_ERROR_BYTES];
    struct json_member members[] = { JSON_MEMBER("type"), JSON_MEMBER("origin") };

    if (party.origin_count == 0 &&
        (p256_init() != 0 || !relying_party_read(&party, "", "", true, error)))
        abort();
    if (size < 1 || size > ASSERTION_CLIENT_DATA_MAX)
        return 0;
    uint8_t *client_data = malloc(size);
    memcpy(client_data, data, size);
    const struct assertion assertion = {
        payload, authenticator_data, client_data, 1, sizeof authenticator_data, (uint16_t)size,
    };
    enum problem problem =
        passkey_check(&party, NULL, key, payload, sizeof payload, &assertion, signature);
    bool is_object = json_scan_members((const char *)client_data, size, members, CC_COUNT(members),
                                       NULL) == JSON_OK;
    if (problem == PROBLEM_none || problem == PROBLEM_invalid_signature)
        abort(); /* the authenticator data is of no relying party */
    if (is_object != (problem != PROBLEM_malformed_payload))
        abort();
    if (problem == PROBLEM_passkey_rp_id &&
        !(is_member(members, 0, "webauthn.get") && is_member(members, 1, party.origins[0])))
        abort();
    free(client_data);
    return 0;
}
