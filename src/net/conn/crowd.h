/* crowd.h - the connections that the public listener keeps, by client address: which address has
 * most, and which of its connections yields first.
 *
 *   crowd_enter ──> a row of the address ──┬─ its count: rows of one count are in a list
 *   crowd_leave <──                        └─ its connections by kind, quiet longest first
 *
 * Order. A connection is placed again when it has been heard from (crowd_hear). What else changes
 *        its kind is seen when it is the first of its list: crowd_queue puts it right then.
 * Owner. The net thread.
 * Bound. A row and two heads of lists for each connection of the table, allocated at the start.
 *        Every function takes the same time however many there are. */
#ifndef NET_CONN_CROWD_H
#define NET_CONN_CROWD_H

#include "base/mix.h"
#include "net/conn/conn_state.h"

/* Kinds of connections in the order in which they yield. */
enum crowd_kind {
    CROWD_IDLE,   /* between two requests */
    CROWD_BEGUN,  /* a part of a request, or a whole one that waits for a token (charge.h) */
    CROWD_PROVED, /* one of these that has proved a key */
    CROWD_STREAM,
    CROWD_PROVED_STREAM,
    CROWD_KINDS,
    CROWD_BUSY = CROWD_KINDS, /* something of it is under way: it is counted and in no list */
};

struct crowd_list {
    uint32_t head, tail; /* connections; CONN_NONE: none */
};

/* An address. */
struct crowd_row {
    uint64_t address;
    uint32_t count;                    /* its connections; 0: the row is free */
    uint32_t next;                     /* of those with one hash, and of the free ones */
    uint32_t more_previous, more_next; /* of those with one count */
    struct crowd_list lists[CROWD_KINDS];
};

struct crowd {
    struct conn *conns;
    struct crowd_row *rows;
    uint32_t *hashes; /* the first row of each hash */
    uint32_t *counts; /* the first row of each count */
    uint32_t free;    /* the first free row */
    uint32_t mask;    /* of a hash */
    uint32_t most;    /* the greatest count */
    struct mix_key hash_key;
};

/* 0 or -ENOMEM. Of a table of `capacity` connections, a power of two, which outlives the crowd. */
CC_MUST_USE int crowd_init(struct crowd *crowd, struct conn *conns, uint32_t capacity,
                           struct mix_key hash_key);
void crowd_free(struct crowd *crowd);

/* Counts the connection for its address. It must not be counted yet. */
void crowd_enter(struct crowd *crowd, struct conn *conn);

/* Counts it no more, if it was counted. */
void crowd_leave(struct crowd *crowd, struct conn *conn);

static inline bool crowd_has(const struct conn *conn)
{
    return conn->crowd_row != CONN_NONE;
}

/* Puts a connection that is counted behind the others of the kind; with CROWD_BUSY in no list. */
void crowd_queue(struct crowd *crowd, struct conn *conn, enum crowd_kind kind);

/* What the connection is now. */
CC_MUST_USE enum crowd_kind crowd_kind_of(const struct conn *conn);

/* The connection has been heard from: it is the last of its list. Nothing if it is not counted. */
static inline void crowd_hear(struct crowd *crowd, struct conn *conn)
{
    if (crowd_has(conn))
        crowd_queue(crowd, conn, crowd_kind_of(conn));
}

/* The first connection of that kind of the address with most. NULL: there is none. */
CC_MUST_USE struct conn *crowd_first(const struct crowd *crowd, enum crowd_kind kind);

#endif
