/* hash.h - BLAKE2b-256, plain and keyed; any thread, no state.
 *
 * It hashes the chain of the journal, images, secrets and names (journal.md).
 *
 * Wait.  Nothing blocks or allocates.
 * Units. Counts are bytes; inputs may have any alignment. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include "base/compiler.h"

enum {
    HASH_BYTES = 32,     /* BLAKE2b-256 */
    HASH_KEY_BYTES = 32, /* key of hash_blake2b256_keyed: `secret_key` of the directory */
};

/* An unfinished hash. It owns nothing: copy it to branch, drop it without hash_end. */
struct hash_state {
    alignas(64) uint8_t opaque[384];
};

/* Writes BLAKE2b-256 of `count` bytes to `out`. `bytes` may be NULL when `count` is 0. */
void hash_blake2b256(uint8_t out[HASH_BYTES], const void *bytes, size_t count);

/* The same under a 32-byte key, in BLAKE2b's own keyed mode (the key is not a prefix). */
void hash_blake2b256_keyed(uint8_t out[HASH_BYTES], const uint8_t key[HASH_KEY_BYTES],
                           const void *bytes, size_t count);

/* hash_begin, any number of hash_add and hash_end give hash_blake2b256 of the concatenation. After
 * hash_end call hash_begin before the state is used again. */
void hash_begin(struct hash_state *state);
void hash_add(struct hash_state *state, const void *bytes, size_t count);
void hash_end(struct hash_state *state, uint8_t out[HASH_BYTES]);

#endif
