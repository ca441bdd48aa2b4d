/* SHA-512 (FIPS 180-4) with a word of eight hashes in every register.
 *
 * Blocks are not copied into one buffer. `ends` holds block 0 (R, A and the first 64 bytes of the
 * message) and the one or two blocks with the padding; the blocks between are read from the message
 * itself. A lane whose message has ended computes on with any data, and its state is kept. */
#include "crypto/lane_sha512.h"

#include "crypto/lane_word.h"

#ifdef LANE_WORD_AVAILABLE

enum {
    BLOCK = 128,
    ROUNDS = 80,
    HEAD = 64,        /* R and A */
    LENGTH_BYTES = 16 /* the bit count at the end of the last block */
};

/* The first 64 bits of the fractional parts of the cube roots of the first 80 primes, and of the
 * square roots of the first 8. */
static const uint64_t round_constants[ROUNDS] = {
    0x428a2f98d728ae22, 0x7137449123ef65cd, 0xb5c0fbcfec4d3b2f, 0xe9b5dba58189dbbc,
    0x3956c25bf348b538, 0x59f111f1b605d019, 0x923f82a4af194f9b, 0xab1c5ed5da6d8118,
    0xd807aa98a3030242, 0x12835b0145706fbe, 0x243185be4ee4b28c, 0x550c7dc3d5ffb4e2,
    0x72be5d74f27b896f, 0x80deb1fe3b1696b1, 0x9bdc06a725c71235, 0xc19bf174cf692694,
    0xe49b69c19ef14ad2, 0xefbe4786384f25e3, 0x0fc19dc68b8cd5b5, 0x240ca1cc77ac9c65,
    0x2de92c6f592b0275, 0x4a7484aa6ea6e483, 0x5cb0a9dcbd41fbd4, 0x76f988da831153b5,
    0x983e5152ee66dfab, 0xa831c66d2db43210, 0xb00327c898fb213f, 0xbf597fc7beef0ee4,
    0xc6e00bf33da88fc2, 0xd5a79147930aa725, 0x06ca6351e003826f, 0x142929670a0e6e70,
    0x27b70a8546d22ffc, 0x2e1b21385c26c926, 0x4d2c6dfc5ac42aed, 0x53380d139d95b3df,
    0x650a73548baf63de, 0x766a0abb3c77b2a8, 0x81c2c92e47edaee6, 0x92722c851482353b,
    0xa2bfe8a14cf10364, 0xa81a664bbc423001, 0xc24b8b70d0f89791, 0xc76c51a30654be30,
    0xd192e819d6ef5218, 0xd69906245565a910, 0xf40e35855771202a, 0x106aa07032bbd1b8,
    0x19a4c116b8d2d0c8, 0x1e376c085141ab53, 0x2748774cdf8eeb99, 0x34b0bcb5e19b48a8,
    0x391c0cb3c5c95a63, 0x4ed8aa4ae3418acb, 0x5b9cca4f7763e373, 0x682e6ff3d6b2b8a3,
    0x748f82ee5defb2fc, 0x78a5636f43172f60, 0x84c87814a1f0ab72, 0x8cc702081a6439ec,
    0x90befffa23631e28, 0xa4506cebde82bde9, 0xbef9a3f7b2c67915, 0xc67178f2e372532b,
    0xca273eceea26619c, 0xd186b8c721c0c207, 0xeada7dd6cde0eb1e, 0xf57d4f7fee6ed178,
    0x06f067aa72176fba, 0x0a637dc5a2c898a6, 0x113f9804bef90dae, 0x1b710b35131c471b,
    0x28db77f523047d84, 0x32caab7b40c72493, 0x3c9ebe0a15c9bebc, 0x431d67c49c100d4c,
    0x4cc5d4becb3e42b6, 0x597f299cfc657e2a, 0x5fcb6fab3ad6faec, 0x6c44198c4a475817,
};
static const uint64_t initial[8] = {
    0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
    0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179,
};

/* The input of a lane, block by block. */
struct blocks {
    uint8_t ends[3 * BLOCK]; /* block 0, then those from first_end on */
    const uint8_t *message;
    size_t count;
    size_t first_end; /* blocks 1 .. first_end - 1 are message only */
};

#define ROTATE(x, n)      _mm512_ror_epi64(x, n)
#define XOR3(x, y, z)     _mm512_ternarylogic_epi64(x, y, z, 0x96)
#define CHOOSE(x, y, z)   _mm512_ternarylogic_epi64(x, y, z, 0xca)
#define MAJORITY(x, y, z) _mm512_ternarylogic_epi64(x, y, z, 0xe8)

/* A round leaves a..h rotated by one; the callers rotate the names instead. */
#define ROUND(a, b, c, d, e, f, g, h, i)                                                   \
    do {                                                                                   \
        lane_word sum = lane_add(                                                          \
            lane_add(h, lane_add(w[i], lane_set(constants[i]))),                           \
            lane_add(CHOOSE(e, f, g), XOR3(ROTATE(e, 14), ROTATE(e, 18), ROTATE(e, 41)))); \
        d = lane_add(d, sum);                                                              \
        h = lane_add(lane_add(sum, MAJORITY(a, b, c)),                                     \
                     XOR3(ROTATE(a, 28), ROTATE(a, 34), ROTATE(a, 39)));                   \
    } while (0)

