/* conn.h - the table of connections: state of each, received bytes kept, time-outs.
 *
 *   head ──complete──> body ──complete──> request ──> head of the next
 *     10 s               30 s                          idle 75 s
 *
 * Bytes are parsed where the kernel put them; only what is left over (an incomplete request, or
 * requests that must wait) is copied to the connection's own input.
 *
 * Owner. The net thread. A connection is named by its index; its memory stays until conn_close.
 * Units. Times are clock_monotonic_ns.
 * Bound. CONN_INPUT_BYTES a connection, of which CONN_INPUT_KEEP hold any one request;
 *        CONN_SPILLED_MAX connections may hold more than that at a time. */
#ifndef NET_CONN_CONN_H
#define NET_CONN_CONN_H

#include "net/conn/output.h"
#include "net/http/http.h"
#include "net/http/problem_detail.h"
#include "net/http/route.h"

enum {
    CONN_INPUT_KEEP = 40960,   /* the longest head and body with a chunk's tail */
    CONN_INPUT_BYTES = 303104, /* and what one burst of the kernel may add */
    CONN_SPILLED_MAX = 256,
    CONN_PENDING_MAX = 64, /* requests of a connection in flight */
};

#define CONN_NONE UINT32_MAX

enum conn_time { CONN_TIME_IDLE, CONN_TIME_HEAD, CONN_TIME_BODY, CONN_TIME_LINGER, CONN_TIMES };

#define CONN_SECOND_NS UINT64_C(1000000000)
#define CONN_DEAF_NS   (75 * CONN_SECOND_NS) /* a peer that took no byte for so long is gone */

enum conn_phase { CONN_HEAD, CONN_BODY };

struct conn {
    /* The request being read. */
    struct http_head head;
    struct route route;
    struct problem_detail early; /* known from the head, answered when the body is read */
    const char *allow;           /* with an early 405 */
    struct http_chunked chunked;
    uint32_t body_bytes; /* chunked: decoded so far */
    uint32_t body_limit;
    uint32_t complete_bytes; /* not 0: the whole request stands in the input and waits for room */
    uint32_t scanned;        /* of the head */
    uint8_t phase;           /* enum conn_phase */

    bool open;
    bool admin;              /* came in through admin.listen */
    bool last;               /* no further request is read: closes when everything is answered */
    bool broken;             /* closes at once */
    bool slow_job;           /* a slow signature of this connection waits for its turn (job.h) */
    bool last_signature_bad; /* a verified signature was wrong, and none sent behind it right yet */
    bool last_signature_good; /* else: its newest was right, and under a known key */
    bool continue_due;        /* 100 Continue, when the answers before it are out */
    bool blocked;             /* has input that could not be taken yet */

    uint8_t queued; /* bits of enum conn_queue_kind: survive the connection, as the entries do */

    /* Transport. */
    bool receiving;  /* a receive is armed */
    bool cancelling; /* and asked to end */
    bool bulk;       /* sent more than is kept: one receive at a time from now on */
    bool sending;
    bool ended;     /* the peer sent its last byte */
    bool aborted;   /* shut down in both directions */
    bool lingering; /* our last byte is sent, we wait for the peer's */
    int32_t file;

    uint32_t index;
    uint32_t input_start, input_end;
    uint32_t input_high; /* most ever used since the memory was given back */
    bool spilled;

    uint32_t pending_head, pending_tail; /* requests in flight, oldest first (pending.h) */
    uint32_t pending_count;
    struct output output;
    uint32_t expected_bytes; /* that reads asked and not written may answer at most */
    bool reads_held;         /* a read waits until more of the output is sent */
    uint64_t received_ticks; /* of the newest bytes */
    uint64_t address;        /* of the peer (rate_limit.h); the transport's to fill */

    uint8_t time; /* enum conn_time, CONN_TIMES: none */
    uint64_t deadline_ns;
    uint32_t time_previous, time_next;
};

struct conn_list {
    uint32_t head, tail;
};

enum conn_queue_kind {
    CONN_READY,   /* may be read on */
    CONN_STALLED, /* wait for a job slot */
    CONN_SLOW,    /* wait for room among the slow signatures */
    CONN_DIRTY,   /* have something for the transport */
    CONN_STARVED, /* have an answer that found no room in the output pool */
    CONN_QUEUES,
};

/* A connection is in a queue at most once, so none overflows. */
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

/* A connection in its first state, or NULL when the table is full. */
CC_MUST_USE struct conn *conn_open(struct conn_table *table);
void conn_close(struct conn_table *table, struct conn *conn);

/* The connection at the index. */
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

/* Appends to the kept input; false when it is full or too many connections hold too much. */
CC_MUST_USE bool conn_input_append(struct conn_table *table, struct conn *conn, const void *bytes,
                                   size_t count);

/* The oldest `count` bytes are used; what stays moves to the front when that is cheap. */
void conn_input_take(struct conn_table *table, struct conn *conn, size_t count);

/* Starts the time-out of a class, in place of the one that runs. */
void conn_time_start(struct conn_table *table, struct conn *conn, enum conn_time time,
                     uint64_t now_ns);

/* A connection whose time-out of the class *time is over (it then has none), or NULL. */
CC_MUST_USE struct conn *conn_time_expired(struct conn_table *table, uint64_t now_ns,
                                           enum conn_time *time);

/* The next deadline of any connection, UINT64_MAX: none. */
uint64_t conn_time_next_ns(const struct conn_table *table);

/* Appends the connection to the queue, unless it is in it. */
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

/* Takes the first connection out of the queue, which is not empty. It may be closed meanwhile, or
 * another one by now. */
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
