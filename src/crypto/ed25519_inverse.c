/* Division steps (Bernstein and Yang, "Fast constant-time gcd computation and modular inversion",
 * 2019, the step of their section 8), here with branches on the data.
 *
 * f is odd and g any integer. One step maps (delta, f, g) to
 *
 *     (1 - delta, g, (g - f) / 2)            when delta > 0 and g is odd,
 *     (1 + delta, f, (g + (g mod 2) f) / 2)  otherwise.
 *
 * The greatest common divisor of f and g does not change and f stays odd. From delta = 1, f = p and
 * 0 <= g < p, g is 0 after at most 738 steps (their theorem 11.2: (49 * 255 + 57) / 17, for f^2 + 4
 * g^2 is below 5 * 2^510). Then f is 1 or -1, because p is prime (or p, if x was 0).
 *
 * A step depends only on delta and the lowest bit of g. So the lowest 62 bits of f and g determine
 * 62 steps, and these are linear: 2^62 (f', g') = (f, g) times a matrix of integers. `steps` runs
 * them on one word and gives the matrix. The matrix is then applied to f and g, divided exactly by
 * 2^62, and to d and e, divided by 2^62 modulo p. Throughout d x = f and e x = g modulo p (starting
 * from d = 0, e = 1), so in the end x^-1 = d f, with f = 1 or -1.
 *
 * An integer has five limbs: value = sum of limb[i] * 2^(62 i), limbs 0 .. 3 within [0, 2^62) and
 * limb 4 signed. p itself has the limbs -19, 0, 0, 0, 128, a form in which limb 0 may be negative
 * too. */
#include "crypto/ed25519_inverse.h"

enum {
    BATCH = 62,       /* steps of a matrix */
    LIMBS = 5,        /* of BATCH bits */
    BATCHES_MAX = 12, /* 12 * 62 = 744 */
    PRIME_LOW = -19,  /* limb 0 of p */
    PRIME_HIGH = 128, /* limb 4 of p: 2^255 / 2^248 */
};

#define LIMB_MASK ((UINT64_C(1) << BATCH) - 1)

/* 2^62 (f', g') = (u f + v g, q f + r g). |u| + |v| and |q| + |r| are at most 2^62: a step doubles
 * one row and adds the other to it, or less. */
struct matrix {
    int64_t u, v, q, r;
};

struct wide {
    int64_t limb[LIMBS];
};

/* A mask of the lowest bits that one addition may clear. */
static inline uint64_t clearing_mask(int64_t eta, int64_t left)
{
    int64_t count = eta + 1 < left ? eta + 1 : left;
    return UINT64_MAX >> (64 - count);
}

/* Runs 62 steps on the lowest bits of f and g and stores their matrix. Returns eta = -delta after
 * them.
 *
 * Halvings of an even g are done together. While delta <= 0, a step with an odd g adds f to g and
 * halves it. k such steps in a row do not exchange f and g if k <= 1 - delta: they add w f and
 * halve k times, where w is the one number below 2^k that makes g + w f divisible by 2^k. If delta
 * > 0 and g is odd, the exchanging step is the same step after (f, g) became (g, -f) and delta its
 * negative. Then k is at least 2 and the longer formula of w pays: f (2 - f^2) is 1/f modulo 2^6;
 * otherwise f + 2 ((f + 1) & 4), which is 1/f modulo 2^4. */
static int64_t steps(struct matrix *matrix, int64_t eta, uint64_t f, uint64_t g)
{
    uint64_t u = 1, v = 0, q = 0, r = 1;
    int64_t left = BATCH;
    for (;;) {
        int64_t zeros = __builtin_ctzll(g | UINT64_MAX << left);
        g >>= zeros;
        u <<= zeros;
        v <<= zeros;
        eta -= zeros;
        left -= zeros;
        if (left == 0)
            break;
        if (eta < 0) {
            uint64_t f_before = f, u_before = u, v_before = v;
            eta = -eta;
            f = g, g = -f_before;
            u = q, q = -u_before;
            v = r, r = -v_before;
            uint64_t w = f * g * (f * f - 2) & clearing_mask(eta, left) & 63;
            g += f * w, q += u * w, r += v * w;
        } else {
            uint64_t w = -((f + ((f + 1) & 4) * 2) * g) & clearing_mask(eta, left) & 15;
            g += f * w, q += u * w, r += v * w;
        }
    }
    *matrix = (struct matrix){ (int64_t)u, (int64_t)v, (int64_t)q, (int64_t)r };
    return eta;
}

