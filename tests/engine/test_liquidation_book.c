/* L1 of R7: a portfolio below its maintenance margin is sold on the book.
 *
 * Account 7 has 1,000 USDC (or ten times that) and is long 0.19 BTC (1.9) from 100,000, bought for
 * a fee of 8.55 (85.5): E = 991.45 - 0.19 * (100,000 - mark), MM = 1 % of 0.19 * mark. */
#include "engine/liquidate/liquidation.h"
#include "engine/risk/fund.h"
#include "engine/risk/margin.h"
#include "image_copy.h"
#include "trade.h"

enum { LOSER = TRADE_ACCOUNTS + 1, SMALL = 19000, LARGE = 190000 };

#define USDC (int64_t) HOST_USDC

static struct host host, loaded;
static struct image_copy ours, theirs;

/* Account 7 long `size`, bought from account 6. */
static void open_loser(int64_t size, const char *overrides)
{
    trade_open(&host, overrides);
    CHECK(host_account(&host, LOSER) == LOSER);
    CHECK(host_deposit(&host, LOSER, (uint64_t)(size / SMALL) * 1000 * HOST_USDC) == TRADE_OK);
    (void)trade_rest(&host, TRADE_ACCOUNTS, -size, TRADE_MARK);
    CHECK(trade_tif(&host, LOSER, size, TRADE_MARK, TRADE_IOC) == TRADE_OK);
    CHECK(trade_cash(&host, LOSER) == size / SMALL * 991450000);
}

static int64_t fund_cash(void)
{
    return host.engine->portfolios.rows[FUND_PORTFOLIO].cash;
}

static struct effect_portfolio_state status_told(uint32_t k)
{
    struct effect_portfolio_state body;
    const struct host_effect *effect = host_effect(&host, EFFECT_portfolio_state, k);

    CHECK(effect != NULL);
    memcpy(&body, effect->bytes, sizeof body);
    return body;
}

static struct effect_fill fill_told(uint32_t k)
{
    struct effect_fill body;
    const struct host_effect *effect = host_effect(&host, EFFECT_fill, k);

    CHECK(effect != NULL);
    memcpy(&body, effect->bytes, sizeof body);
    return body;
}

static struct effect_cash cash_told(uint32_t k)
{
    struct effect_cash body;
    const struct host_effect *effect = host_effect(&host, EFFECT_cash, k);

    CHECK(effect != NULL);
    memcpy(&body, effect->bytes, sizeof body);
    return body;
}

static void check_row(uint32_t k, uint64_t account, uint8_t kind, int64_t amount)
{
    struct effect_cash row = cash_told(k);

    CHECK(row.portfolio.account_id == account && row.kind == kind && row.amount == amount);
}

static struct effect_liquidation action_told(uint32_t k)
{
    struct effect_liquidation body;
    const struct host_effect *effect = host_effect(&host, EFFECT_liquidation, k);

    CHECK(effect != NULL);
    memcpy(&body, effect->bytes, sizeof body);
    return body;
}

/* A state made from the image is the state, and goes on as it does. */
static void check_image(void)
{
    struct image_problem problem;

    image_copy_take(&ours, host.engine);
    bool is_open = image_copy_open(&ours, &loaded, NULL, &problem);
    if (!is_open)
        printf("section %u: %s\n", problem.section, problem.text);
    CHECK(is_open);
    image_copy_take(&theirs, loaded.engine);
    CHECK(image_copy_equal(&ours, &theirs));
    host_close(&loaded);
}

/* At 95,700: E = 991.45 - 817 = 174.45 < MM = 181.83, 3E = 523.35 >= 2MM = 363.66. N = 18,183, the
 * penalty is a quarter of 1 %: what brings E to 1.2 MM is n = cdiv((12 * 181.83 - 10 * 174.45)e6 *
 * 1e6, 120,000 - 25,000) = 4,604,842,106: 4,812 raw (a fifth: 3,800). The limit: d = fdiv(174.45 -
 * 45.4575, 0.19) = 6,789 raw: 95,021.1.
 * 0.03 at 95,600: n = 2,868, 3 lost against the mark, penalty 7.17. 0.01812 at 95,100: n =
 * 1,723.212, 10.872 lost, penalty 4.30803. E = 149.09997, MM = 0.14188 * 957 = 135.77916. */
