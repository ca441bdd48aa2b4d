/* lane_equation: every way of solving equations agrees with a sum made bit by bit, for scalars
 * whose digits are at their extremes: 0, powers of two and their neighbours, long runs of equal
 * bits and digits, L - 1 and about L / 2; for keys of prime and of mixed order; in every lane,
 * beside equations that hold and others that do not.
 *
 * The sums are s B and h (-A) by doubling and adding (ed25519_point.h), and these are compared with
 * libsodium's own multiplication where it has one. */
#include <sodium.h>

#include "base/cpu.h"
#include "check.h"
#include "crypto/ed25519_base.h"
#include "crypto/ed25519_inverse.h"
#include "crypto/ed25519_point.h"
#include "crypto/ed25519_scalar.h"
#include "crypto/lane_equation.h"

enum { LANES = 8, SCALARS_MAX = 1200, KEYS = 3, ORDER_BITS = 253 };

/* L = 2^252 + 27742317777372353535851937790883648493 (RFC 8032, 5.1), minus 1. */
static const uint64_t last[4] = { 0x5812631a5cf5d3ec, 0x14def9dea2f79cd6, 0, 0x1000000000000000 };

static uint64_t scalars[SCALARS_MAX][4];
static unsigned scalar_count;

static struct ed25519_point base_sums[SCALARS_MAX];      /* s B */
static struct ed25519_point key_sums[KEYS][SCALARS_MAX]; /* h (-A) */

static uint8_t keys[KEYS][32];
static struct ed25519_table large[KEYS], small[KEYS];
static alignas(64) struct ed25519_multiple large_entries[KEYS][32 * 8], small_entries[KEYS][8 * 8];

static uint32_t draw(void)
{
    static uint32_t state = 7;
    state = state * 1664525 + 1013904223;
    return state >> 8;
}

/* Keeps x when it is below L. */
static void take(const uint64_t x[4])
{
    uint8_t bytes[32];
    memcpy(bytes, x, sizeof bytes);
    if (!ed25519_scalar_is_canonical(bytes))
        return;
    CHECK(scalar_count < SCALARS_MAX);
    memcpy(scalars[scalar_count++], x, sizeof scalars[0]);
}

/* x = 2^bit + (-1, 0 or 1) */
static void take_about_power(unsigned bit, int difference)
{
    uint64_t x[4] = { 0 };
    x[bit / 64] = UINT64_C(1) << bit % 64;
    for (unsigned i = 0; i < 4 && difference < 0; i++)
        if (x[i]-- != 0)
            break;
    x[0] += difference > 0;
    take(x);
}

/* Ones in the bits from .. to - 1. */
static void take_run(unsigned from, unsigned to)
{
    uint64_t x[4] = { 0 };
    for (unsigned bit = from; bit < to; bit++)
        x[bit / 64] |= UINT64_C(1) << bit % 64;
    take(x);
}

/* Each byte the same; the top byte less, to stay below L. */
static void take_pattern(uint64_t byte)
{
    uint64_t word = byte * 0x0101010101010101;
    take((const uint64_t[4]){ word, word, word, word & 0x0fffffffffffffff });
    take((const uint64_t[4]){ word, word, 0, 0x1000000000000000 });
    take((const uint64_t[4]){ 0, 0, word, word & 0x0fffffffffffffff });
    take((const uint64_t[4]){ word, 0, word, 0 });
}

static void make_scalars(void)
{
    for (uint64_t i = 0; i < 18; i++)
        take((const uint64_t[4]){ i });
    for (uint64_t i = 0; i < 18; i++) /* L - 1 - i; the low word of L does not borrow */
        take((const uint64_t[4]){ last[0] - i, last[1], last[2], last[3] });
    /* (L - 1) / 2 */
    take((const uint64_t[4]){ last[0] >> 1, last[1] >> 1, UINT64_C(0), last[3] >> 1 });
    for (unsigned bit = 5; bit < ORDER_BITS; bit++)
        for (int difference = -1; difference <= 1; difference++)
            take_about_power(bit, difference);
    /* Of a digit base 16 the extremes are 7 and 8 (-8 and a carry), base 256 127 and 128. */
    static const uint64_t patterns[] = { 0x77, 0x78, 0x87, 0x88, 0x7f, 0x80, 0xff, 0xf0, 0x0f, 0x08,
                                         0x70, 0x07, 0x01, 0x10, 0x55, 0xaa, 0x99, 0x81, 0x90 };
    for (size_t i = 0; i < CC_COUNT(patterns); i++)
        take_pattern(patterns[i]);
    for (unsigned i = 0; i < 60; i++) {
        unsigned from = draw() % 250, to = from + 1 + draw() % (252 - from);
        take_run(from, to);
    }
    CHECK(scalar_count > 850);
}

