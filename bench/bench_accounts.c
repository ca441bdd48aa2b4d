/* bench_accounts.c - what more accounts cost: engine_apply where each command is of another
 * account, and the memory of the process.
 *
 * Load: fixed seed, one market, some 1,000 live orders; in turns a buy that trades later, a buy
 * that rests, the cancel of an older one of those, and a sell that meets a buy of the first kind.
 * The account of each is random. Fetched ahead as by the matcher.
 *
 *   accounts/<number>  p50, p99 and mean of 2^18 commands, each by itself, cycle counter; resident
 *                      MB of the venue: its tables have room for 131,072 accounts or 1,048,576
 *
 * PERPD_BENCH_SHORT: no more than 10,000 accounts. */

#include "cycles.h"
#include "engine/trade/prefetch.h"
#include "engine_venue.h"
#include "shim.h"

enum {
    OPS = 1 << 18,
    LIVE = 1024,
    CYCLE = 4, /* commands of a turn of the load */
    SIZE = 1000,
    TICK_NS = 10753,
    AHEAD = 8, /* commands between two steps of prefetching */
    NEAR = 5,  /* ticks below the mid that buys rest at; those that are cancelled lie behind them */
    MB = 1000000,
    SHORT_MAX = 10000,
};

/* A buy that rests until its cancel. */
struct rest {
    uint8_t id[16];
    uint32_t account;
};

struct load {
    uint8_t *slots; /* LIVE commands that fill the book, then OPS to be timed */
    struct rest *rests;
    uint32_t rest_count, cancelled;
    uint32_t accounts;
};

static struct command *command_at(const struct load *load, uint64_t at)
{
    return (struct command *)(void *)(load->slots + at * LOAD_SLOT_BYTES);
}

static uint64_t resident_mb(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");

    if (file == NULL || fscanf(file, "%*u %lu", &pages) != 1)
        abort();
    fclose(file);
    return pages * 4096 / MB;
}

static void make_order(struct load *load, struct load_venue *venue, struct command *command,
                       int64_t quantity, uint64_t price)
{
    order_build(venue, command, 1 + load_below(&venue->random, load->accounts), quantity, price);
}

static void make_rest(struct load *load, struct load_venue *venue, struct command *command)
{
    struct rest *rest = &load->rests[load->rest_count++];

    make_order(load, venue, command, SIZE,
               LOAD_PRICE - 2 * NEAR - load_below(&venue->random, NEAR));
    rest->account = (uint32_t)cc_load64(command_body(command));
    memcpy(rest->id, command_request_id(command), sizeof rest->id);
}

static void make_cancel(struct load *load, struct load_venue *venue, struct command *command)
{
    const struct rest *rest = &load->rests[load->cancelled++];
    uint8_t body[40] = { 0 }, key[32];

    cc_store64(body, rest->account);
    memcpy(body + 16, rest->id, sizeof rest->id);
    cc_store16(body + 32, 1);
    load_key(0x5A, rest->account, key, sizeof key);
    load_sign(venue, command, REQUEST_order_cancel, body, sizeof body, key, sizeof key);
}

static void make_command(struct load *load, struct load_venue *venue, uint64_t at)
{
    struct command *command = command_at(load, at);
    unsigned kind = (unsigned)(at < LIVE ? at % 2 : at % CYCLE);

    memset(command, 0, LOAD_SLOT_BYTES);
    venue->t_ns += TICK_NS;
    if (kind == 0)
        make_order(load, venue, command, SIZE, LOAD_PRICE - 1 - load_below(&venue->random, NEAR));
    else if (kind == 1)
        make_rest(load, venue, command);
    else if (kind == 2)
        make_cancel(load, venue, command);
    else
        make_order(load, venue, command, -SIZE, LOAD_PRICE - NEAR);
}

