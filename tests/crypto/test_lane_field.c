/* lane_product, lane_field, lane_point: what the machine computes in each lane is what the portable
 * field (ed25519_field.h) and points (ed25519_point.h) give, limbs at their extremes included.
 *
 * Compiled for AVX-512 (tests/CMakeLists.txt); main ends with 77, skipped, where there is none. */
#include "base/cpu.h"
#include "check.h"
#include "crypto/ed25519_base.h"
#include "crypto/ed25519_inverse.h"
#include "crypto/ed25519_point.h"
#include "crypto/lane_point.h"

enum { ROUNDS = 20000, POINT_ROUNDS = 500 };

static uint64_t state = 0x9e3779b97f4a7c15;

static uint64_t draw(void) /* xorshift64 */
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* A limb of a loose element: mostly an extreme. 2^51 - 20 .. 2^51 - 19 are about limb 0 of p. */
static uint64_t loose_limb(void)
{
    static const uint64_t extremes[] = { 0,
                                         1,
                                         18,
                                         19,
                                         LANE_FIELD_MASK - 19,
                                         LANE_FIELD_MASK - 18,
                                         LANE_FIELD_MASK - 1,
                                         LANE_FIELD_MASK,
                                         LANE_FIELD_MASK + 1,
                                         LANE_FIELD_LOOSE - 1,
                                         LANE_FIELD_LOOSE };
    uint64_t pick = draw() >> 32;
    size_t choices = CC_COUNT(extremes) + 3;
    return pick % choices < CC_COUNT(extremes) ? extremes[pick % choices]
                                               : (draw() >> 8) % (LANE_FIELD_LOOSE + 1);
}

static struct lane_field loose_element(void)
{
    struct lane_field r;
    alignas(64) uint64_t limb[LANES];
    for (unsigned i = 0; i < 5; i++) {
        for (unsigned lane = 0; lane < LANES; lane++)
            limb[lane] = loose_limb();
        r.limb[i] = _mm512_load_si512(limb);
    }
    return r;
}

static uint64_t word_of(lane_word word, unsigned lane)
{
    alignas(64) uint64_t words[LANES];
    _mm512_store_si512(words, word);
    return words[lane];
}

/* The element of a lane; its limbs may be wide, so they are carried as integers are. */
static struct ed25519_field element_of(const struct lane_field *a, unsigned lane)
{
    struct ed25519_field r = { { 0 } };
    uint64_t carry = 0;
    for (unsigned i = 0; i < 5; i++) {
        uint64_t sum = word_of(a->limb[i], lane) + carry; /* below 2^62 + 2^11 */
        r.limb[i] = sum & LANE_FIELD_MASK;
        carry = sum >> 51;
    }
    r.limb[0] += 19 * carry;
    return r;
}

static void check_equal(const struct lane_field *got, unsigned lane,
                        const struct ed25519_field *want)
{
    struct ed25519_field element = element_of(got, lane);
    CHECK(ed25519_field_equal(&element, want));
}

static void check_loose(const struct lane_field *a)
{
    for (unsigned i = 0; i < 5; i++)
        for (unsigned lane = 0; lane < LANES; lane++)
            CHECK(word_of(a->limb[i], lane) <= LANE_FIELD_LOOSE);
}

static void test_field_round(void)
{
    struct lane_field a = loose_element();
    struct lane_field b = loose_element();
    struct lane_field product = lane_field_product(a, b);
    struct lane_field square = lane_field_square_product(a);
    struct lane_field sum = lane_field_add(product, square);
    struct lane_field difference = lane_field_subtract(product, square);
    struct lane_field tight_product = lane_field_multiply(a, b);
    struct lane_field canonical = lane_field_canonical(a);
    lane_mask mask = (lane_mask)draw();
    struct lane_field negated = lane_field_negate_some(mask, a);
    struct lane_field chosen = lane_field_choose(mask, a, b);
    check_loose(&sum);
    check_loose(&difference);
    check_loose(&tight_product);
    for (unsigned lane = 0; lane < LANES; lane++) {
        struct ed25519_field x = element_of(&a, lane);
        struct ed25519_field y = element_of(&b, lane);
        struct ed25519_field zero = { { 0 } };
        struct ed25519_field xy, xx, t;
        ed25519_field_multiply(&xy, &x, &y);
        ed25519_field_multiply(&xx, &x, &x);
        check_equal(&product, lane, &xy);
        check_equal(&tight_product, lane, &xy);
        check_equal(&square, lane, &xx);
        ed25519_field_add(&t, &xy, &xx);
        check_equal(&sum, lane, &t);
        ed25519_field_subtract(&t, &xy, &xx);
        check_equal(&difference, lane, &t);
        ed25519_field_subtract(&t, &zero, &x);
        bool is_set = mask >> lane & 1;
        check_equal(&negated, lane, is_set ? &t : &x);
        check_equal(&chosen, lane, is_set ? &y : &x);
        uint64_t words[4], limbs[4];
        ed25519_field_to_words(words, &x);
        struct ed25519_field got;
        for (unsigned i = 0; i < 5; i++)
            got.limb[i] = word_of(canonical.limb[i], lane);
        limbs[0] = got.limb[0] | got.limb[1] << 51;
        limbs[1] = got.limb[1] >> 13 | got.limb[2] << 38;
        limbs[2] = got.limb[2] >> 26 | got.limb[3] << 25;
        limbs[3] = got.limb[3] >> 39 | got.limb[4] << 12;
        CHECK(memcmp(limbs, words, sizeof words) == 0);
    }
}

