/* leadership.h - whether this node of a cluster takes a request, or another does.
 *
 * Without a cluster every request is accepted here: config->source.leads is NULL.
 *
 * Owner. The net thread; the callbacks read what the node publishes. */
#ifndef NET_REQUEST_LEADERSHIP_H
#define NET_REQUEST_LEADERSHIP_H

#include "net/conn/net_config.h"
#include "net/http/problem_detail.h"

/* The `member` of a not_ready that ends when a leader is found: it is answered with Retry-After. */
extern const char leadership_awaited[];

/* False with not_leader in *problem, whose `member` is the leader's address, or not_ready while
 * there is none or this node may not take a write. */
CC_MUST_USE bool leadership_write(const struct net_config *config, struct problem_detail *problem);

/* False with not_ready when another node may know more: this node leads, but its lease may have
 * ended, and the read does not name a sequence; or it does not lead, and shows what is older than
 * config->staleness_ms. */
CC_MUST_USE bool leadership_read(const struct net_config *config, bool names_sequence,
                                 struct problem_detail *problem);

#endif
