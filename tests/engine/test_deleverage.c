/* L2 and L3 of R7: the fund's takeover, and the run against the other side.
 *
 * Account 7 has 1,000 USDC and is long 0.19 BTC (19,000 raw) from 100,000, bought from account 6
 * for a fee of 8.55: E = 991.45 - 0.19 * (100,000 - mark), MM = 1 % of 0.19 * mark. */
#include "engine/liquidate/liquidation.h"
#include "engine/risk/fund.h"
#include "engine/risk/margin.h"
#include "image_copy.h"
#include "trade.h"

enum { LOSER = TRADE_ACCOUNTS + 1, OTHER = TRADE_ACCOUNTS, SIZE = 19000 };

#define USDC (int64_t) HOST_USDC

static struct host host, loaded;
static struct image_copy ours, theirs;

static void open_loser(const char *overrides)
{
    trade_open(&host, overrides);
    CHECK(host_account(&host, LOSER) == LOSER);
    CHECK(host_deposit(&host, LOSER, 1000 * HOST_USDC) == TRADE_OK);
    (void)trade_rest(&host, OTHER, -SIZE, TRADE_MARK);
    CHECK(trade_tif(&host, LOSER, SIZE, TRADE_MARK, TRADE_IOC) == TRADE_OK);
    CHECK(trade_cash(&host, LOSER) == 991450000);
}

static int64_t fund_cash(void)
{
    return host.engine->portfolios.rows[FUND_PORTFOLIO].cash;
}

/* Moves cash from account 1 without a command; `to` 0: the fund. */
static void give(uint32_t to, int64_t amount)
{
    trade_portfolio(&host, 1)->cash -= amount;
    if (to == 0)
        host.engine->portfolios.rows[FUND_PORTFOLIO].cash += amount;
    else
        trade_portfolio(&host, to)->cash += amount;
}

static struct effect_liquidation action_told(uint32_t k)
{
    struct effect_liquidation body;
    const struct host_effect *effect = host_effect(&host, EFFECT_liquidation, k);

    CHECK(effect != NULL);
    memcpy(&body, effect->bytes, sizeof body);
    return body;
}

static void check_action(uint32_t k, uint8_t level, uint64_t price, int64_t size)
{
    struct effect_liquidation action = action_told(k);

    CHECK(action.level == level && action.price == price && action.size == size);
    CHECK(action.portfolio.account_id == LOSER);
}

static void check_row(uint32_t k, uint64_t account, uint8_t kind, int64_t amount)
{
    struct effect_cash row;
    const struct host_effect *effect = host_effect(&host, EFFECT_cash, k);

    CHECK(effect != NULL);
    memcpy(&row, effect->bytes, sizeof row);
    CHECK(row.portfolio.account_id == account && row.kind == kind && row.amount == amount);
}

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

static void check_order(uint32_t k, uint8_t type, uint8_t side, uint64_t price)
{
    struct effect_order_state order = trade_state(&host, k);

    CHECK(order.order_type == type && order.side == side && order.price == price);
    CHECK(order.status == ORDER_FILLED && order.remaining == 0);
}

/* At 95,400: E = 117.45, MM = 181.26, 3E = 352.35 < 2MM = 362.52. The fund (10,000) takes 0.19 at
 * the mark: the loser realises -874, its 117.45 that are left are the fund's. */
static void test_backstop(void)
{
    open_loser(NULL);
    give(0, 10000 * USDC);
    trade_index(&host, 954000);
    CHECK(trade_size(&host, LOSER) == 0 && trade_cash(&host, LOSER) == 0);
    CHECK(trade_portfolio(&host, LOSER)->status == PORTFOLIO_ACTIVE);
    CHECK(fund_cash() == 10117450000);
    const struct holding *taken =
        state_holding(host.engine, holding_find(host.engine, FUND_PORTFOLIO, 0));
    CHECK(taken->size == SIZE && taken->cost == 954000 * (int64_t)SIZE);
    CHECK(trade_effects(&host, EFFECT_trade) == 0 && trade_effects(&host, EFFECT_fill) == 2);
    CHECK(trade_market(&host)->last_price == TRADE_MARK);
    check_order(0, ORDER_LIQUIDATE, ORDER_LONG, 954000); /* the fund: MAKER, told first */
    check_order(1, ORDER_LIQUIDATE, ORDER_SHORT, 954000);
    check_action(0, 2, 954000, SIZE);
    check_row(0, LOSER, CASH_liquidation, -874 * USDC);
    check_row(1, LOSER, CASH_fund, -117450000);
    check_row(2, 0, CASH_fund, 117450000);
    check_image();
    host_close(&host);
}

