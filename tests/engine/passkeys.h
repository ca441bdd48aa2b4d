/* passkeys.h - accounts of tests whose master key is a passkey, and what it signs. */
#ifndef TESTS_ENGINE_PASSKEYS_H
#define TESTS_ENGINE_PASSKEYS_H

#include "base/assertion.h"
#include "host.h"

enum { PASSKEYS_EXTRA_MAX = ASSERTION_BYTES_MAX + SECRET_HASH_BYTES };

/* Who signs: passkey n, with a credential id of `id_bytes` and a count of signatures. */
struct passkeys_signer {
    uint32_t n;
    uint16_t id_bytes; /* 0: 16 */
    uint32_t sign_count;
    uint8_t key[33];
    uint8_t extra[PASSKEYS_EXTRA_MAX];
    uint32_t extra_bytes;
};

/* The n-th passkey's key. */
void passkeys_key(uint32_t n, uint8_t key[33]);

/* A request of this passkey; `secret_hash` is NULL, or the 32 bytes after the assertion that codes
 * 33 and 34 have. */
struct host_request passkeys_request(struct passkeys_signer *signer, uint16_t code,
                                     const void *body, uint32_t body_bytes,
                                     const uint8_t *secret_hash);

/* Code 12: account n with the session of host_session_key. */
enum status passkeys_account(struct host *host, struct passkeys_signer *signer);

#endif