/* (f, g) = matrix (f, g) / 2^62, exact by the choice of the matrix. `length` limbs, the highest
 * signed. A column is below 2^62 * 2^62 in magnitude, with its carry below 2^125. */
static void apply(struct wide *f, struct wide *g, const struct matrix *matrix, unsigned length)
{
    const int64_t u = matrix->u, v = matrix->v, q = matrix->q, r = matrix->r;
    int128 f_sum = (int128)u * f->limb[0] + (int128)v * g->limb[0];
    int128 g_sum = (int128)q * f->limb[0] + (int128)r * g->limb[0];
    f_sum >>= BATCH;
    g_sum >>= BATCH;
    for (unsigned i = 1; i < length; i++) {
        f_sum += (int128)u * f->limb[i] + (int128)v * g->limb[i];
        g_sum += (int128)q * f->limb[i] + (int128)r * g->limb[i];
        f->limb[i - 1] = (int64_t)((uint64_t)f_sum & LIMB_MASK);
        g->limb[i - 1] = (int64_t)((uint64_t)g_sum & LIMB_MASK);
        f_sum >>= BATCH;
        g_sum >>= BATCH;
    }
    f->limb[length - 1] = (int64_t)f_sum;
    g->limb[length - 1] = (int64_t)g_sum;
}

/* Returns the multiple of p to add for a row (a, b) of the matrix: p once for each of d and e that
 * is negative, then as often as makes the low limb divisible by 2^62 (by 1/p modulo 2^62). */
static int64_t multiple_of_prime(int64_t a, int64_t b, const struct wide *d, const struct wide *e)
{
    /* 1/p = -1/19 modulo 2^62, because 2^62 divides 2^255; 19 * 0x86bca1af286bca1b = 1 modulo
     * 2^64. */
    static const uint64_t inverse = -UINT64_C(0x86bca1af286bca1b);
    uint64_t low = (uint64_t)a * (uint64_t)d->limb[0] + (uint64_t)b * (uint64_t)e->limb[0];
    int64_t lift = (a & (d->limb[LIMBS - 1] >> 63)) + (b & (e->limb[LIMBS - 1] >> 63));
    return lift - (int64_t)((inverse * low + (uint64_t)lift) & LIMB_MASK);
}

/* (d, e) = matrix (d, e) / 2^62 modulo p. d and e stay within (-2p, p): adding p to the negative
 * ones moves both into (-p, p), so a row sums to within (-2^62 p, 2^62 p), and less than 2^62 times
 * p is subtracted before the division by 2^62. */
static void apply_modulo(struct wide *d, struct wide *e, const struct matrix *matrix)
{
    const int64_t u = matrix->u, v = matrix->v, q = matrix->q, r = matrix->r;
    int64_t d_primes = multiple_of_prime(u, v, d, e);
    int64_t e_primes = multiple_of_prime(q, r, d, e);
    int128 d_sum = (int128)d_primes * PRIME_LOW;
    int128 e_sum = (int128)e_primes * PRIME_LOW;
    for (unsigned i = 0; i < LIMBS; i++) {
        d_sum += (int128)u * d->limb[i] + (int128)v * e->limb[i];
        e_sum += (int128)q * d->limb[i] + (int128)r * e->limb[i];
        if (i == LIMBS - 1) {
            d_sum += (int128)d_primes * PRIME_HIGH;
            e_sum += (int128)e_primes * PRIME_HIGH;
        }
        if (i > 0) {
            d->limb[i - 1] = (int64_t)((uint64_t)d_sum & LIMB_MASK);
            e->limb[i - 1] = (int64_t)((uint64_t)e_sum & LIMB_MASK);
        }
        d_sum >>= BATCH;
        e_sum >>= BATCH;
    }
    d->limb[LIMBS - 1] = (int64_t)d_sum;
    e->limb[LIMBS - 1] = (int64_t)e_sum;
}

