/* Points in time as people write them (json.md J1: iso). Values from date -u -d ... +%s. */
#include "check.h"
#include "perp/request/instant.h"

#define S UINT64_C(1000000000)

static const struct {
    int line;
    const char *name;
    uint64_t want; /* ns; 0: refused */
} rows[] = {
    { __LINE__, "1970-01-01T00:00:01Z", 1 * S },
    { __LINE__, "2025-08-19T05:47:11Z", 1755582431 * S },
    { __LINE__, "2025-08-19T05:47:11.232Z", 1755582431 * S + 232000000 },
    { __LINE__, "2024-02-29T23:59:59Z", 1709251199 * S },
    { __LINE__, "2000-02-29T00:00:00Z", 951782400 * S },
    { __LINE__, "2100-03-01T00:00:00Z", 4107542400 * S },
    { __LINE__, "1755582431", 1755582431 * S },
    { __LINE__, "2023-02-29T00:00:00Z", 0 },
    { __LINE__, "2100-02-29T00:00:00Z", 0 },
    { __LINE__, "2025-13-01T00:00:00Z", 0 },
    { __LINE__, "2025-00-01T00:00:00Z", 0 },
    { __LINE__, "2025-04-31T00:00:00Z", 0 },
    { __LINE__, "2025-04-30T24:00:00Z", 0 },
    { __LINE__, "2025-04-30T00:60:00Z", 0 },
    { __LINE__, "2025-04-30T00:00:60Z", 0 },
    { __LINE__, "2025-04-30T00:00:00", 0 },
    { __LINE__, "2025-04-30 00:00:00Z", 0 },
    { __LINE__, "2025-04-30T00:00:00.2Z", 0 },
    { __LINE__, "2025-04-30T00:00:00+00:00", 0 },
    { __LINE__, "+025-04-30T00:00:00Z", 0 },
    { __LINE__, "17555824312", 0 },
    { __LINE__, "tomorrow", 0 },
    { __LINE__, "", 0 },
};

int main(void)
{
    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        uint64_t ns = 0;
        CHECK_ROW(&rows[i], instant_parse(rows[i].name, &ns) == (rows[i].want != 0));
        CHECK_ROW(&rows[i], ns == rows[i].want || rows[i].want == 0);
    }
    return 0;
}
