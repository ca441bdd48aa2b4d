/* Margin at entry (rules.md R4): the taker test, the reducing rule, the maker test, open loss and
 * the two refused attacks; rows 31 to 33 of R11. Leverage 20, mark 100,000.0 (BTC-PERP of W10):
 * an initial margin of 5 % and a maintenance margin of 1 % up to 20 m USDC. */
#include "engine/price/mark.h"
#include "engine/risk/margin.h"
#include "trade.h"

#define M    TRADE_MARK
#define USDC (int64_t) HOST_USDC

static struct margin_view view_of(const struct host *host, uint32_t n)
{
    struct margin_view view;
    margin_view(host->engine, portfolio_find(host->engine, n, 0, 0), &view);
    return view;
}

/* 100,000 USDC of cash. A bid of q BTC at the mark needs 100,000 q / 20 = 5,000 q: 20 BTC. */
static void test_resting(void)
{
    static struct host host;

    trade_open(&host, NULL);
    CHECK(trade_limit(&host, 1, 2000001, M) == STATUS_insufficient_margin_to_place);
    CHECK(trade_limit(&host, 1, 2000000, M) == TRADE_OK);
    struct margin_view view = view_of(&host, 1);
    CHECK(view.equity == 100000 * USDC && view.initial == 100000 * USDC);
    CHECK(view.maintenance == 0 && view.withdrawable == 0);
    /* the other side is in the same worst case: max(|s|, |s + B|, |s - S|) */
    CHECK(trade_limit(&host, 1, -2000000, M + 10) == TRADE_OK);
    CHECK(view_of(&host, 1).initial == 100000 * USDC);
    CHECK(trade_limit(&host, 1, -11, M + 10) == STATUS_insufficient_margin_to_place);
    /* equal is not short: not flagged */
    CHECK(!trade_portfolio(&host, 1)->flagged);
    host_close(&host);
}

/* A fill pays the fee: 20 BTC at the mark cost 2,000,000 * 450 ppm = 900 USDC, so E' = 99,100 and
 * q BTC need 5,000 q <= 100,000 - 45 q: q = 19.82160555... */
static void test_taking(void)
{
    static struct host host;

    trade_open(&host, NULL);
    CHECK(host_deposit(&host, 2, 1000000 * HOST_USDC) == TRADE_OK);
    trade_rest(&host, 2, -3000000, M);
    CHECK(trade_tif(&host, 1, 1982161, M, TRADE_IOC) == STATUS_insufficient_margin_to_trade);
    CHECK(trade_tif(&host, 1, 1982161, M, TRADE_FOK) ==
          STATUS_rejected_f_o_k_not_fully_filled_insufficient_margin);
    CHECK(trade_size(&host, 1) == 0);
    CHECK(trade_tif(&host, 1, 1982160, M, TRADE_FOK) == TRADE_OK);
    /* E = 100,000 - cdiv(1,982,160 * 10^6 * 450, 10^6) = 100,000 - 891.972 */
    CHECK(view_of(&host, 1).equity == 100000 * USDC - 891972000);
    CHECK(view_of(&host, 1).initial == 99108 * USDC);
    CHECK(view_of(&host, 1).maintenance == 1982160 * INT64_C(10000));
    host_close(&host);
}

/* Open loss: a bid above the mark loses (price - mark) * q the moment it fills, an ask below it
 * likewise; orders never offset each other. */