/* One raw of the price higher 3E >= 2MM: 3 * (0.19 * mark - 18,008.55) - 2 * 0.0019 * mark =
 * 0.5662 * mark - 54,025.65: at 95,418.0 it is 0.02, at 95,417.9 it is -0.03. */
static void test_two_thirds(void)
{
    open_loser(NULL);
    give(0, 10000 * USDC);
    trade_index(&host, 954180);
    CHECK(trade_size(&host, LOSER) == SIZE);
    trade_index(&host, 954179);
    CHECK(trade_size(&host, LOSER) == 0 && fund_cash() > 10000 * USDC);
    host_close(&host);
}

/* The fund takes nothing under water. At 90,000: E = -908.55, d = cdiv(908,550,000, 19,000) =
 * 47,819. The fund's day is a twentieth of 10,000: 500. bound = cdiv(47,819 * (908.55 - 500),
 * 908.55) = 21,503, above a hundredth of the mark, 9,000: account 6 buys at 92,150.3. The loser
 * realises -1,491.443 and has -499.993 left: the fund pays them. */
static void test_fund_pays(void)
{
    open_loser(NULL);
    give(0, 10000 * USDC);
    CHECK(host_oracle(&host, HOST_BTC, 900000) == TRADE_OK); /* 10 %: not held */
    check_action(0, 3, 921503, SIZE);
    CHECK(trade_cash(&host, LOSER) == 0 && fund_cash() == 10000 * USDC - 499993000);
    check_row(0, LOSER, CASH_adl, -1491443000);
    check_row(2, LOSER, CASH_fund, 499993000);
    CHECK(trade_market(&host)->state == MARKET_ACTIVE);
    host_close(&host);
}

/* What the fund takes in a market is at most twice its equity then: 0.19 * 95,400 = 18,126 = 2 *
 * (117.45 + f). With one micro-USDC less the run comes: 95,400 - fdiv(117,450,000, 19,000) = 6,181
 * raw: 94,781.9. */
static void test_backstop_condition(void)
{
    open_loser(NULL);
    give(0, 8945550000);
    trade_index(&host, 954000);
    check_action(0, 2, 954000, SIZE);
    host_close(&host);
    open_loser(NULL);
    give(0, 8945549999);
    trade_index(&host, 954000);
    check_action(0, 3, 947819, SIZE);
    host_close(&host);
}

/* The run: account 6 buys at 94,781.9: the loser realises -991.439 and has 0.011 left, the
 * rounding: the fund takes min(11,000, 19,000 + 2). Account 6 realises 991.439. */
static void test_run(void)
{
    open_loser(NULL);
    int64_t other = trade_cash(&host, OTHER);
    trade_index(&host, 954000);
    check_action(0, 3, 947819, SIZE);
    check_order(0, ORDER_AUTO_DELEVERAGE, ORDER_LONG, 947819);
    check_order(1, ORDER_AUTO_DELEVERAGE, ORDER_SHORT, 947819);
    check_row(0, LOSER, CASH_adl, -991439000);
    check_row(1, OTHER, CASH_adl, 991439000);
    check_row(2, LOSER, CASH_fund, -11000);
    check_row(3, 0, CASH_fund, 11000);
    CHECK(trade_cash(&host, LOSER) == 0 && fund_cash() == 11000);
    CHECK(trade_cash(&host, OTHER) == other + 991439000 && trade_size(&host, OTHER) == 0);
    CHECK(trade_effects(&host, EFFECT_trade) == 0);
    CHECK(trade_market(&host)->state == MARKET_ACTIVE);
    CHECK(trade_portfolio(&host, LOSER)->status == PORTFOLIO_ACTIVE);
    host_close(&host);
}

/* At 94,000 e = -148.55: d = 781.9, less than a hundredth of the mark, which the winners always
 * bear: p = 94,000 + 781.9: worse than the mark for the short, who can bear it. */
