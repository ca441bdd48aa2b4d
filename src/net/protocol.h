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
 * Turns.  Of two classes of ready requests commands come first: signed and plain writes. Reads, all
 *         other requests and the replies to them are taken at the end of a turn; while a command
 *         waits they get PROTOCOL_READ_PERCENT of the turn's measured time, and at least one of
 *         each. Inside a class connections take turns, PROTOCOL_QUANTUM requests each; a batch
 *         counts as one and one more for each 16 items.
 * Order.  As net.h. Commands of a connection enter the ring in the order received: jobs are pushed
 *         first in, first out, and a connection whose signature waits for a later turn is not read.
 * Wait.   Nothing blocks. A connection that cannot continue is `blocked` and in the queue of what
 *         it waits for (conn.h). The code that unblocks it puts it into CONN_READY.
 * Owner.  The net thread.
 * Bound.  All memory is mapped by protocol_init. */
#ifndef NET_PROTOCOL_H
#define NET_PROTOCOL_H

#include "net/command/command_send.h"
#include "net/command/verify.h"
#include "net/http/route.h"
#include "net/stream/stream_arm.h"
#include "net/stream/stream_feed.h"
#include "net/stream/stream_op.h"
#include "net/stream/stream_socket.h"

enum {
    PROTOCOL_TURN_BYTES = 256 * 1024, /* of answers, after which a turn handles no more replies */
    PROTOCOL_TURN_LOOKS = 256,        /* receives that a turn looks at */
    PROTOCOL_QUANTUM = 2,
    PROTOCOL_READ_PERCENT = 15,
};

enum protocol_class { PROTOCOL_COMMANDS, PROTOCOL_READS };

struct protocol {
    struct net_config config;

    struct context context;
    struct pipeline pipeline;
    struct streams streams;
    struct route_table routes;
    struct job_table *jobs;
    struct verifier verifier;
    struct command_sender sender;

    uint64_t durable;           /* of this turn */
    enum protocol_class taking; /* the class whose requests are accepted now */
    uint64_t begun_ticks;       /* of this turn */
    uint32_t looks;             /* receives that this turn may still look at */
    uint32_t budget;            /* requests of the class that this turn may still accept */
    uint32_t work;              /* done in this turn */
};

/* 0 or -ENOMEM. `connections` is a power of two. The protocol must be all zeros before. */
CC_MUST_USE int protocol_init(struct protocol *protocol, const struct net_config *config,
                              uint32_t connections);
void protocol_free(struct protocol *protocol);

/* Opens a connection; NULL if the table is full. */
CC_MUST_USE struct conn *protocol_open(struct protocol *protocol, bool admin);

/* Handles received bytes. It may change them (chunked bodies are decoded in place) and does not
 * keep the pointer. In the phase CONN_HANDSHAKE it only copies them to the input. */
void protocol_receive(struct protocol *protocol, struct conn *conn, char *bytes, size_t count);

/* The peer will send nothing more. Complete requests are still answered. */
void protocol_end_of_input(struct protocol *protocol, struct conn *conn);

/* Drops the requests of a connection that can be sent no answer any more, and its input. It is
 * finished then. */
void protocol_abandon(struct protocol *protocol, struct conn *conn);

/* Begins a turn: sets time and budget, handles answers and replies, then connections that wait. */
void protocol_turn_begin(struct protocol *protocol);

/* Ends a turn: connections that may continue, signatures, pushes, time-outs. Returns the work done.
 * */
uint32_t protocol_turn_end(struct protocol *protocol);

/* The responses written since the last call are with the kernel now. */
static inline void protocol_mark_sent(struct protocol *protocol)
{
    response_mark_sent(&protocol->pipeline.responses);
}

/* Whether everything is answered and sent, and nothing more will be read: the transport may close.
 * */
static inline bool protocol_is_finished(const struct conn *conn)
{
    return conn->last && conn->phase == CONN_HEAD && conn->pending_head == PENDING_NONE &&
           conn->output.bytes == 0 && !conn->blocked && !conn->continue_due;
}

/* Closes the connection. Requests in flight continue; their answers are dropped. The transport must
 * have no operation of it in flight. */
void protocol_close(struct protocol *protocol, struct conn *conn);

/* The earliest deadline, clock_monotonic_ns; UINT64_MAX: none. */
uint64_t protocol_deadline_ns(const struct protocol *protocol);

/* Whether a turn would find work without any new event. */
CC_MUST_USE bool protocol_has_work(const struct protocol *protocol);

#endif
