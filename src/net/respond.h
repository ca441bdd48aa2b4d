/* respond.h - the bytes of an answer: status line, headers, body, in request order. Net thread.
 *
 * Every answer carries Date, Content-Type and Content-Length; reads carry X-Sequence; 405 carries
 * Allow; Connection is said when it is not the default of the version. */
#ifndef NET_RESPOND_H
#define NET_RESPOND_H

#include "net/gate.h"

/* Writes the answer of a pending whose outcome is known. False when the output pool has no room:
 * nothing is written and the pending stays as it is. */
CC_MUST_USE bool respond_write(struct gate *gate, struct conn *conn, struct pending *pending);

/* The interim answer to `Expect: 100-continue`. False without room. */
CC_MUST_USE bool respond_continue(struct gate *gate, struct conn *conn);

#endif
