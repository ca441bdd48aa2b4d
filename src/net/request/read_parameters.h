/* read_parameters.h - a read as a query: its route, API key and query parameters (wire.md W7,
 * json.md J6, J7). Net thread.
 *
 * Order. Credential first, then the parameters in the order of the table, then the pin: the first
 *        problem is the one that is answered. */
#ifndef NET_REQUEST_READ_PARAMETERS_H
#define NET_REQUEST_READ_PARAMETERS_H

#include "net/conn/conn.h"
#include "net/conn/net_config.h"

/* Makes *query from a read that the follower answers, and *caller from its API key (kind 0: it
 * needs none). False with the problem in *problem. `unix_ns` is now, `head_text` the first byte of
 * the connection's head. */
CC_MUST_USE bool read_parameters_parse(const struct net_config *config, uint64_t unix_ns,
                                       const struct conn *conn, const char *head_text,
                                       struct query *query, struct keyring_key *caller,
                                       struct problem_detail *problem);

#endif
