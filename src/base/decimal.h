/* decimal.h - exact fixed-point decimals (rules.md R1, json.md J1 `dec`): integers with a scale.
 *
 * A value is an integer and `scale` is how many decimals it counts: 1250000 with scale 6 is "1.25".
 * Text has an optional '-', no exponent, no trailing zeros, and "-0" is never written. Pure: any
 * thread, and the engine (code 1001). */
#ifndef BASE_DECIMAL_H
#define BASE_DECIMAL_H

#include "base/cc.h"

enum {
    DECIMAL_SCALE_MAX = 38,
    DECIMAL_TEXT_MAX = 48,      /* longest text of any value and scale, with its closing zero */
    DECIMAL_AVERAGE_DIGITS = 8, /* an average has this many decimals more than the price (R1) */
};

enum decimal_error {
    DECIMAL_OK,
    DECIMAL_SYNTAX, /* not a decimal: empty, a sign without digits, "1.", ".5", "01", "1e3", "+1" */
    DECIMAL_DECIMALS, /* more decimals than `scale` */
    DECIMAL_RANGE,    /* outside min..max */
};

/* Writes value / 10^scale and a closing zero; gives the length. */
size_t decimal_format(char text[DECIMAL_TEXT_MAX], int128 value, unsigned scale);

/* Reads a decimal of at most `scale` decimals (trailing zeros may be among them) as an integer of
 * that scale in min..max. Any error leaves *value untouched. */
CC_MUST_USE enum decimal_error decimal_parse(const char *text, size_t count, unsigned scale,
                                             int64_t min, int64_t max, int64_t *value);

/* numerator / denominator * 10^digits, rounded half to even; the denominator is not 0 and the
 * product fits 127 bits (INVARIANT). */
int128 decimal_divide_half_even(int128 numerator, int128 denominator, unsigned digits);

/* An average price (R1): cost / quantity with price_decimals + 8 decimals, half to even, where cost
 * is price_raw * quantity_raw summed. Both carry the position's sign; the average has none. */
size_t decimal_format_average(char text[DECIMAL_TEXT_MAX], int128 cost, int128 quantity,
                              unsigned price_decimals);

/* An unsigned integer in decimal with a closing zero; gives the length (at most 20). */
size_t decimal_format_uint(char text[DECIMAL_TEXT_MAX], uint64_t value);

#endif