static void test_open_loss(void)
{
    static struct host host;

    trade_open(&host, NULL);
    /* 1 BTC at 110,000: IM 5,000 + 10,000 */
    CHECK(trade_limit(&host, 1, 100000, 1100000) == TRADE_OK);
    CHECK(view_of(&host, 1).initial == 15000 * USDC);
    /* another at 105,000: worst 2 BTC: 10,000 + 10,000 + 5,000 */
    CHECK(trade_limit(&host, 1, 100000, 1050000) == TRADE_OK);
    CHECK(view_of(&host, 1).initial == 25000 * USDC);
    /* the known attack: 10 BTC bid at 90,000 do not pay for those above the mark:
     * worst 12 BTC: 60,000 + 15,000 */
    CHECK(trade_limit(&host, 1, 1000000, 900000) == TRADE_OK);
    CHECK(view_of(&host, 1).initial == 75000 * USDC);
    CHECK(host_cancel_all(&host, 1, HOST_BTC, 0) == TRADE_OK);
    CHECK(view_of(&host, 1).initial == 0);
    /* ... at the edge: 10 BTC 10 % above the mark have 50,000 + 100,000: refused, with far bids or
     * without */
    CHECK(trade_limit(&host, 1, 1000000, 1100000) == STATUS_insufficient_margin_to_place);
    CHECK(trade_limit(&host, 1, 100000, 1000) == TRADE_OK);
    CHECK(trade_limit(&host, 1, 1000000, 1100000) == STATUS_insufficient_margin_to_place);
    CHECK(host_cancel_all(&host, 1, HOST_BTC, 0) == TRADE_OK);
    /* 6.66666 BTC: 33,333.3 + 66,666.6 = 99,999.9 USDC fits, 6.66667: 100,000.05 does not */
    CHECK(trade_limit(&host, 1, 666667, 1100000) == STATUS_insufficient_margin_to_place);
    CHECK(trade_limit(&host, 1, 666666, 1100000) == TRADE_OK);
    CHECK(host_cancel_all(&host, 1, HOST_BTC, 0) == TRADE_OK);
    /* an ask below the mark: 1 BTC at 95,000: 5,000 + 5,000 */
    CHECK(trade_limit(&host, 1, -100000, 950000) == TRADE_OK);
    CHECK(view_of(&host, 1).initial == 10000 * USDC);
    CHECK(view_of(&host, 1).withdrawable == 90000 * USDC);
    trade_check_figures(&host);
    host_close(&host);
}

/* Unrealised profit supports positions but is not withdrawable; a loss counts against both. */
static void test_view(void)
{
    static struct host host;

    trade_open(&host, NULL);
    trade_rest(&host, 2, -100000, M);
    CHECK(trade_limit(&host, 1, 100000, M) == TRADE_OK);
    trade_index(&host, 1040000);
    /* the book is empty, the last trade at 100,000: the median of index, index + ema, last is the
     * index: 1 is up 4,000, pays 45 of fee; IM of 104,000: 5,200; MM 1,040 */
    CHECK(trade_market(&host)->mark == 1040000);
    struct margin_view view = view_of(&host, 1);
    CHECK(view.equity == 100000 * USDC - 45 * USDC + 4000 * USDC);
    CHECK(view.initial == 5200 * USDC && view.maintenance == 1040 * USDC);
    CHECK(view.withdrawable == 100000 * USDC - 45 * USDC - 5200 * USDC);
    view = view_of(&host, 2); /* down 4,000, fee 15 */
    CHECK(view.equity == 100000 * USDC - 15 * USDC - 4000 * USDC);
    CHECK(view.withdrawable == 100000 * USDC - 15 * USDC - 4000 * USDC - 5200 * USDC);
    host_close(&host);
}

/* 1 is long 15 BTC from 100,000 with 100,000 USDC: fee 675. At a mark of 94,200 it is down 87,000:
 * E = 12,325, MM = 14,130, IM = 70,650: flagged and below maintenance. */
static void open_long(struct host *host)
{
    trade_open(host, NULL);
    for (uint32_t n = 2; n <= 4; n++)
        CHECK(host_deposit(host, n, 10000000 * HOST_USDC) == TRADE_OK);
    trade_rest(host, 2, -1500000, M);
    CHECK(trade_limit(host, 1, 1500000, M) == TRADE_OK);
    CHECK(trade_cash(host, 1) == 99325 * USDC);
}

static void test_reducing_rule(void)
{
    static struct host host;

    open_long(&host);
    trade_index(&host, 942000);
    CHECK(trade_market(&host)->mark == 942000);
    CHECK(view_of(&host, 1).equity == 12325 * USDC);
    CHECK(view_of(&host, 1).maintenance == 14130 * USDC);
    /* nothing that increases passes: E' < IM', and IM' > IM */
    CHECK(trade_limit(&host, 1, 1000, 942000) == STATUS_insufficient_margin_to_place);
    /* selling 1 BTC to a friend 10 % below the mark: E falls by 9,420 + fee, MM by 942: refused.
     * (The known attack takes out the maintenance margin.) */
    trade_rest(&host, 3, 100000, 847800);
    CHECK(trade_limit(&host, 1, -100000, 847800) == STATUS_insufficient_margin_to_trade);
    CHECK(trade_tif(&host, 1, -100000, 847800, TRADE_FOK) ==
          STATUS_rejected_f_o_k_not_fully_filled_insufficient_margin);
    /* a resting sale at the mark passes: IM' = IM (worst stays 15 BTC), E' = E */
    CHECK(trade_limit(&host, 1, -100000, 942000) == TRADE_OK);
    CHECK(host_cancel(&host, 1, host.id) == TRADE_OK);
    /* at 93,300, 900 below the mark: E falls by 900 + 41.985 = 941.985 a BTC, MM by 942: the gap
     * E - MM grows by 0.015; at 93,299.9 it shrinks by 0.085 */
    trade_rest(&host, 4, 100000, 932999);
    CHECK(trade_tif(&host, 1, -100000, 932999, TRADE_IOC) == STATUS_insufficient_margin_to_trade);
    trade_rest(&host, 4, 100000, 933000);
    CHECK(trade_tif(&host, 1, -100000, 933000, TRADE_IOC) == TRADE_OK);
    CHECK(trade_size(&host, 1) == 1400000);
    CHECK(trade_portfolio(&host, 1)->flagged);
    CHECK(trade_portfolio(&host, 1)->status == PORTFOLIO_IN_LIQUIDATION);
    host_close(&host);
}