static void encode(uint8_t bytes[32], const struct ed25519_point *point)
{
    struct ed25519_field inverse;
    ed25519_inverse(&inverse, &point->z);
    ed25519_point_encode(bytes, point, &inverse);
}

/* The sums of one point with every scalar, highest bit first. */
static void multiply_all(struct ed25519_point sums[], const struct ed25519_point *point)
{
    struct ed25519_addend addend;
    ed25519_point_addend(&addend, point);
    for (unsigned i = 0; i < scalar_count; i++) {
        ed25519_point_neutral(&sums[i]);
        for (unsigned bit = ORDER_BITS; bit-- > 0;) {
            ed25519_point_double(&sums[i], &sums[i], true);
            if (scalars[i][bit / 64] >> bit % 64 & 1)
                ed25519_point_add(&sums[i], &sums[i], &addend, false);
        }
    }
}

/* A point of order 8 (libsodium's list of refused encodings has it). */
static const uint8_t order_8[32] = { 0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0,
                                     0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef, 0x98, 0xf0,
                                     0xd5, 0xdf, 0xac, 0x05, 0xd3, 0xc6, 0x33, 0x39,
                                     0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53, 0xfc, 0x05 };

/* A key of prime order, the same and a point of order 8, the same and one of order 2. */
static void make_keys(void)
{
    uint8_t seed[32] = { 1 }, secret[64];
    CHECK(crypto_sign_seed_keypair(keys[0], secret, seed) == 0);
    CHECK(crypto_core_ed25519_add(keys[1], keys[0], order_8) == 0);
    uint8_t twice[32], order_2[32];
    CHECK(crypto_core_ed25519_add(twice, order_8, order_8) == 0);
    CHECK(crypto_core_ed25519_add(order_2, twice, twice) == 0);
    CHECK(crypto_core_ed25519_add(keys[2], keys[0], order_2) == 0);
    for (unsigned i = 0; i < KEYS; i++) {
        CHECK(ed25519_table_build(large_entries[i], 32, keys[i]) == 0);
        CHECK(ed25519_table_build(small_entries[i], 8, keys[i]) == 0);
        large[i] = (struct ed25519_table){ .multiples = large_entries[i], .positions = 32 };
        small[i] = (struct ed25519_table){ .multiples = small_entries[i], .positions = 8 };
        struct ed25519_point point;
        CHECK(ed25519_point_decode(&point, keys[i]));
        ed25519_point_negate(&point);
        multiply_all(key_sums[i], &point);
    }
    uint8_t b[32] = { 0x58 }; /* y = 4/5: 0x58 and 31 times 0x66 (RFC 8032, 5.1) */
    memset(b + 1, 0x66, 31);
    struct ed25519_point base;
    CHECK(ed25519_point_decode(&base, b));
    multiply_all(base_sums, &base);
}

/* The sums are those of libsodium, which multiplies points of prime order by numbers but 0. */
static void check_sums(void)
{
    uint8_t negated[32], zero[32] = { 1 };
    CHECK(crypto_core_ed25519_sub(negated, zero, keys[0]) == 0);
    for (unsigned i = 0; i < scalar_count; i++) {
        uint8_t scalar[32], want[32], got[32];
        memcpy(scalar, scalars[i], sizeof scalar);
        if (sodium_is_zero(scalar, sizeof scalar))
            continue;
        CHECK(crypto_scalarmult_ed25519_base_noclamp(want, scalar) == 0);
        encode(got, &base_sums[i]);
        CHECK(memcmp(got, want, sizeof got) == 0);
        CHECK(crypto_scalarmult_ed25519_noclamp(want, scalar, negated) == 0);
        encode(got, &key_sums[0][i]);
        CHECK(memcmp(got, want, sizeof got) == 0);
    }
}

static uint8_t rs[LANES][32];
static struct lane_equation equations[LANES];

/* An equation that holds: h and s are scalars of the list. */
static void set(unsigned lane, unsigned key, unsigned h, unsigned s)
{
    struct ed25519_addend addend;
    struct ed25519_point sum;
    ed25519_point_addend(&addend, &base_sums[s]);
    ed25519_point_add(&sum, &key_sums[key][h], &addend, false);
    encode(rs[lane], &sum);
    equations[lane].table = &large[key];
    equations[lane].key = keys[key];
    equations[lane].r = rs[lane];
    memcpy(equations[lane].h, scalars[h], sizeof equations[lane].h);
    memcpy(equations[lane].s, scalars[s], sizeof equations[lane].s);
}

