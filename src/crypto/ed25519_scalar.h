/* ed25519_scalar.h - integers modulo L, the order of B, and their digits. Pure.
 *
 * L = 2^252 + 27742317777372353535851937790883648493 (RFC 8032, 5.1). A 256-bit integer is four
 * 64-bit words, least significant first.
 *
 * Digits. x = sum of digit_i * b^i with -b/2 <= digit_i < b/2 needs no carry chain: add the sum of
 * b/2 * b^i once; digit_i is then the i-th base-b digit of the result, minus b/2. For x < L < 2^253
 * the result stays below 2^256, because the constants are below 2^255 + 2^252. */
#ifndef CRYPTO_ED25519_SCALAR_H
#define CRYPTO_ED25519_SCALAR_H

#include "base/compiler.h"

/* The constants that ed25519_scalar_bias adds to each word: 8 in every digit base 16, 128 in every
 * digit base 256. */
#define ED25519_SCALAR_BIAS_4BIT UINT64_C(0x8888888888888888)
#define ED25519_SCALAR_BIAS_8BIT UINT64_C(0x8080808080808080)

extern const uint64_t ed25519_scalar_order[4];      /* L */
extern const uint64_t ed25519_scalar_reciprocal[5]; /* floor(2^512 / L) */

/* reduced = x mod L, for any 512-bit x (a SHA-512 hash). Output: below L. */
void ed25519_scalar_reduce(uint64_t reduced[4], const uint64_t x[8]);

/* True if the 32 little-endian bytes are below L. */
CC_MUST_USE bool ed25519_scalar_is_canonical(const uint8_t bytes[32]);

/* biased = x + bias in every word, with carries, modulo 2^256. */
static inline void ed25519_scalar_bias(uint64_t biased[4], const uint64_t x[4], uint64_t bias)
{
    uint128 sum = 0;
    for (unsigned i = 0; i < 4; i++) {
        sum += (uint128)x[i] + bias;
        biased[i] = (uint64_t)sum;
        sum >>= 64;
    }
}

#endif
