#include "crypto/signer.h"

#include <errno.h>
#include <secp256k1.h>
#include <sodium.h>

/* Signing needs tables. signer_init makes them and blinds them once against side channels. */
static secp256k1_context *signing;

int signer_init(void)
{
    if (signing != NULL)
        return 0;
    if (sodium_init() < 0)
        return -EIO;
    signing = secp256k1_context_create(SECP256K1_CONTEXT_NONE);
    if (signing == NULL)
        return -ENOMEM;
    uint8_t seed[SIGNER_SEED_BYTES];
    randombytes_buf(seed, sizeof seed);
    int blinded = secp256k1_context_randomize(signing, seed);
    sodium_memzero(seed, sizeof seed);
    return blinded == 1 ? 0 : -EIO;
}

void signer_ed25519(struct signer_ed25519 *signer, const uint8_t seed[SIGNER_SEED_BYTES])
{
    crypto_sign_seed_keypair(signer->key, signer->secret, seed);
}

void signer_ed25519_sign(const struct signer_ed25519 *signer, const void *message, size_t count,
                         uint8_t signature[SIGNER_SIGNATURE_BYTES])
{
    crypto_sign_detached(signature, NULL, message, count, signer->secret);
}

bool signer_secp256k1_key(const uint8_t secret[SIGNER_SEED_BYTES],
                          uint8_t key[SIGNER_SECP256K1_KEY_BYTES])
{
    INVARIANT(signing != NULL);
    secp256k1_pubkey point;
    if (secp256k1_ec_pubkey_create(signing, &point, secret) != 1)
        return false;
    size_t bytes = SIGNER_SECP256K1_KEY_BYTES;
    int written =
        secp256k1_ec_pubkey_serialize(signing, key, &bytes, &point, SECP256K1_EC_COMPRESSED);
    return written == 1 && bytes == SIGNER_SECP256K1_KEY_BYTES;
}

bool signer_secp256k1_sign(const uint8_t secret[SIGNER_SEED_BYTES], const uint8_t digest[32],
                           uint8_t signature[SIGNER_SIGNATURE_BYTES])
{
    INVARIANT(signing != NULL);
    secp256k1_ecdsa_signature made;
    /* The default nonce is RFC 6979's; the library returns low s. */
    return secp256k1_ecdsa_sign(signing, &made, digest, secret, NULL, NULL) == 1 &&
           secp256k1_ecdsa_signature_serialize_compact(signing, signature, &made) == 1;
}
