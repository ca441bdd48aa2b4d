/* context.h - what all rooms above share: the tables of connections, requests, bodies and unsent
 * bytes, the time of the turn, the configuration, the metrics.
 *
 * Owner. The net thread.
 * Units. now_ns is clock_monotonic_ns, unix_ns unix ns; both of the start of the
 *        turn, now_ns of context_catch_up where that is later. */
#ifndef NET_CONN_CONTEXT_H
#define NET_CONN_CONTEXT_H

#include "crypto/eip712.h"
#include "net/conn/address_tally.h"
#include "net/conn/body_pool.h"
#include "net/conn/conn.h"
#include "net/conn/net_config.h"
#include "net/conn/net_metrics.h"
#include "net/conn/pending.h"

enum { CONTEXT_PROOFS = 4096 };

/* An address that has proved a key. */
struct proof {
    uint64_t address;
    uint64_t until_ns; /* 0: none */
};

struct context {
    const struct net_config *config;
    struct conn_table conns;
    struct pending_pool pendings;
    struct output_pool outputs;
    struct body_pool bodies;
    struct address_tally tally;
    struct proof *proofs;   /* addresses that proved a key lately (entrance.h) */
    uint64_t crowd_told_ns; /* the log says no earlier again that the table is nearly full */
    struct eip712 eip712;   /* of this exchange */
    uint64_t now_ns;        /* clock_monotonic_ns of this turn */
    uint64_t unix_ns;       /* clock_now_ns of this turn */
    uint64_t pause_next_ns; /* the earliest pause_ns of all connections; UINT64_MAX: none */
    bool draining;
    struct net_metrics metrics;
};

/* 0 or -ENOMEM. `connections` is a power of two. *config outlives the context, which must be all
 * zeros before. */
CC_MUST_USE int context_init(struct context *context, const struct net_config *config,
                             uint32_t connections);
void context_free(struct context *context);

/* The connection's first own bytes come next: a handshake if it is secure, else a head. */
void context_await(struct context *context, struct conn *conn);

/* The transport must look at the connection at the end of the turn. */
static inline void context_mark_dirty(struct context *context, struct conn *conn)
{
    conn_queue_push(&context->conns, CONN_DIRTY, conn);
}

/* The slot of the connection in the claims of all network threads (base/address_claims.h): low ones
 * are used first. */
static inline uint32_t context_claim_slot(const struct context *context, const struct conn *conn)
{
    const struct net_config *config = context->config;
    return conn->index * (config->port_threads > 1 ? config->port_threads : 1) + config->number;
}

/* The connection of a pending request, or NULL if it has closed. */
static inline struct conn *context_conn(struct context *context, const struct pending *pending)
{
    return pending->conn == CONN_NONE ? NULL : conn_at(&context->conns, pending->conn);
}

/* Reads the clock in the middle of a turn, before a bucket refuses somebody that another thread has
 * charged at a later time. True if now_ns is later than it was. */
bool context_catch_up(struct context *context);

/* The connection has proved a key that the exchange knows: by a signature, or by its secret. */
void context_prove(struct context *context, struct conn *conn);

/* Whether a connection of the address has proved one in the last minute, as far as this thread
 * remembers: of addresses that share a row the newest. */
CC_MUST_USE bool context_has_proved(const struct context *context, uint64_t address);

/* Refreshes the counters that are no totals: open connections, unsent bytes. */
void context_measure(struct context *context);

#endif
