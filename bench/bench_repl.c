/* bench_repl.c - frames of records of 192 bytes into the log of a running etcd, by the unit of the
 * leader alone, in a window of four. $PERPD_BENCH_ETCD has the endpoints, "host:port,host:port";
 * its keys under perp/bench/ are deleted.
 *
 *   repl/frames/N   N records a frame (341: 64 KiB); one iteration is one frame that counts;
 *                   records_per_s is by wall time, frame_p50_ns and frame_p99_ns from the sending
 *                   to its place in the contiguous prefix
 *   repl/single/N   the same with one frame in flight */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "repl/etcd_ask.h"
#include "repl/etcd_real.h"
#include "repl/lead.h"
#include "shim.h"

enum { RECORD = 192, HEAD = 128, RECORDS_MAX = 341, WINDOW = 4, SAMPLES_MAX = 1 << 20 };

static const uint64_t LIFE_NS = UINT64_C(5000000000);
static uint8_t frames[WINDOW][HEAD + RECORDS_MAX * RECORD];
static uint64_t sent_ns[WINDOW];
static uint32_t samples[SAMPLES_MAX];
static struct lead lead;
static uint32_t window; /* frames in flight, up to WINDOW */

static uint64_t now_ns(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static struct etcd *connect_all(const char *list)
{
    struct link_endpoint endpoints[ETCD_REAL_ENDPOINTS_MAX];
    struct etcd_real_config config = { .endpoints = endpoints, .request_ms = 2000 };
    char why[ETCD_TEXT_BYTES], text[ETCD_NAME_BYTES];
    struct etcd *etcd = NULL;

    while (list != NULL && *list != 0 && config.endpoint_count < ETCD_REAL_ENDPOINTS_MAX) {
        size_t count = strcspn(list, ",");
        snprintf(text, sizeof text, "%.*s", (int)count, list);
        if (link_resolve(&endpoints[config.endpoint_count++], text) != 0)
            return NULL;
        list += count + (list[count] == ',');
    }
    return etcd_real_create(&etcd, &config, why) == 0 ? etcd : NULL;
}

/* Empties the log and takes the lead: the epoch, or 0. */
static int64_t begin(struct etcd *etcd)
{
    const struct etcd_op empty = { .verb = ETCD_DELETE,
                                   .key = etcd_text("perp/bench/"),
                                   .end = etcd_text("perp/bench/~") };
    const struct etcd_op put = { .verb = ETCD_PUT,
                                 .key = etcd_text("perp/bench/leader"),
                                 .value = etcd_text("bench") };
    const struct etcd_transaction first = { .then = &empty, .then_count = 1 };
    const struct etcd_transaction second = { .then = &put, .then_count = 1 };
    struct etcd_done done;

    if (etcd_ask_transaction(etcd, &first, LIFE_NS, &done) != 0 || done.result != ETCD_OK)
        return 0;
    const struct etcd_request compact = { .kind = ETCD_COMPACT, .revision = done.revision };
    if (etcd_ask(etcd, &compact, LIFE_NS, &done) != 0 ||
        etcd_ask_transaction(etcd, &second, LIFE_NS, &done) != 0 || done.result != ETCD_OK)
        return 0;
    return done.revision;
}

static int compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

/* Sends what the window takes, waits until one more frame counts, or longer. False: it failed. */
static bool turn(struct etcd *etcd, uint64_t *sent, size_t bytes, size_t *count)
{
    uint64_t landed = lead.landed;

    while (lead.landed == landed) {
        struct etcd_done done[8];
        while (*sent < lead.landed + window) {
            uint64_t number = *sent + 1;
            uint8_t *frame = frames[number % WINDOW];
            uint64_t now = now_ns();
            memcpy(frame, &number, sizeof number);
            if (!lead_send(&lead, frame, bytes, number, now))
                break;
            sent_ns[number % WINDOW] = now;
            *sent = number;
        }
        int reaped = etcd_reap(etcd, done, 8);
        for (int i = 0; i < reaped; i++)
            lead_done(&lead, &done[i], now_ns());
        if (lead.state != LEAD_GOES)
            return false;
        if (lead.landed == landed && etcd_wait(etcd, -1, LIFE_NS) != 0)
            return false;
    }
    uint64_t now = now_ns();
    for (uint64_t number = landed + 1; number <= lead.landed && *count < SAMPLES_MAX; number++)
        samples[(*count)++] = (uint32_t)(now - sent_ns[number % WINDOW]);
    return true;
}

static void run_frames(struct bench_run *run, struct etcd *etcd)
{
    size_t records = (size_t)bench_argument(run), count = 0;
    int64_t epoch = begin(etcd);
    uint64_t sent = 0;
    bool goes = epoch != 0;

    lead_begin(&lead, etcd, "bench", epoch, 0);
    uint64_t began = now_ns();
    /* An iteration is a frame: several may have come to count in one turn. */
    for (uint64_t wanted = 1; bench_next(run); wanted++)
        while (goes && lead.landed < wanted)
            goes = turn(etcd, &sent, HEAD + records * RECORD, &count);
    uint64_t took = now_ns() - began;
    if (!goes) {
        bench_fail(run, "etcd refused");
        return;
    }
    qsort(samples, count, sizeof samples[0], compare);
    bench_counter(run, "frame_p50_ns", count == 0 ? 0 : samples[count / 2]);
    bench_counter(run, "frame_p99_ns", count == 0 ? 0 : samples[count * 99 / 100]);
    bench_counter(run, "records_per_s", (double)(lead.landed * records) * 1e9 / (double)took);
}

static void run_window(struct bench_run *run, uint32_t frames_in_flight)
{
    struct etcd *etcd = connect_all(getenv("PERPD_BENCH_ETCD"));

    if (etcd == NULL) {
        bench_fail(run, "PERPD_BENCH_ETCD names no etcd");
        return;
    }
    window = frames_in_flight;
    run_frames(run, etcd);
    etcd_close(etcd);
}

static void frame(struct bench_run *run)
{
    run_window(run, WINDOW);
}

static void single(struct bench_run *run)
{
    run_window(run, 1);
}

void bench_register(void)
{
    for (size_t i = 0; i < sizeof frames; i++)
        ((uint8_t *)frames)[i] = (uint8_t)(i * 2654435761u >> 24);
    bench_add_argument("repl/frames", frame, 1);
    bench_add_argument("repl/frames", frame, 16);
    bench_add_argument("repl/frames", frame, 64);
    bench_add_argument("repl/frames", frame, RECORDS_MAX);
    bench_add_argument("repl/single", single, 8);
    bench_add_argument("repl/single", single, 64);
}
