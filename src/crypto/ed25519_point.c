#include "crypto/ed25519_point.h"

#include "crypto/ed25519_inverse.h"

struct ed25519_curve ed25519_point_curve;

static const struct ed25519_field one = { { 1, 0, 0, 0, 0 } };
static const struct ed25519_field zero;

/* d = -121665/121666. 2^((p-1)/4) is a square root of -1 because 2 is no square modulo p: p is
 * 5 modulo 8. (p-1)/4 = 2 (p-5)/8 + 1. */
void ed25519_point_init(void)
{
    struct ed25519_curve *curve = &ed25519_point_curve;
    const struct ed25519_field above = { { 121666, 0, 0, 0, 0 } };
    const struct ed25519_field below = { { 121665, 0, 0, 0, 0 } };
    const struct ed25519_field two = { { 2, 0, 0, 0, 0 } };
    struct ed25519_field value;
    ed25519_inverse(&value, &above);
    ed25519_field_multiply(&value, &value, &below);
    ed25519_field_subtract(&value, &zero, &value);
    ed25519_field_multiply(&curve->d, &value, &one);
    ed25519_field_multiply(&curve->d2, &value, &two);

    ed25519_field_power_root(&value, &two);
    ed25519_field_square(&value, &value);
    ed25519_field_multiply(&curve->sqrt_minus_one, &value, &two);
}

void ed25519_point_neutral(struct ed25519_point *point)
{
    *point = (struct ed25519_point){ .y = one, .z = one };
}

void ed25519_point_negate(struct ed25519_point *point)
{
    ed25519_field_subtract(&point->x, &zero, &point->x);
    ed25519_field_subtract(&point->t, &zero, &point->t);
    ed25519_field_multiply(&point->x, &point->x, &one);
    ed25519_field_multiply(&point->t, &point->t, &one);
}

/* Writes the y of an encoding, without the sign bit, as little-endian words. */
static void masked_words(uint64_t words[4], const uint8_t encoding[32])
{
    memcpy(words, encoding, 32);
    words[3] &= INT64_MAX;
}

bool ed25519_point_is_canonical(const uint8_t encoding[32])
{
    uint64_t y[4];
    masked_words(y, encoding);
    bool high_full = y[3] == INT64_MAX && y[2] == UINT64_MAX && y[1] == UINT64_MAX;
    return !high_full || y[0] < UINT64_MAX - 18;
}

/* The y of the points of order 4 (0), 1 (1), 8 (two values) and 2 (p - 1); then 0 and 1 written as
 * p and p + 1. */
static const uint64_t small_orders[][4] = {
    { 0, 0, 0, 0 },
    { 1, 0, 0, 0 },
    { 0xb027b2c28f95e826, 0xf098eff289f4c345, 0x3933c6d305acdfd5, 0x05fc536d880238b1 },
    { 0x4fd84d3d706a17c7, 0x0f67100d760b3cba, 0xc6cc392cfa53202a, 0x7a03ac9277fdc74e },
    { UINT64_MAX - 19, UINT64_MAX, UINT64_MAX, INT64_MAX },
    { UINT64_MAX - 18, UINT64_MAX, UINT64_MAX, INT64_MAX },
    { UINT64_MAX - 17, UINT64_MAX, UINT64_MAX, INT64_MAX },
};

bool ed25519_point_is_small_order(const uint8_t encoding[32])
{
    uint64_t y[4];
    masked_words(y, encoding);
    for (size_t i = 0; i < CC_COUNT(small_orders); i++)
        if (memcmp(y, small_orders[i], sizeof y) == 0)
            return true;
    return false;
}

/* x^2 = u/v with u = y^2 - 1, v = d y^2 + 1. The candidate is r = u v^3 (u v^7)^((p-5)/8). If v r^2
 * = u, r is the root. If v r^2 = -u, r sqrt(-1) is the root. Otherwise u/v is no square (RFC 8032,
 * 5.1.3). v is never 0, because -1/d is no square. */
