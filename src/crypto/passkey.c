#include "crypto/passkey.h"

#include <openssl/crypto.h>
#include <openssl/sha.h>

#include "base/base64.h"
#include "base/json_scan.h"

enum {
    CHALLENGE_BYTES = 43, /* SHA-256 in Base64url without padding */
    FLAGS_AT = SHA256_DIGEST_LENGTH,
    FLAG_USER_PRESENT = 1,
    FLAG_USER_VERIFIED = 4,
};

enum member { TYPE, CHALLENGE, ORIGIN, CROSS_ORIGIN, MEMBERS };

static bool is_string(const struct json_member *member, const char *text, size_t count)
{
    return member->kind == JSON_STRING && json_scan_equal(&member->value, text, count);
}

/* Whether the member is SHA-256 of the payload in Base64url without padding. */
static bool is_challenge(const struct json_member *member, const uint8_t *payload,
                         size_t payload_bytes)
{
    uint8_t digest[SHA256_DIGEST_LENGTH];
    char wanted[BASE64_TEXT_BYTES(SHA256_DIGEST_LENGTH) + 1], shown[CHALLENGE_BYTES];
    if (member->kind != JSON_STRING ||
        json_scan_unescape(&member->value, shown, sizeof shown) != CHALLENGE_BYTES)
        return false;
    SHA256(payload, payload_bytes, digest);
    base64_encode(wanted, digest, sizeof digest);
    for (size_t i = 0; i < CHALLENGE_BYTES; i++) {
        if (wanted[i] == '+')
            wanted[i] = '-';
        else if (wanted[i] == '/')
            wanted[i] = '_';
    }
    return CRYPTO_memcmp(wanted, shown, CHALLENGE_BYTES) == 0;
}

static bool is_origin(const struct relying_party *party, const struct json_member *member)
{
    for (uint32_t i = 0; i < party->origin_count; i++)
        if (is_string(member, party->origins[i], strlen(party->origins[i])))
            return true;
    return false;
}

/* The first check of the client data that fails, but for those of the relying party. */
static enum problem check_client_data(const struct relying_party *party, const uint8_t *payload,
                                      size_t payload_bytes, const struct assertion *assertion)
{
    struct json_member members[MEMBERS] = {
        [TYPE] = JSON_MEMBER("type"),
        [CHALLENGE] = JSON_MEMBER("challenge"),
        [ORIGIN] = JSON_MEMBER("origin"),
        [CROSS_ORIGIN] = JSON_MEMBER("crossOrigin"),
    };
    static const char type[] = "webauthn.get";
    if (json_scan_members((const char *)assertion->client_data, assertion->client_data_bytes,
                          members, MEMBERS, NULL) != JSON_OK)
        return PROBLEM_malformed_payload;
    if (!is_string(&members[TYPE], type, sizeof type - 1))
        return PROBLEM_passkey_type;
    if (!is_challenge(&members[CHALLENGE], payload, payload_bytes))
        return PROBLEM_passkey_challenge;
    if (party != NULL && !is_origin(party, &members[ORIGIN]))
        return PROBLEM_passkey_origin;
    if (members[CROSS_ORIGIN].kind != JSON_NONE && members[CROSS_ORIGIN].kind != JSON_FALSE)
        return PROBLEM_passkey_cross_origin;
    return PROBLEM_none;
}

static enum problem check_authenticator(const struct relying_party *party,
                                        const struct assertion *assertion)
{
    uint8_t id_hash[SHA256_DIGEST_LENGTH];
    uint8_t flags = assertion->authenticator_data[FLAGS_AT];
    if (party != NULL) {
        SHA256((const uint8_t *)party->id, strlen(party->id), id_hash);
        if (CRYPTO_memcmp(assertion->authenticator_data, id_hash, sizeof id_hash) != 0)
            return PROBLEM_passkey_rp_id;
    }
    if ((flags & FLAG_USER_PRESENT) == 0)
        return PROBLEM_passkey_user_presence;
    if ((flags & FLAG_USER_VERIFIED) == 0)
        return PROBLEM_passkey_user_verification;
    return PROBLEM_none;
}

void passkey_digest(const struct assertion *assertion, uint8_t digest[P256_DIGEST_BYTES])
{
    uint8_t message[ASSERTION_AUTHENTICATOR_MAX + SHA256_DIGEST_LENGTH];
    size_t count = assertion->authenticator_data_bytes;

    INVARIANT(count >= ASSERTION_AUTHENTICATOR_MIN && count <= ASSERTION_AUTHENTICATOR_MAX);
    memcpy(message, assertion->authenticator_data, count);
    SHA256(assertion->client_data, assertion->client_data_bytes, message + count);
    SHA256(message, count + SHA256_DIGEST_LENGTH, digest);
}

enum problem passkey_check(const struct relying_party *party, struct p256_cache *cache,
                           const uint8_t key[P256_KEY_BYTES], const uint8_t *payload,
                           size_t payload_bytes, const struct assertion *assertion,
                           const uint8_t signature[P256_SIGNATURE_BYTES])
{
    uint8_t digest[P256_DIGEST_BYTES];

    enum problem problem = check_client_data(party, payload, payload_bytes, assertion);
    if (problem == PROBLEM_none)
        problem = check_authenticator(party, assertion);
    if (problem != PROBLEM_none)
        return problem;
    passkey_digest(assertion, digest);
    return p256_verify(cache, key, digest, signature) ? PROBLEM_none : PROBLEM_invalid_signature;
}

const char *passkey_problem_text(enum problem problem)
{
    switch (problem) {
    case PROBLEM_malformed_payload:
        return "client_data_json is not one JSON object with unique members";
    case PROBLEM_passkey_type:
        return "the type in client_data_json is not webauthn.get";
    case PROBLEM_passkey_challenge:
        return "the challenge in client_data_json is not SHA-256 of the payload in Base64url "
               "without padding";
    case PROBLEM_passkey_origin:
        return "the origin in client_data_json is not one of this exchange";
    case PROBLEM_passkey_cross_origin:
        return "crossOrigin in client_data_json is not false";
    case PROBLEM_passkey_rp_id:
        return "authenticator_data begins with the hash of another relying party's id";
    case PROBLEM_passkey_user_presence:
        return "authenticator_data lacks the flag UP: nobody was present";
    case PROBLEM_passkey_user_verification:
        return "authenticator_data lacks the flag UV: the user was not verified";
    default:
        INVARIANT(problem == PROBLEM_invalid_signature);
        return "the signature does not verify";
    }
}
