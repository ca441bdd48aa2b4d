/* lane_point.h - eight points of the curve of Ed25519: additions and doubling.
 *
 * The curve is -x^2 + y^2 = 1 + d x^2 y^2. A point in extended coordinates (x = X/Z, y = Y/Z, xy =
 * T/Z) is stored as M = Y - X, P = Y + X, Z and T. An addition needs exactly these and makes the
 * next M and P from two uncarried products, so X and Y are never carried themselves.
 *
 * The formulas are those of Hisil, Wong, Carter and Dawson (2008, section 3.1) for a = -1. They are
 * complete: d is no square in the field, so no pair of curve points is an exception, points of
 * small order and the identity included, and Z is never 0. All is exact in the whole group of order
 * 8 L: nothing here assumes the subgroup of prime order.
 *
 * Bound. M, P and T are loose and Z is wide, on input and on output of every function
 *        (lane_product.h defines the classes). An addition of a multiple only doubles Z; the
 *        functions that multiply Z carry it first. tests/crypto/test_lane_bounds.c computes the
 *        bounds. */
#ifndef CRYPTO_LANE_POINT_H
#define CRYPTO_LANE_POINT_H

#include "crypto/lane_field.h"

#ifdef LANE_WORD_AVAILABLE

struct lane_point {
    struct lane_field m; /* Y - X, loose */
    struct lane_field p; /* Y + X, loose */
    struct lane_field z; /* wide */
    struct lane_field t; /* X Y / Z, loose; undefined after lane_point_double without with_t */
};

/* An affine point as tables hold it, the sign already applied; limbs below 2^52. */
struct lane_multiple {
    struct lane_field y_minus_x;
    struct lane_field y_plus_x;
    struct lane_field xy2d; /* 2 d x y */
};

/* A projective point as the second summand of an addition; every member is loose. */
struct lane_summand {
    struct lane_field y_minus_x;
    struct lane_field y_plus_x;
    struct lane_field z2;  /* 2 Z, loose */
    struct lane_field t2d; /* 2 d T, loose */
};

LANE_INLINE void lane_point_identity(struct lane_point *p)
{
    p->m = lane_field_small(1);
    p->p = lane_field_small(1);
    p->z = lane_field_small(1);
    p->t = lane_field_small(0);
}

/* p = q. All coordinates are multiplied by 2 d, which makes Z = 2 d: T = 2 d x y needs no division.
 * d2 is 2 d in every lane, loose. */
LANE_INLINE void lane_point_from_multiple(struct lane_point *p, const struct lane_multiple *q,
                                          const struct lane_field *d2)
{
    p->m = lane_field_multiply(q->y_minus_x, *d2);
    p->p = lane_field_multiply(q->y_plus_x, *d2);
    p->z = *d2;
    p->t = lane_field_carry(q->xy2d);
}

/* From E, F, G, H: X = E F, Y = G H, Z = F G, T = E H. Input: all four loose. Output: as above; t
 * is set only with `with_t`. */
LANE_INLINE void lane_point_finish(struct lane_point *r, struct lane_field e, struct lane_field f,
                                   struct lane_field g, struct lane_field h, bool with_t)
{
    struct lane_field x = lane_field_product(e, f);
    struct lane_field y = lane_field_product(g, h);
    r->m = lane_field_subtract(y, x);
    r->p = lane_field_add(y, x);
    r->z = lane_field_product(f, g);
    if (with_t)
        r->t = lane_field_multiply(e, h);
}

/* p += q for an affine q, whose limbs are below 2^52: seven multiplications, seven carries. */
LANE_INLINE void lane_point_add_multiple(struct lane_point *p, const struct lane_multiple *q)
{
    struct lane_field a = lane_field_product(p->m, q->y_minus_x);
    struct lane_field b = lane_field_product(p->p, q->y_plus_x);
    struct lane_field e = lane_field_subtract(b, a);
    struct lane_field h = lane_field_add(b, a);
    struct lane_field c = lane_field_product(p->t, q->xy2d);
    struct lane_field z2 = lane_field_sum(p->z, p->z);
    struct lane_field f = lane_field_subtract(z2, c);
    struct lane_field g = lane_field_add(z2, c);
    lane_point_finish(p, e, f, g, h, true);
}

/* p += q for a projective q. */
LANE_INLINE void lane_point_add(struct lane_point *p, const struct lane_summand *q)
{
    struct lane_field a = lane_field_product(p->m, q->y_minus_x);
    struct lane_field b = lane_field_product(p->p, q->y_plus_x);
    struct lane_field e = lane_field_subtract(b, a);
    struct lane_field h = lane_field_add(b, a);
    struct lane_field c = lane_field_product(p->t, q->t2d);
    struct lane_field zz = lane_field_product(lane_field_carry(p->z), q->z2);
    struct lane_field f = lane_field_subtract(zz, c);
    struct lane_field g = lane_field_add(zz, c);
    lane_point_finish(p, e, f, g, h, true);
}

/* p = 2 p. t is set only with `with_t`: a doubling that follows does not read it.
 *
 * With M and P: P^2 - M^2 = 4 X Y, P^2 + M^2 = 2 (X^2 + Y^2), P M = Y^2 - X^2. All four of E, F, G
 * and H are twice those of the paper, F and H with the other sign: every coordinate is then -4
 * times the paper's, the same point. */
LANE_INLINE void lane_point_double(struct lane_point *p, bool with_t)
{
    struct lane_field pp = lane_field_square_product(p->p);
    struct lane_field mm = lane_field_square_product(p->m);
    struct lane_field e = lane_field_subtract(pp, mm);
    struct lane_field h = lane_field_add(pp, mm);
    struct lane_field pm = lane_field_product(p->p, p->m);
    struct lane_field zz = lane_field_square_product(lane_field_carry(p->z));
    struct lane_field zz2 = lane_field_sum(zz, zz);
    struct lane_field g = lane_field_add(pm, pm);
    struct lane_field f = lane_field_subtract(lane_field_sum(zz2, zz2), lane_field_sum(pm, pm));
    lane_point_finish(p, e, f, g, h, with_t);
}

/* p = 16 p */
LANE_INLINE void lane_point_times_16(struct lane_point *p)
{
    for (unsigned i = 0; i < 3; i++)
        lane_point_double(p, false);
    lane_point_double(p, true);
}

/* q = p as a summand; d2 is 2 d in every lane, loose. */
LANE_INLINE void lane_point_summand(struct lane_summand *q, const struct lane_point *p,
                                    const struct lane_field *d2)
{
    q->y_minus_x = p->m;
    q->y_plus_x = p->p;
    q->z2 = lane_field_add(p->z, p->z);
    q->t2d = lane_field_multiply(p->t, *d2);
}

#endif
#endif