static void test_run_under_water(void)
{
    open_loser(NULL);
    trade_index(&host, 940000);
    check_action(0, 3, 947819, SIZE);
    CHECK(trade_cash(&host, LOSER) == 0 && fund_cash() == 11000);
    host_close(&host);
}

/* At 90,000 (through 96,000) e = -908.55, d = 4,781.9: the fund, empty, carries nothing of it and
 * the band is 9,000: p = 94,781.9. Account 6 has E = 200 there: capacity fdiv(200,000,000, 47,819)
 * = 4,182; after them 20,942 micro-USDC, no lot more: pass 2, 14,818 at the mark. The loser's cash:
 * 991.45 - 4,182 * 52,181 - 14,818 * 100,000 raw = -708.570942: the fund pays it, is short, and
 * the market only reduces. */
static void test_second_pass(void)
{
    open_loser(NULL);
    trade_index(&host, 960000);
    give(OTHER, -trade_cash(&host, OTHER) - 1700 * USDC);
    CHECK(host_oracle(&host, HOST_BTC, 900000) == TRADE_OK);
    check_action(0, 3, 947819, 4182);
    check_action(1, 3, 900000, 14818);
    CHECK(trade_effects(&host, EFFECT_liquidation) == 2);
    CHECK(trade_cash(&host, LOSER) == 0 && fund_cash() == -708570942);
    CHECK(trade_cash(&host, OTHER) == 20942 && trade_size(&host, OTHER) == 0);
    CHECK(trade_market(&host)->state == MARKET_REDUCE_ONLY);
    const struct host_effect *told = host_effect(&host, EFFECT_fund, 0);
    struct effect_fund fund;
    CHECK(told != NULL && trade_effects(&host, EFFECT_fund) == 1);
    memcpy(&fund, told->bytes, sizeof fund);
    CHECK(fund.deficit == 1 && fund.cash == -708570942 && fund.amount == -708570942);
    check_image();
    host_close(&host);
}

/* Pass 1 is never left out, also while the fund is short: p as in test_run, and the rounding goes
 * to the fund. */
static void test_short_fund(void)
{
    open_loser(NULL);
    give(0, -1);
    trade_index(&host, 954000);
    check_action(0, 3, 947819, SIZE);
    CHECK(trade_cash(&host, LOSER) == 0 && fund_cash() == -1 + 11000);
    CHECK(trade_effects(&host, EFFECT_fund) == 1); /* no longer short */
    host_close(&host);
}

/* A deficit that no leg shows: a short of 0.19 at its entry price with E = -29,000. The leg bears
 * of it at most a hundredth of its value, 190: d = 1,000.0, p = 99,000: account 6, long, gives 190.
 * The fund carries the rest. */
static void test_hidden_deficit(void)
{
    trade_open(&host, "exchange.oracle_max_age_ms=10000\n");
    CHECK(host_account(&host, LOSER) == LOSER);
    CHECK(host_deposit(&host, LOSER, 1000 * HOST_USDC) == TRADE_OK);
    (void)trade_rest(&host, OTHER, SIZE, TRADE_MARK);
    CHECK(trade_tif(&host, LOSER, -SIZE, TRADE_MARK, TRADE_IOC) == TRADE_OK);
    give(LOSER, -29991450000);                                       /* E = -29,000 */
    CHECK(trade_limit(&host, LOSER, -1000, TRADE_MARK) != TRADE_OK); /* a touch */
    check_action(0, 3, 990000, -SIZE);
    CHECK(trade_cash(&host, LOSER) == 0 && fund_cash() == -28810 * USDC);
    CHECK(trade_market(&host)->state == MARKET_REDUCE_ONLY);
    host_close(&host);
}

/* Score descending: accounts 2 to 5 are short too, from different prices: the better entry
 * first. */