bool ed25519_point_decode(struct ed25519_point *point, const uint8_t encoding[32])
{
    const struct ed25519_curve *curve = &ed25519_point_curve;
    uint64_t words[4];
    memcpy(words, encoding, sizeof words);
    bool sign = words[3] >> 63 != 0;
    struct ed25519_field y, u, v, v3, root, check, minus_u;
    ed25519_field_from_words(&y, words);
    ed25519_field_square(&u, &y);
    ed25519_field_multiply(&v, &u, &curve->d);
    ed25519_field_subtract(&u, &u, &one);
    ed25519_field_add(&v, &v, &one);

    ed25519_field_square(&v3, &v);
    ed25519_field_multiply(&v3, &v3, &v);
    ed25519_field_square(&root, &v3);
    ed25519_field_multiply(&root, &root, &v);
    ed25519_field_multiply(&root, &root, &u);
    ed25519_field_power_root(&root, &root);
    ed25519_field_multiply(&root, &root, &v3);
    ed25519_field_multiply(&root, &root, &u);

    ed25519_field_square(&check, &root);
    ed25519_field_multiply(&check, &check, &v);
    ed25519_field_subtract_wide(&minus_u, &zero, &u);
    if (ed25519_field_equal(&check, &minus_u))
        ed25519_field_multiply(&root, &root, &curve->sqrt_minus_one);
    else if (!ed25519_field_equal(&check, &u))
        return false;

    ed25519_field_to_words(words, &root);
    if ((words[0] & 1) != sign)
        ed25519_field_subtract(&root, &zero, &root);
    ed25519_field_multiply(&point->x, &root, &one);
    ed25519_field_multiply(&point->y, &y, &one);
    point->z = one;
    ed25519_field_multiply(&point->t, &root, &y);
    return true;
}

void ed25519_point_encode(uint8_t encoding[32], const struct ed25519_point *point,
                          const struct ed25519_field *inverse_z)
{
    struct ed25519_field x, y;
    uint64_t x_words[4], y_words[4];
    ed25519_field_multiply(&x, &point->x, inverse_z);
    ed25519_field_multiply(&y, &point->y, inverse_z);
    ed25519_field_to_words(x_words, &x);
    ed25519_field_to_words(y_words, &y);
    y_words[3] |= x_words[0] << 63;
    memcpy(encoding, y_words, sizeof y_words);
}

/* dbl-2008-hwcd for a = -1, with all four factors negated twice. Limbs: squares are reduced, h and
 * z2 below 2^52 + 2^14, g below 2^52.6, f below 2^53.6 (z2 + 4p), e below 2^53.6 (square + 4p). */
void ed25519_point_double(struct ed25519_point *out, const struct ed25519_point *point, bool with_t)
{
    struct ed25519_field xx, yy, zz, sum, e, f, g, h;
    ed25519_field_square(&xx, &point->x);
    ed25519_field_square(&yy, &point->y);
    ed25519_field_square(&zz, &point->z);
    ed25519_field_add(&sum, &point->x, &point->y);
    ed25519_field_square(&sum, &sum);
    ed25519_field_add(&h, &yy, &xx);
    ed25519_field_subtract(&g, &yy, &xx);
    ed25519_field_subtract_wide(&e, &sum, &h); /* 2XY */
    ed25519_field_add(&zz, &zz, &zz);
    ed25519_field_subtract_wide(&f, &zz, &g);
    ed25519_field_multiply(&out->x, &e, &f);
    ed25519_field_multiply(&out->y, &g, &h);
    ed25519_field_multiply(&out->z, &f, &g);
    if (with_t)
        ed25519_field_multiply(&out->t, &e, &h);
}

void ed25519_point_addend(struct ed25519_addend *addend, const struct ed25519_point *point)
{
    ed25519_field_subtract(&addend->y_minus_x, &point->y, &point->x);
    ed25519_field_add(&addend->y_plus_x, &point->y, &point->x);
    ed25519_field_add(&addend->z2, &point->z, &point->z);
    ed25519_field_multiply(&addend->t2d, &point->t, &ed25519_point_curve.d2);
}

/* The second half of add-2008-hwcd-3, from A = (Y1-X1)(Y2-X2), B = (Y1+X1)(Y2+X2), C = 2d T1 T2
 * (all reduced) and D = 2 Z1 Z2 (below 2^52 + 2^14). Limbs: h and g below 2^53, e and f below
 * 2^53.1. Subtracting a point negates its x: A and B are already exchanged and C negated, so f and
 * g are exchanged too. */
