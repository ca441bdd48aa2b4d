/* bench_worst.c - the longest single commands that the rules allow, one at a time. Goal: none holds
 * the matcher for more than 1 ms (docs/performance.md).
 *
 *   worst/makers          one order fills 4,096 makers of as many portfolios
 *   worst/makers_moved    the same as the first command after a mark moved: each is checked again
 *   worst/makers_day      the same on the first day after they traded: each one's tier is made
 *   worst/dead            a post-only order passes 4,096 orders that have just expired
 *   worst/cancel_all      2,000 orders of a portfolio, 64 units of it with the command
 *   worst/account         the operator's cancel of an account: 256 portfolios, an order in each
 *   worst/account_tick    the rest of them
 *   worst/work_tick       the next 1,024 units
 *   worst/reduce_only     REDUCE_ONLY over 100,000 orders of as many portfolios, 64 units with it
 *   worst/excess         1,990 reduce-only orders that a position leaves which is closed but for a
 *                         little, 64 units with the command
 *   worst/excess_tick     the next 1,024 of them
 *   worst/list_tick       the next 1,024 units: an order, or the end of a portfolio's list
 *   worst/mark_move       a mark that moves under 100,000 positions, 64 units with the command
 *   worst/scan_tick       the next 1,024 positions
 *   worst/liquidation     the next 1,024 of them, when each falls below its maintenance margin
 *   worst/rank            the next 1,024 of 100,000 holders that a run ranks (L3)
 *   worst/deleverage      the first 256 of them give, each its whole position: 1,024 units
 *   worst/stops           a mark that satisfies 1,000 stops, 64 units with the command
 *   worst/stop_tick       the next 512 of them, each filled by a maker: 1,024 units
 *   worst/cascade         the next 512 stops of a thousand, each satisfied by the trade of the one
 *                         before it
 *   worst/funding         the hour of funding over 900,000 positions, 64 units with the command
 *   worst/funding_tick    the next 1,024 of them
 *   worst/backstop        a mark at which the fund takes over 64 positions of one portfolio
 *
 * Each case builds its state and times one command by the clock of the thread. `us` is the least of
 * three runs or more: the cost of the command when nothing else has the processor. The reported
 * time is that of building the state. */
#include <stdlib.h>
#include <time.h>

#include "engine/engine.h"
#include "engine_venue.h"
#include "shim.h"

enum { MAKERS = 4096, HOLDERS = 100000, PAID = 900000, ORDERS = 2000, STOPS = 1000, LEGS = 64 };
enum { REDUCING = 1990 };
enum { SUBACCOUNTS = 4, PORTFOLIOS = 64 };
enum { TAKER = 1 };

enum { REPEATS = 3 };

/* PERPD_BENCH_SHORT: each case is built once, with no more traders than the orders that one command
 * fills. A test that a benchmark still runs needs no more. */
static bool is_short;

static uint32_t at_most(uint32_t traders)
{
    return is_short && traders > MAKERS ? MAKERS : traders;
}

/* A case: how many traders with which deposit each (0: plenty), the preparation, and the command
 * that is timed. */
struct worst {
    uint32_t traders;
    uint64_t deposit;
    void (*prepare)(struct load_venue *venue);
    void (*command)(struct load_venue *venue, struct command *command);
};

/* Returns the CPU time of this thread alone: the use of the processor by others does not count. */
static uint64_t cpu_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void place(struct load_venue *venue, uint32_t n, int64_t quantity, uint64_t price)
{
    alignas(16) uint8_t slot[LOAD_SLOT_BYTES] = { 0 };
    struct command *command = (struct command *)(void *)slot;

    venue->t_ns += 1000;
    order_build(venue, command, n, quantity, price);
    if (load_apply(venue, command) != STATUS_request_completed)
        abort();
}

static void tick(struct load_venue *venue, uint8_t kind)
{
    uint8_t body[8] = { kind };
    load_node(venue, REQUEST_tick, body, sizeof body);
}

static void move_index(struct load_venue *venue, uint64_t price)
{
    uint8_t body[24];

    oracle_body(body, venue->t_ns + 2000, price);
    load_request(venue, REQUEST_oracle_price, body, sizeof body, ORACLE_KEY, 32);
}

