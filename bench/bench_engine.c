/* bench_engine.c - engine_apply with everything on: peek, duplicate set, credentials, margin, fees,
 * positions, effects and their hash.
 *
 * Load: fixed seed, one market, 64 accounts; 57 % new (80 % resting within 20 ticks of a drifting
 * mid, 20 % crossing); of random live orders 33 % cancel, 5 % reduce, 5 % replace (half at the same
 * price, half at another), steered to the number of live orders; 93,000 commands a second of engine
 * time, an oracle update every 100 ms of it, so marks move and portfolios are checked again and
 * scanned. Duplicate set: window 30 + 5 s, 2^22 slots, 3.2 m ids live, each dropped 35 s later.
 *
 *   engine/<live>              mean over 2^18 commands
 *   engine_percentiles/<live>  each command by itself, cycle counter */

#include "cycles.h"
#include "engine/trade/prefetch.h"
#include "engine_venue.h"
#include "shim.h"

enum {
    OPS = 1 << 18,
    TICK_NS = 10753,     /* 93,000 commands a second */
    ORACLE_EVERY = 9300, /* commands: 100 ms */
    PAST_MS = 30000,
    IDS_PER_MS = 93,
    LIVE_MAX = 1 << 20,
    AHEAD = 8, /* commands between two steps of prefetching */
};

/* A resting order; it may have ended since. */
struct live_order {
    uint8_t id[16];
    uint32_t account;
};

struct load {
    uint32_t live;
    uint64_t prefill; /* commands that build the book, then OPS to be timed */
    uint8_t *slots;
    struct live_order *resting;
    uint32_t resting_count;
    uint64_t mid;
    uint64_t trades, effects; /* of the timed commands */
};

static struct command *command_at(const struct load *load, uint64_t at)
{
    return (struct command *)(void *)(load->slots + at * LOAD_SLOT_BYTES);
}

/* Fills the duplicate set as it is after a minute at the load's rate. */
static void fill_duplicates(struct load_venue *venue)
{
    struct duplicate *set = &venue->engine->duplicates;
    uint64_t random = 7, now_ms = LOAD_START_NS / 1000000;

    duplicate_advance(set, now_ms, PAST_MS);
    for (uint64_t ms = now_ms - PAST_MS - 4900; ms < now_ms - 64; ms++)
        for (uint32_t i = 0; i < IDS_PER_MS; i++) {
            struct duplicate_row row = {
                .id = { __builtin_bswap64(ms << 16 | 0x7000), load_random(&random) },
                .account = 1 + i % LOAD_ACCOUNTS,
            };
            duplicate_insert(set, load_random(&(uint64_t){ row.id[1] }), &row);
        }
}

/* Prepares the venue for timing: the primary's sink keeps credentials only, and the duplicate set
 * holds a minute's ids. */
static void as_timed(struct load_venue *venue)
{
    venue->sink.sink.ignores = ~EFFECT_BIT(EFFECT_credential);
    fill_duplicates(venue);
}

static void make_order(struct load *load, struct load_venue *venue, struct command *command,
                       bool prefill)
{
    const struct book *book = &venue->engine->markets.rows[0].book;
    uint64_t *random = &venue->random;
    enum order_side side = (enum order_side)load_below(random, 2);
    uint32_t best = book_best(book, book_opposite(side));
    uint32_t n = 1 + load_below(random, LOAD_ACCOUNTS);
    int64_t quantity = 1000 + load_below(random, 20000);
    uint64_t away = 1 + load_below(random, 20);
    uint64_t price = side == ORDER_LONG ? load->mid - away : load->mid + away;

    if (best != BOOK_TICK_NONE) {
        uint64_t touch = book_price(book, book_opposite(side), best);
        bool crosses = !prefill && load_below(random, 5) == 0;
        uint64_t through = load_below(random, 4);
        if (crosses)
            price = side == ORDER_LONG ? touch + through : touch - through;
        else if (side == ORDER_LONG ? price >= touch : price <= touch)
            price = side == ORDER_LONG ? touch - 1 : touch + 1;
    }
    order_build(venue, command, n, side == ORDER_LONG ? quantity : -quantity, price);
}

/* Returns the index in the order table; ORDER_NONE if the order has ended. */
static uint32_t index_of(const struct load_venue *venue, const struct live_order *order)
{
    uint64_t words[2];

    memcpy(words, order->id, sizeof words);
    return order_map_find(&venue->engine->order_map, mix_id(LOAD_KEY, order->account, order->id),
                          order->account, words);
}

