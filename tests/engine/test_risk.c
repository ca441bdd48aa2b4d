/* The fast exact scan of R7: slacks bound what the moves of a mark can have cost, whoever was
 * looked at in between. */
#include "engine/risk/margin.h"
#include "engine/risk/risk.h"
#include "image_copy.h"
#include "trade.h"

static struct host host, loaded;
static struct image_copy ours, theirs;

static void finish_work(void)
{
    while (engine_has_work(host.engine))
        host_tick(&host, 1000);
}

static void check_slacks(uint32_t n)
{
    const struct portfolio *portfolio = trade_portfolio(&host, n);
    struct margin_view view;

    margin_view(host.engine, portfolio_find(host.engine, n, 0, 0), &view);
    CHECK(portfolio->slack_maintenance <= view.equity - view.maintenance);
    CHECK(portfolio->slack_initial <= view.equity - view.initial);
    CHECK(portfolio->flagged == (view.equity < view.initial));
}

/* Cash 1,000 USDC, 0.19 BTC long at 100,000: E - IM = 991.45 - 950 = 41.45 USDC, and 23.40 at a
 * mark of 99,900. A scan sees 99,900; the mark returns to 100,000 and the portfolio is touched
 * before the scan reaches it; the mark is 99,900 again when the scan does. */
static void test_touch_before_the_scan(void)
{
    trade_open(&host, "engine.work_per_command=1\n");
    CHECK(host_account(&host, TRADE_ACCOUNTS + 1) == TRADE_ACCOUNTS + 1);
    CHECK(host_deposit(&host, TRADE_ACCOUNTS + 1, 1000 * HOST_USDC) == TRADE_OK);
    for (uint32_t n = 1; n < TRADE_ACCOUNTS; n++)
        (void)trade_rest(&host, n, 100000, 900000);
    (void)trade_rest(&host, TRADE_ACCOUNTS, -19000, TRADE_MARK);
    CHECK(trade_tif(&host, TRADE_ACCOUNTS + 1, 19000, TRADE_MARK, TRADE_IOC) == TRADE_OK);
    finish_work();
    check_slacks(TRADE_ACCOUNTS + 1);

    CHECK(host_oracle(&host, HOST_BTC, 999000) == TRADE_OK);
    finish_work();
    check_slacks(TRADE_ACCOUNTS + 1);
    CHECK(host_oracle(&host, HOST_BTC, TRADE_MARK) == TRADE_OK);
    CHECK(host_cancel_all(&host, TRADE_ACCOUNTS + 1, HOST_BTC, 0) == TRADE_OK);
    CHECK(trade_portfolio(&host, TRADE_ACCOUNTS + 1)->slack_initial == 41450000);
    CHECK(host_oracle(&host, HOST_BTC, 999000) == TRADE_OK);
    finish_work();
    check_slacks(TRADE_ACCOUNTS + 1);

    for (uint64_t price = 998900; price > 997000; price -= 100) {
        CHECK(host_oracle(&host, HOST_BTC, price) == TRADE_OK);
        finish_work();
        check_slacks(TRADE_ACCOUNTS + 1);
    }
    CHECK(trade_portfolio(&host, TRADE_ACCOUNTS + 1)->flagged);
    host_close(&host);
}

/* Bids of 1 BTC at 105,000 and at 104,000, 100,000 USDC of cash. IM = 200,000 / 20 + 5,000 + 4,000
 * = 19,000, by the bound of the higher price 20,000. A bid of 17 BTC at the mark needs 104,000 and
 * is refused by the exact sum alone; from then on the slack is that of the exact sum, not only from
 * the next touch on: what decides must not depend on who looked when. */
