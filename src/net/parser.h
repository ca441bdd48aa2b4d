/* parser.h - bytes to requests: heads, bodies, and where each request goes. Net thread.
 *
 * The checks of rules.md R11, steps 1 to 3, and what HTTP itself asks for are decided here. A
 * problem known from the head is answered when the body has been read, so that the connection can
 * go on; where the body is too long for that, it closes. */
#ifndef NET_PARSER_H
#define NET_PARSER_H

#include "net/protocol.h"

/* Takes requests from the bytes at `text`. Gives how many bytes were used; *count shrinks by chunk
 * framing that was taken out of what stays. conn->blocked says whether a complete request may stand
 * in what stays. */
size_t parser_run(struct protocol *protocol, struct conn *conn, char *text, size_t *count);

/* Answers with a problem and reads nothing more from the connection. */
void parser_refuse(struct protocol *protocol, struct conn *conn,
                   const struct problem_detail *problem);

#endif