static void sign_for(struct load_venue *venue, struct command *command,
                     const struct live_order *order, uint16_t code, uint8_t *body,
                     uint32_t body_bytes)
{
    uint8_t key[32];

    cc_store64(body, order->account);
    memcpy(body + 16, order->id, sizeof order->id);
    load_key(0x5A, order->account, key, sizeof key);
    load_sign(venue, command, code, body, body_bytes, key, sizeof key);
}

static void make_cancel(struct load_venue *venue, struct command *command,
                        const struct live_order *order)
{
    uint8_t body[40] = { 0 };

    cc_store16(body + 32, 1);
    sign_for(venue, command, order, REQUEST_order_cancel, body, sizeof body);
}

static void make_reduction(struct load_venue *venue, struct command *command,
                           const struct live_order *order, uint64_t remaining)
{
    uint8_t body[56] = { 0 };

    cc_store64(body + 32, 1 + load_below(&venue->random, (uint32_t)remaining / 2 + 1));
    cc_store16(body + 48, 1);
    sign_for(venue, command, order, REQUEST_order_reduction, body, sizeof body);
}

static void make_replacement(const struct load *load, struct load_venue *venue,
                             struct command *command, const struct live_order *order,
                             const struct order *live)
{
    const struct book *book = &venue->engine->markets.rows[0].book;
    uint64_t away = 1 + load_below(&venue->random, 20);
    uint64_t price = book_price(book, (enum order_side)live->side, live->tick);
    uint64_t quantity = live->remaining - load_below(&venue->random, (uint32_t)live->remaining) / 2;
    uint8_t body[72] = { 0 };

    if (load_below(&venue->random, 2) == 0)
        price = live->side == ORDER_LONG ? load->mid - away : load->mid + away;
    cc_store64(body + 32, price);
    cc_store64(body + 40, live->side == ORDER_LONG ? quantity : -quantity);
    cc_store64(body + 48, UINT64_MAX);
    body[58] = 1;
    cc_store16(body + 60, 1);
    sign_for(venue, command, order, REQUEST_order_replacement, body, sizeof body);
}

/* Makes a cancel, a reduction or a replacement, 33 to 5 to 5. False if there is no live order. */
static bool make_change(struct load *load, struct load_venue *venue, struct command *command)
{
    while (load->resting_count > 0) {
        uint32_t k = load_below(&venue->random, load->resting_count);
        uint32_t kind = load_below(&venue->random, 43);
        struct live_order order = load->resting[k];
        uint32_t index = index_of(venue, &order);
        const struct order *live = &venue->engine->orders.hot[index];
        if (index == ORDER_NONE || kind < 33)
            load->resting[k] = load->resting[--load->resting_count];
        if (index == ORDER_NONE)
            continue;
        if (kind < 33)
            make_cancel(venue, command, &order);
        else if (kind < 38)
            make_reduction(venue, command, &order, live->remaining);
        else
            make_replacement(load, venue, command, &order, live);
        return true;
    }
    return false;
}

static void make_oracle(struct load *load, struct load_venue *venue, struct command *command)
{
    uint8_t body[24];
    uint64_t price = load->mid - 5 + load_below(&venue->random, 11);

    oracle_body(body, venue->t_ns, price);
    load_sign(venue, command, REQUEST_oracle_price, body, sizeof body, ORACLE_KEY, 32);
}

static void make_command(struct load *load, struct load_venue *venue, uint64_t at)
{
    struct command *command = command_at(load, at);
    const struct book *book = &venue->engine->markets.rows[0].book;
    uint32_t live = book->sides[0].order_count + book->sides[1].order_count;
    uint32_t new_percent = live > load->live + load->live / 50   ? 30
                           : live < load->live - load->live / 50 ? 75
                                                                 : 57;
    bool prefill = at < load->prefill;

    venue->t_ns += TICK_NS;
    if (load_below(&venue->random, 50) == 0)
        load->mid += load_below(&venue->random, 2) == 0 ? 1 : (uint64_t)-1;
    if (at % ORACLE_EVERY == ORACLE_EVERY - 1)
        make_oracle(load, venue, command);
    else if (prefill || load_below(&venue->random, 100) < new_percent ||
             !make_change(load, venue, command))
        make_order(load, venue, command, prefill);
    load_apply(venue, command);
    struct live_order order = { .account = (uint32_t)cc_load64(command_body(command)) };
    memcpy(order.id, command_request_id(command), sizeof order.id);
    if (command->code == REQUEST_place_limit_order && index_of(venue, &order) != ORDER_NONE &&
        load->resting_count < LIVE_MAX)
        load->resting[load->resting_count++] = order;
}

