/* admin_token.h - the credential of the admin pages that show or cost something: the content of the
 * file admin.token (wire.md W10). Net thread. */
#ifndef NET_REQUEST_ADMIN_TOKEN_H
#define NET_REQUEST_ADMIN_TOKEN_H

#include "net/conn/net_config.h"
#include "net/http/http.h"
#include "net/http/problem_detail.h"

/* Whether the head has "Authorization: Bearer" with the token, compared in constant time; false
 * with invalid_token in *problem. `text` is the head's first byte. */
CC_MUST_USE bool admin_token_check(const struct net_config *config, const struct http_head *head,
                                   const char *text, struct problem_detail *problem);

#endif
