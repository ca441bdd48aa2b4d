/* decimal.h - exact fixed-point decimals (rules.md R1, json.md J1 `dec`): integers with a scale.
 *
 * A value is an integer; its scale is the number of decimals it counts: 1250000 with scale 6 is
 * "1.25". Text has an optional '-' and no exponent. Written text has no trailing zeros and is never
 * "-0". Pure: any thread, and the engine (code 1001). */
#ifndef BASE_DECIMAL_H
#define BASE_DECIMAL_H

#include "base/compiler.h"

enum {
    DECIMAL_SCALE_MAX = 38,
    DECIMAL_TEXT_MAX = 48,      /* longest text of any value and scale, with its closing zero */
    DECIMAL_AVERAGE_DIGITS = 8, /* an average has this many decimals more than the price (R1) */
};

enum decimal_error {
    DECIMAL_OK,
    DECIMAL_SYNTAX,   /* not a decimal: empty, "-", "1.", ".5", "01", "1e3", "+1" */
    DECIMAL_DECIMALS, /* more decimals than `scale` */
    DECIMAL_RANGE,    /* outside min..max */
};

/* Writes value / 10^scale and a closing zero. Returns the length. */
size_t decimal_format(char text[DECIMAL_TEXT_MAX], int128 value, unsigned scale);

/* Parses a decimal of at most `scale` decimals, trailing zeros included, and stores it in *value as
 * an integer of that scale. The result is within min..max. On an error *value is unchanged. */
CC_MUST_USE enum decimal_error decimal_parse(const char *text, size_t count, unsigned scale,
                                             int64_t min, int64_t max, int64_t *value);

/* Returns numerator / denominator * 10^digits, rounded half to even. The denominator is not 0 and
 * the product fits 127 bits (INVARIANT). */
int128 decimal_divide_half_even(int128 numerator, int128 denominator, unsigned digits);

/* Writes an average price (R1): cost / quantity with price_decimals + 8 decimals, rounded half to
 * even. `cost` is the sum of price_raw * quantity_raw. Both have the sign of the position; the
 * average is unsigned. Returns the length. */
size_t decimal_format_average(char text[DECIMAL_TEXT_MAX], int128 cost, int128 quantity,
                              unsigned price_decimals);

/* Writes an unsigned integer in decimal and a closing zero. Returns the length, at most 20. */
size_t decimal_format_uint(char text[DECIMAL_TEXT_MAX], uint64_t value);

#endif
