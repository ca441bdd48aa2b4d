/* bench_book.c - the order book next to a std::map book, both in one run, on the load that
 * docs/performance.md names.
 *
 * Load: fixed seed; 57 % new (80 % resting within 20 ticks of a drifting mid, 20 % crossing), 33 %
 * cancel of a random live order, 5 % reduce, 5 % replace. Books of more than 2,000 orders are deep:
 * their first orders, and a fifth of the later resting ones, are up to 8,192 ticks away.
 *
 *   book/<books>x<live>             our book, orders and id map
 *   book_map/<books>x<live>         the baseline; the run fails when the trades differ
 *   book_duplicate/<books>x<live>   ours with the duplicate set of W5: 2^22 slots, window 30 + 5 s,
 *                                   ids at 93,000/s, 3.2 m ids live, each dropped 35 s later
 *   book_percentiles/<books>x<live> each command by itself, cycle counter */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "book_command.h"
#include "book_venue.h"
#include "cycles.h"
#include "shim.h"

enum {
    PRICE_MIN = 8,
    PRICE_MAX = LADDER_TICKS - 512,
    MID = LADDER_TICKS / 2,
    OPS = 1 << 20,
};

struct load {
    uint32_t book_count, live;
    struct book_command *commands; /* `prefill` to build the books, then OPS to be timed */
    uint64_t prefill;
};

