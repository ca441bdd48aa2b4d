/* entrance.h - which connections the public listener keeps: so many of an address, and who yields
 * when the table is nearly full (wire.md W10).
 *
 *   accepted ──> entrance_admit ─┬─ kept until entrance_leave
 *                                └─ entrance_refusal: its bytes are sent, and it is closed
 *
 * Order.  A connection of a proxy is admitted when its header has named the client (parser.h), any
 *         other when it is accepted.
 * Owner.  The net thread. The claims are those of all network threads. */
#ifndef NET_ENTRANCE_H
#define NET_ENTRANCE_H

#include "net/conn/context.h"

enum {
    ENTRANCE_REFUSAL_BYTES = 512,
    ENTRANCE_RESERVED = 64, /* rows for the admin listener; at most a twentieth of the table */
};

/* Whether the table has a row for one more connection. */
CC_MUST_USE bool entrance_make_room(const struct context *context);

/* Counts the open connection for its address. False, and it is not counted: the address has
 * limits.connections already, or nine tenths of the table are taken and nothing makes room. Then
 * a connection of the address that holds most is closed for it: the one idle longest, else one that
 * has sent a part of a request, waits for a token or does not read its answers, else one of these
 * that has proved a key. None goes for which something is under way. If none is left a stream goes
 * for an address that has at most half as many, one that has proved a key only for an address that
 * has. If that does not help either, the rest of the table is kept for addresses that have proved a
 * key in the last minute, each with less than half of what is free. */
CC_MUST_USE bool entrance_admit(struct context *context, struct conn *conn);

/* The connection closes: counts it no more, if it was counted. */
void entrance_leave(struct context *context, struct conn *conn);

/* What a connection that is not admitted is sent before it is closed: 503 `too_many_connections`,
 * on a listener with TLS the alert internal_error. Returns the bytes in `text`. */
CC_MUST_USE size_t entrance_refusal(const struct context *context,
                                    char text[ENTRANCE_REFUSAL_BYTES]);

/* Refuses a connection whose proxy has named its client: it reads nothing more, and closes when it
 * is sent the refusal. */
void entrance_refuse(struct context *context, struct conn *conn);

#endif