/* Brings the ladder's pages into use in which the timed order may rest: the first order of a region
 * pays for a page of the system, of 2 MiB, and the command should not. */
static void prepare_bids(struct load_venue *venue)
{
    place(venue, 2, 1000, LOAD_PRICE + 16);
    place(venue, 3, -1000, LOAD_PRICE + 16);
}

static void prepare_makers(struct load_venue *venue)
{
    prepare_bids(venue);
    for (uint32_t n = 2; n < 2 + MAKERS; n++)
        place(venue, n, -1000, LOAD_PRICE + n % 16);
}

static void prepare_makers_moved(struct load_venue *venue)
{
    prepare_makers(venue);
    move_index(venue, LOAD_PRICE + 50);
}

static void prepare_makers_day(struct load_venue *venue)
{
    const uint64_t day_ns = UINT64_C(86400000000000);

    for (uint32_t n = 2; n < 2 + MAKERS; n++) {
        place(venue, TAKER, 1000, LOAD_PRICE);
        place(venue, n, -1000, LOAD_PRICE);
    }
    prepare_makers(venue);
    venue->t_ns = (venue->t_ns / day_ns + 1) * day_ns;
    tick(venue, 0);
    move_index(venue, LOAD_PRICE + 50);
}

static void command_take(struct load_venue *venue, struct command *command)
{
    order_build(venue, command, TAKER, 1000 * (MAKERS + 1), LOAD_PRICE + 16);
}

static void prepare_dead(struct load_venue *venue)
{
    prepare_bids(venue);
    for (uint32_t n = 2; n < 2 + MAKERS; n++) {
        alignas(16) uint8_t slot[LOAD_SLOT_BYTES] = { 0 };
        struct command *command = (struct command *)(void *)slot;
        venue->t_ns += 1000;
        order_build(venue, command, n, -1000, LOAD_PRICE + n % 16);
        cc_store64(command->bytes + REQUEST_BODY_AT + 32, LOAD_START_NS + 900000000);
        if (load_apply(venue, command) != STATUS_request_completed)
            abort();
    }
    venue->t_ns = LOAD_START_NS + 900000000;
}

static void command_post(struct load_venue *venue, struct command *command)
{
    order_build(venue, command, TAKER, 1000, LOAD_PRICE + 16);
    command->bytes[REQUEST_BODY_AT + 40] = 1; /* post_only */
}

static void prepare_orders(struct load_venue *venue)
{
    for (uint32_t i = 0; i < ORDERS; i++)
        place(venue, 2, i % 2 == 0 ? 1000 : -1000,
              i % 2 == 0 ? LOAD_PRICE - 1 - i : LOAD_PRICE + 1 + i);
}

static void command_cancel_all(struct load_venue *venue, struct command *command)
{
    uint8_t body[24] = { 0 }, key[32];

    cc_store64(body, 2);
    cc_store16(body + 16, 0xFFFF);
    load_key(0x5A, 2, key, sizeof key);
    load_sign(venue, command, REQUEST_cancel_all_orders, body, sizeof body, key, sizeof key);
}

/* Trader 2 has all the portfolios that an account can have, with an order in each. */
static void prepare_account(struct load_venue *venue)
{
    uint8_t master[33], body[48];

    load_key(0xA5, 2, master, sizeof master);
    for (uint32_t at = 0; at < SUBACCOUNTS * PORTFOLIOS; at++) {
        alignas(16) uint8_t slot[LOAD_SLOT_BYTES] = { 0 };
        struct command *command = (struct command *)(void *)slot;
        uint32_t subaccount = at / PORTFOLIOS, portfolio = at % PORTFOLIOS;
        memset(body, 0, sizeof body);
        cc_store64(body, 2);
        cc_store32(body + 8, subaccount);
        venue->t_ns += 1000;
        if (at != 0 && portfolio == 0)
            load_request(venue, REQUEST_create_subaccount, body, 8, master, sizeof master);
        else if (at != 0)
            load_request(venue, REQUEST_create_portfolio, body, 48, master, sizeof master);
        if (at != 0) {
            memset(body, 0, sizeof body);
            cc_store64(body, 2);
            cc_store64(body + 16, 2);
            cc_store32(body + 24, subaccount);
            cc_store32(body + 28, portfolio);
            cc_store64(body + 32, UINT64_C(1000000000));
            load_key(0x5A, 2, master, 32);
            load_request(venue, REQUEST_transfer, body, 40, master, 32);
            load_key(0xA5, 2, master, sizeof master);
        }
        venue->t_ns += 1000;
        order_build(venue, command, 2, 100, LOAD_PRICE - 1 - at % 1024);
        cc_store32(command->bytes + REQUEST_BODY_AT + 8, subaccount);
        cc_store32(command->bytes + REQUEST_BODY_AT + 12, portfolio);
        if (load_apply(venue, command) != STATUS_request_completed)
            abort();
    }
}

