/* admin.h - the pages of admin.listen that need no follower (json.md J7). Net thread. */
#ifndef NET_RESPONSE_ADMIN_H
#define NET_RESPONSE_ADMIN_H

#include "net/conn/context.h"
#include "net/http/writer.h"

void admin_livez(struct writer *writer);

/* Returns the HTTP status: 200 or 503. */
uint32_t admin_readyz(struct context *context, struct writer *writer);

/* Prometheus text: the node's, then counters and stages of all net threads. */
void admin_metrics(struct context *context, struct writer *writer);

/* How the node sees its cluster. */
void admin_cluster(struct context *context, struct writer *writer);

/* The answer of an order to hand over: the node that is to lead. */
void admin_handover(struct writer *writer, const char *node);

/* The answer of an announcement: when the maintenance begins, unix ns; 0: none is announced. */
void admin_maintenance(struct writer *writer, uint64_t at_ns);

#endif