/* p = 2^255 - 19, so limb 0 of p is 2^51 - 19 and the others are full; the canonical form of values
 * about p and about 2^255, by hand. */
static void test_canonical_edges(void)
{
    const uint64_t full = LANE_FIELD_MASK;
    const struct {
        uint64_t limb0, others, want;
    } rows[] = {
        { full - 19, full, full - 19 }, /* p - 1: itself; its other limbs stay full */
        { full - 18, full, 0 },         /* p */
        { full - 17, full, 1 },         /* p + 1 */
        { full, full, 18 },             /* 2^255 - 1 = p + 18 */
        { full + 1, full, 19 },         /* 2^255 = p + 19, by a limb 0 that is full and one more */
        { full + 20, full, 38 },        /* 2^255 + 19 */
        { 0, 0, 0 },
        { 18, 0, 18 },
    };
    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        struct lane_field a = lane_field_set((const uint64_t[5]){
            rows[i].limb0, rows[i].others, rows[i].others, rows[i].others, rows[i].others });
        struct lane_field r = lane_field_canonical(a);
        uint64_t others = i == 0 ? full : 0;
        for (unsigned lane = 0; lane < LANES; lane++) {
            CHECK(word_of(r.limb[0], lane) == rows[i].want);
            for (unsigned limb = 1; limb < 5; limb++)
                CHECK(word_of(r.limb[limb], lane) == others);
        }
    }
    /* Every limb 2^51: 2^51 + 2^102 + 2^153 + 2^204 + 2^255, the last being 19. */
    struct lane_field r = lane_field_canonical(
        lane_field_set((const uint64_t[5]){ full + 1, full + 1, full + 1, full + 1, full + 1 }));
    CHECK(word_of(r.limb[0], 3) == 19 && word_of(r.limb[1], 3) == 1 && word_of(r.limb[4], 3) == 1);
}

static void test_unpack(void)
{
    for (unsigned round = 0; round < 1000; round++) {
        alignas(64) uint64_t words[4][LANES];
        lane_word loaded[4];
        for (unsigned i = 0; i < 4; i++) {
            for (unsigned lane = 0; lane < LANES; lane++)
                words[i][lane] = i == 3 ? draw() & INT64_MAX : draw();
            loaded[i] = _mm512_load_si512(words[i]);
        }
        struct lane_field r = lane_field_unpack(loaded);
        for (unsigned lane = 0; lane < LANES; lane++) {
            struct ed25519_field want;
            ed25519_field_from_words(&want, (const uint64_t[4]){ words[0][lane], words[1][lane],
                                                                 words[2][lane], words[3][lane] });
            for (unsigned i = 0; i < 5; i++)
                CHECK(word_of(r.limb[i], lane) == want.limb[i]);
        }
    }
}

/* Points for lanes: the neutral one, points of small order, multiples of B, sums of both. */
enum { POINTS = 24 };
static struct ed25519_point points[POINTS];

static void make_points(void)
{
    /* The encodings of points of order 2, 4 and 8: y = -1, 0 and a root of y^4 d = ... (RFC 8032
     * gives none; these are the ones that ed25519_point_is_small_order refuses). */
    static const uint8_t small[3][32] = {
        { 0xec, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
          0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
          0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f },
        { 0 },
        { 0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4,
          0x89, 0xf2, 0xef, 0x98, 0xf0, 0xd5, 0xdf, 0xac, 0x05, 0xd3, 0xc6,
          0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53, 0xfc, 0x05 },
    };
    ed25519_point_neutral(&points[0]);
    for (unsigned i = 0; i < 3; i++)
        CHECK(ed25519_point_decode(&points[1 + i], small[i]));
    for (unsigned i = 4; i < POINTS; i++) {
        points[i] = points[i % 4];
        ed25519_point_add_multiple(&points[i], &ed25519_base[97 * i], i % 2 == 1);
    }
}

static void set_lane(lane_word *word, unsigned lane, uint64_t value)
{
    *word = _mm512_mask_set1_epi64(*word, (lane_mask)(1u << lane), (long long)value);
}