/* Returns the length without the highest limbs of f and g that only repeat the sign. */
static unsigned shorten(struct wide *f, struct wide *g, unsigned length)
{
    while (length > 1) {
        int64_t f_high = f->limb[length - 1], g_high = g->limb[length - 1];
        if ((f_high != 0 && f_high != -1) || (g_high != 0 && g_high != -1))
            break;
        length--;
        f->limb[length - 1] |= (int64_t)((uint64_t)f_high << BATCH);
        g->limb[length - 1] |= (int64_t)((uint64_t)g_high << BATCH);
    }
    return length;
}

static bool is_zero(const struct wide *g, unsigned length)
{
    int64_t any = 0;
    for (unsigned i = 0; i < length; i++)
        any |= g->limb[i];
    return any == 0;
}

/* value = sign * value + primes * p, carried again. */
static void adjust(struct wide *value, int64_t sign, int64_t primes)
{
    int64_t carry = primes * PRIME_LOW;
    for (unsigned i = 0; i + 1 < LIMBS; i++) {
        carry += sign * value->limb[i];
        value->limb[i] = (int64_t)((uint64_t)carry & LIMB_MASK);
        carry >>= BATCH;
    }
    value->limb[LIMBS - 1] = sign * value->limb[LIMBS - 1] + primes * PRIME_HIGH + carry;
}

static void from_field(struct wide *value, const struct ed25519_field *x)
{
    uint64_t words[4];
    ed25519_field_to_words(words, x);
    value->limb[0] = (int64_t)(words[0] & LIMB_MASK);
    value->limb[1] = (int64_t)((words[0] >> 62 | words[1] << 2) & LIMB_MASK);
    value->limb[2] = (int64_t)((words[1] >> 60 | words[2] << 4) & LIMB_MASK);
    value->limb[3] = (int64_t)((words[2] >> 58 | words[3] << 6) & LIMB_MASK);
    value->limb[4] = (int64_t)(words[3] >> 56);
}

static void to_field(struct ed25519_field *x, const struct wide *value)
{
    uint64_t limb[LIMBS], words[4];
    for (unsigned i = 0; i < LIMBS; i++)
        limb[i] = (uint64_t)value->limb[i];
    words[0] = limb[0] | limb[1] << 62;
    words[1] = limb[1] >> 2 | limb[2] << 60;
    words[2] = limb[2] >> 4 | limb[3] << 58;
    words[3] = limb[3] >> 6 | limb[4] << 56;
    ed25519_field_from_words(x, words);
}

void ed25519_inverse(struct ed25519_field *inverse, const struct ed25519_field *x)
{
    struct wide f = { { PRIME_LOW, 0, 0, 0, PRIME_HIGH } }, g;
    struct wide d = { { 0 } }, e = { { 1, 0, 0, 0, 0 } };
    from_field(&g, x);
    int64_t eta = -1;
    unsigned length = LIMBS;
    for (unsigned batches = 0; !is_zero(&g, length); batches++) {
        INVARIANT(batches < BATCHES_MAX);
        struct matrix matrix;
        eta = steps(&matrix, eta, (uint64_t)f.limb[0], (uint64_t)g.limb[0]);
        apply_modulo(&d, &e, &matrix);
        apply(&f, &g, &matrix, length);
        length = shorten(&f, &g, length);
    }
    /* d is within (-2p, p). It is multiplied by the sign of f, then moved into [0, p). */
    int64_t sign = f.limb[length - 1] < 0 ? -1 : 1;
    adjust(&d, 1, d.limb[LIMBS - 1] < 0);
    adjust(&d, sign, 0);
    adjust(&d, 1, d.limb[LIMBS - 1] < 0);
    to_field(inverse, &d);
}
