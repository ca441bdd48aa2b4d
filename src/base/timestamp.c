#include "base/timestamp.h"

#include "base/decimal.h"

static char *put_digits(char *at, uint32_t value, unsigned width)
{
    for (unsigned i = width; i-- > 0; value /= 10)
        at[i] = (char)('0' + value % 10);
    return at + width;
}

/* Converts a day since 1970-01-01 to year, month and day: the civil calendar counted from 1 March
 * of the year 0, in eras of 400 years = 146,097 days (Hinnant, "chrono-Compatible Low-Level Date
 * Algorithms"). */
static void civil_date(uint32_t days, uint32_t *year, uint32_t *month, uint32_t *day)
{
    uint32_t shifted = days + 719468;
    uint32_t era = shifted / 146097;
    uint32_t day_of_era = shifted % 146097;
    uint32_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    uint32_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    uint32_t march_month = (5 * day_of_year + 2) / 153;
    *day = day_of_year - (153 * march_month + 2) / 5 + 1;
    *month = march_month < 10 ? march_month + 3 : march_month - 9;
    *year = era * 400 + year_of_era + (*month <= 2 ? 1 : 0);
}

size_t timestamp_format_ms(uint64_t unix_ms, char text[TIMESTAMP_TEXT_BYTES + 1])
{
    if (unix_ms > TIMESTAMP_ISO_MAX_MS) {
        char digits[DECIMAL_TEXT_MAX];
        size_t length = decimal_format_uint(digits, unix_ms);
        INVARIANT(length <= TIMESTAMP_TEXT_BYTES);
        memcpy(text, digits, length + 1);
        return length;
    }
    const uint32_t ms_per_day = 86400000;
    uint32_t ms = (uint32_t)(unix_ms % ms_per_day);
    uint32_t year, month, day;
    civil_date((uint32_t)(unix_ms / ms_per_day), &year, &month, &day);
    char *at = put_digits(text, year, 4);
    *at++ = '-';
    at = put_digits(at, month, 2);
    *at++ = '-';
    at = put_digits(at, day, 2);
    *at++ = 'T';
    at = put_digits(at, ms / 3600000, 2);
    *at++ = ':';
    at = put_digits(at, ms / 60000 % 60, 2);
    *at++ = ':';
    at = put_digits(at, ms / 1000 % 60, 2);
    *at++ = '.';
    at = put_digits(at, ms % 1000, 3);
    *at++ = 'Z';
    *at = '\0';
    return (size_t)(at - text);
}
