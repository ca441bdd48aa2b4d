/* Liquidations at random: thin books, high leverage, gaps of the index up to 60 %, a fund that is
 * rich, poor or short. After each command I1 to I6 hold (host); when the work is done nobody is
 * below its maintenance margin unnoticed, nobody without a position owes anything, and the state is
 * that of its image, also in the middle. */
#include "engine/liquidate/liquidation.h"
#include "engine/price/mark.h"
#include "engine/risk/fund.h"
#include "engine/risk/margin.h"
#include "image_copy.h"
#include "trade.h"

enum { PLAYERS = 14, RICH = TRADE_ACCOUNTS, RUNS = 16, COMMANDS = 1000 };

#define USDC (int64_t) HOST_USDC

static struct host host, loaded;
static struct image_copy ours, theirs;
static uint64_t seed;

static struct seen {
    uint32_t fills[4]; /* 2113 by level */
    uint32_t deficits, runs_loaded, orders_loaded, short_ends, entered, left, unwinds;
} seen;

static uint32_t below(uint32_t bound)
{
    return rig_below(&seed, bound);
}

static void count_effects(void)
{
    for (uint32_t i = 0; i < host.effect_count; i++) {
        const struct host_effect *effect = &host.effects[i];
        if (effect->code == EFFECT_liquidation) {
            struct effect_liquidation body;
            memcpy(&body, effect->bytes, sizeof body);
            CHECK(body.level >= 1 && body.level <= 3 && body.size != 0);
            seen.fills[body.level]++;
        } else if (effect->code == EFFECT_fund) {
            struct effect_fund body;
            memcpy(&body, effect->bytes, sizeof body);
            CHECK(body.deficit == (body.cash < 0));
            seen.deficits += body.deficit;
        } else if (effect->code == EFFECT_portfolio_state) {
            struct effect_portfolio_state body;
            memcpy(&body, effect->bytes, sizeof body);
            CHECK((body.status == PORTFOLIO_IN_LIQUIDATION) == (body.equity < body.maintenance));
            *(body.status == PORTFOLIO_IN_LIQUIDATION ? &seen.entered : &seen.left) += 1;
        }
    }
}

static void check_image(void)
{
    struct image_problem problem = { 0 };
    uint8_t step = host.engine->liquidation.step;

    image_copy_take(&ours, host.engine);
    if (!image_copy_open(&ours, &loaded, NULL, &problem)) {
        printf("section %u row %llu: %s\n", problem.section, (unsigned long long)problem.row,
               problem.text);
        CHECK(!"loads");
    }
    image_copy_take(&theirs, loaded.engine);
    CHECK(image_copy_equal(&ours, &theirs));
    seen.runs_loaded += step == LIQUIDATION_RUN;
    seen.orders_loaded += step == LIQUIDATION_ORDER;
    seen.unwinds += step == LIQUIDATION_UNWIND;
    host_close(&loaded);
}

/* When nothing waits in the queue. */
static void check_rest(void)
{
    trade_check_figures(&host);
    for (uint32_t n = 1; n <= PLAYERS; n++) {
        const struct portfolio *portfolio = trade_portfolio(&host, n);
        struct margin_view view;
        margin_view(host.engine, portfolio_find(host.engine, n, 0, 0), &view);
        bool is_short = view.equity < view.maintenance;
        CHECK(!is_short || portfolio->status == PORTFOLIO_IN_LIQUIDATION ||
              !market_mark_is_valid(host.engine, 0));
        CHECK(portfolio->status == PORTFOLIO_ACTIVE || view.equity * 100 < view.maintenance * 105);
        CHECK(trade_size(&host, n) != 0 || portfolio->cash >= 0);
        CHECK((portfolio->liquidation_wake_ns != 0) <=
              (portfolio->status == PORTFOLIO_IN_LIQUIDATION));
        /* with a valid mark on a market that matches it sleeps, and never for long */
        if (portfolio->status == PORTFOLIO_IN_LIQUIDATION && market_matches(trade_market(&host)) &&
            trade_market(&host)->mark_valid)
            CHECK(portfolio->liquidation_wake_ns > engine_time(host.engine));
        seen.short_ends += is_short;
    }
}

/* The operator takes the held price (code 1010). */
static void accept_index(uint64_t price)
{
    uint8_t body[16] = { 0 };

    cc_store64(body, price);
    cc_store16(body + 8, HOST_BTC);
    struct host_request request = { .code = REQUEST_index_accept,
                                    .body = body,
                                    .body_bytes = sizeof body,
                                    .key = host_operator_key,
                                    .key_bytes = 32 };
    CHECK(host_signed(&host, &request) == TRADE_OK);
}

