/* sequence_wait.h - the reads that wait for a sequence (X-Min-Sequence; wire.md W7).
 *
 * A read that asks for a sequence above durable() waits at most SEQUENCE_WAIT_NS. Until it goes on,
 * its connection accepts no further request.
 *
 * Owner. The net thread.
 * Units. Times are clock_monotonic_ns.
 * Bound. SEQUENCE_WAIT_MAX reads, one of a connection. An address, and the account of a key, may
 *        have one more while it has less than half as many as are free: alone a third of them, two
 *        a half together. When others have left so few, the oldest wait of the address that has
 *        most ends for it, as long as the new one's address and account have no more than half as
 *        many then: the first to come has at most twice what the last gets. When nobody has two,
 *        the first read of an account takes the oldest slot of a read without one. What comes from
 *        admin.listen counts as one address more. As many waits again may have ended so and not
 *        have been taken out. */
#ifndef NET_RESPONSE_SEQUENCE_WAIT_H
#define NET_RESPONSE_SEQUENCE_WAIT_H

#include "net/conn/conn.h"

#define SEQUENCE_WAIT_NS UINT64_C(1000000000)

enum { SEQUENCE_WAIT_MAX = 1024 };

/* The wait of one that gave its slot to another, instead of a deadline. */
#define SEQUENCE_WAIT_GIVEN UINT64_C(0)

/* Whether a read may wait, or whose share of the slots is used up. */
enum sequence_wait_room {
    SEQUENCE_WAIT_ROOM,
    SEQUENCE_WAIT_FULL,
    SEQUENCE_WAIT_OF_ADDRESS,
    SEQUENCE_WAIT_OF_ACCOUNT,
};

struct sequence_waiter {
    uint64_t sequence;
    uint64_t deadline_ns; /* or SEQUENCE_WAIT_GIVEN */
    uint64_t account_id;  /* 0: of no key */
    uint32_t conn;        /* its index */
    uint32_t holder;      /* of its address */
};

/* An address that has slots. */
struct sequence_holder {
    uint64_t address;
    uint32_t slots; /* 0: nobody's */
};

/* All zeros: nobody waits. */
struct sequence_wait {
    uint32_t count, given; /* waiters; those of them that gave their slots away */
    struct sequence_waiter waiters[2 * SEQUENCE_WAIT_MAX]; /* the earliest to come first */
    struct sequence_holder holders[SEQUENCE_WAIT_MAX];
};

/* Lets the connection wait for the sequence with a read of the account, 0: of no key. Another
 * answer than SEQUENCE_WAIT_ROOM: nothing has changed. The connection does not wait yet. */
CC_MUST_USE enum sequence_wait_room sequence_wait_add(struct sequence_wait *wait, struct conn *conn,
                                                      uint64_t account_id, uint64_t sequence,
                                                      uint64_t now_ns);

/* Ends the wait of a connection, if it waits. */
void sequence_wait_remove(struct sequence_wait *wait, struct conn *conn);

/* Ends one wait that is over, and gives the index of its connection: `durable` is at or above its
 * sequence, its time has passed, or, then *given, its slot is another's. CONN_NONE: there is
 * none. */
CC_MUST_USE uint32_t sequence_wait_next(struct sequence_wait *wait, struct conn_table *conns,
                                        uint64_t durable, uint64_t now_ns, bool *given);

/* The earliest end of a wait, 0: one has given its slot away; UINT64_MAX: nobody waits. */
uint64_t sequence_wait_deadline_ns(const struct sequence_wait *wait);

#endif
