/* bench_duplicate.c - the duplicate set alone: find, advance, insert of a new id, once a request.
 *
 * Ids arrive at 93,000/s of their own time, up to 64 ms late, window 30 + 5 s: 3.3 m ids live in
 * the largest set, and every insert reuses the slot of one that was dropped 35 s later. `fetched`
 * prefetches the index line 16 commands ahead, as the matcher does in a drained batch; `cold` does
 * not. The baseline is a flat table of 64-bit fingerprints of the same size, neither exact nor
 * expiring.
 *
 *   duplicate/<fetched|cold|replay>/<slots>      replay: ids that are found */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "engine/table/duplicate.h"
#include "shim.h"

enum { PAST_MS = 30000, FUTURE_MS = 5000, LIVE_MS = 35000, AHEAD = 16, IDS = 1 << 20 };

static const uint64_t START_MS = 1760000000000;

struct request {
    uint64_t id[2];
    uint64_t hash;
    uint64_t now_ms;
};

static struct {
    struct duplicate set;
    struct request *requests; /* IDS of them, a ring: dated again when reused */
    uint64_t random;
    uint64_t made; /* requests made so far */
    uint64_t ids_per_second;
    void *memory;
    size_t bytes;
} bench;

static uint64_t random_next(void)
{
    uint64_t z = bench.random += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static void *map_memory(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        abort();
    madvise(memory, bytes, MADV_HUGEPAGE);
    return memory;
}

static void make_request(struct request *request)
{
    request->now_ms = START_MS + bench.made++ * 1000 / bench.ids_per_second;
    request->id[0] = __builtin_bswap64((request->now_ms - random_next() % 64) << 16 | 0x7000);
    request->id[1] = random_next();
    request->hash = random_next();
}

static void apply(const struct request *request)
{
    struct duplicate_row row = {
        .id = { request->id[0], request->id[1] },
        .processed_at_ns = request->now_ms,
        .outcome = 256,
    };

    if (duplicate_find(&bench.set, request->hash, 0, request->id) != NULL ||
        duplicate_full(&bench.set, 1, true))
        abort();
    duplicate_advance(&bench.set, request->now_ms, PAST_MS);
    duplicate_insert(&bench.set, request->hash, &row);
}

/* Makes a set in its steady state: it has run for longer than an id lives. */
static void prepare(uint32_t slots)
{
    bench.bytes = duplicate_bytes(slots, PAST_MS + FUTURE_MS, 0);
    bench.memory = map_memory(bench.bytes);
    bench.random = 1;
    bench.made = 0;
    bench.ids_per_second = slots / ((LIVE_MS + 10000) / 1000); /* W5: capacity is window * rate */
    bench.requests = map_memory(IDS * sizeof bench.requests[0]);
    duplicate_init(&bench.set, bench.memory, slots, PAST_MS + FUTURE_MS, 0);
    for (uint64_t i = 0; i < bench.ids_per_second * (LIVE_MS + 1000) / 1000; i++) {
        struct request request;
        make_request(&request);
        apply(&request);
    }
}

static void finish(struct bench_run *run)
{
    bench_items(run, IDS);
    bench_counter(run, "live", bench.set.count);
    bench_counter(run, "bytes_per_slot", (double)bench.bytes / bench.set.slots);
    munmap(bench.memory, bench.bytes);
    munmap(bench.requests, IDS * sizeof bench.requests[0]);
}

static void run_fresh(struct bench_run *run, bool fetched)
{
    prepare((uint32_t)bench_argument(run));
    while (bench_next(run)) {
        bench_pause(run);
        for (uint32_t i = 0; i < IDS; i++)
            make_request(&bench.requests[i]);
        bench_resume(run);
        for (uint32_t i = 0; i < IDS; i++) {
            if (fetched && i + AHEAD < IDS)
                duplicate_prefetch(&bench.set, bench.requests[i + AHEAD].hash);
            apply(&bench.requests[i]);
        }
    }
    finish(run);
}

static void fetched(struct bench_run *run)
{
    run_fresh(run, true);
}

static void cold(struct bench_run *run)
{
    run_fresh(run, false);
}

static void replay(struct bench_run *run)
{
    prepare((uint32_t)bench_argument(run));
    for (uint32_t i = 0; i < IDS / 4; i++) {
        make_request(&bench.requests[i]);
        apply(&bench.requests[i]);
    }
    while (bench_next(run))
        for (uint32_t i = 0; i < IDS; i++) {
            const struct request *request = &bench.requests[i % (IDS / 4)];
            duplicate_prefetch(&bench.set, bench.requests[(i + AHEAD) % (IDS / 4)].hash);
            if (duplicate_find(&bench.set, request->hash, 0, request->id) == NULL)
                abort();
        }
    finish(run);
}

/* 64-bit fingerprints at 35 % load, never removed: the cost of an inexact set. */
static void fingerprints(struct bench_run *run)
{
    uint64_t slots = 2 * (uint64_t)bench_argument(run);
    uint64_t *table = map_memory(slots * sizeof table[0]);

    bench.random = 1;
    while (bench_next(run)) {
        bench_pause(run);
        memset(table, 0, slots * sizeof table[0]);
        for (uint64_t i = 0; i < slots * 35 / 100; i++)
            table[random_next() % slots] = 1;
        bench_resume(run);
        for (uint32_t i = 0; i < IDS; i++) {
            uint64_t print = random_next() | 1;
            uint64_t at = (print >> 20) % slots;
            while (table[at] != 0 && table[at] != print)
                at = at + 1 == slots ? 0 : at + 1;
            table[at] = print;
        }
    }
    bench_items(run, IDS);
    munmap(table, slots * sizeof table[0]);
}

void bench_register(void)
{
    for (int64_t slots = 1 << 20; slots <= 1 << 22; slots *= 4) {
        bench_add_argument("duplicate/fetched", fetched, slots);
        bench_add_argument("duplicate/cold", cold, slots);
        bench_add_argument("duplicate/replay", replay, slots);
        bench_add_argument("fingerprints", fingerprints, slots);
    }
}
