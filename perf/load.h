/* load.h - sends signed orders over open connections, in a closed or an open loop, and counts what
 * becomes of each.
 *
 * Closed loop: each connection has one order in flight; an order is due when one is free.
 * Open loop: order i is due i / rate_per_s after the start, whatever the server does. It is sent on
 * a free connection, when there is one.
 * At the end of `run_ns` nothing more is sent. In an open loop answers are then awaited for
 * `drain_ns`, and `latency_ns` holds every due order: one without an answer, sent or not, with the
 * least that it can become. So a pause of the server shows at its whole length, also one that it
 * does not end.
 *
 * Owner. One thread. */
#ifndef PERF_LOAD_H
#define PERF_LOAD_H

#include "base/histogram.h"

enum {
    LOAD_ORDER_BYTES = 512,
    LOAD_ANSWER_BYTES = 4096,
    LOAD_VALID_PERCENT = 99,
};

/* One request as it is sent. */
struct load_order {
    uint16_t bytes;
    uint8_t text[LOAD_ORDER_BYTES];
};

struct load_connection {
    int fd; /* non-blocking */
    char input[LOAD_ANSWER_BYTES];
    size_t input_count;
    uint64_t due_ns, sent_ns; /* of the order in flight */
    bool is_busy;
};

struct load {
    struct load_connection *connections;
    uint32_t connection_count;
    const struct load_order *orders;
    uint32_t order_count; /* open loop: as many are due within run_ns */
    double rate_per_s;    /* 0: closed loop */
    uint64_t run_ns, drain_ns;
    /* Results. */
    uint64_t took_ns; /* without the wait for the last answers */
    uint32_t sent, answered, accepted, problems;
    struct histogram latency_ns; /* of due orders, from when they were due */
    struct histogram service_ns; /* of sent orders, from when they were sent */
};

/* Runs the load; results are zero before. False, with the reason on standard error, when a
 * connection ends or fails: the results are then those up to there. */
CC_MUST_USE bool load_run(struct load *load);

/* Whether so many of the due orders had an answer that the figures describe the rate. A closed loop
 * has no rate to miss. */
bool load_is_valid(const struct load *load);

#endif
