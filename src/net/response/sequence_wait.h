/* sequence_wait.h - the reads that wait for a sequence (X-Min-Sequence; wire.md W7).
 *
 * A read that asks for a sequence above durable() waits at most SEQUENCE_WAIT_NS. Until it goes on,
 * its connection accepts no further request.
 *
 * Owner. The net thread.
 * Units. Times are clock_monotonic_ns.
 * Bound. SEQUENCE_WAIT_MAX reads, one of a connection. An address, and the account of a key, may
 *        have one more while it has less than half as many as are free: alone a third of them,
 *        two a half together, and what the ones before leave is for the next. What comes from
 *        admin.listen counts as one address more. */
#ifndef NET_RESPONSE_SEQUENCE_WAIT_H
#define NET_RESPONSE_SEQUENCE_WAIT_H

#include "net/conn/conn.h"

#define SEQUENCE_WAIT_NS UINT64_C(1000000000)

enum { SEQUENCE_WAIT_MAX = 1024 };

/* Whether a read may wait, or whose share of the slots is used up. */
enum sequence_wait_room {
    SEQUENCE_WAIT_ROOM,
    SEQUENCE_WAIT_FULL,
    SEQUENCE_WAIT_OF_ADDRESS,
    SEQUENCE_WAIT_OF_ACCOUNT,
};

struct sequence_waiter {
    uint64_t sequence;
    uint64_t deadline_ns;
    uint64_t address;
    uint64_t account_id; /* 0: of no key */
    uint32_t conn;       /* its index */
};

struct sequence_wait {
    uint32_t count;
    struct sequence_waiter waiters[SEQUENCE_WAIT_MAX]; /* the earliest deadline first */
};

/* Lets the connection wait for the sequence with a read of the account, 0: of no key. Another
 * answer than SEQUENCE_WAIT_ROOM: nothing has changed. The connection does not wait yet. */
CC_MUST_USE enum sequence_wait_room sequence_wait_add(struct sequence_wait *wait, struct conn *conn,
                                                      uint64_t account_id, uint64_t sequence,
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
