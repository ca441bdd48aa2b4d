/* sequence_wait.h - the reads that wait for a sequence (X-Min-Sequence; wire.md W7).
 *
 * A read that asks for a sequence above durable() waits at most SEQUENCE_WAIT_NS. Until it goes on,
 * its connection accepts no further request.
 *
 * Owner. The net thread.
 * Units. Times are clock_monotonic_ns.
 * Bound. SEQUENCE_WAIT_MAX reads, SEQUENCE_WAIT_ADDRESS_MAX of one address, one of a connection. */
#ifndef NET_RESPONSE_SEQUENCE_WAIT_H
#define NET_RESPONSE_SEQUENCE_WAIT_H

#include "net/conn/conn.h"

#define SEQUENCE_WAIT_NS UINT64_C(1000000000)

enum { SEQUENCE_WAIT_MAX = 1024, SEQUENCE_WAIT_ADDRESS_MAX = 128 };

struct sequence_waiter {
    uint64_t sequence;
    uint64_t deadline_ns;
    uint64_t address;
    uint32_t conn; /* its index */
};

struct sequence_wait {
    uint32_t count;
    struct sequence_waiter waiters[SEQUENCE_WAIT_MAX]; /* the earliest deadline first */
};

/* Lets the connection wait for the sequence. False: too many wait; nothing has changed. The
 * connection does not wait yet. */
CC_MUST_USE bool sequence_wait_add(struct sequence_wait *wait, struct conn *conn, uint64_t sequence,
                                   uint64_t now_ns);

/* Ends the wait of a connection, if it waits. */
void sequence_wait_remove(struct sequence_wait *wait, struct conn *conn);

/* Ends one wait that is over, and gives the index of its connection: `durable` is at or above its
 * sequence, or its time has passed. CONN_NONE: none is over. */
CC_MUST_USE uint32_t sequence_wait_next(struct sequence_wait *wait, struct conn_table *conns,
                                        uint64_t durable, uint64_t now_ns);

/* The earliest end of a wait; UINT64_MAX: nobody waits. */
uint64_t sequence_wait_deadline_ns(const struct sequence_wait *wait);

#endif
