/* crowd.h - the connections that the public listener keeps, by client address: which address has
 * most, and which of its connections yields first.
 *
 *   crowd_enter ──> a row of the address ──┬─ its count: rows of one count are in a list
 *   crowd_leave <──                        └─ its connections by kind, quiet longest first
 *
 * Order. A connection is placed again when it has been heard from or begins a request
 *        (crowd_hear). What else changes its kind is seen when it is the first of its list:
 *        crowd_queue puts it right then. Addresses with equally many take turns, for each kind:
 *        first the one of which the connection quiet longest was placed longest ago. One that has
 *        none of the kind is not among them.
 * Owner. The net thread.
 * Bound. A row, a count and a head of a list for each connection of the table, in the memory of
 *        that. Every function takes the same time however many there are. */
#ifndef NET_CONN_CROWD_H
#define NET_CONN_CROWD_H

#include "base/mix.h"
#include "net/conn/conn_state.h"

/* Kinds of connections in the order in which they yield. */
enum crowd_kind {
    CROWD_IDLE,   /* between two requests */
    CROWD_BEGUN,  /* a part of a request, or a whole one that waits for a token (charge.h) or
                   * until the peer reads its answers */
    CROWD_PROVED, /* one of these that has proved a key */
    CROWD_STREAM,
    CROWD_PROVED_STREAM,
    CROWD_KINDS,
    CROWD_BUSY = CROWD_KINDS, /* something of it is under way: it is counted and in no list */
};

struct crowd_list {
    uint32_t head, tail; /* connections, or rows; CONN_NONE: none */
};

/* An address. */
struct crowd_row {
    uint64_t address;
    uint32_t count; /* its connections; 0: the row is free */
    uint32_t next;  /* of those with one hash, and of the free ones */
    struct crowd_list lists[CROWD_KINDS];
    struct {
        uint32_t previous, next; /* rows of the count with a connection of the kind */
    } links[CROWD_KINDS];
};

/* The addresses that have so many connections. */
struct crowd_count {
    uint32_t rows;                        /* all of them */
    struct crowd_list lists[CROWD_KINDS]; /* those with a connection of the kind */
};

struct crowd {
    struct conn *conns;
    struct crowd_row *rows;
    uint32_t *hashes;           /* the first row of each hash */
    struct crowd_count *counts; /* from 0 */
    uint32_t free;              /* the first free row */
    uint32_t mask;              /* of a hash */
    uint32_t most;              /* the greatest count */
    struct mix_key hash_key;
};

/* What the crowd of a table of `capacity` connections, a power of two, takes. */
CC_MUST_USE size_t crowd_bytes(uint32_t capacity);

/* In so many bytes, all zero and aligned as a struct is, which outlive the crowd as the table of
 * connections does. */
void crowd_init(struct crowd *crowd, void *memory, struct conn *conns, uint32_t capacity,
                struct mix_key hash_key);

/* Counts the connection for its address. It must not be counted yet. */
void crowd_enter(struct crowd *crowd, struct conn *conn);

/* Counts it no more, if it was counted. */
void crowd_leave(struct crowd *crowd, struct conn *conn);

static inline bool crowd_has(const struct conn *conn)
{
    return conn->crowd_row != CONN_NONE;
}

/* Puts a connection that is counted behind the others of the kind, and its address behind those
 * with as many if it was the first; with CROWD_BUSY in no list. */
void crowd_queue(struct crowd *crowd, struct conn *conn, enum crowd_kind kind);

/* What the connection is now. */
CC_MUST_USE enum crowd_kind crowd_kind_of(const struct conn *conn);

/* The connection has been heard from: it is the last of its list. Nothing if it is not counted. */
static inline void crowd_hear(struct crowd *crowd, struct conn *conn)
{
    if (crowd_has(conn))
        crowd_queue(crowd, conn, crowd_kind_of(conn));
}

/* The first connection of that kind of the first address with most. NULL: none of those with most
 * has one. */
CC_MUST_USE struct conn *crowd_first(const struct crowd *crowd, enum crowd_kind kind);

/* Puts a connection that is in a list behind the others of its address, which keeps its place. */
void crowd_pass(struct crowd *crowd, struct conn *conn);

/* Puts its address behind the others with as many connections, for the kind of this one. */
void crowd_pass_address(struct crowd *crowd, const struct conn *conn);

#endif
