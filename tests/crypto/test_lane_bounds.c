/* lane_product, lane_field, lane_point: no limb ever exceeds what the next operation can take.
 *
 * The words of lane_word.h become intervals here and the very text of the formulas is compiled over
 * them: an operation gives all values it can have for any values of its operands, and fails the
 * test where 52 bits of a factor, 64 bits of a sum or the 0 of a difference may be passed. Inputs
 * are as wide as the headers allow; outputs must be as narrow as they promise; then every chain of
 * operations keeps the bounds, whatever its length. */
#include "base/compiler.h"
#include "check.h"

#define CRYPTO_LANE_WORD_H
#define LANE_WORD_AVAILABLE 1
#define LANE_INLINE         static inline __attribute__((unused))

/* Every value from low to high, both included. */
struct interval {
    uint64_t low;
    uint64_t high;
};
typedef struct interval lane_word;
typedef unsigned lane_mask;

static unsigned long operations; /* those that had something to prove */
static bool has_failed;          /* a bound was passed; the planted faults want it so */

static void prove(bool holds)
{
    operations++;
    has_failed |= !holds;
}

static lane_word lane_set(uint64_t value)
{
    return (lane_word){ value, value };
}

static lane_word lane_add(lane_word a, lane_word b)
{
    prove(b.high <= UINT64_MAX - a.high);
    return (lane_word){ a.low + b.low, a.high + b.high };
}

static lane_word lane_sub(lane_word a, lane_word b)
{
    prove(a.low >= b.high);
    return (lane_word){ a.low - b.high, a.high - b.low };
}

/* With a mask of the low bits only. */
static lane_word lane_and(lane_word a, lane_word mask)
{
    CHECK(mask.low == mask.high && (mask.high & (mask.high + 1)) == 0);
    return a.high <= mask.high ? a : (lane_word){ 0, mask.high };
}

static lane_word lane_shift_left(lane_word a, unsigned bits)
{
    prove(a.high <= UINT64_MAX >> bits);
    return (lane_word){ a.low << bits, a.high << bits };
}

static lane_word lane_shift_right(lane_word a, unsigned bits)
{
    return (lane_word){ a.low >> bits, a.high >> bits };
}

static lane_word lane_funnel(lane_word low, lane_word high, unsigned bits)
{
    (void)low;
    (void)high;
    (void)bits;
    return (lane_word){ 0, UINT64_MAX };
}

static uint128 factors(lane_word a, lane_word b)
{
    prove(a.high < UINT64_C(1) << 52);
    prove(b.high < UINT64_C(1) << 52);
    return (uint128)a.high * b.high;
}

static lane_word lane_low(lane_word sum, lane_word a, lane_word b)
{
    uint128 most = factors(a, b);
    uint64_t low = (UINT64_C(1) << 52) - 1;
    return lane_add(sum, (lane_word){ 0, most < low ? (uint64_t)most : low });
}

static lane_word lane_high(lane_word sum, lane_word a, lane_word b)
{
    return lane_add(sum, (lane_word){ 0, (uint64_t)(factors(a, b) >> 52) });
}

static lane_word lane_choose(lane_mask mask, lane_word a, lane_word b)
{
    (void)mask;
    return (lane_word){ a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high };
}

static lane_word lane_choose_difference(lane_mask mask, lane_word a, lane_word from)
{
    return lane_choose(mask, a, lane_sub(from, a));
}

#include "crypto/lane_point.h"

static struct lane_field any(uint64_t limb_max)
{
    struct lane_field r;
    for (unsigned i = 0; i < 5; i++)
        r.limb[i] = (lane_word){ 0, limb_max };
    return r;
}

static bool within(struct lane_field a, struct lane_field bound)
{
    for (unsigned i = 0; i < 5; i++)
        if (a.limb[i].high > bound.limb[i].high)
            return false;
    return true;
}

static uint64_t widest(struct lane_field a)
{
    uint64_t most = 0;
    for (unsigned i = 0; i < 5; i++)
        most = a.limb[i].high > most ? a.limb[i].high : most;
    return most;
}

#define TIGHT UINT64_C(0x7ffffffffffff) /* 2^51 - 1 */
#define LOOSE UINT64_C(0x8000000010000) /* 2^51 + 2^16 */
#define WIDE  (UINT64_C(1) << 62)

/* What factors of a product are: loose, or an entry's third part after negation. */
static void test_products(void)
{
    CHECK(LANE_FIELD_LOOSE == LOOSE && LANE_FIELD_MASK == TIGHT);
    struct lane_field loose = any(LOOSE);
    struct lane_field negated = lane_field_negate_some(0, any(TIGHT));
    CHECK(widest(negated) < UINT64_C(1) << 52);
    CHECK(widest(lane_field_negate_some(0, loose)) < UINT64_C(1) << 52);

    CHECK(widest(lane_field_product(loose, loose)) < UINT64_C(1) << 60);
    CHECK(widest(lane_field_product(loose, negated)) < UINT64_C(1) << 60);
    CHECK(widest(lane_field_square_product(loose)) < UINT64_C(1) << 60);
    CHECK(within(lane_field_multiply(loose, loose), loose));
    CHECK(within(lane_field_square(loose), loose));
    CHECK(within(lane_field_carry(any(WIDE - 1)), loose));
    CHECK(!has_failed);
}

