#include "crypto/secp256k1.h"

#include <secp256k1.h>

/* Verification in libsecp256k1 0.2 needs no tables of its own and does not write to a context, so
 * the library's static context serves every thread. */

int secp256k1_init(void)
{
    secp256k1_selftest();
    return 0;
}

bool secp256k1_verify(const uint8_t key[SECP256K1_KEY_BYTES],
                      const uint8_t digest[SECP256K1_DIGEST_BYTES],
                      const uint8_t signature[SECP256K1_SIGNATURE_BYTES])
{
    secp256k1_pubkey parsed_key;
    secp256k1_ecdsa_signature parsed_signature;
    if (secp256k1_ec_pubkey_parse(secp256k1_context_static, &parsed_key, key,
                                  SECP256K1_KEY_BYTES) != 1)
        return false;
    /* Parsing rejects r and s from n up; verification rejects 0 and s above n/2. */
    if (secp256k1_ecdsa_signature_parse_compact(secp256k1_context_static, &parsed_signature,
                                                signature) != 1)
        return false;
    return secp256k1_ecdsa_verify(secp256k1_context_static, &parsed_signature, digest,
                                  &parsed_key) == 1;
}

bool secp256k1_key_is_valid(const uint8_t key[SECP256K1_KEY_BYTES])
{
    secp256k1_pubkey parsed;
    return secp256k1_ec_pubkey_parse(secp256k1_context_static, &parsed, key, SECP256K1_KEY_BYTES) ==
           1;
}

bool secp256k1_from_der(const uint8_t *bytes, size_t count,
                        uint8_t signature[SECP256K1_SIGNATURE_BYTES])
{
    secp256k1_ecdsa_signature parsed;
    return secp256k1_ecdsa_signature_parse_der(secp256k1_context_static, &parsed, bytes, count) ==
               1 &&
           secp256k1_ecdsa_signature_serialize_compact(secp256k1_context_static, signature,
                                                       &parsed) == 1;
}

bool secp256k1_lower_s(uint8_t signature[SECP256K1_SIGNATURE_BYTES])
{
    secp256k1_ecdsa_signature parsed;
    return secp256k1_ecdsa_signature_parse_compact(secp256k1_context_static, &parsed, signature) ==
               1 &&
           secp256k1_ecdsa_signature_normalize(secp256k1_context_static, &parsed, &parsed) == 1 &&
           secp256k1_ecdsa_signature_serialize_compact(secp256k1_context_static, signature,
                                                       &parsed) == 1;
}

bool secp256k1_compress(const uint8_t point[SECP256K1_POINT_BYTES],
                        uint8_t key[SECP256K1_KEY_BYTES])
{
    secp256k1_pubkey parsed;
    size_t count = SECP256K1_KEY_BYTES;
    return secp256k1_ec_pubkey_parse(secp256k1_context_static, &parsed, point,
                                     SECP256K1_POINT_BYTES) == 1 &&
           secp256k1_ec_pubkey_serialize(secp256k1_context_static, key, &count, &parsed,
                                         SECP256K1_EC_COMPRESSED) == 1;
}
