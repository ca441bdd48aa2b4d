/* handshake.h - the answer to a WebSocket handshake (RFC 6455, 4.2). Pure. */
#ifndef NET_STREAM_HANDSHAKE_H
#define NET_STREAM_HANDSHAKE_H

#include "net/conn/net_config.h"
#include "net/http/http.h"
#include "net/http/problem_detail.h"

enum { HANDSHAKE_BYTES_MAX = 200 };

/* Checks the head, whose first byte is `text`. False with the problem: it is no handshake, or its
 * page is of an origin that is neither this host nor in net.cors_origins. */
CC_MUST_USE bool handshake_check(const struct net_config *config, const struct http_head *head,
                                 const char *text, struct problem_detail *problem);

/* Writes the answer 101 and returns its length; 0 if SHA-1 is not to be had. The head was checked;
 * a subprotocol that it asks for and streams have is agreed. */
CC_MUST_USE size_t handshake_answer(const struct http_head *head, const char *text,
                                    char answer[HANDSHAKE_BYTES_MAX]);

#endif
