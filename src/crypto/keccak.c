#include "crypto/keccak.h"

enum { ROUNDS = 24, LANES = 25 };

/* Constants of FIPS 202: iota (3.2.5), rho offsets along the path that pi takes from lane 1. */
static const uint64_t round_constants[ROUNDS] = {
    0x0000000000000001, 0x0000000000008082, 0x800000000000808a, 0x8000000080008000,
    0x000000000000808b, 0x0000000080000001, 0x8000000080008081, 0x8000000000008009,
    0x000000000000008a, 0x0000000000000088, 0x0000000080008009, 0x000000008000000a,
    0x000000008000808b, 0x800000000000008b, 0x8000000000008089, 0x8000000000008003,
    0x8000000000008002, 0x8000000000000080, 0x000000000000800a, 0x800000008000000a,
    0x8000000080008081, 0x8000000000008080, 0x0000000080000001, 0x8000000080008008,
};
static const uint8_t rho_offsets[ROUNDS] = { 1,  3,  6,  10, 15, 21, 28, 36, 45, 55, 2,  14,
                                             27, 41, 56, 8,  25, 43, 62, 18, 39, 61, 20, 44 };
static const uint8_t pi_lanes[ROUNDS] = { 10, 7,  11, 17, 18, 3, 5,  16, 8,  21, 24, 4,
                                          15, 23, 19, 13, 12, 2, 20, 14, 22, 9,  6,  1 };

static uint64_t rotate_left(uint64_t value, unsigned bits)
{
    return value << bits | value >> (64 - bits);
}

static void permute(uint64_t lanes[LANES])
{
    for (unsigned round = 0; round < ROUNDS; round++) {
        uint64_t columns[5];
        for (unsigned x = 0; x < 5; x++) /* theta */
            columns[x] = lanes[x] ^ lanes[x + 5] ^ lanes[x + 10] ^ lanes[x + 15] ^ lanes[x + 20];
        for (unsigned x = 0; x < 5; x++) {
            uint64_t mix = columns[(x + 4) % 5] ^ rotate_left(columns[(x + 1) % 5], 1);
            for (unsigned y = 0; y < LANES; y += 5)
                lanes[x + y] ^= mix;
        }
        uint64_t carried = lanes[1];
        for (unsigned i = 0; i < ROUNDS; i++) { /* rho and pi */
            uint64_t moved = lanes[pi_lanes[i]];
            lanes[pi_lanes[i]] = rotate_left(carried, rho_offsets[i]);
            carried = moved;
        }
        for (unsigned y = 0; y < LANES; y += 5) { /* chi */
            uint64_t row[5];
            memcpy(row, lanes + y, sizeof row);
            for (unsigned x = 0; x < 5; x++)
                lanes[y + x] = row[x] ^ (~row[(x + 1) % 5] & row[(x + 2) % 5]);
        }
        lanes[0] ^= round_constants[round];
    }
}

static void absorb_byte(struct keccak_state *state, uint8_t byte, uint32_t at)
{
    state->lanes[at / 8] ^= (uint64_t)byte << (8 * (at % 8));
}

void keccak_begin(struct keccak_state *state)
{
    memset(state, 0, sizeof *state);
}

void keccak_add(struct keccak_state *state, const void *bytes, size_t count)
{
    const uint8_t *in = bytes;
    while (count > 0) {
        if (state->used % 8 == 0 && count >= 8) {
            state->lanes[state->used / 8] ^= cc_load64(in);
            state->used += 8;
            in += 8;
            count -= 8;
        } else {
            absorb_byte(state, *in++, state->used++);
            count--;
        }
        if (state->used == KECCAK_RATE) {
            permute(state->lanes);
            state->used = 0;
        }
    }
}

void keccak_end(struct keccak_state *state, uint8_t pad, uint8_t out[KECCAK_BYTES])
{
    INVARIANT(state->used < KECCAK_RATE);
    absorb_byte(state, pad, state->used);
    absorb_byte(state, 0x80, KECCAK_RATE - 1);
    permute(state->lanes);
    for (unsigned i = 0; i < KECCAK_BYTES / 8; i++)
        cc_store64(out + 8u * i, state->lanes[i]);
}

void keccak_256(uint8_t out[KECCAK_BYTES], const void *bytes, size_t count)
{
    struct keccak_state state;
    keccak_begin(&state);
    keccak_add(&state, bytes, count);
    keccak_end(&state, KECCAK_PAD_ETHEREUM, out);
}