static void move_index(void)
{
    uint64_t price = trade_market(&host)->index_price;

    (void)trade_limit(&host, 1, 30000, price * 997 / 1000); /* someone to sell to */
    count_effects();
    (void)trade_limit(&host, 2, -30000, price * 1003 / 1000);
    count_effects();
    uint32_t kind = below(60);

    if (kind == 0) { /* a gap, after a silence: held, until the operator accepts it */
        host.clock_ns += 61 * HOST_SECOND_NS;
        price = price * (400 + below(1200)) / 1000;
    } else if (kind < 3) {
        price = price * (910 + below(180)) / 1000;
    } else if (kind < 9) { /* past the book's turn, and not under water */
        price = price * (980 + below(40)) / 1000;
    } else {
        price = price * (9960 + below(82)) / 10000;
    }
    price = price < 200000 ? 200000 : price > 4000000 ? 4000000 : price;
    (void)host_oracle(&host, HOST_BTC, price);
    if (trade_market(&host)->hold_count != 0 && below(4) == 0) {
        count_effects();
        accept_index(price);
    }
}

static void trade_once(void)
{
    uint64_t mark = trade_market(&host)->mark;
    uint32_t n = 1 + below(below(2) == 0 ? RICH : PLAYERS);
    struct host_order order = {
        .price = mark * (below(3) == 0 ? 9500 + below(1000) : 9950 + below(100)) / 10000,
        .quantity = (1 + (int64_t)below(n > RICH ? 60 : 300)) * 1000,
        .expiry = below(4) == 0 ? TRADE_IOC : TRADE_GTC,
        .reduce_only = below(8) == 0,
    };

    if (below(2) == 0)
        order.quantity = -order.quantity;
    (void)host_limit(&host, n, &order);
}

static void one_command(void)
{
    switch (below(16)) {
    case 0:
    case 1:
    case 7:
    case 8:
        move_index();
        break;
    case 2:
        host_tick(&host, HOST_SECOND_NS);
        break;
    case 3:
        host_tick(&host, 35 * HOST_SECOND_NS);
        break;
    case 4:
        (void)host_cancel_all(&host, 1 + below(PLAYERS), HOST_BTC, 0);
        break;
    case 5:
        (void)host_deposit(&host, 1 + below(PLAYERS), (1 + below(2000)) * HOST_USDC);
        break;
    case 6: {
        uint8_t state[8] = { HOST_BTC, 0, 0, 0, (uint8_t)(below(8) == 0 ? below(5) : 0) };
        (void)host_unsigned(&host, REQUEST_market_state, state, sizeof state);
        break;
    }
    default:
        trade_once();
    }
}

static void run(uint32_t number)
{
    static const char *const options[] = {
        "exchange.oracle_max_age_ms=0\n",
        "exchange.oracle_max_age_ms=0\nengine.work_per_command=1\n",
        "exchange.oracle_max_age_ms=30000\nengine.work_per_command=5\n",
    };

    seed = 77 + number;
    trade_open(&host, options[number % 3]);
    for (uint32_t n = TRADE_ACCOUNTS + 1; n <= PLAYERS; n++) {
        CHECK(host_account(&host, n) == n);
        CHECK(host_deposit(&host, n, (500 + below(4000)) * HOST_USDC) == TRADE_OK);
    }
    int64_t fund = number % 2 == 0 ? 0 : 1000000 * USDC; /* it takes half of that (R7) */
    CHECK(host_deposit(&host, 1, (uint64_t)fund + HOST_USDC) == TRADE_OK);
    trade_portfolio(&host, 1)->cash -= fund;
    host.engine->portfolios.rows[FUND_PORTFOLIO].cash += fund;
    CHECK(host_deposit(&host, 1, HOST_USDC) == TRADE_OK); /* a touch */
    for (uint32_t i = 0; i < COMMANDS; i++) {
        one_command();
        count_effects();
        if (i % 16 == 0 || host.engine->liquidation.step != LIQUIDATION_IDLE)
            check_image();
        if (below(8) == 0)
            while (engine_has_work(host.engine)) {
                host_tick(&host, 1000);
                count_effects();
            }
        if (!engine_has_work(host.engine))
            check_rest();
    }
    host_close(&host);
}

int main(void)
{
    for (uint32_t number = 0; number < RUNS; number++)
        run(number);
    printf("L1 %u, L2 %u, L3 %u; %u entered, %u left, %u deficits; images: %u orders, %u runs, %u "
           "unwindings\n",
           seen.fills[1], seen.fills[2], seen.fills[3], seen.entered, seen.left, seen.deficits,
           seen.orders_loaded, seen.runs_loaded, seen.unwinds);
    CHECK(seen.fills[1] > 5 && seen.fills[2] > 10 && seen.fills[3] > 20);
    CHECK(seen.runs_loaded > 0 && seen.deficits > 0);
    image_copy_free(&ours);
    image_copy_free(&theirs);
    return 0;
}