static void test_small(void)
{
    open_loser(SMALL, NULL);
    (void)trade_rest(&host, 1, 3000, 956000);
    (void)trade_rest(&host, 2, 20000, 951000);
    (void)trade_rest(&host, LOSER, -1000, 1050000);
    struct trade_id reduce = trade_rest(&host, LOSER, -2000, 1040000);
    int64_t fees = host.engine->fee_account;
    trade_index(&host, 957000);

    struct effect_portfolio_state entered = status_told(0), left = status_told(1);
    CHECK(entered.portfolio.account_id == LOSER && entered.status == PORTFOLIO_IN_LIQUIDATION);
    CHECK(entered.equity == 174450000 && entered.maintenance == 181830000);
    CHECK(left.status == PORTFOLIO_ACTIVE);
    CHECK(left.equity == 149099970 && left.maintenance == 135779160);
    CHECK(trade_effects(&host, EFFECT_portfolio_state) == 2);
    CHECK(trade_remaining(&host, LOSER, reduce) == 0); /* its orders are canceled */

    CHECK(trade_effects(&host, EFFECT_trade) == 2);
    CHECK(trade_trade(&host, 0).flags == 1 && trade_trade(&host, 0).price == 956000);
    CHECK(fill_told(1).fee == 7170000 && fill_told(1).quantity == -3000);
    CHECK(fill_told(3).fee == 4308030 && fill_told(3).liquidity == LIQUIDITY_TAKER);
    CHECK(fill_told(3).quantity == -1812);
    CHECK(fill_told(0).fee == 430200); /* the maker's own: 150 ppm */
    check_row(0, LOSER, CASH_trade, -132 * USDC);
    check_row(1, LOSER, CASH_liquidation, -7170000);
    check_row(2, 1, CASH_fee, -430200);
    check_row(3, 0, CASH_liquidation, 7170000);
    check_row(4, LOSER, CASH_trade, -88788000);

    struct effect_liquidation action = action_told(0);
    CHECK(action.level == 1 && action.size == 4812);
    CHECK(action.price == 954117); /* 4,591.212 / 0.04812 = 95,411.72 */
    CHECK(trade_effects(&host, EFFECT_liquidation) == 1);
    CHECK(trade_size(&host, LOSER) == 14188 && trade_cash(&host, LOSER) == 759183970);
    CHECK(fund_cash() == 11478030);
    CHECK(host.engine->fee_account == fees + 430200 + 258482);
    check_image();
    host_close(&host);
}

/* The same, told of the order: LIQUIDATE, an engine's id, the limit as its price. With no bid above
 * it nothing is filled, no 2113; a second later it is tried again, not sooner. */
static void test_order(void)
{
    open_loser(SMALL, "exchange.oracle_max_age_ms=0\n");
    (void)trade_rest(&host, 1, 19000, 950210); /* one below the limit */
    trade_index(&host, 957000);
    struct effect_order_state order = trade_state(&host, 0);
    CHECK(order.order_type == ORDER_LIQUIDATE && order.price == 950211);
    CHECK(order.status == ORDER_CANCELED && order.reason == REASON_time_in_force);
    CHECK(order.remaining == 4812 && order.filled == 0 && order.side == ORDER_SHORT);
    CHECK((order.order_id[6] & 0xf0) == 0x70);
    CHECK(trade_effects(&host, EFFECT_liquidation) == 0);
    CHECK(trade_portfolio(&host, LOSER)->status == PORTFOLIO_IN_LIQUIDATION);
    uint64_t action_ns = trade_portfolio(&host, LOSER)->liquidation_ns;
    CHECK(action_ns == engine_time(host.engine));
    CHECK(trade_portfolio(&host, LOSER)->liquidation_wake_ns == action_ns + HOST_SECOND_NS);
    check_image();

    host.clock_ns = action_ns + HOST_SECOND_NS - 2;
    host_tick(&host, 1);
    CHECK(trade_effects(&host, EFFECT_order_state) == 0);
    host_tick(&host, 1);
    CHECK(trade_effects(&host, EFFECT_order_state) == 1);
    CHECK(trade_state(&host, 0).order_type == ORDER_LIQUIDATE);
    host_close(&host);
}

