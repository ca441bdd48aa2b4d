/* Deferred work (rules.md R3): first in, first out; timers by deadline, then market seconds, then
 * expiries by placing sequence; mark scans by portfolio number, run again after a further change;
 * next deadline and pending work as the node asks for them. */
#include "engine/work/work.h"
#include "trade.h"

#define M TRADE_MARK
#define S HOST_SECOND_NS

static void test_deadline(void)
{
    static struct host host;

    host_open_bare(&host, NULL);
    CHECK(engine_next_deadline(host.engine) == UINT64_MAX && !engine_has_work(host.engine));
    host_close(&host);
    trade_open(&host, NULL);
    uint64_t second = trade_market(&host)->second_ns + S;
    CHECK(engine_next_deadline(host.engine) == second);
    uint64_t expiry = host.clock_ns + 1000000;
    CHECK(trade_tif(&host, 1, 1000, 990000, expiry) == TRADE_OK);
    CHECK(engine_next_deadline(host.engine) == expiry);
    CHECK(host_cancel(&host, 1, host.id) == TRADE_OK);
    CHECK(engine_next_deadline(host.engine) == second);
    host_close(&host);
}

/* The node authors a tick for a market's second only while its index is valid and becomes old. */
static void test_needed(void)
{
    static struct host host;

    trade_open(&host, "exchange.oracle_max_age_ms=10000\n");
    uint64_t second = trade_market(&host)->second_ns + S;
    CHECK(engine_next_deadline(host.engine) == second && engine_next_needed(host.engine) == second);
    host_tick(&host, 30 * S); /* finds the index old */
    CHECK(engine_next_deadline(host.engine) != UINT64_MAX);
    CHECK(engine_next_needed(host.engine) == UINT64_MAX);
    host_close(&host);

    trade_open(&host, "exchange.oracle_max_age_ms=0\n");
    CHECK(engine_next_deadline(host.engine) != UINT64_MAX);
    CHECK(engine_next_needed(host.engine) == UINT64_MAX);
    uint64_t expiry = host.clock_ns + 1000000;
    CHECK(trade_tif(&host, 1, 1000, 990000, expiry) == TRADE_OK);
    CHECK(engine_next_needed(host.engine) == expiry);
    host_close(&host);
}

/* Expiries at one moment go by placing sequence; an earlier deadline first; a second that falls on
 * the same moment before them. One unit a command shows the order. */
static void test_timers(void)
{
    static struct host host;

    trade_open(&host, "engine.work_per_command=1\n");
    uint64_t second = trade_market(&host)->second_ns + S;
    CHECK(second - host.clock_ns > 1000);
    struct trade_id ids[3];
    static const uint64_t before[] = { 0, 0, 1 }; /* the third is due 1 ns earlier */
    for (uint32_t i = 0; i < 3; i++) {
        CHECK(trade_tif(&host, 1, 1000 + i, 990000, second - before[i]) == TRADE_OK);
        memcpy(ids[i].bytes, host.id, sizeof ids[i].bytes);
    }
    host.clock_ns = second;
    host_tick(&host, 0);
    CHECK(trade_last_state(&host).remaining == 1002 &&
          trade_last_state(&host).status == ORDER_EXPIRED);
    struct effect_timer timer;
    memcpy(&timer, host_effect(&host, EFFECT_timer, 0)->bytes, sizeof timer);
    CHECK(timer.kind == TIMER_EXPIRY && timer.portfolio.account_id == 1 && timer.asset_id == 1);
    host_tick(&host, 1);
    CHECK(trade_effects(&host, EFFECT_mark) == 1 && trade_effects(&host, EFFECT_order_state) == 0);
    host_tick(&host, 1);
    CHECK(trade_last_state(&host).remaining == 1000);
    host_tick(&host, 1);
    CHECK(trade_last_state(&host).remaining == 1001);
    host_tick(&host, 1);
    CHECK(!engine_has_work(host.engine) && host.engine->orders.count == 0);
    host_close(&host);
}

/* Every account has a position; the mark moves: six units, in order of portfolio number. */
static void test_scan(void)
{
    static struct host host;

    trade_open(&host, "engine.work_per_command=2\n");
    for (uint32_t n = 1; n <= TRADE_ACCOUNTS; n += 2) {
        trade_rest(&host, n, 1000, M);
        CHECK(trade_limit(&host, n + 1, -1000, M) == TRADE_OK);
    }
    while (engine_has_work(host.engine))
        host_tick(&host, 1);
    CHECK(host_oracle(&host, HOST_BTC, M + 1000) == TRADE_OK);
    const struct work_scan *scan = &host.engine->work.scans[0];
    CHECK(trade_market(&host)->mark == M + 1000);
    CHECK(scan->begun && scan->from == 3); /* portfolios 1 and 2 */
    CHECK(state_holding(host.engine, 1)->mark_seen == M + 1000);
    /* a change meanwhile runs it again, after the rest of this run */
    CHECK(host_oracle(&host, HOST_BTC, M + 2000) == TRADE_OK);
    CHECK(scan->again && scan->from == 5);
    host_tick(&host, 1);
    CHECK(scan->begun && scan->from == 7);
    host_tick(&host, 1); /* finishes, begins anew: 1, 2 */
    CHECK(!scan->again && scan->from == 3);
    host_tick(&host, 1);
    host_tick(&host, 1);
    host_tick(&host, 1);
    CHECK(!engine_has_work(host.engine));
    for (uint32_t i = 1; i <= 6; i++)
        CHECK(state_holding(host.engine, i)->mark_seen == M + 2000);
    host_close(&host);
}

/* R1: max|s| is made exact by the scan. 1 is long 4,000, then sells 3,000 to others. */
static void test_max_size(void)
{
    static struct host host;

    trade_open(&host, NULL);
    trade_rest(&host, 2, -4000, M);
    CHECK(trade_limit(&host, 1, 4000, M) == TRADE_OK);
    trade_rest(&host, 3, 3000, M);
    CHECK(trade_limit(&host, 1, -3000, M) == TRADE_OK);
    trade_rest(&host, 2, 3000, M);
    CHECK(trade_limit(&host, 4, -3000, M) == TRADE_OK);
    CHECK(trade_market(&host)->max_abs_size == 4000); /* sizes are 1,000, -1,000, 3,000, -3,000 */
    CHECK(host_oracle(&host, HOST_BTC, M + 1) == TRADE_OK);
    CHECK(trade_market(&host)->max_abs_size == 3000);
    host_close(&host);
}

int main(void)
{
    test_deadline();
    test_needed();
    test_timers();
    test_scan();
    test_max_size();
    return 0;
}
