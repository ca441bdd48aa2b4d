/* L3 of R7 over more holders than a slice meets, while a trader moves the only opposite position
 * between two portfolios, always to the one that the ranking has passed (R7, the steps of L2 and
 * L3). The mark moves by steps below 1 %, each with its scan done, so that the market is not in a
 * gap (R3) and the trader can trade.
 *
 * Account 7 has 1,000 USDC and is long 0.19 BTC from 100,000, bought from account AHEAD for a fee
 * of 8.55. At 95,200: E = 991.45 - 912 = 79.45, MM = 180.88: p = 95,200 - fdiv(79.45, 0.19) = 4,181
 * raw: 94,781.9. */
#include "engine/liquidate/liquidation.h"
#include "engine/risk/fund.h"
#include "trade.h"

enum { LOSER = TRADE_ACCOUNTS + 1, BEHIND = 150, AHEAD = 250, LAST = 300, SIZE = 19000 };
enum { COMMANDS_MOST = 60 }; /* of 64 units: rankings of some 300 holders, 12 times over */

#define ASK UINT64_C(953000)

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

static int64_t size_of(uint32_t subject)
{
    uint32_t index = subject == 0 ? FUND_PORTFOLIO : portfolio_find(host.engine, subject, 0, 0);
    uint32_t holding = holding_find(host.engine, index, 0);

    return holding == HOLDING_NONE ? 0 : state_holding(host.engine, holding)->size;
}

/* To 95,200 through 99,200, 98,400, ... */
static void sink(void)
{
    for (uint64_t price = 992000; price >= 952000; price -= 8000) {
        while (engine_has_work(host.engine))
            host_tick(&host, 1000);
        CHECK(!trade_market(&host)->in_gap && trade_size(&host, LOSER) == SIZE);
        CHECK(host_oracle(&host, HOST_BTC, price) == TRADE_OK);
    }
}

/* All that the run of `subject` (0: the fund) sells goes at this price, in one fill, within the
 * bound. */
static void run_at(uint32_t subject, uint64_t price)
{
    uint32_t commands = 0, holder = AHEAD, actions = 0;
    bool offered = false;

    CHECK(engine_has_work(host.engine));
    while (size_of(subject) != 0 || runs()) {
        CHECK(commands++ < COMMANDS_MOST);
        if (!runs() || !move(&holder, &offered))
            host_tick(&host, 1000);
        struct effect_liquidation action;
        const struct host_effect *told = host_effect(&host, EFFECT_liquidation, 0);
        if (told == NULL)
            continue;
        memcpy(&action, told->bytes, sizeof action);
        CHECK(action.portfolio.account_id == subject);
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
    sink();
    run_at(LOSER, 947819);
    host_close(&host);
}

static void give_to_fund(int64_t amount)
{
    host.engine->portfolios.rows[FUND_PORTFOLIO].cash += amount;
    trade_portfolio(&host, 1)->cash -= amount;
}

/* Pass 2 alone, at the mark: the fund took the position with 10,000, lost all but 1,000 of it, and
 * the next scan finds that it has more than ten times its equity. */
static void test_run_of_fund(void)
{
    open_many();
    give_to_fund(10000 * (int64_t)HOST_USDC);
    sink();
    while (engine_has_work(host.engine))
        host_tick(&host, 1000);
    CHECK(size_of(0) == SIZE && trade_size(&host, LOSER) == 0);
    give_to_fund(-9000 * (int64_t)HOST_USDC);
    CHECK(host_oracle(&host, HOST_BTC, 951000) == TRADE_OK);
    run_at(0, 951000);
    host_close(&host);
}

/* 281 holders are short of 60 raw each, sold at prices of their own, and account LAST of the rest:
 * 2,140. The k-th to give is the one with the k-th highest price: 2 raw of it are 1.9 of the score.
 * The first ranking keeps 256 of them; the 26 that are left need no second scan, unless the mark
 * moves. */
enum { HOLDERS = 281, PART = 60, PLACES = 282 };

/* A fill takes four units (R3): a command of 64 makes 16. 282 are 17 such commands and 10 more. */
enum { FILLS = 16 };

static uint32_t holder_of(uint32_t k)
{
    return LOSER + 1 + k * 37 % HOLDERS;
}

static void open_crowd(void)
{
    trade_open(&host, "exchange.oracle_max_age_ms=0\n");
    host.skip_audit = true;
    for (uint32_t n = LOSER; n <= LAST; n++) {
        CHECK(host_account(&host, n) == n);
        CHECK(host_deposit(&host, n, n == LOSER ? 1000 * HOST_USDC : TRADE_CASH) == TRADE_OK);
        if (n != LOSER)
            (void)trade_rest(&host, n, 1000, 900000);
    }
    for (uint32_t k = 0; k < HOLDERS; k++) {
        uint64_t price = TRADE_MARK + 2 * (HOLDERS - k);
        (void)trade_rest(&host, holder_of(k), -PART, price);
        CHECK(trade_tif(&host, LOSER, PART, price, TRADE_IOC) == TRADE_OK);
    }
    (void)trade_rest(&host, LAST, -(SIZE - HOLDERS * PART), TRADE_MARK);
    CHECK(trade_tif(&host, LOSER, SIZE - HOLDERS * PART, TRADE_MARK, TRADE_IOC) == TRADE_OK);
    host.skip_audit = false;
}

/* The holders' fills that this command told, the next of which is the `filled`-th. */
static uint32_t check_fills(uint32_t filled)
{
    struct effect_liquidation action;
    struct effect_position position;

    for (uint32_t i = 0; host_effect(&host, EFFECT_liquidation, i) != NULL; i++, filled++) {
        memcpy(&action, host_effect(&host, EFFECT_liquidation, i)->bytes, sizeof action);
        memcpy(&position, host_effect(&host, EFFECT_position, 2 * i)->bytes, sizeof position);
        CHECK(action.level == 3 && filled < PLACES);
        CHECK(position.portfolio.account_id == (filled < HOLDERS ? holder_of(filled) : LAST));
    }
    return filled;
}

/* `moves`: the mark moves when the first have given. The next 256 are then found by a scan. */
static void test_rest(bool moves)
{
    const struct deleverage *run;
    uint32_t filled = 0, commands = 0, scans = 1, whole = 0;
    bool was_ranking = true;

    open_crowd();
    run = &host.engine->liquidation.run;
    sink();
    while (engine_has_work(host.engine) && !runs())
        host_tick(&host, 1000);
    for (; runs(); commands++) {
        CHECK(commands < COMMANDS_MOST);
        if (moves && filled != 0 && trade_market(&host)->mark == 952000)
            CHECK(host_oracle(&host, HOST_BTC, 951000) == TRADE_OK);
        else
            host_tick(&host, 1000);
        uint32_t before = filled;
        filled = check_fills(filled);
        CHECK(filled - before <= FILLS);
        whole += filled - before == FILLS;
        scans += run->ranking && !was_ranking;
        was_ranking = run->ranking;
    }
    CHECK(filled == PLACES && trade_size(&host, LOSER) == 0);
    CHECK(scans == (moves ? 2 : 1));
    CHECK(whole >= PLACES / FILLS - 2); /* but where a scan ends or begins */
    host_close(&host);
}

int main(void)
{
    test_rest(false);
    test_rest(true);
    test_pass_one();
    test_run_of_fund();
    return 0;
}