static inline void add_finish(struct ed25519_point *out, const struct ed25519_field *a,
                              const struct ed25519_field *b, const struct ed25519_field *c,
                              const struct ed25519_field *d, bool subtract)
{
    struct ed25519_field e, h, fg[2];
    ed25519_field_subtract(&e, b, a);
    ed25519_field_add(&h, b, a);
    ed25519_field_subtract(&fg[0], d, c);
    ed25519_field_add(&fg[1], d, c);
    const struct ed25519_field *f = &fg[subtract];
    const struct ed25519_field *g = &fg[!subtract];
    ed25519_field_multiply(&out->x, &e, f);
    ed25519_field_multiply(&out->y, g, &h);
    ed25519_field_multiply(&out->z, f, g);
    ed25519_field_multiply(&out->t, &e, &h);
}

void ed25519_point_add(struct ed25519_point *out, const struct ed25519_point *point,
                       const struct ed25519_addend *addend, bool subtract)
{
    const struct ed25519_field *low = subtract ? &addend->y_plus_x : &addend->y_minus_x;
    const struct ed25519_field *high = subtract ? &addend->y_minus_x : &addend->y_plus_x;
    struct ed25519_field a, b, c, d;
    ed25519_field_subtract(&a, &point->y, &point->x);
    ed25519_field_add(&b, &point->y, &point->x);
    ed25519_field_multiply(&a, &a, low);
    ed25519_field_multiply(&b, &b, high);
    ed25519_field_multiply(&c, &point->t, &addend->t2d);
    ed25519_field_multiply(&d, &point->z, &addend->z2);
    add_finish(out, &a, &b, &c, &d, subtract);
}

void ed25519_point_add_multiple(struct ed25519_point *point,
                                const struct ed25519_multiple *multiple, bool subtract)
{
    struct ed25519_field a, b, c, d, low, high, t2d;
    ed25519_field_from_words(&low, subtract ? multiple->y_plus_x : multiple->y_minus_x);
    ed25519_field_from_words(&high, subtract ? multiple->y_minus_x : multiple->y_plus_x);
    ed25519_field_from_words(&t2d, multiple->xy2d);
    ed25519_field_subtract(&a, &point->y, &point->x);
    ed25519_field_add(&b, &point->y, &point->x);
    ed25519_field_multiply(&a, &a, &low);
    ed25519_field_multiply(&b, &b, &high);
    ed25519_field_multiply(&c, &point->t, &t2d);
    ed25519_field_add(&d, &point->z, &point->z);
    add_finish(point, &a, &b, &c, &d, subtract);
}

static void to_multiple(struct ed25519_multiple *multiple, const struct ed25519_point *point,
                        const struct ed25519_field *inverse_z)
{
    struct ed25519_field x, y, value;
    ed25519_field_multiply(&x, &point->x, inverse_z);
    ed25519_field_multiply(&y, &point->y, inverse_z);
    ed25519_field_subtract(&value, &y, &x);
    ed25519_field_to_words(multiple->y_minus_x, &value);
    ed25519_field_add(&value, &y, &x);
    ed25519_field_to_words(multiple->y_plus_x, &value);
    ed25519_field_multiply(&value, &x, &y);
    ed25519_field_multiply(&value, &value, &ed25519_point_curve.d2);
    ed25519_field_to_words(multiple->xy2d, &value);
}

/* Montgomery's trick: inverts the product of all Z and divides one factor off after the other, the
 * last first. Z is never 0 (the addition formulas are complete), so neither is the product. */
void ed25519_point_multiples(struct ed25519_multiple *multiples, const struct ed25519_point *points,
                             unsigned count)
{
    INVARIANT(count > 0 && count <= ED25519_POINT_MULTIPLES_MAX);
    struct ed25519_field products[ED25519_POINT_MULTIPLES_MAX];
    products[0] = points[0].z;
    for (unsigned i = 1; i < count; i++)
        ed25519_field_multiply(&products[i], &products[i - 1], &points[i].z);
    struct ed25519_field rest, inverse_z;
    ed25519_inverse(&rest, &products[count - 1]);
    for (unsigned i = count - 1; i > 0; i--) {
        ed25519_field_multiply(&inverse_z, &rest, &products[i - 1]);
        ed25519_field_multiply(&rest, &rest, &points[i].z);
        to_multiple(&multiples[i], &points[i], &inverse_z);
    }
    to_multiple(&multiples[0], &points[0], &rest);
}
