/* L3 of R7 over more holders than a slice meets, while a trader moves the only opposite position
 * between two portfolios, always to the one that the ranking has passed (R7, the steps of L2 and
 * L3).
 *
 * Account 7 has 1,000 USDC and is long 0.19 BTC from 100,000, bought from account AHEAD for a fee
 * of 8.55. At 94,000: E = 991.45 - 1,140 = -148.55; p = 94,000 + 781.9: worse than the mark for
 * who is short. */
#include "engine/liquidate/liquidation.h"
#include "engine/risk/fund.h"
#include "trade.h"

enum { LOSER = TRADE_ACCOUNTS + 1, BEHIND = 150, AHEAD = 250, LAST = 300, SIZE = 19000 };
enum { COMMANDS_MOST = 60 }; /* of 64 units: rankings of some 300 holders, 12 times over */

#define ASK UINT64_C(945000)

static struct host host;

static void open_many(void)
{
    trade_open(&host, "exchange.oracle_max_age_ms=0\n");
    host.skip_audit = true;
    for (uint32_t n = LOSER; n <= LAST; n++) {
        CHECK(host_account(&host, n) == n);
        CHECK(host_deposit(&host, n, n == LOSER ? 1000 * HOST_USDC : TRADE_CASH) == TRADE_OK);
        if (n != LOSER)
            (void)trade_rest(&host, n, 1000, 900000); /* a record: met and not ranked */
    }
    (void)trade_rest(&host, AHEAD, -SIZE, TRADE_MARK);
    CHECK(trade_tif(&host, LOSER, SIZE, TRADE_MARK, TRADE_IOC) == TRADE_OK);
    host.skip_audit = false;
}

static bool runs(void)
{
    return host.engine->liquidation.step == LIQUIDATION_RUN;
}

/* Between two slices: the position goes to whom the ranking has passed, and back before it comes by
 * again. True: a command was used for it. */
static bool move(uint32_t *holder, bool *offered)
{
    uint32_t from = host.engine->liquidation.run.from, other = *holder == AHEAD ? BEHIND : AHEAD;
    bool wants = *holder == AHEAD ? from > BEHIND : from <= BEHIND;

    if (!*offered) {
        (void)trade_rest(&host, other, -SIZE, ASK);
        *offered = true;
        return true;
    }
    if (!wants)
        return false;
    CHECK(trade_tif(&host, *holder, SIZE, ASK, TRADE_IOC) == TRADE_OK);
    if (trade_effects(&host, EFFECT_trade) == 0)
        return true;
    *holder = other;
    *offered = false;
    return true;
}

/* All that the run sold went at this price, within the bound. `moves`: how often the trader moved
 * while it went on. */
static void run_at(uint64_t price, int64_t cash_of_fund)
{
    uint32_t commands = 0, holder = AHEAD, actions = 0;
    bool offered = false;

    host.engine->portfolios.rows[FUND_PORTFOLIO].cash += cash_of_fund;
    trade_portfolio(&host, 1)->cash -= cash_of_fund;
    CHECK(host_oracle(&host, HOST_BTC, 940000) == TRADE_OK);
    CHECK(host.engine->work.count != 0);
    while (trade_size(&host, LOSER) != 0 || runs()) {
        CHECK(commands++ < COMMANDS_MOST);
        if (!runs() || !move(&holder, &offered))
            host_tick(&host, 1000);
        struct effect_liquidation action;
        const struct host_effect *told = host_effect(&host, EFFECT_liquidation, 0);
        if (told == NULL)
            continue;
        memcpy(&action, told->bytes, sizeof action);
        CHECK(action.level == 3 && action.price == price && action.size == SIZE);
        actions++;
    }
    CHECK(actions == 1 && holder == BEHIND); /* it moved, and was found there */
    CHECK(trade_size(&host, BEHIND) == 0 && trade_size(&host, AHEAD) == 0);
}

/* Pass 1: who is found behind the ranking gives at p, not at the mark. */
static void test_pass_one(void)
{
    open_many();
    run_at(947819, 0);
    host_close(&host);
}

/* Pass 2, for the fund is short: the run ends, though every ranking is left behind. */
static void test_pass_two(void)
{
    open_many();
    run_at(940000, -1000 * (int64_t)HOST_USDC);
    host_close(&host);
}

int main(void)
{
    test_pass_one();
    test_pass_two();
    return 0;
}
