/* load.h - sends requests over open connections by a schedule that was fixed before, and keeps one
 * row of what became of each.
 *
 *   due ------ waits for a free slot ------- sent ------ the server ------ done
 *   |<----------- latency: what a client of that moment has ------------------>|
 *                                            |<-- service: what the server shows ->|
 *
 * Open loop: request i is due due_ns[i] after the begin, whatever the server does. It is sent on a
 * connection with fewer than `depth` requests in flight, when there is one.
 * Closed loop (due_ns NULL): a request is due when a connection has a free slot.
 * After `run_ns` nothing more is sent, and answers are awaited for `drain_ns`. Every due
 * request has its row: one without an answer is as late as the end of that wait, at least.
 * A connection that ends takes no further requests; those in flight on it stay without an answer.
 * With `connect` the exchange is of several machines (replication.md, A node): a request without an
 * answer, or with one that finishes nothing, is sent again, the same bytes, over a connection to
 * the leader that an answer named, else to the next machine, 100 ms to 1 s apart, until 30 s are
 * over. Its latency and its service end with the answer that finishes it.
 *
 * Owner. One thread. The rows, the times and the connections are the caller's.
 * Bound. LOAD_REQUEST_MAX bytes a request, LOAD_ANSWER_MAX an answer, LOAD_PLACES_MAX in flight. */
#ifndef PERP_BENCH_LOAD_H
#define PERP_BENCH_LOAD_H

#include "perp/bench/answer.h"

enum {
    LOAD_REQUEST_MAX = 2048,
    LOAD_ANSWER_MAX = 16384,
    LOAD_DEPTH_MAX = 256,
    LOAD_PLACES_MAX = 65536,
    LOAD_VALID_PERCENT = 99,
};

#define LOAD_NEVER UINT64_MAX

/* A request as it is sent. */
struct load_request {
    const uint8_t *bytes; /* until the next request is asked for */
    uint32_t count;
    uint8_t kind;
    bool is_read;
};

/* What became of a due request. Times are ns after the begin; LOAD_NEVER: not sent, no answer. */
struct load_row {
    uint64_t due_ns, sent_ns, done_ns;
    struct answer answer; /* when there is one */
    uint8_t kind;
    bool is_read;
};

struct load {
    const int *files; /* of the connections, not blocking */
    uint32_t connection_count, depth;
    bool is_stream;         /* requests and answers are messages of a stream (stream_message.h) */
    const uint64_t *due_ns; /* NULL: closed loop */
    struct load_row *rows;
    uint32_t row_count; /* open loop: as many are due; closed loop: at most as many are sent */
    uint64_t begin_ns;  /* of CLOCK_MONOTONIC, when the run shall begin; 0: at once */
    uint64_t run_ns, drain_ns;
    struct outcomes *outcomes;
    /* Fills in request `index`; called once for each, in order, when it is sent. */
    void (*make)(void *context, uint32_t index, struct load_request *request);
    /* Called about once a second; may be NULL. */
    void (*progress)(void *context, const struct load *load, uint64_t passed_ns);
    /* Opens a connection again, not blocking: to the leader that was told (host:port), NULL: to the
     * next machine. Gives the file; -1: nobody is there. NULL: the exchange is one machine. */
    int (*connect)(void *context, uint32_t connection, const char *leader);
    /* host:port of a connection's machine; with `connect`. */
    const char *(*host)(void *context, uint32_t connection);
    void *context;
    /* Results. */
    uint64_t took_ns;   /* without the wait for the last answers */
    uint64_t end_ns;    /* with it, after the begin */
    uint32_t due_count; /* rows that are filled in */
    uint32_t sent, answered;
    uint32_t lost_connections;
    uint32_t resent; /* sendings of a request but for its first */
};

/* Runs the load. Results are zero before. False, with the reason in `error`, when the machine
 * refuses (memory, epoll); the results are then of no use. */
CC_MUST_USE bool load_run(struct load *load, char error[128]);

/* Whether so many of the due requests had an answer that the figures describe the rate. A closed
 * loop has no rate to miss, but is of no use without an answer. */
bool load_is_valid(const struct load *load);

/* What is recorded of a row: without an answer the least that it can become. */
uint64_t load_latency_ns(const struct load *load, const struct load_row *row);
/* From when it was sent; LOAD_NEVER for one that was not. */
uint64_t load_service_ns(const struct load *load, const struct load_row *row);

#endif
