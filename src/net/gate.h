/* gate.h - from bytes to requests and from outcomes to bytes: everything of net but the sockets.
 *
 *   gate_receive ─ parse ─ route ─┬─ signed: staging.h ─> command ring ──> answer ring ─┐
 *                                 ├─ read: ask.h ──> query ring ──> reply ring ─────────┤
 *                                 └─ problem ────────────────────────────────────────┐  │
 *   conn->output <── respond.h, oldest request of the connection first <─────────────┴──┘
 *
 * The transport (net.c, or a test) opens a connection, hands over received bytes, runs gate_turn,
 * and sends what stands in conn->output of the connections in the queue CONN_TOUCHED.
 *
 * Order.  As net.h. Commands of a connection enter the ring in the order received because staged
 *         requests are pushed first in, first out, and a connection whose signature waits for a
 *         later turn is not read on.
 * Wait.   Nothing blocks. A connection that cannot go on is `blocked`; whatever unblocks it puts
 *         it into CONN_READY; what it waits for is the queue it is in (conn.h).
 * Owner.  The net thread.
 * Bound.  All memory is mapped by gate_init. */
#ifndef NET_GATE_H
#define NET_GATE_H

#include "net/command/command_send.h"
#include "net/command/verify.h"
#include "net/http/route.h"

enum {
    GATE_OUTPUT_PAUSE = 256 * 1024, /* unsent bytes above which a connection is not read on */
    GATE_TURN_BYTES = 256 * 1024,   /* of answers, behind which a turn takes no more replies */
};

struct gate {
    struct net_config config;

    struct context context;
    struct pipeline pipeline;
    struct route_table routes;
    struct staging *staging;
    struct verifier verifier;
    struct command_sender sender;

    uint64_t durable; /* of this turn */
    uint32_t budget;  /* requests that this turn may still take */
    uint32_t work;    /* done in this turn */
};

/* 0 or -ENOMEM. `connections` is a power of two. The gate is zeroed before. */
CC_MUST_USE int gate_init(struct gate *gate, const struct net_config *config, uint32_t connections);
void gate_free(struct gate *gate);

/* A new connection, or NULL when the table is full. */
CC_MUST_USE struct conn *gate_open(struct gate *gate, bool admin);

/* Received bytes. They may be changed (chunked bodies are decoded in place) and are not needed
 * afterwards. */
void gate_receive(struct gate *gate, struct conn *conn, char *bytes, size_t count);

/* The peer will send nothing more: what is complete is still answered. */
void gate_end_of_input(struct gate *gate, struct conn *conn);

/* Begins a turn: time, budget; answers and replies that arrived; then connections that wait. */
void gate_turn_begin(struct gate *gate);

/* Ends a turn: connections that may go on, signatures, pushes, time-outs. Gives the work done. */
uint32_t gate_turn_end(struct gate *gate);

/* The answers appended since the last call were handed to the kernel now. */
static inline void gate_sent(struct gate *gate)
{
    respond_sent(&gate->pipeline.responder);
}

/* Everything is answered and handed over, nothing more will be read: the transport may close. */
static inline bool gate_is_finished(const struct conn *conn)
{
    return conn->last && conn->phase == CONN_HEAD && conn->pending_head == PENDING_NONE &&
           conn->output.bytes == 0 && !conn->blocked && !conn->continue_due;
}

/* Forgets the connection: requests in flight go on, their answers are dropped. The transport must
 * have no operation of it in flight. */
void gate_close(struct gate *gate, struct conn *conn);

/* The next deadline, clock_monotonic_ns. */
uint64_t gate_deadline_ns(const struct gate *gate);

/* Is there work that a turn would do without any new event. */
CC_MUST_USE bool gate_has_work(const struct gate *gate);

#endif