/* Ten times that, and bids near the limit, 95,030: n = 46,048,421,053, 48,118 raw; 322.3906 lost
 * against the mark, n = 45,726.5354, penalty 114.316339: E = 1,307.793061 < 105 % of MM =
 * 1,357.81074: it stays. For 1 s nothing; then n = 33,850,508,106: 35,372 of the 141,882 that are
 * left, limit 95,700 - fdiv(968,340,376, 141,882) = 95,017.6: n = 33,614.0116, penalty 84.035029.
 * E = 986.765632, MM = 1,019.3007. */
static void test_large(void)
{
    open_loser(LARGE, "exchange.oracle_max_age_ms=0\n");
    (void)trade_rest(&host, 1, 200000, 950300);
    trade_index(&host, 957000);
    CHECK(trade_size(&host, LOSER) == 141882 && fund_cash() == 114316339);
    CHECK(trade_portfolio(&host, LOSER)->status == PORTFOLIO_IN_LIQUIDATION);
    uint64_t action_ns = trade_portfolio(&host, LOSER)->liquidation_ns;
    check_image();
    host.clock_ns = action_ns + HOST_SECOND_NS - 2;
    host_tick(&host, 1);
    CHECK(trade_size(&host, LOSER) == 141882);
    host_tick(&host, 1);
    CHECK(trade_size(&host, LOSER) == 106510);
    CHECK(action_told(0).size == 35372 && action_told(0).price == 950300);
    CHECK(trade_state(&host, 1).order_type == ORDER_LIQUIDATE);
    CHECK(trade_state(&host, 1).price == 950176);
    CHECK(fund_cash() == 114316339 + 84035029);
    CHECK(trade_portfolio(&host, LOSER)->status == PORTFOLIO_IN_LIQUIDATION);
    CHECK(trade_portfolio(&host, LOSER)->liquidation_wake_ns ==
          trade_portfolio(&host, LOSER)->liquidation_ns + HOST_SECOND_NS);
    host_close(&host);
}

/* N = 1,914 <= 2,000: all of it. 0.02 for 0.9 of fee: E =
 * 103.45 - 0.02 * 4,300 = 17.45 < MM = 19.14, 3E = 52.35 >= 2MM. d = fdiv(17.45 - 4.785, 0.02) =
 * 6,332 raw. At 95,600: 0.2 lost, penalty 4.78. */
static void test_all_of_it(void)
{
    trade_open(&host, NULL);
    CHECK(host_account(&host, LOSER) == LOSER);
    CHECK(host_deposit(&host, LOSER, 104350000) == TRADE_OK);
    (void)trade_rest(&host, TRADE_ACCOUNTS, -2000, TRADE_MARK);
    CHECK(trade_tif(&host, LOSER, 2000, TRADE_MARK, TRADE_IOC) == TRADE_OK);
    (void)trade_rest(&host, 1, 3000, 956000);
    trade_index(&host, 957000);
    CHECK(action_told(0).size == 2000 && action_told(0).price == 956000);
    CHECK(trade_state(&host, 1).price == 950668);
    CHECK(fund_cash() == 4780000 && trade_size(&host, LOSER) == 0);
    CHECK(trade_cash(&host, LOSER) == 17450000 - 2000000 - 4780000);
    CHECK(trade_portfolio(&host, LOSER)->status == PORTFOLIO_ACTIVE);
    CHECK(trade_portfolio(&host, LOSER)->liquidation_wake_ns == 0);
    host_close(&host);
}

/* A part is enough when a deposit brings E to 105 % of MM, 1,425.701277, before the second is over:
 * nothing more is sold; the second is forgotten with it. */
