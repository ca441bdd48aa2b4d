/* conn.h - the table of connections: the state of each, its kept input, time-outs, queues.
 *
 *   head ──complete──> body ──complete──> request ──> head of the next
 *     10 s               30 s                          idle 75 s
 *
 * On a listener with TLS a handshake of at most 10 s comes before the first head.
 *
 * Bytes are parsed where the kernel put them. Only the rest (an incomplete request, or requests
 * that must wait) is copied to the connection's own input.
 *
 * Owner. The net thread. A connection has an index; its memory is valid until conn_close.
 * Units. Times are clock_monotonic_ns.
 * Bound. CONN_INPUT_KEEP bytes a connection, which hold any one request. At most CONN_SPILLED_MAX
 *        connections have a large input of CONN_INPUT_BYTES instead: for one more, the address with
 *        the most of them loses the one that has held it longest. */
#ifndef NET_CONN_CONN_H
#define NET_CONN_CONN_H

#include "net/conn/crowd.h"

enum {
    CONN_INPUT_KEEP = 40960,   /* the longest head and body, with a chunk's tail */
    CONN_INPUT_BYTES = 303104, /* and one burst of the kernel */
    CONN_SPILLED_MAX = 256,
    CONN_PENDING_MAX = 64, /* requests of a connection in flight */
};

struct conn_list {
    uint32_t head, tail;
};

enum conn_queue_kind {
    CONN_READY,   /* may continue to parse its input */
    CONN_READS,   /* its next request is complete and no command (protocol.h) */
    CONN_STALLED, /* waits for a job slot */
    CONN_SLOW,    /* waits for room among the slow jobs */
    CONN_DIRTY,   /* the transport must look at it */
    CONN_STARVED, /* has an answer that found no room in the output pool, or an audit too early */
    CONN_SHAKING, /* has bytes of a handshake of TLS */
    CONN_CROWD_SHAKING, /* likewise, of an address that has many of them (secure.h) */
    CONN_SHAKEN,        /* has bytes that came with the end of its handshake */
    CONN_SHOWN,         /* a stream whose snapshot has come, or was refused */
    CONN_PAUSED,        /* waits for a token of its address (charge.h) */
    CONN_QUEUES,
};

/* A queue of connections. Each is in it at most once, so it cannot overflow. */
struct conn_queue {
    uint32_t *items;
    uint32_t head, tail;
};

struct conn_table {
    struct conn *conns;
    uint8_t *inputs;       /* CONN_INPUT_KEEP bytes a connection */
    uint8_t *large_inputs; /* CONN_SPILLED_MAX pieces of CONN_INPUT_BYTES */
    uint32_t *free;        /* stack of unused indexes */
    uint32_t free_count;
    uint32_t capacity;
    uint32_t open_count;
    uint32_t spilled_count;
    uint32_t spilled[CONN_SPILLED_MAX]; /* their indexes, the longest first */
    uint16_t rooms[CONN_SPILLED_MAX];   /* from spilled_count on: unused large inputs */
    struct conn_list times[CONN_TIMES];
    struct conn_queue queues[CONN_QUEUES];
    struct crowd crowd; /* those that the public listener has admitted (entrance.h) */
    void *memory;
    size_t memory_bytes;
};

/* Returns the bytes of a table of that capacity. */
CC_MUST_USE size_t conn_table_bytes(uint32_t capacity);

/* 0 or -ENOMEM. `capacity` is a power of two. */
CC_MUST_USE int conn_table_init(struct conn_table *table, uint32_t capacity,
                                struct mix_key hash_key);
void conn_table_free(struct conn_table *table);

/* Allocates a connection; NULL if the table is full. */
CC_MUST_USE struct conn *conn_open(struct conn_table *table);
void conn_close(struct conn_table *table, struct conn *conn);

/* The connection at `index`, open or not. */
static inline struct conn *conn_at(const struct conn_table *table, uint32_t index)
{
    INVARIANT(index < table->capacity);
    return &table->conns[index];
}

