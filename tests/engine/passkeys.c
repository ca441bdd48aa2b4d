#include "passkeys.h"

#include "check.h"

enum { DEFAULT_ID_BYTES = 16, SIGN_COUNT_AT = 33 };

void passkeys_key(uint32_t n, uint8_t key[33])
{
    memset(key, 0xA5, 33);
    key[0] = 2;
    cc_store32(key + 1, n);
}

struct host_request passkeys_request(struct passkeys_signer *signer, uint16_t code,
                                     const void *body, uint32_t body_bytes,
                                     const uint8_t *secret_hash)
{
    struct assertion sizes = {
        .credential_id_bytes = signer->id_bytes == 0 ? DEFAULT_ID_BYTES : signer->id_bytes,
        .authenticator_data_bytes = ASSERTION_AUTHENTICATOR_MIN,
        .client_data_bytes = 2,
    };
    uint8_t *at = signer->extra + ASSERTION_HEADER_BYTES;

    assertion_write_header(signer->extra, &sizes);
    memset(at, (int)(0x40 + signer->n), sizes.credential_id_bytes);
    at += sizes.credential_id_bytes;
    memset(at, 0, ASSERTION_AUTHENTICATOR_MIN);
    cc_store32(at + SIGN_COUNT_AT, __builtin_bswap32(signer->sign_count));
    at += ASSERTION_AUTHENTICATOR_MIN;
    memcpy(at, "{}", 2);
    at += 2;
    if (secret_hash != NULL) {
        memcpy(at, secret_hash, SECRET_HASH_BYTES);
        at += SECRET_HASH_BYTES;
    }
    signer->extra_bytes = (uint32_t)(at - signer->extra);
    passkeys_key(signer->n, signer->key);
    return (struct host_request){ .code = code,
                                  .kind = COMMAND_PASSKEY,
                                  .flags = COMMAND_SESSION_KEY_VALID,
                                  .body = body,
                                  .body_bytes = body_bytes,
                                  .key = signer->key,
                                  .key_bytes = 33,
                                  .extra = signer->extra,
                                  .extra_bytes = signer->extra_bytes };
}

enum status passkeys_account(struct host *host, struct passkeys_signer *signer)
{
    uint8_t body[80] = { 0 };

    host_session_key(signer->n, body);
    struct host_request request =
        passkeys_request(signer, REQUEST_create_account_passkey, body, sizeof body, NULL);
    return host_signed(host, &request);
}
