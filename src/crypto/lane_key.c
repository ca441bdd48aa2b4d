/* Decodes a key by RFC 8032, 5.1.3: x^2 = u / v with u = y^2 - 1 and v = d y^2 + 1. For x = u v^3
 * (u v^7)^((p-5)/8) either v x^2 = u, or v x^2 = -u and x sqrt(-1) is the root, or there is no root
 * (p = 5 mod 8). v is never 0, because -1/d is no square. */
#include "crypto/lane_key.h"

#ifdef LANE_WORD_AVAILABLE

#include "crypto/ed25519_point.h"

/* Not inlined: the exponentiation alone has some twenty calls. */
static __attribute__((noinline)) void multiply(struct lane_field *r, const struct lane_field *a,
                                               const struct lane_field *b)
{
    *r = lane_field_multiply(*a, *b);
}

/* r = a^(2^count) */
static __attribute__((noinline)) void square_often(struct lane_field *r, const struct lane_field *a,
                                                   unsigned count)
{
    struct lane_field x = *a;
    while (count-- > 0)
        x = lane_field_square(x);
    *r = x;
}

/* r = a^(2^(m + n) - 1) from high = a^(2^m - 1) and low = a^(2^n - 1). */
static void join_ones(struct lane_field *r, const struct lane_field *high,
                      const struct lane_field *low, unsigned n)
{
    struct lane_field shifted;
    square_often(&shifted, high, n);
    multiply(r, &shifted, low);
}

/* r = a^((p-5)/8) = a^(2^252 - 3), its exponent 250 ones and 01 in binary. */
static void power_root(struct lane_field *r, const struct lane_field *a)
{
    struct lane_field ones1 = *a, ones2, ones4, ones5, ones10, ones20, ones40, ones50, ones100;
    join_ones(&ones2, &ones1, &ones1, 1);
    join_ones(&ones4, &ones2, &ones2, 2);
    join_ones(&ones5, &ones4, &ones1, 1);
    join_ones(&ones10, &ones5, &ones5, 5);
    join_ones(&ones20, &ones10, &ones10, 10);
    join_ones(&ones40, &ones20, &ones20, 20);
    join_ones(&ones50, &ones40, &ones10, 10);
    join_ones(&ones100, &ones50, &ones50, 50);
    struct lane_field ones200, ones250;
    join_ones(&ones200, &ones100, &ones100, 100);
    join_ones(&ones250, &ones200, &ones50, 50);
    join_ones(r, &ones250, &ones1, 2);
}

/* Returns the lanes in which two loose elements are equal. */
static lane_mask equal(const struct lane_field *a, const struct lane_field *b)
{
    struct lane_field x = lane_field_canonical(*a);
    struct lane_field y = lane_field_canonical(*b);
    lane_mask same = 0xff;
    for (unsigned i = 0; i < 5; i++)
        same &= _mm512_cmpeq_epi64_mask(x.limb[i], y.limb[i]);
    return same;
}

/* x = sqrt(u / v) in the lanes of the result; the other lanes have no root. */
static lane_mask ratio_root(struct lane_field *x, const struct lane_field *u,
                            const struct lane_field *v)
{
    struct lane_field v2, v3, v4, uv7, power;
    square_often(&v2, v, 1);
    multiply(&v3, &v2, v);
    square_often(&v4, &v2, 1);
    struct lane_field uv3;
    multiply(&uv3, u, &v3);
    multiply(&uv7, &uv3, &v4);
    power_root(&power, &uv7);
    multiply(x, &uv3, &power);

    struct lane_field root = lane_field_set(ed25519_point_curve.sqrt_minus_one.limb);
    struct lane_field square, turned;
    square_often(&square, x, 1);
    multiply(&square, &square, v);
    multiply(&turned, x, &root);
    struct lane_field minus_u = lane_field_subtract(lane_field_small(0), *u);
    lane_mask straight = equal(&square, u);
    lane_mask crooked = equal(&square, &minus_u);
    *x = lane_field_choose(straight, turned, *x);
    return straight | crooked;
}

/* Loads the y of each key. Returns the lanes whose bit of x is set. */
static lane_mask load_y(struct lane_field *y, const uint8_t *const keys[], unsigned count)
{
    alignas(64) uint64_t words[4][LANES] = { { 0 } };
    for (unsigned lane = 0; lane < count; lane++)
        for (unsigned i = 0; i < 4; i++)
            words[i][lane] = cc_load64(keys[lane] + 8 * i);
    lane_word loaded[4];
    for (unsigned i = 0; i < 4; i++)
        loaded[i] = _mm512_load_si512(words[i]);
    lane_mask odd = _mm512_movepi64_mask(loaded[3]);
    loaded[3] = lane_and(loaded[3], lane_set(INT64_MAX));
    *y = lane_field_unpack(loaded);
    return odd;
}

