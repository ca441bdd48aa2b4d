/* conn.h - the table of connections: the state of each, its kept input, time-outs, queues.
 *
 *   head ──complete──> body ──complete──> request ──> head of the next
 *     10 s               30 s                          idle 75 s
 *
 * Bytes are parsed where the kernel put them. Only the rest (an incomplete request, or requests
 * that must wait) is copied to the connection's own input.
 *
 * Owner. The net thread. A connection has an index; its memory is valid until conn_close.
 * Units. Times are clock_monotonic_ns.
 * Bound. CONN_INPUT_BYTES a connection; CONN_INPUT_KEEP of them hold any one request. At most
 *        CONN_SPILLED_MAX connections hold more than that at a time. */
#ifndef NET_CONN_CONN_H
#define NET_CONN_CONN_H

#include "net/conn/output.h"
#include "net/http/http.h"
#include "net/http/problem_detail.h"
#include "net/http/route.h"

enum {
    CONN_INPUT_KEEP = 40960,   /* the longest head and body, with a chunk's tail */
    CONN_INPUT_BYTES = 303104, /* and one burst of the kernel */
    CONN_SPILLED_MAX = 256,
    CONN_PENDING_MAX = 64, /* requests of a connection in flight */
};

#define CONN_NONE UINT32_MAX

enum conn_time { CONN_TIME_IDLE, CONN_TIME_HEAD, CONN_TIME_BODY, CONN_TIME_LINGER, CONN_TIMES };

#define CONN_SECOND_NS UINT64_C(1000000000)
#define CONN_DEAF_NS   (75 * CONN_SECOND_NS) /* a peer that reads nothing for so long is gone */

/* CONN_PROXY: before the first head, the header of a proxy (net.proxy_from). */
enum conn_phase { CONN_HEAD, CONN_BODY, CONN_PROXY };

struct conn {
    /* The request being read. */
    struct http_head head;
    struct route route;
    struct problem_detail early; /* known from the head, answered when the body is read */
    const char *allow;           /* with an early 405, and with OPTIONS */
    uint8_t origin;              /* place in net.cors_origins (base/origin.h) */
    struct http_chunked chunked;
    uint32_t body_bytes; /* chunked: decoded so far */
    uint32_t body_limit;
    uint32_t complete_bytes; /* not 0: the whole request is in the input and waits for room */
    uint32_t scanned;        /* bytes of the head that were scanned */
    uint8_t phase;           /* enum conn_phase */

    bool open;
    bool admin;               /* accepted from admin.listen */
    bool last;                /* reads no further request: closes when all are answered */
    bool broken;              /* closes at once */
    bool slow_job;            /* a slow signature of this connection waits (job.h) */
    bool last_signature_bad;  /* a signature was bad, and none sent after it good yet */
    bool last_signature_good; /* else: the newest was good, under a known key */
    bool continue_due;        /* send 100 Continue after the answers before it */
    bool blocked;             /* has input that could not be parsed yet */

    uint8_t queued; /* bits of enum conn_queue_kind; kept when the connection closes */

    /* Transport. */
    bool receiving;  /* a receive is armed */
    bool cancelling; /* and a cancel of it is sent */
    bool bulk;       /* the peer sent more than is kept: one receive at a time from now on */
    bool sending;
    bool ended;     /* the peer sent its last byte */
    bool aborted;   /* shut down in both directions */
    bool lingering; /* our last byte is sent; waits for the peer's last */
    int32_t file;

    uint32_t index;
    uint32_t input_start, input_end;
    uint32_t input_high; /* highest use since the memory was returned */
    bool spilled;

    uint32_t pending_head, pending_tail; /* requests in flight, oldest first (pending.h) */
    uint32_t pending_count;
    struct output output;
    uint32_t expected_bytes; /* upper bound of the answers to reads sent and not answered */
    bool reads_held;         /* a read waits until more of the output is sent */
    uint64_t received_ticks; /* of the newest bytes */
    uint64_t address;        /* of the peer (rate_limit.h), or what its proxy says */