static void command_account(struct load_venue *venue, struct command *command)
{
    uint8_t body[40] = { 0 };

    cc_store64(body, 2);
    cc_store64(body + 8, UINT64_MAX); /* every subaccount and portfolio */
    cc_store16(body + 32, 0xFFFF);
    load_sign(venue, command, REQUEST_operator_cancel, body, sizeof body, OPERATOR_KEY, 32);
}

static void prepare_account_tick(struct load_venue *venue)
{
    alignas(16) uint8_t slot[LOAD_SLOT_BYTES] = { 0 };
    struct command *command = (struct command *)(void *)slot;

    prepare_account(venue);
    venue->t_ns += 1000;
    command_account(venue, command);
    if (load_apply(venue, command) != STATUS_request_completed)
        abort();
}

static void prepare_canceled(struct load_venue *venue)
{
    alignas(16) uint8_t slot[LOAD_SLOT_BYTES] = { 0 };
    struct command *command = (struct command *)(void *)slot;

    prepare_orders(venue);
    venue->t_ns += 1000;
    command_cancel_all(venue, command);
    if (load_apply(venue, command) != STATUS_request_completed)
        abort();
}

static void command_tick(struct load_venue *venue, struct command *command)
{
    command->t_ns = venue->t_ns;
    command->code = REQUEST_tick;
    command->payload_bytes = 8;
    command->bytes[0] = 1; /* work */
}

/* Every trader has an order. */
static void prepare_many_orders(struct load_venue *venue)
{
    for (uint32_t n = 2; n < 2 + at_most(HOLDERS); n++)
        place(venue, n, 1000, LOAD_PRICE - 1 - n % 1024);
}

static void command_reduce_only(struct load_venue *venue, struct command *command)
{
    uint8_t body[8] = { 1, 0, 0, 0, 2 }; /* asset 1, REDUCE_ONLY */

    load_sign(venue, command, REQUEST_market_state, body, sizeof body, OPERATOR_KEY, 32);
}

/* As many as may rest, from the last in the book to the first, and a bid for the position. */
static void prepare_excess(struct load_venue *venue)
{
    place(venue, 3, -1000 * REDUCING, LOAD_PRICE);
    place(venue, 2, 1000 * REDUCING, LOAD_PRICE);
    for (uint32_t i = REDUCING; i > 0; i--) {
        alignas(16) uint8_t slot[LOAD_SLOT_BYTES] = { 0 };
        struct command *command = (struct command *)(void *)slot;
        venue->t_ns += 1000;
        order_build(venue, command, 2, -1000, LOAD_PRICE + i);
        command->bytes[REQUEST_BODY_AT + 41] = 1; /* reduce_only */
        if (load_apply(venue, command) != STATUS_request_completed)
            abort();
    }
    place(venue, 3, 1000 * REDUCING - 1000, LOAD_PRICE - 1);
}

static void command_close(struct load_venue *venue, struct command *command)
{
    order_build(venue, command, 2, -1000 * REDUCING + 1000, LOAD_PRICE - 1);
}

static void prepare_excess_tick(struct load_venue *venue)
{
    prepare_excess(venue);
    place(venue, 2, -1000 * REDUCING + 1000, LOAD_PRICE - 1);
}

