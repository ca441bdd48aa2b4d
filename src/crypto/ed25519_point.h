/* ed25519_point.h - points of the curve -x^2 + y^2 = 1 + d x^2 y^2, one at a time. Pure.
 *
 * A point is X, Y, Z, T with x = X/Z, y = Y/Z, T = XY/Z (Hisil, Wong, Carter, Dawson, "Twisted
 * Edwards curves revisited", 2008). -1 is a square modulo p and d is not, so the addition formulas
 * hold for every pair of points: equal, opposite, of small order or neutral.
 *
 * Every coordinate is `reduced` (ed25519_field.h), on input and on output of each function. */
#ifndef CRYPTO_ED25519_POINT_H
#define CRYPTO_ED25519_POINT_H

#include "crypto/ed25519_field.h"
#include "crypto/ed25519_table.h"

struct ed25519_point {
    struct ed25519_field x, y, z, t;
};

/* A point as the second operand of many additions: Y - X (loose), Y + X (loose), 2Z (loose), 2dT
 * (reduced). */
struct ed25519_addend {
    struct ed25519_field y_minus_x, y_plus_x, z2, t2d;
};

/* The constants of the curve (ed25519_base.h says how and when they are derived). */
struct ed25519_curve {
    struct ed25519_field d;
    struct ed25519_field d2; /* 2d */
    struct ed25519_field sqrt_minus_one;
};
extern struct ed25519_curve ed25519_point_curve;

/* Derives ed25519_point_curve. ed25519_base_init calls it once, before anything else here. */
void ed25519_point_init(void);

/* point = the neutral element (0, 1). */
void ed25519_point_neutral(struct ed25519_point *point);

/* point = -point. */
void ed25519_point_negate(struct ed25519_point *point);

/* True if the y of the encoding, without the sign bit, is below p. */
CC_MUST_USE bool ed25519_point_is_canonical(const uint8_t encoding[32]);

/* True if the encoding, without the sign bit, is that of a point of order 1, 2, 4 or 8.
 * Non-canonical encodings of such points (p and p + 1) count. */
CC_MUST_USE bool ed25519_point_is_small_order(const uint8_t encoding[32]);

/* Decodes a point (RFC 8032, 5.1.3; bit 255 is the lowest bit of x). False when no point of the
 * curve has this y. A non-canonical y is reduced modulo p, and x = 0 with the sign bit set gives x
 * = 0; a caller that must reject these checks ed25519_point_is_canonical and
 * ed25519_point_is_small_order. */
CC_MUST_USE bool ed25519_point_decode(struct ed25519_point *point, const uint8_t encoding[32]);

/* Encodes a point. Input: inverse_z = 1/Z, reduced. */
void ed25519_point_encode(uint8_t encoding[32], const struct ed25519_point *point,
                          const struct ed25519_field *inverse_z);

/* out = 2 * point; out may be point. Without `with_t` the t of the result is undefined: the next
 * operation must be another doubling. */
void ed25519_point_double(struct ed25519_point *out, const struct ed25519_point *point,
                          bool with_t);

/* addend = point, prepared for additions. */
void ed25519_point_addend(struct ed25519_addend *addend, const struct ed25519_point *point);

/* out = point + addend, or point - addend with `subtract`; out may be point. */
void ed25519_point_add(struct ed25519_point *out, const struct ed25519_point *point,
                       const struct ed25519_addend *addend, bool subtract);

/* point += multiple, or point -= multiple with `subtract`. */
void ed25519_point_add_multiple(struct ed25519_point *point,
                                const struct ed25519_multiple *multiple, bool subtract);

/* multiples[i] = points[i] for 1 .. ED25519_POINT_MULTIPLES_MAX points, by one inversion for
 * all. */
enum { ED25519_POINT_MULTIPLES_MAX = 64 };
void ed25519_point_multiples(struct ed25519_multiple *multiples, const struct ed25519_point *points,
                             unsigned count);

#endif
