/* standing.h - the headers that say what this node of a cluster is to it (replication.md). */
#ifndef NET_RESPONSE_STANDING_H
#define NET_RESPONSE_STANDING_H

#include "net/conn/net_config.h"
#include "net/http/writer.h"

/* Writes X-Term, and X-Staleness-Ms of a node that does not lead; nothing without a cluster. */
void standing_write(struct writer *head, const struct net_source *source);

#endif