static void prepare_list(struct load_venue *venue)
{
    alignas(16) uint8_t slot[LOAD_SLOT_BYTES] = { 0 };
    struct command *command = (struct command *)(void *)slot;

    prepare_many_orders(venue);
    venue->t_ns += 1000;
    command_reduce_only(venue, command);
    if (load_apply(venue, command) != STATUS_request_completed)
        abort();
}

/* Every trader has a position: each buys from trader 1. */
static void prepare_holders(struct load_venue *venue)
{
    for (uint32_t n = 2; n < 2 + at_most(HOLDERS); n++) {
        place(venue, TAKER, -1000, LOAD_PRICE);
        place(venue, n, 1000, LOAD_PRICE);
    }
}

static void prepare_scan(struct load_venue *venue)
{
    prepare_holders(venue);
    move_index(venue, LOAD_PRICE + 500);
}

static void command_move(struct load_venue *venue, struct command *command)
{
    uint8_t body[24];

    oracle_body(body, venue->t_ns, LOAD_PRICE + 500);
    load_sign(venue, command, REQUEST_oracle_price, body, sizeof body, ORACLE_KEY, 32);
}

/* Each trader is long by 0.9 BTC with 5,000 USDC: below the margin at 95,200. */
static void prepare_thin(struct load_venue *venue)
{
    for (uint32_t n = 2; n < 2 + at_most(HOLDERS); n += 2) {
        place(venue, n, -90000, LOAD_PRICE);
        place(venue, n + 1, 90000, LOAD_PRICE);
    }
    move_index(venue, LOAD_PRICE - 48000);
}

/* Every trader is long by 0.001 BTC of what trader 1 is short, with 520,000 USDC: they are gone at
 * 105,500, and the run begins. */
static void prepare_rank(struct load_venue *venue)
{
    for (uint32_t n = 2; n < 2 + at_most(HOLDERS); n++) {
        place(venue, TAKER, -100, LOAD_PRICE);
        place(venue, n, 100, LOAD_PRICE);
    }
    move_index(venue, LOAD_PRICE + 55000);
    while (engine_has_work(venue->engine) && !venue->engine->liquidation.run.ranking)
        tick(venue, 1);
}

static void prepare_deleverage(struct load_venue *venue)
{
    prepare_rank(venue);
    while (engine_has_work(venue->engine) && venue->engine->liquidation.run.ranking)
        tick(venue, 1);
}

static void place_stop(struct load_venue *venue, uint32_t n, uint64_t trigger, uint8_t source)
{
    alignas(16) uint8_t slot[LOAD_SLOT_BYTES + MESSAGE_SLOT_BYTES] = { 0 };
    struct command *command = (struct command *)(void *)slot;
    uint8_t body[80] = { 0 }, key[32];

    venue->t_ns += 1000;
    cc_store64(body, n);
    cc_store64(body + 16, trigger);
    cc_store64(body + 32, 1000);
    cc_store64(body + 40, UINT64_MAX);
    body[50] = 1; /* EXPIRE_MAKER */
    body[51] = ORDER_STOP_MARKET;
    cc_store16(body + 52, 1);
    body[60] = source;
    load_key(0x5A, n, key, sizeof key);
    load_sign(venue, command, REQUEST_place_conditional_order, body, sizeof body, key, sizeof key);
    if (load_apply(venue, command) != STATUS_request_completed)
        abort();
}

/* Brings the tables into use that an order needs when it fires: the first one pays for a page of
 * the system, of 2 MiB, and the command should not. A trade satisfies the stop. */
static void fire_first(struct load_venue *venue)
{
    place_stop(venue, TAKER, LOAD_PRICE + 1, 1);
    place(venue, 2, -1000, LOAD_PRICE + 1);
    place(venue, 2, -1000, LOAD_PRICE + 1);
    place(venue, 3, 1000, LOAD_PRICE + 1);
    tick(venue, 1);
}

/* Every trader has a stop, and a maker is there for it. */
static void prepare_stops(struct load_venue *venue)
{
    fire_first(venue);
    for (uint32_t n = 2; n < 2 + STOPS; n++) {
        place(venue, n + STOPS, -1000, LOAD_PRICE + 100);
        place_stop(venue, n, LOAD_PRICE + 50, 0);
    }
}

