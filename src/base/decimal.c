#include "base/decimal.h"

#include "base/text.h"

/* 10^0 .. 10^19. */
static const uint64_t powers_of_ten[] = {
    UINT64_C(1),
    UINT64_C(10),
    UINT64_C(100),
    UINT64_C(1000),
    UINT64_C(10000),
    UINT64_C(100000),
    UINT64_C(1000000),
    UINT64_C(10000000),
    UINT64_C(100000000),
    UINT64_C(1000000000),
    UINT64_C(10000000000),
    UINT64_C(100000000000),
    UINT64_C(1000000000000),
    UINT64_C(10000000000000),
    UINT64_C(100000000000000),
    UINT64_C(1000000000000000),
    UINT64_C(10000000000000000),
    UINT64_C(100000000000000000),
    UINT64_C(1000000000000000000),
    UINT64_C(10000000000000000000),
};

enum { DIGITS_MAX = 39 }; /* of 2^128 - 1 */

/* Writes the digits so that they end at `end`; "0" for 0. Returns their start. */
static char *put_digits_before(char *end, uint128 value)
{
    const uint64_t chunk = powers_of_ten[19];
    char *at = end;
    while (value >= chunk) {
        uint64_t low = (uint64_t)(value % chunk);
        value /= chunk;
        for (unsigned i = 0; i < 19; i++, low /= 10)
            *--at = (char)('0' + low % 10);
    }
    uint64_t rest = (uint64_t)value;
    do {
        *--at = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest != 0);
    return at;
}

size_t decimal_format(char text[DECIMAL_TEXT_MAX], int128 value, unsigned scale)
{
    INVARIANT(scale <= DECIMAL_SCALE_MAX);
    uint128 magnitude = value < 0 ? -(uint128)value : (uint128)value;
    char digits[DIGITS_MAX + 1];
    char *end = digits + sizeof digits;
    char *start = put_digits_before(end, magnitude);
    size_t decimals = scale;
    while (decimals > 0 && end > start && end[-1] == '0') {
        end--;
        decimals--;
    }
    if (end == start) /* the value is 0 */
        decimals = 0;

    char *out = text;
    if (value < 0)
        *out++ = '-';
    size_t count = (size_t)(end - start);
    size_t whole = count > decimals ? count - decimals : 0;
    if (whole == 0)
        *out++ = '0';
    memcpy(out, start, whole);
    out += whole;
    if (decimals > 0) {
        *out++ = '.';
        for (size_t zeros = decimals - (count - whole); zeros > 0; zeros--)
            *out++ = '0';
        memcpy(out, start + whole, count - whole);
        out += count - whole;
    }
    *out = '\0';
    INVARIANT(out - text < DECIMAL_TEXT_MAX);
    return (size_t)(out - text);
}

size_t decimal_format_uint(char text[DECIMAL_TEXT_MAX], uint64_t value)
{
    char digits[DIGITS_MAX + 1];
    char *end = digits + sizeof digits;
    char *start = put_digits_before(end, value);
    size_t count = (size_t)(end - start);
    memcpy(text, start, count);
    text[count] = '\0';
    return count;
}

/* Appends `count` digits to *value. False when it exceeds 2^64, which is far outside any int64. */
static bool append_digits(uint128 *value, const char *digits, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        *value = *value * 10 + (unsigned)(digits[i] - '0');
        if (*value > UINT64_MAX)
            return false;
    }
    return true;
}

/* Splits a decimal into its sign, whole digits and decimals; false when it is not one. */
static bool split(const char *text, size_t count, bool *negative, size_t *whole_at,
                  size_t *whole_count, size_t *decimals_at)
{
    size_t at = 0;
    *negative = count > 0 && text[0] == '-';
    if (*negative)
        at++;
    *whole_at = at;
    while (at < count && text_is_digit(text[at]))
        at++;
    *whole_count = at - *whole_at;
    if (*whole_count == 0 || (*whole_count > 1 && text[*whole_at] == '0'))
        return false;
    *decimals_at = count;
    if (at == count)
        return true;
    if (text[at] != '.' || at + 1 == count)
        return false;
    *decimals_at = ++at;
    while (at < count && text_is_digit(text[at]))
        at++;
    return at == count;
}

enum decimal_error decimal_parse(const char *text, size_t count, unsigned scale, int64_t min,
                                 int64_t max, int64_t *value)
{
    INVARIANT(scale <= DECIMAL_SCALE_MAX);
    INVARIANT(min <= max);
    bool negative;
    size_t whole_at, whole_count, decimals_at;
    if (!split(text, count, &negative, &whole_at, &whole_count, &decimals_at))
        return DECIMAL_SYNTAX;
    size_t decimals = count - decimals_at;
    if (decimals > scale)
        return DECIMAL_DECIMALS;

    uint128 magnitude = 0;
    static const char zeros[DECIMAL_SCALE_MAX] = "00000000000000000000000000000000000000";
    if (!append_digits(&magnitude, text + whole_at, whole_count) ||
        !append_digits(&magnitude, text + decimals_at, decimals) ||
        !append_digits(&magnitude, zeros, scale - decimals))
        return DECIMAL_RANGE;
    int128 parsed = negative ? -(int128)magnitude : (int128)magnitude;
    if (parsed < min || parsed > max)
        return DECIMAL_RANGE;
    *value = (int64_t)parsed;
    return DECIMAL_OK;
}

int128 decimal_divide_half_even(int128 numerator, int128 denominator, unsigned digits)
{
    INVARIANT(denominator != 0);
    INVARIANT(digits < CC_COUNT(powers_of_ten));
    bool negative = (numerator < 0) != (denominator < 0);
    uint128 top = numerator < 0 ? -(uint128)numerator : (uint128)numerator;
    uint128 bottom = denominator < 0 ? -(uint128)denominator : (uint128)denominator;
    const uint128 limit = (uint128)1 << 127;
    INVARIANT(top < limit / powers_of_ten[digits]);
    INVARIANT(bottom < limit);
    top *= powers_of_ten[digits];
    uint128 quotient = top / bottom;
    uint128 rest = top % bottom;
    if (2 * rest > bottom || (2 * rest == bottom && (quotient & 1) != 0))
        quotient++;
    return negative ? -(int128)quotient : (int128)quotient;
}

size_t decimal_format_average(char text[DECIMAL_TEXT_MAX], int128 cost, int128 quantity,
                              unsigned price_decimals)
{
    INVARIANT(price_decimals + DECIMAL_AVERAGE_DIGITS <= DECIMAL_SCALE_MAX);
    int128 average = decimal_divide_half_even(cost, quantity, DECIMAL_AVERAGE_DIGITS);
    return decimal_format(text, average, price_decimals + DECIMAL_AVERAGE_DIGITS);
}