/* Under water, E < 0, no order is accepted, at whatever price (row 27). With stress, here 10 % of
 * 1,500,000, an order that reduces may leave E' >= 0 and cost a thousandth of what it closes at the
 * mark: 100 a BTC, fee included. The mark is not valid, so that nobody liquidates it; 120,000 of
 * its cash are account 5's. */
static void test_under_water(void)
{
    static struct host host;

    open_long(&host);
    trade_rest(&host, 3, 100000, 999449);
    trade_rest(&host, 4, 100000, 999450);
    host.clock_ns += 59 * HOST_SECOND_NS;
    trade_portfolio(&host, 1)->cash -= 120000 * (int64_t)USDC;
    trade_portfolio(&host, 5)->cash += 120000 * (int64_t)USDC;
    CHECK(view_of(&host, 1).equity == -20675 * USDC);
    CHECK(trade_reduce(&host, 1, -100000, 999450, TRADE_IOC) ==
          STATUS_insufficient_margin_to_place);
    CHECK(trade_reduce(&host, 1, -100000, 1090000, TRADE_GTC) ==
          STATUS_insufficient_margin_to_place);
    CHECK(host_deposit(&host, 1, 21675 * HOST_USDC) == TRADE_OK); /* E = 1,000 */
    /* 55 below the mark, the taker's fee at 99,945.0 is 44.97525 */
    CHECK(trade_reduce(&host, 1, -100000, 999450, TRADE_IOC) == TRADE_OK);
    CHECK(trade_size(&host, 1) == 1400000);
    CHECK(view_of(&host, 1).equity == 1000 * USDC - 55000000 - 44975250);
    /* 55.1 and 44.975205: 100.075205 */
    CHECK(trade_reduce(&host, 1, -100000, 999449, TRADE_IOC) ==
          STATUS_insufficient_margin_to_trade);
    host_close(&host);
}

/* Maker test. 1 is flagged; its bid at the mark (an increasing fill) needs E' >= MM'; the bid was
 * placed while there was margin for it. */
static void test_maker(void)
{
    static struct host host;

    open_long(&host);
    struct trade_id bid = trade_rest(&host, 1, 100000, 943300);
    struct trade_id ask = trade_rest(&host, 1, -200000, 1100000);
    trade_index(&host, 943300);
    /* E = 99,325 - 85,050 = 14,275, MM = 14,149.5: the fill would add 943.3 to MM: canceled,
     * matching goes on */
    struct trade_id behind = trade_rest(&host, 4, 100000, 943200);
    CHECK(trade_tif(&host, 3, -200000, 943200, TRADE_FOK) ==
          STATUS_rejected_f_o_k_not_fully_filled_low_liquidity);
    CHECK(trade_remaining(&host, 1, bid) == 100000);
    CHECK(trade_tif(&host, 3, -100000, 943200, TRADE_FOK) == TRADE_OK);
    CHECK(trade_state(&host, 0).status == ORDER_CANCELED);
    CHECK(trade_state(&host, 0).reason == STATUS_insufficient_margin_to_trade);
    CHECK(trade_remaining(&host, 1, bid) == 0 && trade_remaining(&host, 4, behind) == 0);
    CHECK(trade_size(&host, 1) == 1500000);
    CHECK(trade_remaining(&host, 1, ask) == 200000); /* the other side was not met */
    host_close(&host);
}

/* Reducing maker at a price worse than the mark: the reducing rule. 1's ask at 95,000 was placed
 * when the mark was there; now the mark is 100,000 again. */
