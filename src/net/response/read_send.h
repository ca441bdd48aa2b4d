/* read_send.h - reads on their way to the follower and back: queries, reply buffers, replies.
 *
 * A read after a write of its connection is held until the write's answer is released. Then it is
 * stamped with durable() and sent, so that it shows what was acknowledged. An audit is computed at
 * most once a second: the next one is held. A read with X-Min-Sequence is held until durable() has
 * reached it, at most SEQUENCE_WAIT_NS. It is sent when its address may have a reply buffer
 * (reply_share.h), and refused if that is not so within a second.
 *
 * Owner. The net thread.
 * Bound. A read is held while its longest answer does not fit into the connection's output together
 *        with unsent and expected bytes. A reply to a pipelined read keeps its buffer until the
 * answers before it are written: at most a quarter of the buffers may be used so; beyond that the
 * reads of a connection are sent one by one. */
#ifndef NET_RESPONSE_READ_SEND_H
#define NET_RESPONSE_READ_SEND_H

#include "net/conn/context.h"
#include "net/conn/reply_share.h"
#include "net/response/sequence_wait.h"

struct read_sender {
    struct context *context;
    struct reply_share buffers;
    uint32_t queries_out; /* queries sent and not answered */
    bool audit_waits;     /* one has been held for audit_ns */
    uint64_t audit_ns;    /* clock_monotonic_ns from which on the next audit may be sent */
    struct sequence_wait sequences;
};

/* 0 or -ENOMEM. */
CC_MUST_USE int read_send_init(struct read_sender *sender, struct context *context);
void read_send_free(struct read_sender *sender);

/* The newest request of the connection, held, waits for the sequence unless durable() has reached
 * it. Another answer than SEQUENCE_WAIT_ROOM: it may not wait; the caller refuses it. */
CC_MUST_USE enum sequence_wait_room read_send_await(struct read_sender *sender, struct conn *conn,
                                                    struct pending *pending, uint64_t min_sequence);

/* Sends the held reads of the connection that no unanswered write precedes. True if an outcome is
 * new: its key was revoked meanwhile, its sequence did not come in time, or no query is needed. */
CC_MUST_USE bool read_send_held(struct read_sender *sender, struct conn *conn);

/* Sends reads that waited for a buffer and adds their number to *done. Refuses and returns the
 * first one that waited too long; NULL: none did. */
CC_MUST_USE struct pending *read_send_waiting(struct read_sender *sender, uint32_t *done);

/* Whether read_send_waiting would send one now. */
CC_MUST_USE bool read_send_has_work(const struct read_sender *sender);

/* The connection of a read whose wait for a sequence is over; NULL: there is none. */
CC_MUST_USE struct conn *read_send_awaited(struct read_sender *sender);

/* Gives back what a read that was answered, or will not be, has of the reply buffers. */
void read_send_release(struct read_sender *sender, struct pending *pending);

/* A read that waits for a buffer leaves with its connection. */
void read_send_leave(struct read_sender *sender, struct pending *pending);

/* Stores a reply of the follower. Returns the read that it answers; NULL if its connection has
 * closed. */
CC_MUST_USE struct pending *read_send_reply(struct read_sender *sender, const struct reply *reply);

/* The earliest end of a wait for a buffer, a sequence or an audit, clock_monotonic_ns; UINT64_MAX:
 * none. */
uint64_t read_send_deadline_ns(const struct read_sender *sender);

#endif