#define EIGHT_ROUNDS(i)                         \
    do {                                        \
        ROUND(a, b, c, d, e, f, g, h, (i) + 0); \
        ROUND(h, a, b, c, d, e, f, g, (i) + 1); \
        ROUND(g, h, a, b, c, d, e, f, (i) + 2); \
        ROUND(f, g, h, a, b, c, d, e, (i) + 3); \
        ROUND(e, f, g, h, a, b, c, d, (i) + 4); \
        ROUND(d, e, f, g, h, a, b, c, (i) + 5); \
        ROUND(c, d, e, f, g, h, a, b, (i) + 6); \
        ROUND(b, c, d, e, f, g, h, a, (i) + 7); \
    } while (0)

/* Computes the next sixteen words of the schedule in place. */
LANE_INLINE void schedule(lane_word w[16])
{
#pragma GCC unroll 16
    for (unsigned i = 0; i < 16; i++) {
        lane_word early = w[(i + 1) % 16];
        lane_word late = w[(i + 14) % 16];
        lane_word s0 = XOR3(ROTATE(early, 1), ROTATE(early, 8), lane_shift_right(early, 7));
        lane_word s1 = XOR3(ROTATE(late, 19), ROTATE(late, 61), lane_shift_right(late, 6));
        w[i] = lane_add(lane_add(w[i], w[(i + 9) % 16]), lane_add(s0, s1));
    }
}

static void compress(lane_word state[8], lane_word w[16], lane_mask live)
{
    lane_word a = state[0], b = state[1], c = state[2], d = state[3];
    lane_word e = state[4], f = state[5], g = state[6], h = state[7];
    for (unsigned round = 0; round < ROUNDS; round += 16) {
        const uint64_t *constants = round_constants + round;
        if (round > 0)
            schedule(w);
        EIGHT_ROUNDS(0);
        EIGHT_ROUNDS(8);
    }
    const lane_word after[8] = { a, b, c, d, e, f, g, h };
    for (unsigned i = 0; i < 8; i++)
        state[i] = _mm512_mask_add_epi64(state[i], live, state[i], after[i]);
}

/* Splits the input into padded blocks. */
static void lay_out(struct blocks *blocks, const struct lane_sha512_input *input)
{
    size_t message_bytes = input->message_bytes;
    size_t bytes = HEAD + message_bytes;
    size_t full = bytes / BLOCK;
    blocks->message = input->message;
    blocks->count = (bytes + 1 + LENGTH_BYTES + BLOCK - 1) / BLOCK;
    blocks->first_end = full > 1 ? full : 1;
    memcpy(blocks->ends, input->r, 32);
    memcpy(blocks->ends + 32, input->key, 32);
    /* Block 0 has the beginning of the message, the block after the last full one its rest. */
    size_t first = message_bytes < BLOCK - HEAD ? message_bytes : BLOCK - HEAD;
    size_t rest = full > 0 ? bytes % BLOCK : 0;
    uint8_t *end = blocks->ends + HEAD + first;
    if (first > 0)
        memcpy(blocks->ends + HEAD, input->message, first);
    if (rest > 0)
        memcpy(end, input->message + message_bytes - rest, rest);
    end += rest;
    uint8_t *after = blocks->ends + (blocks->count - blocks->first_end + 1) * BLOCK;
    memset(end, 0, (size_t)(after - end));
    *end = 0x80;
    cc_store64(after - 8, __builtin_bswap64((uint64_t)bytes * 8));
}

static const uint8_t *block_at(const struct blocks *blocks, size_t n)
{
    if (n > 0 && n < blocks->first_end)
        return blocks->message + (n * BLOCK - HEAD);
    return blocks->ends + (n == 0 ? 0 : 1 + n - blocks->first_end) * BLOCK;
}

/* Reverses the bytes within each word. */
static lane_word swap_bytes(lane_word words)
{
    const __m128i order = _mm_set_epi8(8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7);
    return _mm512_shuffle_epi8(words, _mm512_broadcast_i32x4(order));
}

/* Loads word n of the block of each lane. Lanes without such a block, or without input, read any
 * other; they are not in the result. */
static lane_mask load(lane_word w[16], const struct blocks blocks[LANES], unsigned count, size_t n)
{
    alignas(64) uint64_t address[LANES];
    lane_mask live = 0;
    for (unsigned lane = 0; lane < LANES; lane++) {
        bool is_live = lane < count && n < blocks[lane].count;
        const uint8_t *block = is_live ? block_at(&blocks[lane], n) : blocks[0].ends;
        address[lane] = (uint64_t)(uintptr_t)block;
        live |= (lane_mask)(is_live << lane);
    }
    lane_word at = _mm512_load_si512(address);
    for (unsigned i = 0; i < 16; i++)
        w[i] = swap_bytes(_mm512_i64gather_epi64(lane_add(at, lane_set(8 * i)), NULL, 1));
    return live;
}

void lane_sha512(uint64_t hashes[][8], const struct lane_sha512_input *inputs, unsigned count)
{
    INVARIANT(count >= 1 && count <= LANES);
    struct blocks blocks[LANES];
    size_t most = 0;
    for (unsigned i = 0; i < count; i++) {
        lay_out(&blocks[i], &inputs[i]);
        most = blocks[i].count > most ? blocks[i].count : most;
    }
    lane_word state[8];
    for (unsigned i = 0; i < 8; i++)
        state[i] = lane_set(initial[i]);
    for (size_t n = 0; n < most; n++) {
        lane_word w[16];
        lane_mask live = load(w, blocks, count, n);
        compress(state, w, live);
    }
    alignas(64) uint64_t words[8][LANES];
    for (unsigned i = 0; i < 8; i++)
        _mm512_store_si512(words[i], swap_bytes(state[i]));
    for (unsigned lane = 0; lane < count; lane++)
        for (unsigned i = 0; i < 8; i++)
            hashes[lane][i] = words[i][lane];
}

#endif