static void test_maker_reducing(void)
{
    static struct host host;

    trade_open(&host, NULL);
    for (uint32_t n = 2; n <= 4; n++)
        CHECK(host_deposit(&host, n, 10000000 * HOST_USDC) == TRADE_OK);
    trade_rest(&host, 2, 1500000, M);
    CHECK(trade_limit(&host, 1, -1500000, M) == TRADE_OK); /* 1 is short 15 BTC */
    trade_index(&host, 950000);                            /* up 75,000 */
    struct trade_id bid = trade_rest(&host, 1, 100000, 950000);
    trade_index(&host, 880000);
    /* E = 99,325 + 180,000, far above MM: the reducing fill at 95,000, 7,000 worse, passes */
    CHECK(trade_market(&host)->mark >= 880000 && trade_market(&host)->mark < 950000);
    CHECK(trade_tif(&host, 3, -50000, 900000, TRADE_IOC) == TRADE_OK);
    CHECK(trade_remaining(&host, 1, bid) == 50000 && trade_size(&host, 1) == -1450000);
    trade_check_figures(&host);
    host_close(&host);
}

/* Own makers that the walk cancels still count (R4, other orders count as they were). A sale of 10
 * BTC at 95,000 has 50,000 + an open loss of 50,000; a bid of 20 BTC at 95,000 that cancels it
 * would alone need 100,000. */
static void test_own_makers_count(void)
{
    static struct host host;

    trade_open(&host, NULL);
    CHECK(trade_limit(&host, 1, -1000000, 950000) == TRADE_OK);
    CHECK(trade_stp(&host, 1, 2000000, 950000, TRADE_GTC, 1) ==
          STATUS_insufficient_margin_to_place);
    CHECK(trade_stp(&host, 1, 1000000, 950000, TRADE_GTC, 1) == TRADE_OK);
    CHECK(host_cancel_all(&host, 1, HOST_BTC, 0) == TRADE_OK);
    CHECK(trade_limit(&host, 1, 2000000, 950000) == TRADE_OK);
    host_close(&host);
}

/* `flagged` follows marks by the scan, and back; touched or not. */
static void test_flagged(void)
{
    static struct host host;

    open_long(&host);
    /* IM = E where 15 * p / 20 = 99,325 - 15 * (100,000 - p): p = (1,500,000 - 99,325) / 14.25 =
     * 98,292.98...: not flagged at 98,293.0, flagged at 98,292.9 */
    trade_index(&host, 982930);
    CHECK(!trade_portfolio(&host, 1)->flagged);
    trade_index(&host, 982929);
    CHECK(trade_portfolio(&host, 1)->flagged);
    trade_index(&host, 982930);
    CHECK(!trade_portfolio(&host, 1)->flagged);
    CHECK(!engine_has_work(host.engine));
    trade_index(&host, 982000);
    CHECK(trade_portfolio(&host, 1)->flagged);
    CHECK(host_deposit(&host, 1, 100000 * HOST_USDC) == TRADE_OK);
    CHECK(!trade_portfolio(&host, 1)->flagged);
    host_close(&host);
}

/* R4's maker test over several fills of one portfolio: each stands on the equity that those before
 * have left, fees included. Three bids of 1 BTC at 100,000.0 with the mark fallen to 95,500.0 lose
 * 4,500 and 15 (150 ppm) each, and MM of 3 BTC at 95,500 is 2,865: 16,410 USDC are just enough. */
static void test_maker_of_many(void)
{
    static struct host host;

    for (uint64_t missing = 0; missing < 2; missing++) {
        trade_open(&host, NULL);
        CHECK(host_account(&host, 7) == 7);
        CHECK(host_deposit(&host, 7, 16410 * HOST_USDC - missing) == TRADE_OK);
        for (uint32_t i = 0; i < 3; i++)
            trade_rest(&host, 7, 100000, M);
        trade_index(&host, 955000);
        CHECK(trade_market(&host)->mark == 955000);
        enum status want =
            missing != 0 ? STATUS_rejected_f_o_k_not_fully_filled_low_liquidity : TRADE_OK;
        CHECK(trade_tif(&host, 1, -300000, M, TRADE_FOK) == want);
        CHECK(trade_size(&host, 7) == (missing != 0 ? 0 : 300000));
        if (missing != 0) { /* what is no fill-or-kill cancels the third */
            CHECK(trade_tif(&host, 1, -300000, M, TRADE_IOC) == TRADE_OK);
            CHECK(trade_size(&host, 7) == 200000 && host.engine->orders.count == 0);
            CHECK(trade_state(&host, 2).reason == STATUS_insufficient_margin_to_trade);
        }
        trade_check_figures(&host);
        host_close(&host);
    }
}

int main(void)
{
    test_maker_of_many();
    test_resting();
    test_taking();
    test_open_loss();
    test_view();
    test_reducing_rule();
    test_under_water();
    test_maker();
    test_maker_reducing();
    test_own_makers_count();
    test_flagged();
    return 0;
}
