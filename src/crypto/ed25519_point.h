/* ed25519_point.h - points of the curve -x^2 + y^2 = 1 + d x^2 y^2, one at a time. Pure.
 *
 * A point is kept as X, Y, Z, T with x = X/Z, y = Y/Z, T = XY/Z (Hisil, Wong, Carter, Dawson,
 * "Twisted Edwards curves revisited", 2008). Since -1 is a square modulo p and d is not, the
 * addition formulas hold for every pair of points: the same, opposite, of small order or neutral.
 *
 * Limbs of every coordinate are `reduced` (ed25519_field.h), and so are those a function gives. */
#ifndef CRYPTO_ED25519_POINT_H
#define CRYPTO_ED25519_POINT_H

#include "crypto/ed25519_field.h"
#include "crypto/ed25519_table.h"

struct ed25519_point {
    struct ed25519_field x, y, z, t;
};

/* A point as the second operand of many additions: Y - X, Y + X (loose), 2Z (loose), 2dT. */
struct ed25519_addend {
    struct ed25519_field y_minus_x, y_plus_x, z2, t2d;
};

/* Constants of the curve (ed25519_base.h says how they are derived and when). */
struct ed25519_curve {
    struct ed25519_field d;
    struct ed25519_field d2; /* 2d */
    struct ed25519_field sqrt_minus_one;
};
extern struct ed25519_curve ed25519_point_curve;

/* Derives ed25519_point_curve. Once, before anything else here; ed25519_base_init calls it. */
void ed25519_point_init(void);

/* The neutral element (0, 1). */
void ed25519_point_neutral(struct ed25519_point *point);

/* -point. */
void ed25519_point_negate(struct ed25519_point *point);

/* Is the y of the encoding, its sign bit masked, below p. */
CC_MUST_USE bool ed25519_point_canonical(const uint8_t encoding[32]);

/* Does the encoding, its sign bit masked, stand for a point of order 1, 2, 4 or 8; non-canonical
 * encodings of such points (p and p + 1) included. */
CC_MUST_USE bool ed25519_point_small_order(const uint8_t encoding[32]);

/* The point of an encoding (RFC 8032, 5.1.3; bit 255 is the lowest bit of x). False when no point
 * of the curve has this y. A non-canonical y is taken modulo p, and x = 0 with the sign bit set is
 * taken as x = 0: who needs those refused asks ed25519_point_canonical and _small_order. */
CC_MUST_USE bool ed25519_point_decode(struct ed25519_point *point, const uint8_t encoding[32]);

/* The encoding of a point whose 1/Z is given. */
void ed25519_point_encode(uint8_t encoding[32], const struct ed25519_point *point,
                          const struct ed25519_field *inverse_z);

/* out = 2 * point; out may be point. Without `with_t` the t of the result is left unset: the next
 * operation must be another doubling. */
void ed25519_point_double(struct ed25519_point *out, const struct ed25519_point *point,
                          bool with_t);

/* The point as an addend. */
void ed25519_point_addend(struct ed25519_addend *addend, const struct ed25519_point *point);

/* out = point + addend, or point - addend; out may be point. */
void ed25519_point_add(struct ed25519_point *out, const struct ed25519_point *point,
                       const struct ed25519_addend *addend, bool subtract);

/* point += entry, or point -= entry. */
void ed25519_point_add_entry(struct ed25519_point *point, const struct ed25519_entry *entry,
                             bool subtract);

/* entries[i] = points[i], by one inversion for all of them; count 1 ..
 * ED25519_POINT_ENTRIES_MAX. */
enum { ED25519_POINT_ENTRIES_MAX = 64 };
void ed25519_point_entries(struct ed25519_entry *entries, const struct ed25519_point *points,
                           unsigned count);

#endif
