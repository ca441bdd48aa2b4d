/* protocol.h - a network thread without its sockets: received bytes in, answers out.
 *
 *   protocol_receive ─ parser ─┬─ write: jobs ─ verify ─> command ring ──> answer ring ─┐
 *                              ├─ read: reads ──> query ring ──> reply ring ───────────────┤
 *                              └─ problem ───────────────────────────────────────────────┐ │
 *   conn->output <── pipeline: oldest request of the connection first <──────────────────┴─┘
 *
 * The transport (net.c, or a test) opens a connection, passes the bytes that it received, calls
 * protocol_turn_begin and protocol_turn_end once a turn, and then sends conn->output of each
 * connection in the queue CONN_DIRTY.
 *
 * Order.  As net.h. Commands of a connection enter the ring in the order received: jobs are pushed
 *         first in, first out, and a connection whose signature waits for a later turn is not read.
 * Wait.   Nothing blocks. A connection that cannot continue is `blocked` and in the queue of what
 *         it waits for (conn.h). Whoever unblocks it puts it into CONN_READY.
 * Owner.  The net thread.
 * Bound.  All memory is mapped by protocol_init. */
#ifndef NET_PROTOCOL_H
#define NET_PROTOCOL_H

#include "net/command/command_send.h"
#include "net/command/verify.h"
#include "net/http/route.h"

enum {
    PROTOCOL_OUTPUT_PAUSE = 256 * 1024, /* unsent bytes above which a connection is not read on */
    PROTOCOL_TURN_BYTES = 256 * 1024,   /* of answers, behind which a turn takes no more replies */
};

struct protocol {
    struct net_config config;

    struct context context;
    struct pipeline pipeline;
    struct route_table routes;
    struct job_table *jobs;
    struct verifier verifier;
    struct command_sender sender;

    uint64_t durable; /* of this turn */
    uint32_t budget;  /* requests that this turn may still take */
    uint32_t work;    /* done in this turn */
};

/* 0 or -ENOMEM. `connections` is a power of two. The protocol is zeroed before. */
CC_MUST_USE int protocol_init(struct protocol *protocol, const struct net_config *config,
                              uint32_t connections);
void protocol_free(struct protocol *protocol);

/* A new connection, or NULL when the table is full. */
CC_MUST_USE struct conn *protocol_open(struct protocol *protocol, bool admin);

/* Received bytes. They may be changed (chunked bodies are decoded in place) and are not needed
 * afterwards. */
void protocol_receive(struct protocol *protocol, struct conn *conn, char *bytes, size_t count);

/* The peer will send nothing more: what is complete is still answered. */
void protocol_end_of_input(struct protocol *protocol, struct conn *conn);

/* Begins a turn: time, budget; answers and replies that arrived; then connections that wait. */
void protocol_turn_begin(struct protocol *protocol);

/* Ends a turn: connections that may go on, signatures, pushes, time-outs. Gives the work done. */
uint32_t protocol_turn_end(struct protocol *protocol);

/* The answers appended since the last call were handed to the kernel now. */
static inline void protocol_mark_sent(struct protocol *protocol)
{
    response_mark_sent(&protocol->pipeline.responses);
}

/* Everything is answered and handed over, nothing more will be read: the transport may close. */
static inline bool protocol_is_finished(const struct conn *conn)
{
    return conn->last && conn->phase == CONN_HEAD && conn->pending_head == PENDING_NONE &&
           conn->output.bytes == 0 && !conn->blocked && !conn->continue_due;
}

/* Forgets the connection: requests in flight go on, their answers are dropped. The transport must
 * have no operation of it in flight. */
void protocol_close(struct protocol *protocol, struct conn *conn);

/* The next deadline, clock_monotonic_ns. */
uint64_t protocol_deadline_ns(const struct protocol *protocol);

/* Is there work that a turn would do without any new event. */
CC_MUST_USE bool protocol_has_work(const struct protocol *protocol);

#endif