static void prefetch(const struct load *load, const struct load_venue *venue, uint64_t at)
{
    if (at + 4 * AHEAD >= LIVE + OPS)
        return;
    const uint8_t *slot = (const uint8_t *)command_at(load, at + 4 * AHEAD);
    for (uint32_t line = 0; line < LOAD_SLOT_BYTES; line += CC_CACHE_LINE)
        __builtin_prefetch(slot + line);
    prefetch_buckets(venue->engine, command_at(load, at + 2 * AHEAD));
    prefetch_records(venue->engine, command_at(load, at + AHEAD));
}

static double mean(const uint32_t *samples)
{
    double sum = 0;

    for (uint32_t i = 0; i < OPS; i++)
        sum += samples[i];
    return sum / OPS;
}

/* Applies the load to a new venue, from whose memory `before` MB are taken. */
static void apply(struct bench_run *run, struct load *load, uint32_t *samples, uint64_t before)
{
    struct load_venue venue;
    uint32_t overhead, refused = 0;

    venue_open(&venue, load->accounts, NULL);
    venue.sink.sink.ignores = ~EFFECT_BIT(EFFECT_credential); /* as the primary's */
    load->rest_count = load->cancelled = 0;
    for (uint64_t i = 0; i < LIVE + OPS; i++)
        make_command(load, &venue, i);
    for (uint64_t i = 0; i < LIVE; i++)
        refused += load_apply(&venue, command_at(load, i)) != STATUS_request_completed;
    overhead = cycles_overhead(samples, 10000);
    for (uint64_t i = 0; i < OPS; i++) {
        prefetch(load, &venue, LIVE + i);
        uint64_t begin = cycles_begin();
        enum status status = load_apply(&venue, command_at(load, LIVE + i));
        uint64_t cycles = cycles_end() - begin;
        samples[i] = cycles > overhead ? (uint32_t)cycles - overhead : 0;
        refused += status != STATUS_request_completed;
    }
    bench_counter(run, "resident_mb", (double)(resident_mb() - before));
    bench_counter(run, "live", venue.engine->orders.count);
    bench_counter(run, "refused", refused);
    venue_close(&venue);
}

static void run_accounts(struct bench_run *run)
{
    struct load load = { .accounts = (uint32_t)bench_argument(run) };
    uint32_t *samples = load_map(OPS * sizeof samples[0]);
    double rate = cycles_per_ns();

    load.slots = load_map((size_t)(LIVE + OPS) * LOAD_SLOT_BYTES);
    load.rests = load_map((size_t)(LIVE + OPS) * sizeof load.rests[0]);
    memset(load.slots, 1, (size_t)(LIVE + OPS) * LOAD_SLOT_BYTES);
    memset(load.rests, 1, (size_t)(LIVE + OPS) * sizeof load.rests[0]);
    memset(samples, 1, OPS * sizeof samples[0]);
    venue_accounts = load.accounts > 131071 ? "1048576" : "131072";
    venue_deposit = UINT64_C(10000000000);
    uint64_t before = resident_mb();
    while (bench_next(run))
        apply(run, &load, samples, before);
    bench_counter(run, "mean_ns", mean(samples) / rate);
    qsort(samples, OPS, sizeof samples[0], cycles_by_value);
    bench_counter(run, "p50_ns", samples[OPS / 2] / rate);
    bench_counter(run, "p99_ns", samples[OPS / 100 * 99] / rate);
    munmap(load.slots, (size_t)(LIVE + OPS) * LOAD_SLOT_BYTES);
    munmap(load.rests, (size_t)(LIVE + OPS) * sizeof load.rests[0]);
    munmap(samples, OPS * sizeof samples[0]);
}

void bench_register(void)
{
    static const int64_t accounts[] = { 1000, 10000, 100000, 1000000 };

    for (size_t i = 0; i < sizeof accounts / sizeof accounts[0]; i++)
        if (accounts[i] <= SHORT_MAX || getenv("PERPD_BENCH_SHORT") == NULL)
            bench_add_argument("accounts", run_accounts, accounts[i]);
}
