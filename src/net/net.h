/* net.h - one network thread: connections, HTTP, signed requests, reads, the admin pages.
 *
 *   clients <── sockets ──> net ── commands ──> matcher        net ── queries ──> follower
 *                            ^ <── answers ────                 ^ <── replies ───
 *
 * Order.  As roles.md, Order within a connection: commands enter their ring in the order
 *         received, answers leave in request order and only when durable() >= release_sequence, a
 *         read behind a write is dispatched when that write's answer is released.
 * Wait.   net_step never blocks; net_wait sleeps in the kernel until a socket, the wake file or the
 *         timeout ends it. To wake a sleeping net thread write to `wake_file`, an eventfd of the
 *         node, which says when it sleeps and empties the file when it wakes.
 * Owner.  net_create may run on any thread; the thread of the first net_step owns it from then on
 *         (the kernel holds it to that) and makes every later call that is not said to be others'.
 * Units.  Times are unix ns of the node clock; timeouts ns.
 * Bound.  NET_CONNECTIONS_MAX connections, `output_pool_bytes` unsent bytes; all memory is mapped
 *         by net_create and nothing is allocated afterwards. */
#ifndef NET_NET_H
#define NET_NET_H

#include "base/clock.h"
#include "base/histogram.h"
#include "base/keyring.h"
#include "base/mix.h"
#include "base/option.h"
#include "base/reply_pool.h"
#include "base/ring.h"
#include "base/symbols.h"
#include "crypto/key_tables.h"

enum {
    NET_CONNECTIONS_MAX = 16384,
    NET_TURN_REQUESTS = 32, /* requests taken a turn */
    NET_TURN_SLOW = 1,      /* Secp256k1 signatures verified a turn */
    NET_METRICS_BYTES = 1 << 20,
};

/* What /readyz says; NET_NOT_* bits are the reasons that are not met. */
enum net_not {
    NET_NOT_RECOVERED = 1,  /* recovery */
    NET_NOT_CLOCK = 2,      /* clock */
    NET_NOT_FOLLOWER = 4,   /* follower_lag */
    NET_NOT_SEGMENTS = 8,   /* segments */
    NET_NOT_INVARIANT = 16, /* invariant */
    NET_NOT_ACCEPTING = 32, /* accepting */
};

struct net_facts {
    uint64_t durable; /* sequences */
    uint64_t applied;
    uint64_t applied_time_ns; /* engine time of `applied` */
    uint64_t lag_ms;
    int64_t clock_difference_ms;
    uint32_t not_ready;      /* enum net_not bits; 0: /readyz is 200 */
    uint32_t replay_percent; /* of the journal's records that a start replays; 100 afterwards */
};

/* What the node lends. Each function is called on the net thread, must not block, and reads what
 * other threads publish with acquire. */
struct net_source {
    void *context;
    uint64_t (*durable)(void *context); /* answers up to this sequence may leave */
    uint64_t (*applied)(void *context); /* the follower shows this sequence */
    bool (*ready)(void *context); /* false: signed requests answer retry_required, reads 503 */
    void (*facts)(void *context, struct net_facts *facts);
    /* Prometheus text without net's own lines; its length, at most `capacity`. */
    size_t (*metrics)(void *context, char *text, size_t capacity);
};

struct net_config {
    const char *listen;       /* address:port, IPv6 in brackets; port 0 takes a free one */
    const char *admin_listen; /* the same; NULL: none */
    uint32_t port_threads;    /* net threads on the port; 0 is 1 */
    const struct net *first;  /* of those; NULL: this is it. Else `listen` is not looked at */
    int wake_file;            /* eventfd whose readability ends net_wait; -1: none */

    struct ring *commands; /* producer; slots of MESSAGE_SLOT_BYTES */
    struct ring *answers;  /* consumer; its slot count is the number of credits */
    struct ring *queries;  /* producer */
    struct ring *replies;  /* consumer */
    struct reply_pool *reply_pool;

    const struct keyring *keyring;
    struct key_tables *key_tables; /* of the sessions' keys; NULL: none */
    uint32_t number;               /* of this net thread: which reader of key_tables it is */
    struct ring *shadows;          /* producer, of verdicts (shadow.h); NULL: none */
    bool shadows_rejects;          /* every refused signature among them */
    const struct symbols *symbols;
    const struct clock *clock;
    const struct option_engine *options; /* the engine options in force; outlive the net */
    struct net_source source;

