/* mix.h - the keyed 64-bit hash that spreads ids chosen by clients over the tables.
 *
 * The key is secret and made with the data directory (journal.md, hash_key), so no client can
 * choose ids that collide. It is not a MAC: a hash is never shown and decides only the slot in a
 * table. */
#ifndef BASE_MIX_H
#define BASE_MIX_H

#include "base/compiler.h"

enum { MIX_KEY_BYTES = 16 };

struct mix_key {
    uint64_t low, high;
};

static inline struct mix_key mix_key_load(const uint8_t bytes[MIX_KEY_BYTES])
{
    return (struct mix_key){ cc_load64(bytes), cc_load64(bytes + 8) };
}

static inline uint64_t mix_fold(uint64_t a, uint64_t b)
{
    uint128 product = (uint128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Returns the hash of one word, as of an address: a folded multiplication of keyed operands. */
static inline uint64_t mix_word(struct mix_key key, uint64_t word)
{
    return mix_fold(word ^ key.low, key.high | 1);
}

/* Returns the hash of (account, 16-byte id): three folded multiplications of keyed operands. */
static inline uint64_t mix_id(struct mix_key key, uint64_t account, const uint8_t id[16])
{
    uint64_t first = mix_fold(cc_load64(id) ^ key.low, cc_load64(id + 8) ^ key.high);
    uint64_t second = mix_fold(account ^ key.high ^ 0x9E3779B97F4A7C15u, first ^ key.low);
    return mix_fold(second ^ 0xD6E8FEB86659FD93u, key.high ^ 0xA0761D6478BD642Fu);
}

/* Returns the hash of (account, key or token of 32 or 33 bytes). */
static inline uint64_t mix_credential(struct mix_key key, uint64_t account, const uint8_t *bytes,
                                      uint32_t byte_count)
{
    INVARIANT(byte_count == 32 || byte_count == 33);
    uint8_t tail = byte_count == 33 ? bytes[32] : 0;
    uint64_t first = mix_id(key, account ^ ((uint64_t)byte_count << 56), bytes);
    return mix_id(key, first ^ ((uint64_t)tail << 8), bytes + 16);
}

#endif
