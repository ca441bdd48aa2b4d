/* rates.h - the buckets that all network threads share, from the options limits.* (wire.md W8).
 *
 * Owner. The main thread, before the network threads start and after they ended. */
#ifndef NODE_RUN_RATES_H
#define NODE_RUN_RATES_H

#include "node/run/node.h"

/* 0, or exit code 2 after a line in the log: requests of limits.total_rate can fill the duplicate
 * set (W5), or those of one account more than a third of it. */
CC_MUST_USE int rates_check(const struct config *options);

/* Makes the buckets, none with limits.rate_limits=off. 0 or -ENOMEM. */
CC_MUST_USE int rates_make(struct node *node);
void rates_free(struct node *node);

/* Gives a network thread the buckets and their limits. */
void rates_configure(const struct node *node, struct net_config *config);

#endif