static void test_ranking(void)
{
    trade_open(&host, NULL);
    CHECK(host_account(&host, LOSER) == LOSER);
    CHECK(host_deposit(&host, LOSER, 1000 * HOST_USDC) == TRADE_OK);
    static const uint64_t prices[] = { 1000000, 1000300, 1000100, 1000200 };
    for (uint32_t n = 2; n <= 5; n++) {
        (void)trade_rest(&host, n, -4750, prices[n - 2]);
        CHECK(trade_tif(&host, LOSER, 4750, prices[n - 2], TRADE_IOC) == TRADE_OK);
    }
    trade_index(&host, 954000);
    uint32_t order[4] = { 3, 5, 4, 2 };
    for (uint32_t k = 0; k < 4; k++) {
        const struct host_effect *effect = host_effect(&host, EFFECT_position, 2 * k);
        struct effect_position position;
        CHECK(effect != NULL);
        memcpy(&position, effect->bytes, sizeof position);
        CHECK(position.portfolio.account_id == order[k]);
    }
    host_close(&host);
}

/* A unit a command: the run goes on through images; meanwhile its portfolio takes no part in
 * anything, and a deposit stays its owner's. */
static void test_slices(void)
{
    uint32_t running = 0;

    open_loser("engine.work_per_command=1\nexchange.oracle_max_age_ms=0\n");
    for (uint32_t n = 1; n <= 3; n++)
        (void)trade_rest(&host, n, 1000, 900000); /* a record each: met and not ranked */
    trade_index(&host, 954000);
    for (uint32_t commands = 0; engine_has_work(host.engine); commands++) {
        if (host.engine->liquidation.step == LIQUIDATION_RUN && running++ == 0)
            CHECK(host_deposit(&host, LOSER, 5 * HOST_USDC) == TRADE_OK);
        CHECK(liquidation_step_is_running(host.engine, portfolio_find(host.engine, LOSER, 0, 0)) ==
              (host.engine->liquidation.step == LIQUIDATION_RUN));
        host_tick(&host, 1000);
        check_image();
        CHECK(commands < 100);
    }
    CHECK(running >= 3 && trade_size(&host, LOSER) == 0);
    CHECK(trade_cash(&host, LOSER) == 5 * USDC + 11000 - 19002 && fund_cash() == 19002);
    host_close(&host);
}

/* Steps of 0.8 %, each with its scan done: the market is not in a gap, and who is not in the run
 * trades. While the ranking is between account 1 and account 6, the only one on the other side,
 * account 1 takes over that position: it is met once more at once (R7, the steps of L2 and L3). */
static void test_other_side_moves(void)
{
    const struct deleverage *run;
    uint32_t moved = 0;

    open_loser("engine.work_per_command=1\nexchange.oracle_max_age_ms=0\n");
    run = &host.engine->liquidation.run;
    (void)trade_rest(&host, 1, -SIZE, 1001000);
    for (uint32_t n = 2; n <= 4; n++)
        (void)trade_rest(&host, n, 1000, 900000); /* a record each: met and not ranked */
    for (uint64_t price = 993000; price >= 954000; price -= price == 993000 ? 7000 : 8000) {
        while (engine_has_work(host.engine))
            host_tick(&host, 1000);
        CHECK(trade_size(&host, LOSER) == SIZE && !trade_market(&host)->in_gap);
        trade_index(&host, price);
    }
    for (uint32_t commands = 0; engine_has_work(host.engine); commands++) {
        if (host.engine->liquidation.step == LIQUIDATION_RUN && run->from == 3 && moved++ == 0)
            CHECK(trade_tif(&host, OTHER, SIZE, 1001000, TRADE_IOC) == TRADE_OK);
        host_tick(&host, 1000);
        check_image();
        CHECK(commands < 100);
    }
    CHECK(moved == 1); /* account 1 is ranked when it trades */
    CHECK(trade_size(&host, LOSER) == 0);
    CHECK(trade_size(&host, 1) == 0 && trade_size(&host, OTHER) == 0);
    CHECK(trade_cash(&host, LOSER) == 0 && fund_cash() == 11000);
    host_close(&host);
}

/* Account 1 is short of 0.096, account 6 of 0.095, account 2 is long of 0.001. Account 7 has 167.45
 * less: E = -50 at 95,400, which its leg has lost since 96,200: d = cdiv(50,000,000, 19,000) =
 * 2,632 raw. When account 1 has given, account 6 has 0.045 USDC left and buys the 0.001 of account
 * 2 at the mark for a fee of 0.04293: with less than 2,632 micro-USDC it can give no lot. Its place
 * is gone, and it was the last. Pass 2 closes what is left at the mark: the fund pays 50 - 0.096 *
 * 263.2 = 24.7328. */