lane_mask lane_key_decode(struct lane_point *negated, const uint8_t *const keys[], unsigned count)
{
    INVARIANT(count >= 1 && count <= LANES);
    struct lane_field y;
    lane_mask odd = load_y(&y, keys, count);
    struct lane_field one = lane_field_small(1);
    struct lane_field zero = lane_field_small(0);
    struct lane_field d = lane_field_set(ed25519_point_curve.d.limb);
    struct lane_field yy = lane_field_square(y);
    struct lane_field u = lane_field_subtract(yy, one);
    struct lane_field v = lane_field_add(lane_field_product(yy, d), one);
    struct lane_field x;
    lane_mask found = ratio_root(&x, &u, &v) & (lane_mask)((1u << count) - 1);

    /* The root whose parity is the sign bit is x(A); -A needs the other one. */
    x = lane_field_canonical(x);
    lane_mask x_is_odd = _mm512_test_epi64_mask(x.limb[0], lane_set(1));
    struct lane_field other = lane_field_subtract(zero, x);
    x = lane_field_choose((lane_mask) ~(x_is_odd ^ odd), x, other);
    x = lane_field_choose(found, zero, x);
    y = lane_field_choose(found, one, y);
    negated->m = lane_field_subtract(y, x);
    negated->p = lane_field_add(y, x);
    negated->z = one;
    negated->t = lane_field_multiply(x, y);
    return found;
}

enum { MULTIPLES = 9 /* 0 .. 8 */ };

static_assert(sizeof(struct lane_summand) == 20 * sizeof(lane_word), "load_summand reads it so");

/* Returns word n of the summands at `address`, which are stored lane beside lane. */
LANE_INLINE lane_word gather(lane_word address, unsigned n)
{
    lane_word at = lane_add(address, lane_set(n * sizeof(lane_word)));
    return _mm512_i64gather_epi64(at, NULL, 1);
}

/* Loads each lane's own multiple, -8 .. 7 times. */
LANE_INLINE void load_summand(struct lane_summand *summand, const struct lane_summand *multiples,
                              lane_word digit)
{
    lane_mask negative = _mm512_movepi64_mask(digit);
    lane_word lanes = _mm512_set_epi64(56, 48, 40, 32, 24, 16, 8, 0);
    lane_word offset =
        _mm512_mullo_epi64(_mm512_abs_epi64(digit), lane_set(sizeof(struct lane_summand)));
    lane_word address = lane_add(lane_add(lanes, offset), lane_set((uint64_t)(uintptr_t)multiples));
    lane_word next = lane_add(address, lane_set(5 * sizeof(lane_word)));
    lane_word minus = lane_choose(negative, address, next);
    lane_word plus = lane_choose(negative, next, address);
    struct lane_field t2d;
    for (unsigned i = 0; i < 5; i++) {
        summand->y_minus_x.limb[i] = gather(minus, i);
        summand->y_plus_x.limb[i] = gather(plus, i);
        summand->z2.limb[i] = gather(address, 10 + i);
        t2d.limb[i] = gather(address, 15 + i);
    }
    summand->t2d = lane_field_negate_some(negative, t2d);
}

void lane_key_multiply(struct lane_point *sum, const struct lane_point *p,
                       const uint64_t h[4][LANES])
{
    struct lane_field d2 = lane_field_set(ed25519_point_curve.d2.limb);
    struct lane_summand multiples[MULTIPLES];
    lane_point_identity(sum);
    lane_point_summand(&multiples[0], sum, &d2);
    lane_point_summand(&multiples[1], p, &d2);
    *sum = *p;
    for (unsigned n = 2; n < MULTIPLES; n++) {
        lane_point_add(sum, &multiples[1]);
        lane_point_summand(&multiples[n], sum, &d2);
    }
    lane_point_identity(sum);
    for (unsigned digit = 64; digit-- > 0;) {
        if (digit < 63)
            lane_point_times_16(sum);
        lane_word word = _mm512_load_si512(h[digit / 16]);
        lane_word biased = _mm512_srlv_epi64(word, lane_set(4 * (digit % 16)));
        struct lane_summand summand;
        load_summand(&summand, multiples, lane_sub(lane_and(biased, lane_set(15)), lane_set(8)));
        lane_point_add(sum, &summand);
    }
}

#endif
