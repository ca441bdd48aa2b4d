/* keccak.h - Keccak-256 as Ethereum uses it: SHA-3's sponge with the padding byte 0x01. Pure.
 *
 * OpenSSL 3.0 has SHA3-256 only. With KECCAK_PAD_SHA3 this sponge is SHA3-256, and tests compare it
 * with OpenSSL at every length. */
#ifndef CRYPTO_KECCAK_H
#define CRYPTO_KECCAK_H

#include "base/compiler.h"

enum {
    KECCAK_BYTES = 32,
    KECCAK_RATE = 136, /* bytes absorbed between two permutations */
    KECCAK_PAD_ETHEREUM = 0x01,
    KECCAK_PAD_SHA3 = 0x06,
};

/* An unfinished hash. Copy it to branch. */
struct keccak_state {
    uint64_t lanes[25];
    uint32_t used; /* bytes absorbed since the last permutation, below KECCAK_RATE */
};

void keccak_begin(struct keccak_state *state);
void keccak_add(struct keccak_state *state, const void *bytes, size_t count);
void keccak_end(struct keccak_state *state, uint8_t pad, uint8_t out[KECCAK_BYTES]);

/* Writes Keccak-256 of `count` bytes to `out`. */
void keccak_256(uint8_t out[KECCAK_BYTES], const void *bytes, size_t count);

#endif