static void test_last_place_goes(void)
{
    const struct deleverage *run;
    uint32_t asked = 0, bought = 0;

    open_loser("engine.work_per_command=1\nexchange.oracle_max_age_ms=0\n");
    run = &host.engine->liquidation.run;
    (void)trade_rest(&host, 1, -SIZE / 2 - 100, TRADE_MARK);
    CHECK(trade_tif(&host, OTHER, SIZE / 2, TRADE_MARK, TRADE_IOC) == TRADE_OK);
    CHECK(trade_tif(&host, 2, 100, TRADE_MARK, TRADE_IOC) == TRADE_OK);
    for (uint32_t n = 2; n <= 4; n++)
        (void)trade_rest(&host, n, 1000, 900000);
    for (uint64_t price = 993000; price >= 954000; price -= price == 993000 ? 7000 : 8000) {
        while (engine_has_work(host.engine))
            host_tick(&host, 1000);
        if (price == 954000)
            give(LOSER, -167450000);
        trade_index(&host, price);
    }
    for (uint32_t commands = 0; engine_has_work(host.engine); commands++) {
        bool is_running = host.engine->liquidation.step == LIQUIDATION_RUN;
        if (is_running && run->from == 3 && asked++ == 0)
            (void)trade_rest(&host, 2, -100, 954000);
        if (is_running && !run->ranking && run->next_row == 1 && bought++ == 0) {
            CHECK(run->row_count == 2 && trade_size(&host, 1) == 0);
            give(OTHER, 45000 - (int64_t)margin_equity(trade_portfolio(&host, OTHER)));
            CHECK(trade_reduce(&host, OTHER, 100, 954000, TRADE_IOC) == TRADE_OK);
            CHECK(trade_size(&host, OTHER) == 100 - SIZE / 2);
        }
        host_tick(&host, 1000);
        check_image();
        CHECK(commands < 100);
    }
    CHECK(asked != 0 && bought != 0);
    CHECK(trade_size(&host, LOSER) == 0 && trade_size(&host, OTHER) == 0);
    CHECK(trade_cash(&host, LOSER) == 0 && fund_cash() == -24732800);
    host_close(&host);
}

/* Under water while nobody can liquidate it: E = 991.45 - 1,100 = -108.55 with an index that is too
 * old. No order of it is accepted (R11, row 27), what is owed is kept. With the next index it is
 * run: no leg shows the deficit, which is less than a hundredth of 19,000: d = cdiv(108,550,000,
 * 19,000) = 5,714; account 6 buys at 100,571.4, 16,000 micro-USDC are the rounding. */
static void test_under_water(void)
{
    open_loser(NULL);
    (void)trade_rest(&host, 2, SIZE, 1001000);
    host.clock_ns += 11 * HOST_SECOND_NS;
    give(LOSER, -1100 * USDC);
    CHECK(trade_reduce(&host, LOSER, -SIZE, 1001000, TRADE_IOC) ==
          STATUS_insufficient_margin_to_place);
    CHECK(trade_size(&host, LOSER) == SIZE && trade_cash(&host, LOSER) == -108550000);
    CHECK(host.engine->liquidation.owed_total == 108550000);
    CHECK(host_oracle(&host, HOST_BTC, TRADE_MARK) == TRADE_OK);
    check_action(0, 3, 1005714, SIZE);
    CHECK(trade_cash(&host, LOSER) == 0 && fund_cash() == 16000);
    CHECK(host.engine->liquidation.owed_total == 0);
    host_close(&host);
}

/* r of R7, Fund: the signature of these tests' oracle is zero. */
static uint32_t drawn(uint64_t second)
{
    uint64_t z = second * UINT64_C(0x9E3779B97F4A7C15);

    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return (uint32_t)((z ^ (z >> 31)) & 0xFFFF);
}

/* Moves the clock to the next full second in which the fund sells this much; 0: nothing. */
static void go_to_second(uint32_t percent)
{
    uint64_t second = host.clock_ns / HOST_SECOND_NS;
    uint32_t r;

    do
        r = drawn(++second);
    while ((r & 1) != 0 ? percent != 0 : 5 + (r >> 1) % 11 != percent);
    host.clock_ns = second * HOST_SECOND_NS;
}