/* R + T for a T of small order, for which the equation still holds up to that T; or another bit. */
static void spoil(unsigned lane)
{
    if (draw() % 2 == 0)
        CHECK(crypto_core_ed25519_add(rs[lane], rs[lane], order_8) == 0);
    else
        rs[lane][draw() % 32] ^= (uint8_t)(1u << draw() % 8);
}

/* Every way gives `want`, the split one in parts of 1 to 4. */
static void check_all(uint64_t want)
{
    CHECK(lane_equation_cached(equations, LANES) == want);
    CHECK(lane_equation_uncached(equations, LANES) == want);
    unsigned first = draw() % LANES;
    for (unsigned count = 1; count <= 4 && first + count <= LANES; count++) {
        uint64_t part = want >> first & ((UINT64_C(1) << count) - 1);
        CHECK(lane_equation_split(equations + first, count) == part);
        CHECK(lane_equation_cached(equations + first, count) == part);
        CHECK(lane_equation_uncached(equations + first, count) == part);
    }
    /* The same by small tables, some of them or all. */
    uint32_t which = draw() % 3 == 0 ? 0xff : draw() & 0xff;
    for (unsigned lane = 0; lane < LANES; lane++)
        for (unsigned key = 0; key < KEYS; key++)
            if (which >> lane & 1 && equations[lane].table == &large[key])
                equations[lane].table = &small[key];
    CHECK(lane_equation_cached(equations, LANES) == want);
    CHECK(lane_equation_cached(equations + first, LANES - first) == want >> first);
}

/* Every scalar as h and as s, in lanes that differ from round to round. */
static void test_structured(void)
{
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned start = 0; start < scalar_count; start += LANES) {
            for (unsigned lane = 0; lane < LANES; lane++) {
                unsigned h = (start + (lane + 3 * round) % LANES) % scalar_count;
                set(lane, (start / LANES + lane + round) % KEYS, h,
                    (h * (5 + 2 * round) + round) % scalar_count);
            }
            if (round == 0) {
                check_all(0xff);
                continue;
            }
            uint64_t bad = draw() & 0xff;
            for (unsigned lane = 0; lane < LANES; lane++)
                if (bad >> lane & 1)
                    spoil(lane);
            check_all(0xff & ~bad);
        }
    }
}

/* 0 B + 0 (-A) is the neutral point, y = 1: its other encodings, with the sign bit set or p added
 * to y, are not its encoding. */
static void test_neutral(void)
{
    for (unsigned lane = 0; lane < LANES; lane++) {
        set(lane, lane % KEYS, 0, 0); /* the first scalar is 0 */
        uint8_t one[32] = { 1 };
        CHECK(memcmp(rs[lane], one, sizeof one) == 0);
    }
    rs[1][31] = 0x80;
    memset(rs[4], 0xff, 32);
    rs[4][0] = 0xee; /* p + 1 = 2^255 - 18 */
    rs[4][31] = 0x7f;
    rs[6][0] = 0;
    check_all(0xff & ~(1u << 1 | 1u << 4 | 1u << 6));
}

/* A key that is no point holds no equation and disturbs no other: y = 2 (x^2 = 3 / (4 d + 1) is no
 * square; libsodium refuses it). */
static void test_no_point(void)
{
    static const uint8_t none[32] = { 2 };
    CHECK(crypto_core_ed25519_is_valid_point(none) == 0);
    for (unsigned place = 0; place < LANES; place++) {
        for (unsigned lane = 0; lane < LANES; lane++)
            set(lane, lane % KEYS, 40 + lane, 50 + lane);
        set(place, place % KEYS, 0, 50 + place); /* h = 0: R = s B whatever the key */
        equations[place].key = none;
        CHECK(lane_equation_uncached(equations, LANES) == (0xff & ~(1u << place)));
        equations[place].key = keys[place % KEYS];
        CHECK(lane_equation_uncached(equations, LANES) == 0xff);
    }
}

int main(void)
{
    if (!cpu_has_lanes()) {
        puts("this machine has no AVX-512 IFMA");
        return 77;
    }
    CHECK(sodium_init() >= 0);
    ed25519_base_init();
    make_scalars();
    make_keys();
    check_sums();
    test_structured();
    test_neutral();
    test_no_point();
    return 0;
}
