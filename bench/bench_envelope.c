/* bench_envelope.c - signed envelopes: the body of a limit order to payload, key and signature.
 *
 * Each variant of this machine (0 scalar, 1 AVX2, 2 AVX-512), the strict reader alone as the
 * baseline, and the checks that need no key (rules.md R11, steps 5 to 9). */
#include <string.h>

#include "net/request/admission.h"
#include "net/request/base64_run.h"
#include "shim.h"

/* The Ed25519 vector of wire.md W4. */
static const char json[] =
    "{\"payload\":\"AQAAAAAAAAABmMDeAABwAIAAAAAAAAChBwAAAAAAAAAAAAAAAAAAAEBCDwAAAAAAsDz////////////"
    "//"
    "////wEAAAABAAAA\",\"signature\":"
    "\"MDOYaB3LoxeAoDfi7JgBluJZrLngl/B9omH1yjEviFMI8tE0wk7OT9K6zlbyBIMvhPkZf+laJJf8P6HNe9gDAg==\","
    "\"public_key\":\"A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=\"}";

enum { FRAME_BYTES = 168 };

static const struct route_path *order_path(struct route_table *table)
{
    route_init(table, (struct route_features){ 0 });
    for (uint16_t i = 0; i < table->count; i++)
        if (strcmp(table->paths[i].path, "/api/v1/trading/order/place/limit") == 0)
            return &table->paths[i];
    return NULL;
}

static const struct admission_window window = {
    .now_ms = UINT64_C(1755582431232),
    .past_ms = 30000,
    .future_ms = 5000,
};

static void read_json(struct bench_run *run)
{
    uint8_t space[ENVELOPE_SPACE];
    struct envelope envelope;
    struct problem_detail problem;
    base64_run_choose((enum cpu_level)bench_argument(run));
    while (bench_next(run)) {
        if (!envelope_json(&envelope, json, sizeof json - 1, space, &problem)) {
            bench_fail(run, problem.detail);
            return;
        }
        bench_keep(&envelope);
    }
    bench_bytes(run, sizeof json - 1);
}

static void read_json_strictly(struct bench_run *run)
{
    uint8_t space[ENVELOPE_SPACE];
    struct envelope envelope;
    struct problem_detail problem;
    while (bench_next(run)) {
        if (!envelope_json_strict(&envelope, json, sizeof json - 1, space, &problem)) {
            bench_fail(run, problem.detail);
            return;
        }
        bench_keep(&envelope);
    }
    bench_bytes(run, sizeof json - 1);
}

/* Decodes a text of 200 characters alone (docs/performance.md). */
static void read_base64(struct bench_run *run)
{
    char text[201];
    uint8_t bytes[150];
    size_t used;
    memset(text, 'x', 200);
    text[200] = '"';
    base64_run_choose((enum cpu_level)bench_argument(run));
    while (bench_next(run)) {
        if (base64_run(bytes, sizeof bytes, text, sizeof text, &used) != sizeof bytes)
            bench_fail(run, "refused");
        bench_keep(bytes);
    }
    bench_bytes(run, 200);
}

static void read_frame(struct bench_run *run)
{
    uint8_t space[ENVELOPE_SPACE], frame[ENVELOPE_SPACE];
    struct envelope envelope;
    struct problem_detail problem;
    if (!envelope_json(&envelope, json, sizeof json - 1, frame, &problem)) {
        bench_fail(run, problem.detail);
        return;
    }
    while (bench_next(run)) {
        if (!envelope_frame(&envelope, frame, FRAME_BYTES, space, &problem)) {
            bench_fail(run, problem.detail);
            return;
        }
        bench_keep(&envelope);
    }
    bench_bytes(run, FRAME_BYTES);
}

static void check(struct bench_run *run)
{
    uint8_t space[ENVELOPE_SPACE];
    struct route_table table;
    struct envelope envelope;
    struct problem_detail problem;
    const struct route_path *path = order_path(&table);
    if (path == NULL || !envelope_json(&envelope, json, sizeof json - 1, space, &problem)) {
        bench_fail(run, "no envelope");
        return;
    }
    while (bench_next(run)) {
        const struct request *request = admission_check(&envelope, path, &window, &problem);
        if (request == NULL) {
            bench_fail(run, problem.detail);
            return;
        }
        bench_keep(request);
    }
}

void bench_register(void)
{
    for (enum cpu_level level = CPU_SCALAR; level <= cpu_level(); level++) {
        bench_add_argument("envelope/json_order", read_json, level);
        bench_add_argument("envelope/base64_200", read_base64, level);
    }
    bench_add("envelope/json_order_strict", read_json_strictly);
    bench_add("envelope/frame_order", read_frame);
    bench_add("envelope/admission_order", check);
}