/* The kept input: conn_input_bytes() bytes from conn_input(). */
static inline char *conn_input(const struct conn_table *table, const struct conn *conn)
{
    uint8_t *base = conn->spilled ? table->large_inputs + (size_t)conn->room * CONN_INPUT_BYTES
                                  : table->inputs + (size_t)conn->index * CONN_INPUT_KEEP;
    return (char *)base + conn->input_start;
}

static inline uint32_t conn_input_bytes(const struct conn *conn)
{
    return conn->input_end - conn->input_start;
}

/* What the transport sends next: answers, or with TLS their ciphertext. */
static inline struct output *conn_wire(struct conn *conn)
{
    return conn->tls != NULL ? &conn->wire : &conn->output;
}

/* The time at which its oldest unsent byte was written; UINT64_MAX if there is none. */
static inline uint64_t conn_unsent_since_ns(const struct output_pool *pool, const struct conn *conn)
{
    uint64_t since_ns = output_since_ns(pool, &conn->output);
    uint64_t wire_ns = output_since_ns(pool, &conn->wire);
    return wire_ns < since_ns ? wire_ns : since_ns;
}

/* Appends to the kept input. It may retire another connection, which holds too much. False if the
 * input is full, or if no other has to yield. */
CC_MUST_USE bool conn_input_append(struct conn_table *table, struct conn *conn, const void *bytes,
                                   size_t count);

/* The connection must go: what it sent and was not accepted is dropped, nothing more is read, and
 * it closes when it is sent the answers of what was accepted. */
void conn_retire(struct conn_table *table, struct conn *conn);

/* Drops the oldest `count` bytes. The rest moves to the front if that is cheap. */
void conn_input_consume(struct conn_table *table, struct conn *conn, size_t count);

/* Starts the time-out of a class; it replaces the running one. That of CONN_TIME_IDLE says that the
 * connection has been heard from (crowd.h); one whose request has begun keeps its place. */
void conn_time_start(struct conn_table *table, struct conn *conn, enum conn_time time,
                     uint64_t now_ns);

/* A connection whose time-out has passed, and its class in *time; NULL if there is none. The
 * connection has no time-out afterwards. */
CC_MUST_USE struct conn *conn_time_expired(struct conn_table *table, uint64_t now_ns,
                                           enum conn_time *time);

/* The connection whose time-out of that class began first; NULL if there is none. */
CC_MUST_USE struct conn *conn_time_oldest(const struct conn_table *table, enum conn_time time);

/* The earliest deadline of all connections; UINT64_MAX: none. */
uint64_t conn_time_next_ns(const struct conn_table *table);

/* Appends the connection to the queue, unless it is already in it. */
static inline void conn_queue_push(struct conn_table *table, enum conn_queue_kind kind,
                                   struct conn *conn)
{
    struct conn_queue *queue = &table->queues[kind];
    if (conn->queued & 1u << kind)
        return;
    conn->queued |= (uint16_t)(1u << kind);
    INVARIANT(queue->tail - queue->head < table->capacity);
    queue->items[queue->tail++ & (table->capacity - 1)] = conn->index;
}

static inline uint32_t conn_queue_count(const struct conn_table *table, enum conn_queue_kind kind)
{
    return table->queues[kind].tail - table->queues[kind].head;
}

/* Connections that have bytes of a handshake. */
static inline uint32_t conn_shaking_count(const struct conn_table *table)
{
    return conn_queue_count(table, CONN_SHAKING) + conn_queue_count(table, CONN_CROWD_SHAKING);
}

/* Removes the first connection from the queue, which is not empty. It may have closed meanwhile,
 * and its slot may be in use again. */
static inline struct conn *conn_queue_pop(struct conn_table *table, enum conn_queue_kind kind)
{
    struct conn_queue *queue = &table->queues[kind];
    INVARIANT(queue->head != queue->tail);
    struct conn *conn = conn_at(table, queue->items[queue->head++ & (table->capacity - 1)]);
    INVARIANT(conn->queued & 1u << kind);
    conn->queued &= (uint16_t) ~(1u << kind);
    return conn;
}

#endif