static void test_slack_follows_the_figures(void)
{
    uint8_t before[32], after[32];

    trade_open(&host, NULL);
    (void)trade_rest(&host, 1, 100000, 1050000);
    (void)trade_rest(&host, 1, 100000, 1040000);
    CHECK(trade_portfolio(&host, 1)->slack_initial == 80000 * (int64_t)HOST_USDC);
    CHECK(trade_limit(&host, 1, 1700000, TRADE_MARK) == STATUS_insufficient_margin_to_place);
    CHECK(trade_portfolio(&host, 1)->slack_initial == 81000 * (int64_t)HOST_USDC);
    host_image_hash(&host, before);
    risk_refresh(host.engine, portfolio_find(host.engine, 1, 0, 0));
    host_image_hash(&host, after);
    CHECK(memcmp(before, after, sizeof before) == 0);
    host_close(&host);
}

/* 0.19 BTC long with E = 991.45 - 836 = 155.45 at 95,600: below MM = 181.64, 3E above 2MM, and the
 * book of a POST_ONLY market takes nothing: it waits, in liquidation, and its offers are dead, and
 * wait for their release. (The index comes there by steps below 1 %, so the market is in no gap.)
 * The market opens, no mark has moved, and an order that is refused meets the offers before the
 * scan comes by: the maker is touched (R3), and queued once; a state made from the image, which
 * knows nothing of earlier looks, does the same. */
static void test_maker_below_maintenance_is_touched(void)
{
    uint8_t state[8] = { HOST_BTC, 0, 0, 0, MARKET_POST_ONLY };
    struct image_problem problem;
    const uint32_t n = TRADE_ACCOUNTS + 1;

    trade_open(&host, "engine.work_per_command=1\nexchange.oracle_max_age_ms=0\n");
    CHECK(host_account(&host, n) == n);
    CHECK(host_deposit(&host, n, 1000 * HOST_USDC) == TRADE_OK);
    (void)trade_rest(&host, TRADE_ACCOUNTS, -19000, TRADE_MARK);
    CHECK(trade_tif(&host, n, 19000, TRADE_MARK, TRADE_IOC) == TRADE_OK);
    for (uint32_t i = 0; i < 12; i++)
        (void)trade_rest(&host, n, -100, 1010000);
    for (uint32_t i = 0; i < 12; i++) /* their release stands before that of the offers */
        (void)trade_rest(&host, 2, 100, 900000);
    for (uint64_t price = 992000; price >= 960000; price -= 8000) {
        finish_work();
        CHECK(host_oracle(&host, HOST_BTC, price) == TRADE_OK);
    }
    finish_work();
    CHECK(host_unsigned(&host, REQUEST_market_state, state, sizeof state) == TRADE_OK);
    CHECK(host_oracle(&host, HOST_BTC, 956000) == TRADE_OK);
    CHECK(host_cancel_all(&host, 2, HOST_BTC, 0) == TRADE_OK);
    while (trade_portfolio(&host, n)->status != PORTFOLIO_IN_LIQUIDATION)
        host_tick(&host, 1000);
    state[4] = MARKET_ACTIVE;
    CHECK(host_unsigned(&host, REQUEST_market_state, state, sizeof state) == TRADE_OK);
    CHECK(trade_portfolio(&host, n)->open_order_count > 1);
    CHECK(!trade_portfolio(&host, n)->liquidation_queued && !trade_market(&host)->in_gap);

    image_copy_take(&ours, host.engine);
    CHECK(image_copy_open(&ours, &loaded, NULL, &problem));
    host.mirror = &loaded;
    CHECK(trade_tif(&host, 1, 100, 1010000, TRADE_FOK) ==
          STATUS_rejected_f_o_k_not_fully_filled_low_liquidity); /* the offers are dead */
    image_copy_take(&ours, host.engine);
    image_copy_take(&theirs, loaded.engine);
    CHECK(image_copy_equal(&ours, &theirs));
    CHECK(trade_portfolio(&host, n)->liquidation_queued);
    finish_work();
    host.mirror = NULL;
    host_close(&loaded);
    host_close(&host);
}

int main(void)
{
    test_maker_below_maintenance_is_touched();
    image_copy_free(&ours);
    image_copy_free(&theirs);
    test_touch_before_the_scan();
    test_slack_follows_the_figures();
    return 0;
}
