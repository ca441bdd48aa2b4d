/* signer.h - the signing side: tools, tests, and the exchange's own key (attest.h). perpd never
 * holds a client's private key. */
#ifndef CRYPTO_SIGNER_H
#define CRYPTO_SIGNER_H

#include "base/compiler.h"

enum {
    SIGNER_SEED_BYTES = 32,
    SIGNER_SIGNATURE_BYTES = 64,
    SIGNER_ED25519_KEY_BYTES = 32,
    SIGNER_SECP256K1_KEY_BYTES = 33,
};

/* An Ed25519 key pair made from its seed. */
struct signer_ed25519 {
    uint8_t secret[64]; /* seed and public key, libsodium's form */
    uint8_t key[SIGNER_ED25519_KEY_BYTES];
};

/* Initializes the libraries; call it once, before the others. Returns 0 or -errno. */
CC_MUST_USE int signer_init(void);

void signer_ed25519(struct signer_ed25519 *signer, const uint8_t seed[SIGNER_SEED_BYTES]);
void signer_ed25519_sign(const struct signer_ed25519 *signer, const void *message, size_t count,
                         uint8_t signature[SIGNER_SIGNATURE_BYTES]);

/* Writes the compressed public key of a private key. False for a private key of 0 or from the group
 * order up. */
CC_MUST_USE bool signer_secp256k1_key(const uint8_t secret[SIGNER_SEED_BYTES],
                                      uint8_t key[SIGNER_SECP256K1_KEY_BYTES]);

/* Signs a digest deterministically (RFC 6979), with low s. False for a bad private key. */
CC_MUST_USE bool signer_secp256k1_sign(const uint8_t secret[SIGNER_SEED_BYTES],
                                       const uint8_t digest[32],
                                       uint8_t signature[SIGNER_SIGNATURE_BYTES]);

#endif
