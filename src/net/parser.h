/* parser.h - bytes to requests: heads, bodies, and the destination of each request. Net thread.
 *
 * Makes the checks of rules.md R11, steps 1 to 3, and those of HTTP. A problem found in the head is
 * answered after the body was read, so that the connection can continue. If the body is too long
 * for that, the connection closes. */
#ifndef NET_PARSER_H
#define NET_PARSER_H

#include "net/protocol.h"

/* Accepts requests from the bytes at `text`. Returns the number of bytes used; *count shrinks by
 * chunk framing removed from the rest. conn->blocked: the rest may hold a complete request. */
size_t parser_run(struct protocol *protocol, struct conn *conn, char *text, size_t *count);

/* Answers with a problem; the connection reads nothing more. */
void parser_refuse(struct protocol *protocol, struct conn *conn,
                   const struct problem_detail *problem);

#endif