static void prepare_stop_tick(struct load_venue *venue)
{
    prepare_stops(venue);
    move_index(venue, LOAD_PRICE + 500);
    tick(venue, 1); /* the scan of the mark comes first: 2,000 holders */
    tick(venue, 1);
}

/* Each of a thousand ticks has a maker, and a stop that the maker's trade satisfies. */
static void prepare_cascade(struct load_venue *venue)
{
    for (uint32_t n = 2; n < 2 + STOPS; n++) {
        place(venue, n + STOPS, -1000, LOAD_PRICE + n);
        place_stop(venue, n, LOAD_PRICE + n, 1);
    }
    place(venue, TAKER, 1000, LOAD_PRICE + 2);
}

static void prepare_paid(struct load_venue *venue)
{
    uint64_t hour_ns = UINT64_C(3600000000000);

    for (uint32_t n = 2; n < 2 + at_most(PAID); n += 2) {
        place(venue, n, -1000, LOAD_PRICE);
        place(venue, n + 1, 1000, LOAD_PRICE);
    }
    venue->t_ns = (venue->t_ns / hour_ns + 1) * hour_ns - 1000000;
    move_index(venue, LOAD_PRICE);
    tick(venue, 0);
    while (engine_has_work(venue->engine))
        tick(venue, 1);
    venue->t_ns = (venue->t_ns / hour_ns + 1) * hour_ns;
}

static void prepare_funding_tick(struct load_venue *venue)
{
    prepare_paid(venue);
    tick(venue, 0);
}

static void command_time(struct load_venue *venue, struct command *command)
{
    command_tick(venue, command);
    command->bytes[0] = 0; /* time */
}

/* Markets 2 to 64 are like the first; trader 2 is long in all of them, most in the first. */
static void prepare_legs(struct load_venue *venue)
{
    static const uint8_t top_up[8] = { 0, 0, 0, 0, 0, 1 }; /* 2^40 micro-USDC */
    static char text[LOAD_BODY_MAX];

    load_request(venue, REQUEST_fund_top_up, top_up, sizeof top_up, OPERATOR_KEY, 32);
    for (uint16_t asset = 1; asset <= LEGS; asset++) {
        uint8_t body[24];
        memset(text, 0, sizeof text);
        if (asset != 1) {
            snprintf(text, sizeof text,
                     "{\"market\":\"M%u-PERP\",\"asset_id\":%u,\"base\":\"M%u\"%s", asset, asset,
                     asset, strstr(LOAD_MARKET, ",\"price_decimals\""));
            load_node(venue, REQUEST_market_define, text, ((uint32_t)strlen(text) + 7) & ~7u);
        }
        oracle_body(body, venue->t_ns + 1000, LOAD_PRICE);
        cc_store16(body + 16, asset);
        venue->t_ns += 2000;
        load_request(venue, REQUEST_oracle_price, body, sizeof body, ORACLE_KEY, 32);
        for (uint32_t n = 1; n <= 2; n++) {
            alignas(16) uint8_t slot[LOAD_SLOT_BYTES] = { 0 };
            struct command *command = (struct command *)(void *)slot;
            int64_t size = asset == 1 ? 40000 : 400;
            venue->t_ns += 1000;
            order_build(venue, command, n, n == 1 ? -size : size, LOAD_PRICE);
            cc_store16(command->bytes + REQUEST_BODY_AT + 44, asset);
            if (load_apply(venue, command) != STATUS_request_completed)
                abort();
        }
    }
}

static void command_fall(struct load_venue *venue, struct command *command)
{
    uint8_t body[24];

    oracle_body(body, venue->t_ns, LOAD_PRICE - 80000);
    load_sign(venue, command, REQUEST_oracle_price, body, sizeof body, ORACLE_KEY, 32);
}

#define THIN         UINT64_C(5000000000)
#define LEGS_DEPOSIT UINT64_C(3310000000)
#define RUN_DEPOSIT  UINT64_C(520000000000)