/* Sums of two products, differences from four times a product. */
static void test_sums(void)
{
    struct lane_field loose = any(LOOSE);
    struct lane_field product = lane_field_product(loose, lane_field_negate_some(0, loose));
    struct lane_field twice = lane_field_sum(product, product);
    struct lane_field four = lane_field_sum(twice, twice);
    CHECK(within(lane_field_add(twice, product), loose));
    CHECK(within(lane_field_subtract(product, product), loose));
    CHECK(within(lane_field_subtract(lane_field_small(0), loose), loose));
    CHECK(widest(four) < WIDE);
    CHECK(!has_failed);
}

static void test_canonical(void)
{
    CHECK(within(lane_field_canonical(any(LOOSE)), any(TIGHT)));
    lane_word words[4];
    for (unsigned i = 0; i < 4; i++)
        words[i] = (lane_word){ 0, i == 3 ? INT64_MAX : UINT64_MAX };
    CHECK(within(lane_field_unpack(words), any(TIGHT)));
    CHECK(!has_failed);
}

static struct lane_point any_point(struct lane_field z)
{
    struct lane_field loose = any(LOOSE);
    return (struct lane_point){ loose, loose, z, loose };
}

static void check_point(const struct lane_point *p, struct lane_field z)
{
    struct lane_field loose = any(LOOSE);
    CHECK(within(p->m, loose) && within(p->p, loose) && within(p->t, loose) && within(p->z, z));
    CHECK(!has_failed);
}

/* The bounds of a point are kept by whatever may happen to it. */
static void test_points(void)
{
    struct lane_field loose = any(LOOSE);
    struct lane_field z = lane_field_product(loose, loose); /* wide, as every operation leaves it */

    struct lane_point p;
    lane_point_identity(&p);
    check_point(&p, z);

    struct lane_multiple entry = { any(TIGHT), any(TIGHT), lane_field_negate_some(0, any(TIGHT)) };
    struct lane_field d2 = any(LOOSE);
    lane_point_from_multiple(&p, &entry, &d2);
    check_point(&p, z);
    p = any_point(z);
    lane_point_add_multiple(&p, &entry);
    check_point(&p, z);

    struct lane_summand summand;
    p = any_point(z);
    lane_point_summand(&summand, &p, &d2);
    CHECK(within(summand.y_minus_x, loose) && within(summand.y_plus_x, loose));
    CHECK(within(summand.z2, loose) && within(summand.t2d, loose));
    lane_point_add(&p, &summand);
    check_point(&p, z);
    /* A summand of the other sign: lane_key.c. */
    p = any_point(z);
    summand.t2d = lane_field_negate_some(0, loose);
    lane_point_add(&p, &summand);
    check_point(&p, z);

    p = any_point(z);
    lane_point_double(&p, true);
    check_point(&p, z);
    p = any_point(z);
    lane_point_times_16(&p);
    check_point(&p, z);

    /* The comparison (lane_equation.c): 2Z, P - M, P + M. */
    p = any_point(z);
    CHECK(within(lane_field_add(p.z, p.z), loose));
    CHECK(within(lane_field_subtract(p.p, p.m), loose));
    CHECK(within(lane_field_add(p.p, p.m), loose));
    CHECK(!has_failed);
}

/* What is out of bounds is seen: each kind of limit passed on purpose. */
static void test_finds(void)
{
    const struct {
        struct lane_field a, b;
        bool is_product;
    } faults[] = {
        { any(UINT64_C(1) << 52), any(1), true },       /* a factor of 53 bits */
        { any(1), any(UINT64_C(1) << 52), true },       /* the other factor */
        { any(0), any(UINT64_C(1) << 61), false },      /* more than 2^10 p subtracted */
        { any(UINT64_MAX - TIGHT), any(LOOSE), false }, /* a sum beyond 64 bits */
    };
    for (size_t i = 0; i < CC_COUNT(faults); i++) {
        has_failed = false;
        if (faults[i].is_product)
            (void)lane_field_product(faults[i].a, faults[i].b);
        else
            (void)lane_field_subtract(faults[i].a, faults[i].b);
        CHECK(has_failed);
    }
    /* Two bits more of loose and a product is no longer one. */
    has_failed = false;
    CHECK(!within(lane_field_carry(any(UINT64_MAX)), any(LOOSE)));
    has_failed = false;
}

int main(void)
{
    test_products();
    test_sums();
    test_canonical();
    test_points();
    CHECK(operations > 5000);
    test_finds();
    return 0;
}
