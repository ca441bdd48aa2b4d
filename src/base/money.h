/* money.h - the divisions of the rule book (rules.md R1): every rounding of money has a name.
 *
 * Pure: any thread, and the engine.
 *
 * Units. Amounts are micro-USDC, rates ppm; "raw" price times raw quantity is micro-USDC (R1).
 * Bound. Sums that exceed 64 bits are int128. Inside its stated range no function overflows; the
 *        caller ensures the range. */
#ifndef BASE_MONEY_H
#define BASE_MONEY_H

#include "base/compiler.h"

enum { MONEY_PPM = 1000000 };

/* Returns the value, or the end of int64 that it passed. */
static inline int64_t money_clamp(int128 value)
{
    if (value > INT64_MAX)
        return INT64_MAX;
    return value < INT64_MIN ? INT64_MIN : (int64_t)value;
}

/* How far two amounts or prices lie apart. */
static inline uint64_t money_distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

/* Divides toward zero. The divisor is not 0, here and below. */
static inline int128 money_tdiv(int128 value, int128 divisor)
{
    return value / divisor;
}

/* Divides toward minus infinity. */
static inline int128 money_fdiv(int128 value, int128 divisor)
{
    int128 quotient = value / divisor;
    int128 rest = value % divisor;
    return rest != 0 && (rest < 0) != (divisor < 0) ? quotient - 1 : quotient;
}

/* Divides toward plus infinity. */
static inline int128 money_cdiv(int128 value, int128 divisor)
{
    int128 quotient = value / divisor;
    int128 rest = value % divisor;
    return rest != 0 && (rest < 0) == (divisor < 0) ? quotient + 1 : quotient;
}

/* Returns cdiv(notional * ppm, 1e6) without a 128-bit product: the notional is split at 1e6, and
 * both parts are exact. notional <= 2^62, ppm <= 2^21, and the result fits 63 bits. */
static inline int64_t money_ppm_up(uint64_t notional, uint32_t ppm)
{
    if (CC_LIKELY(notional >> 42 == 0)) /* most are: 4,398,046 USDC */
        return (int64_t)((notional * ppm + (MONEY_PPM - 1)) / MONEY_PPM);
    uint64_t whole = notional / MONEY_PPM;
    uint64_t part = notional % MONEY_PPM;
    return (int64_t)(whole * ppm + (part * ppm + (MONEY_PPM - 1)) / MONEY_PPM);
}

/* Returns floor(notional * ppm / 1e6), for the same ranges. */
static inline int64_t money_ppm_down(uint64_t notional, uint32_t ppm)
{
    uint64_t whole = notional / MONEY_PPM;
    uint64_t part = notional % MONEY_PPM;
    return (int64_t)(whole * ppm + part * ppm / MONEY_PPM);
}

/* Returns tdiv(cost * part, whole) of R2, for |part| <= whole <= 2^43 and |cost| <= 2^62. Only
 * large positions exceed a 64-bit product; they take a 128-bit division. */
static inline int64_t money_share(int64_t cost, uint64_t part, uint64_t whole)
{
    int64_t product;
    if (part == whole)
        return cost;
    if (CC_LIKELY(!__builtin_mul_overflow(cost, (int64_t)part, &product)))
        return product / (int64_t)whole;
    return (int64_t)money_tdiv((int128)cost * (int64_t)part, (int64_t)whole);
}

#endif