/* Each second a tenth of what the fund took, 1,900 raw, to bids of 10 bps below the mark or better:
 * at 95,400 not below 95,304.6. No fee; the maker pays its own. */
static void test_unwind(void)
{
    open_loser("exchange.oracle_max_age_ms=0\n");
    give(0, 10000 * USDC);
    trade_index(&host, 954000);
    (void)trade_rest(&host, 1, 100000, 953045);
    go_to_second(10);
    host_tick(&host, 0);
    CHECK(trade_effects(&host, EFFECT_trade) == 0);
    struct effect_order_state order = trade_state(&host, 0);
    CHECK(order.order_type == ORDER_LIQUIDATE && order.price == 953046);
    CHECK(order.remaining == 1900 && order.status == ORDER_CANCELED);
    (void)trade_rest(&host, 2, 2500, 953046);
    uint64_t index = trade_market(&host)->mark;
    CHECK(index == 954000);
    go_to_second(0);
    host_tick(&host, 0);
    CHECK(trade_effects(&host, EFFECT_order_state) == 0);
    go_to_second(10);
    host_tick(&host, 0);
    CHECK(trade_effects(&host, EFFECT_trade) == 1 && trade_trade(&host, 0).flags == 0);
    CHECK(trade_trade(&host, 0).size == 1900 && trade_trade(&host, 0).price == 953046);
    /* realised 1,900 * -954 */
    CHECK(fund_cash() == 10117450000 - 1900 * 954);
    CHECK(trade_effects(&host, EFFECT_liquidation) == 0);
    go_to_second(10);
    host_tick(&host, 0);
    CHECK(trade_trade(&host, 0).size == 600); /* of a tenth of 17,100: what the bid had left */
    host_close(&host);
}

/* A unit a command: the order of 1,900 meets bids of 400, one a command. A state made from the
 * image in its middle is that state, and goes on as it does to the end. */
static void test_unwind_image(void)
{
    struct image_problem problem;
    uint32_t inside = 0;

    open_loser("exchange.oracle_max_age_ms=0\nengine.work_per_command=1\n");
    give(0, 10000 * USDC);
    trade_index(&host, 954000);
    while (engine_has_work(host.engine))
        host_tick(&host, 1);
    for (uint32_t n = 0; n < 6; n++)
        (void)trade_rest(&host, 1, 400, 953046);
    go_to_second(10);
    for (uint32_t commands = 0; commands == 0 || engine_has_work(host.engine); commands++) {
        CHECK(commands < 20);
        host_tick(&host, 1);
        if (host.engine->liquidation.step != LIQUIDATION_UNWIND || inside++ != 1)
            continue;
        image_copy_take(&ours, host.engine); /* two bids are met */
        CHECK(image_copy_open(&ours, &loaded, NULL, &problem));
        image_copy_take(&theirs, loaded.engine);
        CHECK(image_copy_equal(&ours, &theirs));
        CHECK(loaded.engine->liquidation.step == LIQUIDATION_UNWIND);
        loaded.clock_ns = host.clock_ns;
        host.mirror = &loaded;
    }
    CHECK(inside == 4); /* behind each of four bids; with the fifth it is done */
    CHECK(state_holding(host.engine, holding_find(host.engine, FUND_PORTFOLIO, 0))->size ==
          SIZE - 1900);
    image_copy_take(&ours, host.engine);
    image_copy_take(&theirs, loaded.engine);
    CHECK(image_copy_equal(&ours, &theirs));
    host.mirror = NULL;
    host_close(&loaded);
    host_close(&host);
}

int main(void)
{
    test_backstop();
    test_two_thirds();
    test_fund_pays();
    test_backstop_condition();
    test_run();
    test_run_under_water();
    test_second_pass();
    test_short_fund();
    test_hidden_deficit();
    test_ranking();
    test_slices();
    test_other_side_moves();
    test_last_place_goes();
    test_under_water();
    test_unwind();
    test_unwind_image();
    image_copy_free(&ours);
    image_copy_free(&theirs);
    return 0;
}
