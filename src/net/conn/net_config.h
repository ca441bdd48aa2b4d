/* net_config.h - what the node gives a network thread: rings, tables, options, callbacks.
 *
 * Owner. The node. The targets of all pointers outlive the net.
 * Units. Times are unix ns of the node clock. */
#ifndef NET_CONN_NET_CONFIG_H
#define NET_CONN_NET_CONFIG_H

#include "base/account_rate.h"
#include "base/address_claims.h"
#include "base/book_board.h"
#include "base/book_log.h"
#include "base/client_rate.h"
#include "base/clock.h"
#include "base/cluster_option.h"
#include "base/event_log.h"
#include "base/head_log.h"
#include "base/host.h"
#include "base/keyring.h"
#include "base/mix.h"
#include "base/newcomer_rate.h"
#include "base/option.h"
#include "base/origin.h"
#include "base/private_log.h"
#include "base/relying_party.h"
#include "base/reply_pool.h"
#include "base/ring.h"
#include "base/symbols.h"
#include "crypto/key_tables.h"
#include "net/socket/peer.h"
#include "net/socket/tls_server.h"

struct net;

enum {
    NET_CONNECTIONS_MAX = 16384,
    NET_TURN_REQUESTS = 32, /* requests accepted a turn */
    NET_TURN_SLOW = 1,      /* signatures of master keys verified a turn */
    NET_METRICS_BYTES = 1 << 20,
    NET_ADMIN_TOKEN_BYTES = 64, /* hexadecimal digits */
};

/* How far ahead maintenance is announced, at least and more than that at most. */
#define NET_MAINTENANCE_AHEAD_NS (600 * UINT64_C(1000000000))
#define NET_MAINTENANCE_MOST_NS  (366 * 86400 * UINT64_C(1000000000))

/* The conditions of /readyz; a NET_NOT_* bit is set for each that is not met. */
enum net_not {
    NET_NOT_RECOVERED = 1,  /* recovery */
    NET_NOT_CLOCK = 2,      /* clock */
    NET_NOT_FOLLOWER = 4,   /* follower_lag */
    NET_NOT_SEGMENTS = 8,   /* segments */
    NET_NOT_INVARIANT = 16, /* invariant */
    NET_NOT_ACCEPTING = 32, /* accepting */
    NET_NOT_CLOCK_GAP = 64, /* clock_gap */
};

struct net_facts {
    uint64_t durable; /* sequences */
    uint64_t applied;
    uint64_t applied_time_ns; /* engine time of `applied` */
    uint64_t lag_ms;
    uint64_t history_from; /* sequence; rows of the past are whole from it on */
    int64_t clock_difference_ms;
    int64_t clock_gap_ns;    /* of the gap of the clock that is open; 0: none (R9) */
    uint32_t not_ready;      /* enum net_not bits; 0: /readyz is 200 */
    uint32_t replay_percent; /* progress of the replay at start; 100 afterwards */
    bool is_standby;         /* of a cluster: it serves reads, another node takes the writes */
    bool is_stale;           /* of a cluster: what it shows may be older than what others show */
    uint64_t maintenance_ns; /* when the maintenance begins that is announced; 0: none is */
    bool maintains;          /* that time has come */
    bool fund_deficit;       /* the fund's cash is below 0 (R7) */
    bool profits_wait;       /* the exchange is short (R10) */
};

/* What a node of a cluster is to it. */
struct net_standing {
    uint64_t term;         /* of the leader that it knows */
    bool is_replica;       /* it does not lead, and shows what it has applied */
    uint64_t staleness_ns; /* of a replica: the node clock less the time of what it shows */
};

/* A replica's staleness in milliseconds, rounded up: one above a bound never reads as the bound. */
static inline uint64_t net_standing_staleness_ms(const struct net_standing *standing)
{
    return standing->staleness_ns / 1000000 + (standing->staleness_ns % 1000000 != 0);
}

/* What became of an order to hand over. */
enum net_handover {
    NET_HANDOVER_BEGUN,
    NET_HANDOVER_NOT_LEADER,
    NET_HANDOVER_NO_NODE, /* the one that was named, or any, is not current (does not wait) or no
                             candidate */
    NET_HANDOVER_UNDER_WAY
};

/* Callbacks of the node. The net thread calls them; they must not block, and they read with acquire
 * what other threads publish. */
