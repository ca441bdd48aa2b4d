/* feed.h - a stream of the exchange (wire.md W9) that is opened again when it ends, for a command
 * that runs until a signal.
 *
 *   feed_begin ──> feed_next ──> FEED_OPENED ──> the command asks: login, subscribe, resume
 *                            ──> FEED_MESSAGE ──> replies and frames ...
 *                  the connection ends: feed_next waits, opens the next one, FEED_OPENED again
 *
 * An exchange that was there once is waited for when it goes away; one that never was, a refusal of
 * an op and a key that has ended are errors. Of a list of addresses (replication.md, A node) the
 * next one is opened then, a leader that is told (421) at once, and one of them is waited for for
 * 30 s.
 *
 * Owner. The command's thread, whose SIGINT and SIGTERM are blocked from feed_begin to feed_end but
 *        while feed_next waits.
 * Wait.  feed_next, at most as long as it is told, and one opening at one address. */
#ifndef PERP_INVOCATION_FEED_H
#define PERP_INVOCATION_FEED_H

#include <signal.h>

#include "perp/invocation/context.h"
#include "perp/request/client_stream.h"

struct json_t; /* jansson.h */

enum feed_event {
    FEED_OPENED,  /* a connection without a question yet */
    FEED_MESSAGE, /* a reply that refuses nothing, or a frame */
    FEED_QUIET,   /* none came in the time */
    FEED_ENDED,   /* a signal, or an error that was printed: see the context's exit code */
};

struct feed {
    struct context *context;
    struct client client;
    struct client_stream stream;
    sigset_t ends;       /* the signals that end it */
    sigset_t before;     /* what was blocked before */
    uint64_t heard_ns;   /* CLOCK_MONOTONIC of the last message */
    uint64_t retry_ns;   /* no connection is opened before */
    uint64_t patient_ns; /* of a list: until then none needs to have been there */
    uint32_t retry_ms;   /* the last pause; 0: a message came since */
    uint32_t told;       /* leaders in a row that nodes told */
    bool is_open;
    bool was_open; /* once, and a message came */
};

/* False after a printed error; nothing is to be ended then. */
CC_MUST_USE bool feed_begin(struct feed *feed, struct context *context);

/* The next event within `wait_ms`. *message, of FEED_MESSAGE, is the caller's to release. */
enum feed_event feed_next(struct feed *feed, uint32_t wait_ms, struct json_t **message);

/* Sends an op, and releases it; one that cannot be sent is lost with its connection. */
void feed_ask(struct feed *feed, struct json_t *op);

/* Ends the connection; after a pause feed_next opens another, of a list at the next address. `why`
 * is printed, unless it is NULL. */
void feed_restart(struct feed *feed, const char *why);

/* Closes the connection and gives the signals back. */
void feed_end(struct feed *feed);

#endif
