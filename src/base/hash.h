/* hash.h - BLAKE2b-256, plain and keyed, and the short keyed hash of ids; any thread, no state.
 *
 * The hash of the journal chain, of images, of secrets and of names is BLAKE2b-256 (journal.md).
 * The hash that places an id in a table is SipHash-2-4 under the data directory's hash_key: ids are
 * chosen by clients, and without the key nobody can choose them so that they collide.
 *
 * Wait.  Nothing blocks or allocates.
 * Units. Counts are bytes; inputs may have any alignment. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include "base/cc.h"

enum {
    HASH_BYTES = 32,          /* BLAKE2b-256 */
    HASH_KEY_BYTES = 32,      /* key of hash_blake2b256_keyed: `secret_key` of the directory */
    HASH_SHORT_KEY_BYTES = 16 /* key of hash_short: `hash_key` of the directory */
};

/* A hash in the making. Copy it to branch; it owns nothing and needs no end. */
struct hash_state {
    alignas(64) uint8_t opaque[384];
};

/* `out` = BLAKE2b-256 of `count` bytes. `bytes` may be NULL when `count` is 0. */
void hash_blake2b256(uint8_t out[HASH_BYTES], const void *bytes, size_t count);

/* The same under a key of 32 bytes (BLAKE2b's own keyed mode, not a prefix). */
void hash_blake2b256_keyed(uint8_t out[HASH_BYTES], const uint8_t key[HASH_KEY_BYTES],
                           const void *bytes, size_t count);

/* Begin, add any number of times, end: equal to hash_blake2b256 of the concatenation. After
 * hash_end the state must not be used again before hash_begin. */
void hash_begin(struct hash_state *state);
void hash_add(struct hash_state *state, const void *bytes, size_t count);
void hash_end(struct hash_state *state, uint8_t out[HASH_BYTES]);

/* SipHash-2-4 of `count` bytes, as the little-endian word that the reference prints. */
CC_MUST_USE uint64_t hash_short(const uint8_t key[HASH_SHORT_KEY_BYTES], const void *bytes,
                                size_t count);

#endif
