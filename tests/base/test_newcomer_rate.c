/* How many accounts an address makes while an unfunded one lives (wire.md W8). Times are made up,
 * numbers worked out from the burst and the life. */
#include "base/newcomer_rate.h"
#include "check.h"

#define MS     UINT64_C(1000000)
#define SECOND (1000 * MS)
#define START  (1000 * MS)

/* The default: an eighth of 8,192 in an hour, one each 3,515.625 ms. */
enum { BURST = 1024, LIFE_S = 3600, SHARE = 8192 };

static const struct mix_key hash_key = { 7, 9 };

static struct newcomer_rate *make(uint32_t burst)
{
    struct newcomer_rate *rate;
    CHECK(newcomer_rate_create(&rate, burst, LIFE_S, hash_key) == 0);
    return rate;
}

static uint64_t ipv4(uint8_t a, uint8_t b, uint8_t c, uint8_t d)
{
    return UINT64_C(0xffff) << 32 | (uint64_t)a << 24 | (uint64_t)b << 16 | (uint64_t)c << 8 | d;
}

static uint32_t drain(struct newcomer_rate *rate, uint64_t address, uint64_t now_ns)
{
    uint32_t count = 0;
    while (newcomer_rate_take(rate, address, now_ns) == 0)
        count++;
    return count;
}

static void bucket(void)
{
    struct newcomer_rate *rate = make(BURST);
    uint64_t address = ipv4(10, 0, 0, 1);

    CHECK(newcomer_rate_remaining(rate, address, START) == BURST);
    CHECK(newcomer_rate_take(rate, address, START) == 0);
    CHECK(newcomer_rate_remaining(rate, address, START) == BURST - 1);
    CHECK(drain(rate, address, START) == BURST - 1);
    CHECK(newcomer_rate_remaining(rate, address, START) == 0);
    CHECK(newcomer_rate_take(rate, address, START) == 3516);
    CHECK(newcomer_rate_take(rate, address, START + 3515 * MS) == 1);
    CHECK(newcomer_rate_take(rate, address, START + 3516 * MS) == 0);
    CHECK(newcomer_rate_remaining(rate, address, START + 1801 * SECOND) == BURST / 2 - 1);
    CHECK(newcomer_rate_remaining(rate, address, START + 3604 * SECOND) == BURST);
    CHECK(newcomer_rate_take(NULL, address, START) == 0);
    CHECK(newcomer_rate_remaining(NULL, address, START) == UINT32_MAX);
    newcomer_rate_destroy(rate);
    newcomer_rate_destroy(NULL);

    rate = make(1);
    CHECK(newcomer_rate_take(rate, address, START) == 0);
    CHECK(newcomer_rate_take(rate, address, START) == 3600000);
    newcomer_rate_destroy(rate);
    rate = make(10000000); /* the most: one each 0.36 ms */
    CHECK(newcomer_rate_take(rate, address, START) == 0);
    CHECK(newcomer_rate_remaining(rate, address, START) == 9999999);
    newcomer_rate_destroy(rate);
}

/* One that takes what it can in each second of an hour has a quarter of the share; a whole prefix
 * has half, in whatever order its addresses come; another prefix has its own. */
static void whole_hour(uint64_t base, uint32_t addresses, uint32_t most)
{
    struct newcomer_rate *rate = make(BURST);
    uint32_t made = 0;

    for (uint64_t second = 0; second < LIFE_S; second++)
        for (uint32_t i = 0; i < addresses; i++)
            made += drain(rate, base + i, START + second * SECOND);
    CHECK(made <= most && made + 8 > most);
    CHECK(newcomer_rate_take(rate, base + (addresses - 1) / 2, START + 3599 * SECOND) != 0);
    newcomer_rate_destroy(rate);
}

static void prefixes(void)
{
    whole_hour(ipv4(10, 0, 0, 1), 1, SHARE / 4);
    whole_hour(ipv4(10, 0, 0, 0), 256, SHARE / 2);
    whole_hour(UINT64_C(0x20010db800010000), 256, SHARE / 2); /* of the /64 of a /48 */

    struct newcomer_rate *rate = make(BURST);
    for (uint32_t i = 0; i < 256; i++)
        (void)drain(rate, ipv4(10, 0, 0, (uint8_t)i), START);
    CHECK(newcomer_rate_remaining(rate, ipv4(10, 0, 0, 77), START) == 0);
    CHECK(newcomer_rate_remaining(rate, ipv4(10, 0, 1, 77), START) == BURST);
    CHECK(newcomer_rate_remaining(rate, UINT64_C(0x20010db800010000), START) == BURST);
    newcomer_rate_destroy(rate);
}

/* Many addresses that make one account each do not end what one of them owes, and owe little. */
static void churn(void)
{
    struct newcomer_rate *rate = make(BURST);
    uint32_t made = 0;

    CHECK(drain(rate, ipv4(10, 0, 0, 1), START) == BURST);
    for (uint32_t i = 2; i < 256; i++)
        CHECK(newcomer_rate_take(rate, ipv4(10, 0, 0, (uint8_t)i), START) == 0);
    CHECK(newcomer_rate_take(rate, ipv4(10, 0, 0, 1), START) == 3516);
    CHECK(newcomer_rate_remaining(rate, ipv4(10, 0, 0, 2), START) == BURST - 254);
    for (uint32_t i = 0; i < 100000; i++) { /* those of other prefixes */
        uint64_t other = ipv4(11, (uint8_t)(i >> 8), (uint8_t)i, (uint8_t)(i >> 16));
        made += newcomer_rate_take(rate, other, START) == 0;
    }
    CHECK(made > 99000); /* hardly any meets another's set */
    CHECK(newcomer_rate_take(rate, ipv4(10, 0, 0, 1), START) == 3516);
    newcomer_rate_destroy(rate);
}

int main(void)
{
    bucket();
    prefixes();
    churn();
    return 0;
}