static void test_leaves_by_deposit(void)
{
    open_loser(LARGE, "exchange.oracle_max_age_ms=0\n");
    (void)trade_rest(&host, 1, 200000, 950300);
    trade_index(&host, 957000);
    CHECK(host_deposit(&host, LOSER, 100 * HOST_USDC) == TRADE_OK);
    CHECK(trade_portfolio(&host, LOSER)->status == PORTFOLIO_IN_LIQUIDATION); /* 1,407.793061 */
    CHECK(host_deposit(&host, LOSER, 17908215) == TRADE_OK);
    CHECK(trade_portfolio(&host, LOSER)->status == PORTFOLIO_IN_LIQUIDATION);
    CHECK(host_deposit(&host, LOSER, 1) == TRADE_OK);
    CHECK(trade_portfolio(&host, LOSER)->status == PORTFOLIO_ACTIVE);
    CHECK(trade_size(&host, LOSER) == 141882);
    uint32_t at = trade_portfolio(&host, LOSER)->holding_head;
    CHECK(state_holding(host.engine, at)->liquidation_ns == 0);
    host_close(&host);
}

/* E = MM is no trigger, one raw of the price below is. E - MM = 0.1881 * mark - 18,008.55 * 1: at
 * 95,739.3 it is 0.012 above, at 95,739.2 0.007 below. */
static void test_trigger(void)
{
    open_loser(SMALL, NULL);
    trade_index(&host, 957393);
    CHECK(trade_portfolio(&host, LOSER)->status == PORTFOLIO_ACTIVE);
    trade_index(&host, 957392);
    CHECK(trade_portfolio(&host, LOSER)->status == PORTFOLIO_IN_LIQUIDATION);
    host_close(&host);
}

/* Three bids of 0.015 and one of 0.004, a unit a command: scan of holders, then a maker a
 * command. It is one order, made once, told once at its end, whose state goes through images in
 * between. */
static void test_slices(void)
{
    uint32_t ends = 0, fills = 0, states = 0, commands = 0;

    open_loser(SMALL, "engine.work_per_command=1\nexchange.oracle_max_age_ms=0\n");
    for (uint32_t n = 1; n <= 3; n++)
        (void)trade_rest(&host, n, 1500, 956000);
    (void)trade_rest(&host, 4, 400, 955000);
    trade_index(&host, 957000);
    uint8_t id[16] = { 0 };
    for (; ends == 0; commands++) {
        host_tick(&host, 1000);
        check_image();
        CHECK(trade_effects(&host, EFFECT_fill) <= 2);
        fills += trade_effects(&host, EFFECT_fill) / 2;
        states += host.engine->liquidation.step == LIQUIDATION_ORDER;
        ends += trade_effects(&host, EFFECT_liquidation);
        if (trade_effects(&host, EFFECT_fill) != 0) {
            if (fills > 1)
                CHECK(memcmp(id, fill_told(1).order_id, sizeof id) == 0);
            memcpy(id, fill_told(1).order_id, sizeof id);
        }
        CHECK(commands < 100);
    }
    CHECK(fills == 4 && states == 3 && ends == 1);
    CHECK(trade_size(&host, LOSER) == SMALL - 4812);
    /* realised 0.045 * -4,400 and 0.00312 * -4,500; penalties 0.25 % of 1,434 each and 297.96 */
    CHECK(trade_cash(&host, LOSER) == 991450000 - 198000000 - 14040000 - 3 * 3585000 - 744900);
    host_close(&host);
}

/* Between two slices the market takes no orders any more: the rest is canceled for it, and the
 * portfolio waits until it does again. */
static void test_market_stops_in_between(void)
{
    uint8_t state[8] = { HOST_BTC, 0, 0, 0, MARKET_CANCEL_ONLY };

    open_loser(SMALL, "engine.work_per_command=1\nexchange.oracle_max_age_ms=0\n");
    for (uint32_t n = 1; n <= 4; n++)
        (void)trade_rest(&host, n, 1000, 956000);
    trade_index(&host, 957000);
    while (host.engine->liquidation.step != LIQUIDATION_ORDER)
        host_tick(&host, 1000);
    int64_t size = trade_size(&host, LOSER);
    CHECK(size == SMALL - 1000);
    CHECK(host_unsigned(&host, REQUEST_market_state, state, sizeof state) == TRADE_OK);
    CHECK(trade_last_state(&host).order_type == ORDER_LIQUIDATE);
    CHECK(trade_last_state(&host).status == ORDER_CANCELED);
    CHECK(trade_last_state(&host).reason == REASON_market_state);
    CHECK(action_told(0).size == 1000);
    host_tick(&host, HOST_SECOND_NS / 2);
    while (engine_has_work(host.engine))
        host_tick(&host, 1000);
    CHECK(trade_size(&host, LOSER) == size && trade_market(&host)->waited);
    CHECK(trade_portfolio(&host, LOSER)->liquidation_wake_ns == 0);
    state[4] = MARKET_ACTIVE;
    CHECK(host_unsigned(&host, REQUEST_market_state, state, sizeof state) == TRADE_OK);
    host_tick(&host, HOST_SECOND_NS);
    while (engine_has_work(host.engine))
        host_tick(&host, 1000);
    CHECK(trade_size(&host, LOSER) < size);
    host_close(&host);
}

