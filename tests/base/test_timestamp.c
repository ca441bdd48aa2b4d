/* timestamp: json.md J1 `iso`; wire.md W4 beyond the year 9999. */
#include <time.h>

#include "base/timestamp.h"
#include "check.h"

static const struct row {
    uint64_t unix_ms;
    const char *want;
} rows[] = {
    { 0, "1970-01-01T00:00:00.000Z" },
    { UINT64_C(1755582431232), "2025-08-19T05:47:11.232Z" }, /* W4 */
    { UINT64_C(951782400000), "2000-02-29T00:00:00.000Z" },
    { UINT64_C(4107542399999), "2100-02-28T23:59:59.999Z" },
    { UINT64_C(4107542400000), "2100-03-01T00:00:00.000Z" }, /* 2100 is no leap year */
    { TIMESTAMP_ISO_MAX_MS, "9999-12-31T23:59:59.999Z" },
    { TIMESTAMP_ISO_MAX_MS + 1, "253402300800000" },
    { UINT64_C(281474976710655), "281474976710655" }, /* the last time of a UUIDv7 */
};

int main(void)
{
    char text[TIMESTAMP_TEXT_BYTES + 1];
    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        CHECK(timestamp_format_ms(rows[i].unix_ms, text) == strlen(rows[i].want));
        CHECK(strcmp(text, rows[i].want) == 0);
    }
    /* Each day up to the year 9999 as the C library sees it. */
    for (uint64_t day = 0; day <= TIMESTAMP_ISO_MAX_MS / 86400000; day += 3) {
        time_t seconds = (time_t)(day * 86400);
        struct tm date;
        char want[32];
        CHECK(gmtime_r(&seconds, &date) != NULL);
        CHECK(strftime(want, sizeof want, "%Y-%m-%dT00:00:00.007Z", &date) == 24);
        timestamp_format_ms(day * 86400000 + 7, text);
        CHECK(strcmp(text, want) == 0);
    }
    return 0;
}
