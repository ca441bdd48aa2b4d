#include "base/hash.h"

#include <sodium/crypto_generichash_blake2b.h>

static_assert(sizeof(struct hash_state) >= sizeof(crypto_generichash_blake2b_state),
              "the opaque state holds libsodium's");
static_assert(alignof(struct hash_state) >= alignof(crypto_generichash_blake2b_state),
              "and is aligned for it");
static_assert(HASH_BYTES == crypto_generichash_blake2b_BYTES, "BLAKE2b-256");

static crypto_generichash_blake2b_state *blake2b_of(struct hash_state *state)
{
    return (crypto_generichash_blake2b_state *)(void *)state->opaque;
}

void hash_blake2b256(uint8_t out[HASH_BYTES], const void *bytes, size_t count)
{
    INVARIANT(bytes != NULL || count == 0);
    int failed = crypto_generichash_blake2b(out, HASH_BYTES, bytes, count, NULL, 0);

    INVARIANT(failed == 0);
}

void hash_blake2b256_keyed(uint8_t out[HASH_BYTES], const uint8_t key[HASH_KEY_BYTES],
                           const void *bytes, size_t count)
{
    int failed = crypto_generichash_blake2b(out, HASH_BYTES, bytes, count, key, HASH_KEY_BYTES);

    INVARIANT(failed == 0);
}

void hash_begin(struct hash_state *state)
{
    int failed = crypto_generichash_blake2b_init(blake2b_of(state), NULL, 0, HASH_BYTES);

    INVARIANT(failed == 0);
}

void hash_add(struct hash_state *state, const void *bytes, size_t count)
{
    int failed = crypto_generichash_blake2b_update(blake2b_of(state), bytes, count);

    INVARIANT(failed == 0);
}

void hash_end(struct hash_state *state, uint8_t out[HASH_BYTES])
{
    int failed = crypto_generichash_blake2b_final(blake2b_of(state), out, HASH_BYTES);

    INVARIANT(failed == 0);
}