    struct mix_key hash_key;    /* of the data directory */
    uint8_t secret_key[32];     /* of the data directory: keyed hash of API keys */
    uint8_t exchange_id[32];    /* EIP-712 salt */
    const char *durability;     /* shown by /exchange: "local" or "none" */
    uint32_t rules_version;     /* shown by /exchange */
    uint64_t epoch;             /* shown by /exchange */
    uint32_t credit_wait_ms;    /* net.credit_wait_ms */
    uint64_t output_pool_bytes; /* net.output_pool */
    bool rate_limits;           /* limits.*: off, the two below count for nothing */
    uint32_t unknown_key_rate;  /* a second, an address, of all threads of the port together */
    uint32_t bad_signature_rate;

    const uint16_t *codes_off; /* request types that answer not_ready until an operator acts */
    uint32_t codes_off_count;
};

/* Stages of a signed request, each in ns since it was received (base/histogram.h). */
#define NET_STAGE_LIST(X) X(verified) X(pushed) X(sequenced) X(matched) X(released) X(sent) X(read)
enum net_stage {
#define X(name) NET_STAGE_##name,
    NET_STAGE_LIST(X)
#undef X
        NET_STAGE_COUNT
};

/* Totals since start. One writer, the net thread, which shows them to others once a turn. */
/* clang-format off */
#define NET_COUNTER_LIST(X) \
    X(connections_accepted) X(connections_closed) X(connections_open) X(accept_failures) \
    X(requests) X(signed_requests) X(reads) X(problems) X(responses) \
    X(received_bytes) X(sent_bytes) X(signatures_good) X(signatures_bad) X(unknown_keys) \
    X(rate_limited) X(tables_missing) X(shadows_skipped) \
    X(commands_pushed) X(commands_dropped) X(answers) X(replies) X(timeouts) \
    X(output_pool_closed) X(output_bytes)
/* clang-format on */
struct net_counters {
#define X(name) uint64_t name;
    NET_COUNTER_LIST(X)
#undef X
};

enum { NET_COUNTER_COUNT = sizeof(struct net_counters) / sizeof(uint64_t) };

/* Why net_create failed, for the operator: what is missing and how to mend it. */
struct net_diagnosis {
    bool kernel_lacks; /* io_uring refused: perpd exits 4 */
    bool bad_address;  /* an option is no address:port: perpd exits 2; else 1 */
    char text[400];
};

struct net;

/* Binds the addresses and maps all memory. 0, or -errno with *diagnosis filled and nothing kept.
 * ed25519_init and secp256k1_init must have succeeded before. */
CC_MUST_USE int net_create(struct net **net, const struct net_config *config,
                           struct net_diagnosis *diagnosis);

/* Closes every connection at once and gives everything back. Its thread makes this call, or any
 * other once that thread has ended. */
void net_destroy(struct net *net);

/* One turn: answers, replies, received bytes, signatures, sends. The work done; 0: nothing. */
unsigned net_step(struct net *net);

/* When the next thing is due by the clock alone (a credit wait, a time-out), clock_monotonic_ns;
 * UINT64_MAX: never. */
uint64_t net_deadline_ns(const struct net *net);

/* Sleeps until a socket or the wake file is readable, or at most timeout_ns, or until
 * net_deadline_ns. Returns at once when a turn would find work. */
void net_wait(struct net *net, uint64_t timeout_ns);

/* Stops accepting and begins to close: idle connections at once, the others when the requests they
 * have sent are answered. */
void net_drain(struct net *net);

/* True when no request is in flight and no byte unsent: after net_drain, or while idle. */
CC_MUST_USE bool net_drained(const struct net *net);

/* The ports bound; 0 for no admin listener. */
uint16_t net_port(const struct net *net);
uint16_t net_admin_port(const struct net *net);

/* The address of the public listener as a URL host: "127.0.0.1" or "[::1]". */
const char *net_host(const struct net *net);

/* Is a command sent whose answer was not taken: then durable() moving is of use to a sleeper. */
CC_MUST_USE bool net_awaits_answers(const struct net *net);

/* The other net threads, whose counters and stages this one's metrics page adds to its own; before
 * the first net_step, and they live as long as this net is stepped. */
void net_show_others(struct net *net, const struct net *const *others, uint32_t count);

/* Adds what the net thread has counted, as of its last turn that had work. Any thread. */
void net_add_counters(const struct net *net, struct net_counters *sum);

/* Written by the net thread, readable anywhere through histogram_merge. */
const struct histogram *net_stage(const struct net *net, enum net_stage stage);

#endif