/* Keeps one load at a time. */
static const struct load *load_of(uint32_t live)
{
    static struct load load;
    struct load_venue venue;

    if (load.live == live)
        return &load;
    if (load.slots != NULL) {
        munmap(load.slots, (load.prefill + OPS) * LOAD_SLOT_BYTES);
        munmap(load.resting, LIVE_MAX * sizeof load.resting[0]);
    }
    load = (struct load){ .live = live, .prefill = live, .mid = LOAD_PRICE };
    load.slots = load_map((load.prefill + OPS) * LOAD_SLOT_BYTES);
    load.resting = load_map(LIVE_MAX * sizeof load.resting[0]);
    venue_open(&venue, LOAD_ACCOUNTS, NULL);
    for (uint64_t i = 0; i < load.prefill + OPS; i++) {
        if (i == load.prefill)
            venue.sink.effect_count = venue.sink.trade_count = 0;
        make_command(&load, &venue, i);
    }
    load.trades = venue.sink.trade_count;
    load.effects = venue.sink.effect_count;
    venue_close(&venue);
    return &load;
}

static void apply_prefill(const struct load *load, struct load_venue *venue)
{
    for (uint64_t i = 0; i < load->prefill; i++)
        load_apply(venue, command_at(load, i));
}

/* Prefetches as the matcher does in a drained batch. There the ring's slots are in a near cache, so
 * their lines are prefetched before everything else. */
static void prefetch(const struct load *load, const struct load_venue *venue, uint64_t at)
{
    if (at + 4 * AHEAD >= OPS)
        return;
    const uint8_t *slot = (const uint8_t *)command_at(load, load->prefill + at + 4 * AHEAD);
    for (uint32_t line = 0; line < LOAD_SLOT_BYTES; line += CC_CACHE_LINE)
        __builtin_prefetch(slot + line);
    prefetch_buckets(venue->engine, command_at(load, load->prefill + at + 2 * AHEAD));
    prefetch_records(venue->engine, command_at(load, load->prefill + at + AHEAD));
}

static void run_engine(struct bench_run *run)
{
    const struct load *load = load_of((uint32_t)bench_argument(run));
    uint64_t refused = 0;
    uint32_t live = 0;

    while (bench_next(run)) {
        struct load_venue venue;
        bench_pause(run);
        venue_open(&venue, LOAD_ACCOUNTS, as_timed);
        apply_prefill(load, &venue);
        refused = 0;
        bench_resume(run);
        for (uint64_t i = 0; i < OPS; i++) {
            prefetch(load, &venue, i);
            refused += load_apply(&venue, command_at(load, load->prefill + i)) != 0;
        }
        bench_pause(run);
        live = venue.engine->orders.count;
        venue_close(&venue);
        bench_resume(run);
    }
    bench_items(run, OPS);
    bench_counter(run, "live", live);
    bench_counter(run, "trades_per_op", (double)load->trades / OPS);
    bench_counter(run, "effects_per_op", (double)load->effects / OPS);
    bench_counter(run, "refused_per_op", (double)refused / OPS);
}

static void run_percentiles(struct bench_run *run)
{
    const struct load *load = load_of((uint32_t)bench_argument(run));
    uint32_t *samples = load_map(OPS * sizeof samples[0]);
    double rate = cycles_per_ns();

    while (bench_next(run)) {
        struct load_venue venue;
        venue_open(&venue, LOAD_ACCOUNTS, as_timed);
        apply_prefill(load, &venue);
        uint32_t overhead = cycles_overhead(samples, 10000);
        for (uint64_t i = 0; i < OPS; i++) {
            prefetch(load, &venue, i);
            uint64_t begin = cycles_begin();
            load_apply(&venue, command_at(load, load->prefill + i));
            uint64_t cycles = cycles_end() - begin;
            samples[i] = cycles > overhead ? (uint32_t)cycles - overhead : 0;
        }
        venue_close(&venue);
        qsort(samples, OPS, sizeof samples[0], cycles_by_value);
    }
    bench_counter(run, "p50_ns", samples[OPS / 2] / rate);
    bench_counter(run, "p99_ns", samples[OPS / 100 * 99] / rate);
    bench_counter(run, "p999_ns", samples[OPS / 1000 * 999] / rate);
    bench_counter(run, "max_ns", samples[OPS - 1] / rate);
    munmap(samples, OPS * sizeof samples[0]);
}

void bench_register(void)
{
    static const int64_t lives[] = { 1000, 100000, 1000000 };

    for (size_t i = 0; i < sizeof lives / sizeof lives[0]; i++) {
        bench_add_argument("engine", run_engine, lives[i]);
        bench_add_argument("engine_percentiles", run_percentiles, lives[i]);
    }
}
