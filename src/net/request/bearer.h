/* bearer.h - the token of `Authorization: Bearer TOKEN` (RFC 6750). The scheme compares without
 * case, as every scheme does (RFC 9110, 11.1). Pure. */
#ifndef NET_REQUEST_BEARER_H
#define NET_REQUEST_BEARER_H

#include "net/http/http.h"

/* The token, a span of the head's text; count 0: there is none, or another scheme. */
struct http_span bearer_token(const struct http_head *head, const char *text);

#endif
