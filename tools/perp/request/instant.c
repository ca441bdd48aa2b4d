#include "perp/request/instant.h"

#include <time.h>

#define NS_PER_S UINT64_C(1000000000)

static bool digits(const char *text, size_t count, int64_t *value)
{
    *value = 0;
    for (size_t i = 0; i < count; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        *value = *value * 10 + (text[i] - '0');
    }
    return count > 0;
}

/* Days from 1970-01-01, by the civil calendar (proleptic Gregorian). */
static int64_t days_of(int64_t year, int64_t month, int64_t day)
{
    year -= month <= 2;
    int64_t era = year / 400, year_of_era = year - era * 400;
    int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year -
           719468;
}

bool instant_parse(const char *text, uint64_t *ns)
{
    int64_t year, month, day, hour, minute, second, fraction = 0;
    size_t count = strlen(text);
    if (count >= 9 && count <= 10 && digits(text, count, &second)) {
        *ns = (uint64_t)second * NS_PER_S;
        return true;
    }
    bool milliseconds = count == 24 && text[19] == '.' && digits(text + 20, 3, &fraction);
    if ((count != 20 && !milliseconds) || text[count - 1] != 'Z' || text[4] != '-' ||
        text[7] != '-' || text[10] != 'T' || text[13] != ':' || text[16] != ':')
        return false;
    if (!digits(text, 4, &year) || !digits(text + 5, 2, &month) || !digits(text + 8, 2, &day) ||
        !digits(text + 11, 2, &hour) || !digits(text + 14, 2, &minute) ||
        !digits(text + 17, 2, &second))
        return false;
    static const int64_t lengths[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    if (year < 1970 || year > 2500 || month < 1 || month > 12 || hour > 23 || minute > 59 ||
        second > 59)
        return false;
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    if (day < 1 || day > lengths[month - 1] + (month == 2 && leap))
        return false;
    int64_t seconds = days_of(year, month, day) * 86400 + hour * 3600 + minute * 60 + second;
    *ns = (uint64_t)seconds * NS_PER_S + (uint64_t)fraction * 1000000;
    return true;
}

static uint64_t read_clock(clockid_t id)
{
    struct timespec now = { 0, 0 };
    INVARIANT(clock_gettime(id, &now) == 0);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

uint64_t instant_now_ns(void)
{
    return read_clock(CLOCK_REALTIME);
}

uint64_t instant_monotonic_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}