/* Puts a point into a lane, all coordinates multiplied by the same number: any Z must do. */
static void put(struct lane_point *p, unsigned lane, const struct ed25519_point *point)
{
    struct ed25519_field scale = { { draw() >> 13, draw() >> 13, 0, draw() >> 13, 0 } };
    struct ed25519_field x, y, z, t, m, s;
    ed25519_field_multiply(&x, &point->x, &scale);
    ed25519_field_multiply(&y, &point->y, &scale);
    ed25519_field_multiply(&z, &point->z, &scale);
    ed25519_field_multiply(&t, &point->t, &scale);
    struct ed25519_field one = { { 1 } };
    ed25519_field_subtract(&m, &y, &x);
    ed25519_field_add(&s, &y, &x);
    ed25519_field_multiply(&m, &m, &one); /* carried */
    ed25519_field_multiply(&s, &s, &one);
    for (unsigned i = 0; i < 5; i++) {
        set_lane(&p->m.limb[i], lane, m.limb[i]);
        set_lane(&p->p.limb[i], lane, s.limb[i]);
        set_lane(&p->z.limb[i], lane, z.limb[i]);
        set_lane(&p->t.limb[i], lane, t.limb[i]);
    }
}

/* The lane's point has the encoding of `want`, and X Y = Z T. */
static void check_point(const struct lane_point *p, unsigned lane, const struct ed25519_point *want)
{
    struct ed25519_field m = element_of(&p->m, lane);
    struct ed25519_field s = element_of(&p->p, lane);
    struct ed25519_field z = element_of(&p->z, lane);
    struct ed25519_field t = element_of(&p->t, lane);
    struct ed25519_point got; /* all of it doubled */
    ed25519_field_subtract(&got.x, &s, &m);
    ed25519_field_add(&got.y, &s, &m);
    ed25519_field_add(&got.z, &z, &z);
    ed25519_field_add(&got.t, &t, &t);
    struct ed25519_field xy, zt, inverse;
    ed25519_field_multiply(&xy, &got.x, &got.y);
    ed25519_field_multiply(&zt, &got.z, &got.t);
    CHECK(ed25519_field_equal(&xy, &zt));
    uint8_t bytes[2][32];
    ed25519_inverse(&inverse, &got.z);
    ed25519_point_encode(bytes[0], &got, &inverse);
    ed25519_inverse(&inverse, &want->z);
    ed25519_point_encode(bytes[1], want, &inverse);
    CHECK(memcmp(bytes[0], bytes[1], 32) == 0);
}

static void test_points_round(void)
{
    struct lane_point p, q;
    struct lane_multiple entry;
    memset(&p, 0, sizeof p);
    memset(&q, 0, sizeof q);
    memset(&entry, 0, sizeof entry);
    const struct ed25519_point *left[LANES], *right[LANES];
    const struct ed25519_multiple *base[LANES];
    for (unsigned lane = 0; lane < LANES; lane++) {
        left[lane] = &points[draw() % POINTS];
        right[lane] = draw() % 4 == 0 ? left[lane] : &points[draw() % POINTS];
        base[lane] = &ed25519_base[draw() % CC_COUNT(ed25519_base)];
        put(&p, lane, left[lane]);
        put(&q, lane, right[lane]);
        struct ed25519_field parts[3];
        ed25519_field_from_words(&parts[0], base[lane]->y_minus_x);
        ed25519_field_from_words(&parts[1], base[lane]->y_plus_x);
        ed25519_field_from_words(&parts[2], base[lane]->xy2d);
        for (unsigned i = 0; i < 5; i++) {
            set_lane(&entry.y_minus_x.limb[i], lane, parts[0].limb[i]);
            set_lane(&entry.y_plus_x.limb[i], lane, parts[1].limb[i]);
            set_lane(&entry.xy2d.limb[i], lane, parts[2].limb[i]);
        }
    }
    struct lane_field d2 = lane_field_set(ed25519_point_curve.d2.limb);
    struct lane_summand summand;
    lane_point_summand(&summand, &q, &d2);
    struct lane_point sum = p, more = p, twice = p, sixteen = p, alone;
    lane_point_from_multiple(&alone, &entry, &d2);
    lane_point_add(&sum, &summand);
    lane_point_add_multiple(&more, &entry);
    lane_point_double(&twice, true);
    lane_point_times_16(&sixteen);
    for (unsigned lane = 0; lane < LANES; lane++) {
        struct ed25519_point want;
        struct ed25519_addend addend;
        ed25519_point_addend(&addend, right[lane]);
        ed25519_point_add(&want, left[lane], &addend, false);
        check_point(&sum, lane, &want);
        want = *left[lane];
        ed25519_point_add_multiple(&want, base[lane], false);
        check_point(&more, lane, &want);
        ed25519_point_neutral(&want);
        ed25519_point_add_multiple(&want, base[lane], false);
        check_point(&alone, lane, &want);
        want = *left[lane];
        ed25519_point_double(&want, &want, true);
        check_point(&twice, lane, &want);
        for (unsigned i = 0; i < 3; i++)
            ed25519_point_double(&want, &want, true);
        check_point(&sixteen, lane, &want);
    }
}

static __attribute__((noinline)) void run(void)
{
    ed25519_base_init();
    make_points();
    test_canonical_edges();
    test_unpack();
    for (unsigned i = 0; i < ROUNDS; i++)
        test_field_round();
    for (unsigned i = 0; i < POINT_ROUNDS; i++)
        test_points_round();
}

int main(void)
{
    if (!cpu_has_lanes()) {
        puts("this machine has no AVX-512 IFMA");
        return 77;
    }
    run();
    return 0;
}
