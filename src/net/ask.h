/* ask.h - reads on their way: to the follower and back, or answered here at their turn. Net thread.
 *
 * A read behind a write of its connection is held until that write's answer is released, then
 * stamped with durable() and sent: it sees what was acknowledged.
 *
 * Bound. A connection is not asked for more than it can hold: a read whose longest answer does not
 *        fit behind what is unsent or coming is held until more is sent. A reply that overtook one
 *        in front of it keeps its buffer until that is written: a quarter of the buffers may be
 *        asked for so, then a connection's reads go one by one. */
#ifndef NET_ASK_H
#define NET_ASK_H

#include "net/gate.h"

/* Takes one read with a complete head; it becomes a pending of the connection. */
void ask_take(struct gate *gate, struct conn *conn, const char *head_text);

/* Sends the held reads at the front of the connection that no write stands before. True when it has
 * refused one whose key was revoked meanwhile: an outcome that was not known before. */
CC_MUST_USE bool ask_release(struct gate *gate, struct conn *conn);

/* Sends reads that waited for a credit, refuses those that waited too long. Gives the work done. */
uint32_t ask_run(struct gate *gate);

/* A reply of the follower. */
void ask_reply(struct gate *gate, const struct reply *reply);

/* The next credit wait that ends, clock_monotonic_ns; UINT64_MAX: none. */
uint64_t ask_deadline_ns(const struct gate *gate);

#endif