static uint64_t random_next(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static uint32_t random_below(uint64_t *state, uint32_t bound)
{
    return (uint32_t)((random_next(state) >> 32) * bound >> 32);
}

static void venue_check_duplicate(struct venue *venue, const struct book_command *command)
{
    struct duplicate_row row = { .id = { command->id[0], command->id[1] },
                                 .outcome = (uint64_t)command->number << 8 };
    uint64_t now_ms = START_MS + command->number / IDS_PER_MS;

    if (duplicate_find(&venue->set, command->hash, 0, command->id) != NULL ||
        duplicate_full(&venue->set, 1, true))
        abort();
    duplicate_advance(&venue->set, now_ms, PAST_MS);
    duplicate_insert(&venue->set, command->hash, &row);
}

static void prefetch_first(struct venue *venue, const struct book_command *command)
{
    order_map_prefetch(&venue->map, command->op == BOOK_NEW ? command->hash : command->target_hash);
}

static void prefetch_second(struct venue *venue, const struct book_command *command)
{
    struct book *book = &venue->books[command->book];
    enum order_side side = (enum order_side)command->side;
    uint32_t candidate = 0;

    if (command->op != BOOK_NEW) {
        candidate = order_map_peek(&venue->map, command->target_hash);
        order_prefetch(&venue->table, candidate);
    }
    venue->candidates[command->number % (4 * AHEAD)] = candidate;
    book_prefetch_level(book, side, book_tick(book, side, command->price));
    uint32_t best = book_best(book, book_opposite(side));
    if (best != BOOK_TICK_NONE)
        order_prefetch(&venue->table, book_head(book, book_opposite(side), best));
}

static void prefetch_third(struct venue *venue, const struct book_command *command)
{
    struct book *book = &venue->books[command->book];
    enum order_side side = (enum order_side)command->side;
    uint32_t candidate = venue->candidates[command->number % (4 * AHEAD)];

    book_prefetch_neighbours(book, &venue->table.hot[candidate]);
    book_prefetch_tail(book, side, book_tick(book, side, command->price));
    uint32_t best = book_best(book, book_opposite(side));
    if (best != BOOK_TICK_NONE) {
        uint32_t head = book_head(book, book_opposite(side), best);
        order_map_prefetch_slot(&venue->map, &venue->table.hot[head]);
    }
}

/* Runs commands as the matcher runs a drained batch: in a large book it prefetches for those
 * ahead. */
static void venue_run(struct venue *venue, const struct book_command *commands, uint64_t count,
                      bool duplicates)
{
    bool prefetch = venue->table.count >= PREFETCH_FROM;

    for (uint64_t i = 0; i < count; i++) {
        if (duplicates && i + 2 * AHEAD < count)
            duplicate_prefetch(&venue->set, commands[i + 2 * AHEAD].hash);
        if (prefetch && i + 3 * AHEAD < count) {
            prefetch_first(venue, &commands[i + 3 * AHEAD]);
            prefetch_second(venue, &commands[i + 2 * AHEAD]);
            prefetch_third(venue, &commands[i + AHEAD]);
        }
        if (duplicates)
            venue_check_duplicate(venue, &commands[i]);
        venue_apply(venue, &commands[i]);
    }
}

/* Makes the load by running it on a venue of its own, which knows prices and live orders. */
struct maker {
    struct venue *venue;
    uint64_t random;
    uint32_t mid[BOOKS_MAX];
    uint32_t *live[BOOKS_MAX]; /* order indexes; some have ended since */
    uint32_t live_count[BOOKS_MAX];
    bool deep;
};

static uint32_t resting_price(struct maker *maker, uint32_t b, enum order_side side, bool prefill)
{
    const struct book *book = &maker->venue->books[b];
    uint32_t far = 1 + random_below(&maker->random, 20);
    uint32_t best = book_best(book, book_opposite(side));

    if (maker->deep && (prefill || random_below(&maker->random, 5) == 0)) {
        uint32_t scale = random_below(&maker->random, 13);
        far = (1u << scale) + random_below(&maker->random, 1u << scale);
    }
    uint32_t price = side == ORDER_LONG ? maker->mid[b] - far : maker->mid[b] + far;
    if (best != BOOK_TICK_NONE) { /* does not cross the other side */
        uint32_t touch = book_price(book, book_opposite(side), best);
        if (side == ORDER_LONG && price >= touch)
            price = touch - 1;
        if (side == ORDER_SHORT && price <= touch)
            price = touch + 1;
    }
    return price < PRICE_MIN ? PRICE_MIN : price > PRICE_MAX ? PRICE_MAX : price;
}

static void make_new(struct maker *maker, struct book_command *command, bool prefill)
{
    const struct book *book = &maker->venue->books[command->book];
    enum order_side side = (enum order_side)random_below(&maker->random, 2);
    uint32_t best = book_best(book, book_opposite(side));

    command->op = BOOK_NEW;
    command->side = (uint8_t)side;
    if (prefill || best == BOOK_TICK_NONE || random_below(&maker->random, 5) != 0) {
        command->quantity = 1 + random_below(&maker->random, 100);
        command->price = resting_price(maker, command->book, side, prefill);
        return;
    }
    uint32_t through = random_below(&maker->random, 4);
    uint32_t touch = book_price(book, book_opposite(side), best);
    command->quantity = 1 + random_below(&maker->random, 150);
    command->price = side == ORDER_LONG ? touch + through : touch - through;
}

/* Draws a live order of the book uniformly. An index that has ended is removed when it is drawn. */
static uint32_t draw(struct maker *maker, uint32_t b)
{
    while (maker->live_count[b] > 0) {
        uint32_t k = random_below(&maker->random, maker->live_count[b]);
        uint32_t index = maker->live[b][k];
        if (maker->venue->table.cold[index].list_next == k + 1 &&
            maker->venue->table.hot[index].state < ORDER_STATE_COUNT &&
            maker->venue->table.hot[index].market == b)
            return index;
        maker->live[b][k] = maker->live[b][--maker->live_count[b]];
        uint32_t moved = maker->live[b][k];
        if (maker->venue->table.cold[moved].list_next == maker->live_count[b] + 1 &&
            maker->venue->table.hot[moved].market == b)
            maker->venue->table.cold[moved].list_next = k + 1;
    }
    return ORDER_NONE;
}

static void make_other(struct maker *maker, struct book_command *command, uint32_t index,
                       enum book_command_op op)
{
    const struct order *order = &maker->venue->table.hot[index];
    const struct book *book = &maker->venue->books[command->book];

    if (op == BOOK_REDUCE && order->remaining < 2)
        op = BOOK_REPLACE;
    command->op = (uint8_t)op;
    command->side = order->side;
    command->price = book_price(book, (enum order_side)order->side, order->tick);
    memcpy(command->target, order->id, sizeof command->target);
    command->target_hash = venue_hash(order);
    if (op == BOOK_REDUCE)
        command->quantity = 1 + random_below(&maker->random, (uint32_t)order->remaining - 1);
    if (op == BOOK_REPLACE) {
        command->quantity = 1 + random_below(&maker->random, 100);
        command->price = resting_price(maker, command->book, (enum order_side)order->side, false);
    }
}

static void make_command(struct maker *maker, struct book_command *command, uint32_t number,
                         uint32_t live, bool prefill)
{
    uint32_t b = prefill ? number % maker->venue->book_count
                         : random_below(&maker->random, maker->venue->book_count);
    uint32_t books_live =
        maker->venue->books[b].sides[0].order_count + maker->venue->books[b].sides[1].order_count;
    uint64_t ms = START_MS + number / IDS_PER_MS - random_below(&maker->random, 64);
    uint32_t new_percent = books_live > live + live / 50   ? 30
                           : books_live < live - live / 50 ? 75
                                                           : 57;
    uint32_t pick = random_below(&maker->random, 100);

    *command = (struct book_command){ .book = (uint16_t)b, .number = number };
    command->id[0] = __builtin_bswap64(ms << 16 | 0x7000);
    command->id[1] = random_next(&maker->random);
    command->hash = mix_id(VENUE_KEY, 0, (const uint8_t *)command->id);
    if (random_below(&maker->random, 50) == 0) {
        uint32_t moved = maker->mid[b] + (random_below(&maker->random, 2) != 0 ? 1 : -1u);
        maker->mid[b] = moved < MID - 1000 || moved > MID + 1000 ? maker->mid[b] : moved;
    }
    uint32_t index = prefill || pick < new_percent ? ORDER_NONE : draw(maker, b);
    if (index == ORDER_NONE)
        make_new(maker, command, prefill);
    else
        make_other(maker, command, index,
                   pick >= 95   ? BOOK_REDUCE
                   : pick >= 90 ? BOOK_REPLACE
                                : BOOK_CANCEL);
    uint32_t before = maker->venue->table.count;
    venue_apply(maker->venue, command);
    if (command->op == BOOK_NEW && maker->venue->table.count >= before) {
        uint32_t rested = order_map_find(&maker->venue->map, command->hash, 0, command->id);
        if (rested == ORDER_NONE)
            return;
        maker->live[b][maker->live_count[b]++] = rested;
        maker->venue->table.cold[rested].list_next = maker->live_count[b];
    }
}

static uint32_t slots_for(const struct load *load)
{
    return 2 * load->book_count * load->live + 4096;
}

static void load_make(struct load *load, uint32_t book_count, uint32_t live)
{
    struct maker maker = { .random = 42, .deep = live > 2000 };

    load->book_count = book_count;
    load->live = live;
    load->prefill = (uint64_t)book_count * live;
    load->commands = map_memory((load->prefill + OPS) * sizeof load->commands[0]);
    maker.venue = venue_make(book_count, slots_for(load), false);
    for (uint32_t b = 0; b < book_count; b++) {
        maker.mid[b] = MID;
        maker.live[b] = map_memory((load->prefill + OPS) * sizeof(uint32_t));
    }
    for (uint64_t i = 0; i < load->prefill + OPS; i++)
        make_command(&maker, &load->commands[i], (uint32_t)i + 1, live, i < load->prefill);
    for (uint32_t b = 0; b < book_count; b++)
        munmap(maker.live[b], (load->prefill + OPS) * sizeof(uint32_t));
    venue_free(maker.venue);
}

/* Keeps one load at a time: the benchmarks of one shape are registered together. */
static const struct load *load_of(uint32_t book_count, uint32_t live)
{
    static struct load load;

    if (load.book_count == book_count && load.live == live)
        return &load;
    if (load.commands != NULL)
        munmap(load.commands, (load.prefill + OPS) * sizeof load.commands[0]);
    load_make(&load, book_count, live);
    return &load;
}

static struct book_trades baseline_run(const struct load *load, struct bench_run *run)
{
    struct baseline_book *baseline = baseline_book_make(load->book_count, slots_for(load));

    baseline_book_apply(baseline, load->commands, load->prefill);
    if (run != NULL)
        bench_resume(run);
    baseline_book_apply(baseline, load->commands + load->prefill, OPS);
    if (run != NULL)
        bench_pause(run);
    struct book_trades trades = baseline_book_trades(baseline);
    baseline_book_free(baseline);
    return trades;
}

/* Returns the trades of the baseline on the load, computed once a load. */
static struct book_trades reference_trades(const struct load *load)
{
    static struct book_trades trades;
    static uint32_t book_count, live;

    if (load->book_count != book_count || load->live != live)
        trades = baseline_run(load, NULL);
    book_count = load->book_count;
    live = load->live;
    return trades;
}

static const struct shape {
    uint32_t books, live;
} shapes[] = { { 1, 1000 }, { 1, 100000 }, { 1, 1000000 }, { 32, 1000 }, { 32, 31250 } };

static const struct load *load_of_argument(const struct bench_run *run)
{
    const struct shape *shape = &shapes[bench_argument(run)];

    return load_of(shape->books, shape->live);
}

static bool same_trades(struct bench_run *run, struct book_trades got, struct book_trades want)
{
    if (got.count == want.count && got.hash == want.hash)
        return true;
    bench_fail(run, "trades differ from the reference");
    return false;
}

/* Fills the duplicate set as it is after a minute at the load's rate. */
static void fill_duplicates(struct venue *venue)
{
    uint64_t random = 7;

    duplicate_advance(&venue->set, START_MS, PAST_MS);
    for (uint64_t ms = START_MS - PAST_MS - 4900; ms < START_MS - 64; ms++)
        for (uint32_t i = 0; i < IDS_PER_MS; i++) {
            struct duplicate_row row = {
                .id = { __builtin_bswap64(ms << 16 | 0x7000), random_next(&random) },
            };
            duplicate_insert(&venue->set, random_next(&(uint64_t){ row.id[1] }), &row);
        }
}

static void run_ours(struct bench_run *run, bool duplicates)
{
    const struct load *load = load_of_argument(run);
    struct book_trades want = reference_trades(load);
    uint32_t live = 0;

    while (bench_next(run)) {
        bench_pause(run);
        struct venue *venue = venue_make(load->book_count, slots_for(load), duplicates);
        venue_run(venue, load->commands, load->prefill, false);
        if (duplicates)
            fill_duplicates(venue);
        bench_resume(run);
        venue_run(venue, load->commands + load->prefill, OPS, duplicates);
        bench_pause(run);
        live = venue->table.count;
        bool same = same_trades(run, venue->trades, want);
        venue_free(venue);
        bench_resume(run);
        if (!same)
            return;
    }
    bench_items(run, OPS);
    bench_counter(run, "live", live);
    bench_counter(run, "trades_per_op", (double)want.count / (double)(OPS + load->prefill));
}

static void run_book(struct bench_run *run)
{
    run_ours(run, false);
}

static void run_book_duplicate(struct bench_run *run)
{
    run_ours(run, true);
}

static void run_book_map(struct bench_run *run)
{
    const struct load *load = load_of_argument(run);

    while (bench_next(run)) {
        bench_pause(run);
        baseline_run(load, run);
        bench_resume(run);
    }
    bench_items(run, OPS);
}

static uint32_t per_mille(const uint32_t *sorted, uint32_t rank)
{
    return sorted[(uint64_t)OPS * rank / 1000];
}

/* Times each command alone, in batches of 16 as the matcher drains them. */
static void run_percentiles(struct bench_run *run)
{
    const struct load *load = load_of_argument(run);
    uint32_t *samples = map_memory(OPS * sizeof samples[0]);
    double rate = cycles_per_ns();

    while (bench_next(run)) {
        struct venue *venue = venue_make(load->book_count, slots_for(load), false);
        venue_run(venue, load->commands, load->prefill, false);
        uint32_t overhead = cycles_overhead(samples, 10000);
        for (uint64_t i = 0; i < OPS; i++) {
            const struct book_command *command = &load->commands[load->prefill + i];
            if (i % 16 == 0 && venue->table.count >= PREFETCH_FROM && i + 16 <= OPS) {
                for (uint32_t k = 0; k < 16; k++)
                    prefetch_first(venue, command + k);
                for (uint32_t k = 0; k < 16; k++)
                    prefetch_second(venue, command + k);
                for (uint32_t k = 0; k < 16; k++)
                    prefetch_third(venue, command + k);
            }
            uint64_t begin = cycles_begin();
            venue_apply(venue, command);
            uint64_t cycles = cycles_end() - begin;
            samples[i] = cycles > overhead ? (uint32_t)cycles - overhead : 0;
        }
        venue_free(venue);
        qsort(samples, OPS, sizeof samples[0], cycles_by_value);
    }
    bench_counter(run, "p50_ns", per_mille(samples, 500) / rate);
    bench_counter(run, "p99_ns", per_mille(samples, 990) / rate);
    bench_counter(run, "p999_ns", per_mille(samples, 999) / rate);
    munmap(samples, OPS * sizeof samples[0]);
}

void bench_register(void)
{
    static const struct {
        const char *name;
        void (*body)(struct bench_run *);
    } benchmarks[] = {
        { "book", run_book },
        { "book_map", run_book_map },
        { "book_duplicate", run_book_duplicate },
        { "book_percentiles", run_percentiles },
    };

    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
        for (size_t b = 0; b < sizeof benchmarks / sizeof benchmarks[0]; b++) {
            char name[64];
            snprintf(name, sizeof name, "%s/%ux%u", benchmarks[b].name, shapes[s].books,
                     shapes[s].live);
            bench_add_argument(name, benchmarks[b].body, (int64_t)s);
        }
}
