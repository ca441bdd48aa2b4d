/* cluster.h - what a start makes for cluster.name: the client of etcd, and the replicator on it.
 *
 * Owner. start.c, before any thread runs; but for SIGHUP's. */
#ifndef NODE_RUN_CLUSTER_H
#define NODE_RUN_CLUSTER_H

#include "node/run/node.h"

/* Makes node->replicator when cluster.name is set, after core_create. 0 or an exit code; the reason
 * is logged. */
CC_MUST_USE int cluster_open(struct node *node);

/* The id of the page of faults: each node of a cluster has its own, beside others on one machine.
 * Returns `out`. */
const uint8_t *cluster_page_id(const struct node *node, uint8_t out[HASH_BYTES]);

/* The durability of the journal. */
CC_MUST_USE enum journal_durability cluster_durability(const struct config *options);

/* SIGHUP: reads the certificates for etcd again, for connections that open from now on, and logs
 * what came of it; those in force stay when the files cannot be used. The background thread. */
void cluster_renew(struct node *node);

/* Gives the clients what cluster_renew has read. The thread of the replicator; the steward's. */
void cluster_accept_mail(struct node *node);
void cluster_accept_steward_mail(struct node *node);

/* Begins to speak for the node, once it listens. 0 or an exit code. */
CC_MUST_USE int cluster_begin(struct node *node);

/* Joins a thread that calls the vault, where a call may never return. False after so many seconds:
 * the thread goes on, and node->vault_hangs is set. */
CC_MUST_USE bool cluster_join_vault(struct node *node, pthread_t thread, uint32_t seconds);

/* Ends the clients; the threads have ended. */
void cluster_close(struct node *node);

#endif
