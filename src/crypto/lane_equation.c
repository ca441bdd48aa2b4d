#include "crypto/lane_equation.h"

#include "crypto/lane_word.h"

#ifdef LANE_WORD_AVAILABLE

#include "crypto/ed25519_inverse.h"
#include "crypto/ed25519_scalar.h"
#include "crypto/lane_comb.h"
#include "crypto/lane_key.h"

enum { SPLIT_MAX = 4 };

/* Not inlined: a product has some hundred instructions, and no call of it is in a loop. */
static __attribute__((noinline)) void multiply(struct lane_field *r, const struct lane_field *a,
                                               const struct lane_field *b)
{
    *r = lane_field_multiply(*a, *b);
}

/* Lane i of r = lane i ^ distance of a. */
static void exchange(struct lane_field *r, const struct lane_field *a, unsigned distance)
{
    lane_word lanes = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
    lane_word partner = _mm512_xor_si512(lanes, lane_set(distance));
    for (unsigned i = 0; i < 5; i++)
        r->limb[i] = _mm512_permutexvar_epi64(partner, a->limb[i]);
}

/* inverse = 1 / a in every lane, none of them 0, by one inversion (Montgomery). `all` is the
 * product of the eight, made in three steps and the same in every lane. 1 / all is then multiplied
 * by the other half of each step, the last first. */
static void invert(struct lane_field *inverse, const struct lane_field *a)
{
    struct lane_field product = *a;
    struct lane_field others[3];
    for (unsigned i = 0; i < 3; i++) {
        exchange(&others[i], &product, 1u << i);
        multiply(&product, &product, &others[i]);
    }
    struct ed25519_field scalar;
    for (unsigned i = 0; i < 5; i++)
        scalar.limb[i] = (uint64_t)_mm_cvtsi128_si64(_mm512_castsi512_si128(product.limb[i]));
    ed25519_inverse(&scalar, &scalar);
    *inverse = lane_field_set(scalar.limb);
    for (unsigned i = 3; i-- > 0;)
        multiply(inverse, inverse, &others[i]);
}

/* Returns the lanes whose point encodes to the r of their equation. Lane i has equation i / spread;
 * lanes after the last have none. Y - X = M and Y + X = P: 1 / 2Z gives x and y from their
 * difference and sum. An r whose y is not below p equals no encoding. */
static lane_mask compare(const struct lane_point *sum, const struct lane_equation *equations,
                         unsigned count, unsigned spread)
{
    alignas(64) uint64_t r[4][LANES] = { { 0 } };
    for (unsigned lane = 0; lane < count * spread && lane < LANES; lane++)
        for (unsigned i = 0; i < 4; i++)
            r[i][lane] = cc_load64(equations[lane / spread].r + 8 * i);
    lane_word words[4];
    for (unsigned i = 0; i < 4; i++)
        words[i] = _mm512_load_si512(r[i]);
    lane_mask want_odd = _mm512_movepi64_mask(words[3]);
    words[3] = lane_and(words[3], lane_set(INT64_MAX));
    struct lane_field want_y = lane_field_unpack(words);

    struct lane_field inverse = lane_field_add(sum->z, sum->z);
    invert(&inverse, &inverse);
    struct lane_field x = lane_field_subtract(sum->p, sum->m);
    struct lane_field y = lane_field_add(sum->p, sum->m);
    multiply(&x, &x, &inverse);
    multiply(&y, &y, &inverse);
    x = lane_field_canonical(x);
    y = lane_field_canonical(y);
    lane_mask is_odd = _mm512_test_epi64_mask(x.limb[0], lane_set(1));
    lane_mask same = (lane_mask) ~(is_odd ^ want_odd);
    for (unsigned i = 0; i < 5; i++)
        same &= _mm512_cmpeq_epi64_mask(y.limb[i], want_y.limb[i]);
    return same;
}

/* Loads the scalars of the equations into their lanes. Lanes after the last get digits 0: their sum
 * is the identity. */
static void load_scalars(struct lane_comb *comb, const struct lane_equation *equations,
                         unsigned count)
{
    for (unsigned lane = 0; lane < LANES; lane++) {
        unsigned i = lane / comb->spread;
        uint64_t h[4] = { 0 }, s[4] = { 0 };
        ed25519_scalar_bias(h, i < count ? equations[i].h : h, ED25519_SCALAR_BIAS_4BIT);
        ed25519_scalar_bias(s, i < count ? equations[i].s : s, ED25519_SCALAR_BIAS_8BIT);
        for (unsigned word = 0; word < 4; word++) {
            comb->h[word][lane] = h[word];
            comb->s[word][lane] = s[word];
        }
    }
}

/* Loads the tables of the equations into their lanes, as tables of comb->positions. */
static void load_tables(struct lane_comb *comb, const struct lane_equation *equations,
                        unsigned count)
{
    const uint64_t position = ED25519_TABLE_MULTIPLES * sizeof(struct ed25519_multiple);
    for (unsigned lane = 0; lane < LANES; lane++) {
        unsigned i = lane / comb->spread;
        const struct ed25519_table *table = i < count ? equations[i].table : equations[0].table;
        comb->multiples[lane] = (uint64_t)(uintptr_t)table->multiples;
        comb->stride[lane] = position * (table->positions / comb->positions);
    }
}

uint64_t lane_equation_cached(const struct lane_equation *equations, unsigned count)
{
    INVARIANT(count >= 1 && count <= LANES);
    struct lane_comb comb;
    comb.spread = 1;
    comb.positions = ED25519_TABLE_POSITIONS;
    for (unsigned i = 0; i < count; i++)
        if (equations[i].table->positions < comb.positions)
            comb.positions = ED25519_TABLE_POSITIONS_SMALL;
    load_scalars(&comb, equations, count);
    load_tables(&comb, equations, count);
    struct lane_point sum;
    lane_comb_sum(&sum, &comb);
    return compare(&sum, equations, count, 1) & ((UINT64_C(1) << count) - 1);
}

uint64_t lane_equation_split(const struct lane_equation *equations, unsigned count)
{
    INVARIANT(count >= 1 && count <= SPLIT_MAX);
    struct lane_comb comb;
    comb.spread = count == 1 ? 8 : count == 2 ? 4 : 2;
    comb.positions = ED25519_TABLE_POSITIONS;
    for (unsigned i = 0; i < count; i++)
        INVARIANT(equations[i].table->positions == ED25519_TABLE_POSITIONS);
    load_scalars(&comb, equations, count);
    load_tables(&comb, equations, count);
    struct lane_point sum;
    lane_comb_sum(&sum, &comb);
    lane_mask same = compare(&sum, equations, count, comb.spread);
    uint64_t good = 0;
    for (unsigned i = 0; i < count; i++)
        good |= (uint64_t)(same >> (i * comb.spread) & 1) << i;
    return good;
}

uint64_t lane_equation_uncached(const struct lane_equation *equations, unsigned count)
{
    INVARIANT(count >= 1 && count <= LANES);
    struct lane_comb comb;
    comb.spread = 1;
    load_scalars(&comb, equations, count);
    const uint8_t *keys[LANES];
    for (unsigned i = 0; i < count; i++)
        keys[i] = equations[i].key;
    struct lane_point negated, sum;
    lane_mask found = lane_key_decode(&negated, keys, count);
    lane_key_multiply(&sum, &negated, comb.h);
    lane_comb_add_base(&sum, &comb);
    return compare(&sum, equations, count, 1) & found;
}

#endif