struct net_source {
    void *context;
    uint64_t (*durable)(void *context); /* answers up to this sequence may leave */
    uint64_t (*applied)(void *context); /* the follower shows this sequence */
    bool (*ready)(void *context); /* false: signed requests answer retry_required, reads 503 */
    /* In a cluster; NULL without one, where every node takes writes. Whether this node takes them
     * now; else *leader is the address to send them to, which stays, or NULL: none is known. */
    bool (*leads)(void *context, const char **leader);
    bool (*is_fresh)(void *context); /* reads show all that any node has acknowledged, or this node
                                        does not lead; NULL likewise */
    void (*standing)(void *context, struct net_standing *standing); /* NULL likewise */
    /* Whether the outcome of commands that were sent may never be known here. NULL likewise. */
    bool (*gave_up)(void *context);
    void (*facts)(void *context, struct net_facts *facts);
    /* Writes the node's Prometheus text, at most `capacity` bytes; returns its length. */
    size_t (*metrics)(void *context, char *text, size_t capacity);
    /* The same of GET /admin/cluster. NULL without a cluster. */
    size_t (*cluster)(void *context, char *text, size_t capacity);
    /* Orders a handover to the node, "" for any; `to` gets the one that is to lead. `upgrades`: to
     * one that waits with a later rules_version, and this node stops. NULL likewise. */
    enum net_handover (*handover)(void *context, const char *node, bool upgrades,
                                  char to[CLUSTER_NODE_BYTES + 1]);
    /* Announces maintenance at a time, unix ns; 0: withdraws it. */
    void (*maintain)(void *context, uint64_t at_ns);
};

struct net_config {
    const char *listen;           /* address:port, IPv6 in brackets; port 0 takes a free one */
    const char *admin_listen;     /* the same; NULL: none */
    uint32_t port_threads;        /* net threads on the port; 0 is 1 */
    const struct net *first;      /* of those; NULL: this is the first. Else `listen` is ignored */
    struct host_list hosts;       /* net.hosts, of both listeners */
    struct origin_list origins;   /* net.cors_origins, of the public listener */
    struct peer_list proxies;     /* net.proxy_from, of the public listener */
    const struct tls_server *tls; /* of the public listener; NULL: plain HTTP. Read by net_create */
    int wake_file;                /* eventfd whose readability ends net_wait; -1: none */

    struct ring *commands; /* producer; slots of MESSAGE_SLOT_BYTES */
    struct ring *answers;  /* consumer; its slot count is the number of credits */
    struct ring *queries;  /* producer */
    struct ring *replies;  /* consumer */
    struct reply_pool *reply_pool;

    const struct keyring *keyring;
    struct key_tables *key_tables; /* of the sessions' keys; NULL: none */
    uint32_t number;               /* of this net thread, from 0 */
    struct ring *audits;           /* producer, of audited verdicts (verdict_audit.h); NULL: none */
    bool audits_rejects;           /* report every bad signature */
    const struct symbols *symbols;
    const struct event_log *events; /* of the follower; read only while the source is ready */
    const struct private_log *private_log; /* likewise */
    struct book_board *books;              /* likewise */
    struct book_log *orders;               /* likewise */
    struct address_claims *connections_of; /* NET_CONNECTIONS_MAX slots for each thread */
    struct address_claims *streams_of;     /* streams; as many */
    const struct clock *clock;
    const struct option_engine *options; /* the engine options in force */
    struct relying_party relying_party;  /* of passkeys; all zero: none */
    struct net_source source;

    struct mix_key hash_key;                 /* of the data directory */
    uint8_t secret_key[32];                  /* of the data directory: keyed hash of API keys */
    uint8_t exchange_id[32];                 /* EIP-712 salt */
    uint8_t signing_public[32];              /* of the exchange's own key, which signs heads */
    const struct head_log *heads;            /* the newest of them; NULL or empty: none are made */
    char admin_token[NET_ADMIN_TOKEN_BYTES]; /* opens /audit and /admin (admin_token.h) */
    const char *durability;                  /* shown by /exchange: "local" or "none" */
    uint32_t rules_version;                  /* shown by /exchange */
    uint64_t epoch;                          /* shown by /exchange */
    uint32_t credit_wait_ms;                 /* net.credit_wait_ms */
    uint64_t output_pool_bytes;              /* net.output_pool */
    uint64_t staleness_ms;                   /* cluster.staleness_ms */
    bool debug_payload;                      /* net.debug_payload */
    bool console;                            /* net.console */
    bool latency;                            /* net.latency: it is public */
    uint64_t since_ns;                       /* when the net threads began to count (net_metrics) */
    bool rate_limits;                        /* limits.*; false: the six below are ignored */
    struct account_rate *account_rates;      /* of all threads of the port; NULL: no limit */
    struct client_rate *client_rates;        /* likewise */
    struct newcomer_rate *newcomer_rate;     /* likewise */
    uint32_t unfunded_burst;                 /* of newcomer_rate; 0: there is none */
    struct client_rate_limit client_limits[CLIENT_RATE_KINDS]; /* of client_rates */
    uint32_t total_rate;                                       /* limits.total_rate */
    uint32_t write_rate, write_burst;                          /* of account_rates */
    uint32_t unknown_key_rate; /* per second and address, for all threads of the port together */
    uint32_t bad_signature_rate;
    uint32_t connections;          /* limits.connections */
    uint32_t stream_connections;   /* limits.stream_connections */
    uint32_t stream_subscriptions; /* limits.stream_subscriptions */
    uint32_t stream_backlog;       /* limits.stream_backlog */

    const uint16_t
        *codes_off; /* request types that are answered not_ready until an operator acts */
    uint32_t codes_off_count;
};

#endif