/* A maker of tier 0 with a rebate: the fund pays it, up to the cash that it has before the fill. */
static void test_rebate(void)
{
    open_loser(SMALL, NULL);
    trade_market(&host)->record.maker_ppm[0] = -200; /* a rebate of 200 ppm */
    (void)trade_rest(&host, 1, 3000, 956000);
    (void)trade_rest(&host, 2, 20000, 951000);
    trade_portfolio(&host, 3)->cash -= 500000; /* the fund has 0.5 USDC */
    host.engine->portfolios.rows[FUND_PORTFOLIO].cash += 500000;
    trade_index(&host, 957000);
    /* not 2,868 * 200 ppm = 0.5736; then 1,723.212 * 200 ppm, for the fund has got 7.17 */
    CHECK(fill_told(0).fee == -500000 && fill_told(2).fee == -344642);
    CHECK(fund_cash() == 11478030 - 344642);
    check_row(3, 0, CASH_liquidation, 7170000);
    check_row(4, 0, CASH_fee, -500000);
    host_close(&host);
}

/* The short side: 0.19 sold at 100,000, 8.55 fee. At 104,300: E = 174.45, MM = 198.17, 3E >= 2MM:
 * limit = 104,300 + fdiv(174.45 - 49.5425, 0.19) = 6,574 raw: 104,957.4. */
static void test_short(void)
{
    trade_open(&host, NULL);
    CHECK(host_account(&host, LOSER) == LOSER);
    CHECK(host_deposit(&host, LOSER, 1000 * HOST_USDC) == TRADE_OK);
    (void)trade_rest(&host, TRADE_ACCOUNTS, SMALL, TRADE_MARK);
    CHECK(trade_tif(&host, LOSER, -SMALL, TRADE_MARK, TRADE_IOC) == TRADE_OK);
    trade_index(&host, 1043000);
    struct effect_order_state order = trade_state(&host, 0);
    CHECK(order.price == 1049574 && order.side == ORDER_LONG);
    CHECK(status_told(0).equity == 174450000 && status_told(0).maintenance == 198170000);
    host_close(&host);
}

/* A portfolio with frozen legs alone waits, in liquidation, until the mark is valid (R7). */
static void test_waits_for_the_mark(void)
{
    open_loser(SMALL, NULL);
    host.clock_ns += 11 * HOST_SECOND_NS;
    host_tick(&host, 1);
    CHECK(!trade_market(&host)->mark_valid);
    trade_portfolio(&host, LOSER)->cash -= 850 * USDC; /* E = 141.45 < MM = 190 */
    trade_portfolio(&host, 1)->cash += 850 * USDC;
    (void)trade_reduce(&host, LOSER, -1, 1050000, TRADE_GTC); /* a touch */
    CHECK(trade_portfolio(&host, LOSER)->status == PORTFOLIO_IN_LIQUIDATION);
    CHECK(trade_market(&host)->waited && !engine_has_work(host.engine));
    check_image();
    CHECK(host_oracle(&host, HOST_BTC, TRADE_MARK) == TRADE_OK);
    CHECK(trade_portfolio(&host, LOSER)->status == PORTFOLIO_IN_LIQUIDATION);
    CHECK(trade_last_state(&host).order_type == ORDER_LIQUIDATE);
    host_close(&host);
}

int main(void)
{
    test_small();
    test_order();
    test_large();
    test_all_of_it();
    test_leaves_by_deposit();
    test_trigger();
    test_slices();
    test_market_stops_in_between();
    test_rebate();
    test_short();
    test_waits_for_the_mark();
    image_copy_free(&ours);
    image_copy_free(&theirs);
    return 0;
}