    uint8_t time; /* enum conn_time, CONN_TIMES: none */
    uint64_t deadline_ns;
    uint32_t time_previous, time_next;
};

struct conn_list {
    uint32_t head, tail;
};

enum conn_queue_kind {
    CONN_READY,   /* may continue to parse its input */
    CONN_STALLED, /* waits for a job slot */
    CONN_SLOW,    /* waits for room among the slow jobs */
    CONN_DIRTY,   /* the transport must look at it */
    CONN_STARVED, /* has an answer that found no room in the output pool, or an audit too early */
    CONN_QUEUES,
};

/* A queue of connections. Each is in it at most once, so it cannot overflow. */
struct conn_queue {
    uint32_t *items;
    uint32_t head, tail;
};

struct conn_table {
    struct conn *conns;
    uint8_t *inputs;
    uint32_t *free; /* stack of unused indexes */
    uint32_t free_count;
    uint32_t capacity;
    uint32_t open_count;
    uint32_t spilled_count;
    struct conn_list times[CONN_TIMES];
    struct conn_queue queues[CONN_QUEUES];
    void *memory;
    size_t memory_bytes;
};

/* 0 or -ENOMEM. `capacity` is a power of two. */
CC_MUST_USE int conn_table_init(struct conn_table *table, uint32_t capacity);
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
    return (char *)table->inputs + (size_t)conn->index * CONN_INPUT_BYTES + conn->input_start;
}

static inline uint32_t conn_input_bytes(const struct conn *conn)
{
    return conn->input_end - conn->input_start;
}

/* Appends to the kept input. False if it is full, or if too many connections hold too much. */
CC_MUST_USE bool conn_input_append(struct conn_table *table, struct conn *conn, const void *bytes,
                                   size_t count);

/* Drops the oldest `count` bytes. The rest moves to the front if that is cheap. */
void conn_input_take(struct conn_table *table, struct conn *conn, size_t count);

/* Starts the time-out of a class; it replaces the running one. */
void conn_time_start(struct conn_table *table, struct conn *conn, enum conn_time time,
                     uint64_t now_ns);

/* A connection whose time-out has passed, and its class in *time; NULL if there is none. The
 * connection has no time-out afterwards. */
CC_MUST_USE struct conn *conn_time_expired(struct conn_table *table, uint64_t now_ns,
                                           enum conn_time *time);

/* The earliest deadline of all connections; UINT64_MAX: none. */
uint64_t conn_time_next_ns(const struct conn_table *table);

/* Appends the connection to the queue, unless it is already in it. */
static inline void conn_queue_push(struct conn_table *table, enum conn_queue_kind kind,
                                   struct conn *conn)
{
    struct conn_queue *queue = &table->queues[kind];
    if (conn->queued & 1u << kind)
        return;
    conn->queued |= (uint8_t)(1u << kind);
    INVARIANT(queue->tail - queue->head < table->capacity);
    queue->items[queue->tail++ & (table->capacity - 1)] = conn->index;
}

static inline uint32_t conn_queue_count(const struct conn_table *table, enum conn_queue_kind kind)
{
    return table->queues[kind].tail - table->queues[kind].head;
}

/* Removes the first connection from the queue, which is not empty. It may have closed meanwhile,
 * and its slot may be in use again. */
static inline struct conn *conn_queue_pop(struct conn_table *table, enum conn_queue_kind kind)
{
    struct conn_queue *queue = &table->queues[kind];
    INVARIANT(queue->head != queue->tail);
    struct conn *conn = conn_at(table, queue->items[queue->head++ & (table->capacity - 1)]);
    INVARIANT(conn->queued & 1u << kind);
    conn->queued &= (uint8_t) ~(1u << kind);
    return conn;
}

#endif
