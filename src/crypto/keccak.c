#include "crypto/keccak.h"

enum { ROUNDS = 24, LANES = 25 };

/* Iota's constants (FIPS 202, 3.2.5). */
static const uint64_t round_constants[ROUNDS] = {
    0x0000000000000001, 0x0000000000008082, 0x800000000000808a, 0x8000000080008000,
    0x000000000000808b, 0x0000000080000001, 0x8000000080008081, 0x8000000000008009,
    0x000000000000008a, 0x0000000000000088, 0x0000000080008009, 0x000000008000000a,
    0x000000008000808b, 0x800000000000008b, 0x8000000000008089, 0x8000000000008003,
    0x8000000000008002, 0x8000000000000080, 0x000000000000800a, 0x800000008000000a,
    0x8000000080008081, 0x8000000000008080, 0x0000000080000001, 0x8000000080008008,
};

static inline uint64_t rotate_left(uint64_t value, unsigned bits)
{
    return bits == 0 ? value : value << bits | value >> (64 - bits);
}

/* One row of the next state: five lanes of the old one after theta, rotated by rho, moved here by
 * pi, combined by chi. a..e are their indexes, ra..re their rotations; lane i is in column i mod
 * 5. */
#define ROW(next, lanes, mix, row, a, ra, b, rb, c, rc, d, rd, e, re)  \
    do {                                                               \
        uint64_t row_a = rotate_left((lanes)[a] ^ (mix)[(a) % 5], ra); \
        uint64_t row_b = rotate_left((lanes)[b] ^ (mix)[(b) % 5], rb); \
        uint64_t row_c = rotate_left((lanes)[c] ^ (mix)[(c) % 5], rc); \
        uint64_t row_d = rotate_left((lanes)[d] ^ (mix)[(d) % 5], rd); \
        uint64_t row_e = rotate_left((lanes)[e] ^ (mix)[(e) % 5], re); \
        (next)[row] = row_a ^ (~row_b & row_c);                        \
        (next)[(row) + 1] = row_b ^ (~row_c & row_d);                  \
        (next)[(row) + 2] = row_c ^ (~row_d & row_e);                  \
        (next)[(row) + 3] = row_d ^ (~row_e & row_a);                  \
        (next)[(row) + 4] = row_e ^ (~row_a & row_b);                  \
    } while (0)

/* next = one round over `lanes`, written out so that every index and rotation is a constant. */
static inline void permute_round(uint64_t next[LANES], const uint64_t lanes[LANES], uint64_t iota)
{
    uint64_t column[5];
    uint64_t mix[5];
    for (unsigned x = 0; x < 5; x++)
        column[x] = lanes[x] ^ lanes[x + 5] ^ lanes[x + 10] ^ lanes[x + 15] ^ lanes[x + 20];
    for (unsigned x = 0; x < 5; x++)
        mix[x] = column[(x + 4) % 5] ^ rotate_left(column[(x + 1) % 5], 1);
    ROW(next, lanes, mix, 0, 0, 0, 6, 44, 12, 43, 18, 21, 24, 14);
    ROW(next, lanes, mix, 5, 3, 28, 9, 20, 10, 3, 16, 45, 22, 61);
    ROW(next, lanes, mix, 10, 1, 1, 7, 6, 13, 25, 19, 8, 20, 18);
    ROW(next, lanes, mix, 15, 4, 27, 5, 36, 11, 10, 17, 15, 23, 56);
    ROW(next, lanes, mix, 20, 2, 62, 8, 55, 14, 39, 15, 41, 21, 2);
    next[0] ^= iota;
}

static void permute(uint64_t lanes[LANES])
{
    uint64_t other[LANES];
    for (unsigned round = 0; round < ROUNDS; round += 2) {
        permute_round(other, lanes, round_constants[round]);
        permute_round(lanes, other, round_constants[round + 1]);
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
    INVARIANT(state->used < KECCAK_RATE);
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
    INVARIANT(pad == KECCAK_PAD_ETHEREUM || pad == KECCAK_PAD_SHA3);
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
