/* read_send.h - reads on their way to the follower and back: queries, credits, replies.
 *
 * A read behind a write of its connection is held until that write's answer is released, then
 * stamped with durable() and sent: it sees what was acknowledged.
 *
 * Owner. The net thread.
 * Bound. A connection is not asked for more than it can hold: a read whose longest answer does not
 *        fit behind what is unsent or coming is held until more is sent. A reply that overtook one
 *        in front of it keeps its buffer until that is written: a quarter of the buffers may be
 *        asked for so, then a connection's reads go one by one. */
#ifndef NET_RESPONSE_READ_SEND_H
#define NET_RESPONSE_READ_SEND_H

#include "net/conn/context.h"

struct read_sender {
    struct context *context;
    uint32_t *waiting; /* ring of pendings that wait for a credit, oldest first */
    uint32_t waiting_head, waiting_tail;
    uint32_t reply_credits; /* replies that the ring holds */
    uint32_t queries_out;   /* sent and not answered */
};

/* 0 or -ENOMEM. */
CC_MUST_USE int read_send_init(struct read_sender *sender, struct context *context);
void read_send_free(struct read_sender *sender);

/* Sends the held reads at the front of the connection that no write stands before. True when it has
 * refused one whose key was revoked meanwhile: an outcome that was not known before. */
CC_MUST_USE bool read_send_held(struct read_sender *sender, struct conn *conn);

/* Sends reads that waited for a credit; *done grows by those that wait no longer. Stops at one that
 * waited too long, refuses it and gives it; NULL: none was. */
CC_MUST_USE struct pending *read_send_waiting(struct read_sender *sender, uint32_t *done);

/* Takes a reply of the follower. Gives the read that it answers, NULL when its connection is
 * gone. */
CC_MUST_USE struct pending *read_send_reply(struct read_sender *sender, const struct reply *reply);

/* The next credit wait that ends, clock_monotonic_ns; UINT64_MAX: none. */
uint64_t read_send_deadline_ns(const struct read_sender *sender);

#endif