static const struct {
    const char *name;
    struct worst worst;
} CASES[] = {
    { "worst/makers", { MAKERS + 1, 0, prepare_makers, command_take } },
    { "worst/makers_moved", { MAKERS + 1, 0, prepare_makers_moved, command_take } },
    { "worst/makers_day", { MAKERS + 1, 0, prepare_makers_day, command_take } },
    { "worst/dead", { MAKERS + 1, 0, prepare_dead, command_post } },
    { "worst/cancel_all", { 2, 0, prepare_orders, command_cancel_all } },
    { "worst/account", { 2, 0, prepare_account, command_account } },
    { "worst/account_tick", { 2, 0, prepare_account_tick, command_tick } },
    { "worst/work_tick", { 2, 0, prepare_canceled, command_tick } },
    { "worst/reduce_only", { HOLDERS + 1, 0, prepare_many_orders, command_reduce_only } },
    { "worst/excess", { 3, 0, prepare_excess, command_close } },
    { "worst/excess_tick", { 3, 0, prepare_excess_tick, command_tick } },
    { "worst/list_tick", { HOLDERS + 1, 0, prepare_list, command_tick } },
    { "worst/mark_move", { HOLDERS + 1, 0, prepare_holders, command_move } },
    { "worst/scan_tick", { HOLDERS + 1, 0, prepare_scan, command_tick } },
    { "worst/liquidation", { HOLDERS + 1, THIN, prepare_thin, command_tick } },
    { "worst/rank", { HOLDERS + 1, RUN_DEPOSIT, prepare_rank, command_tick } },
    { "worst/deleverage", { HOLDERS + 1, RUN_DEPOSIT, prepare_deleverage, command_tick } },
    { "worst/stops", { 2 * STOPS + 1, 0, prepare_stops, command_move } },
    { "worst/stop_tick", { 2 * STOPS + 1, 0, prepare_stop_tick, command_tick } },
    { "worst/cascade", { 2 * STOPS + 1, 0, prepare_cascade, command_tick } },
    { "worst/funding", { PAID + 1, 0, prepare_paid, command_time } },
    { "worst/funding_tick", { PAID + 1, 0, prepare_funding_tick, command_tick } },
    { "worst/backstop", { 2, LEGS_DEPOSIT, prepare_legs, command_fall } },
};

/* Returns the CPU time of the case's command on a state of its own; UINT64_MAX if it was
 * refused. */
static uint64_t time_command(const struct worst *worst)
{
    alignas(16) uint8_t slot[LOAD_SLOT_BYTES] = { 0 };
    struct command *command = (struct command *)(void *)slot;
    struct load_venue venue;

    venue_deposit = worst->deposit != 0 ? worst->deposit : UINT64_C(100000000000000);
    venue_accounts = at_most(worst->traders) > HOLDERS + 1 ? "1048576" : "131072";
    venue_open(&venue, at_most(worst->traders - 1) + 1, NULL);
    worst->prepare(&venue);
    while (engine_has_work(venue.engine) && worst->command != command_tick)
        tick(&venue, 1);
    venue.sink.sink.ignores = ~EFFECT_BIT(EFFECT_credential);
    venue.t_ns += 1000;
    worst->command(&venue, command);
    uint64_t begin_ns = cpu_ns();
    enum status status = load_apply(&venue, command);
    uint64_t ns = cpu_ns() - begin_ns;
    venue_close(&venue);
    return status == STATUS_request_completed ? ns : UINT64_MAX;
}

static void run_case(struct bench_run *run)
{
    const struct worst *worst = &CASES[bench_argument(run)].worst;
    uint64_t least = UINT64_MAX;

    while (bench_next(run))
        for (uint32_t i = 0; i < (is_short ? 1 : REPEATS); i++) {
            uint64_t ns = time_command(worst);
            least = ns < least ? ns : least;
        }
    bench_counter(run, "us", (double)least / 1000);
}

void bench_register(void)
{
    is_short = getenv("PERPD_BENCH_SHORT") != NULL;
    for (size_t i = 0; i < CC_COUNT(CASES); i++)
        bench_add_argument(CASES[i].name, run_case, (int64_t)i);
}
