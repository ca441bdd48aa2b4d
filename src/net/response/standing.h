/* standing.h - the headers of a node of a cluster: its term, its age, who leads (replication.md).
 *
 * Owner. The net thread. */
#ifndef NET_RESPONSE_STANDING_H
#define NET_RESPONSE_STANDING_H

#include "net/conn/net_config.h"
#include "net/http/writer.h"

/* Writes X-Term, X-Staleness-Ms of a node that does not lead, and X-Leader unless `leader` is NULL;
 * nothing without a cluster. */
void standing_write(struct writer *head, const struct net_source *source, const char *leader);

#endif
