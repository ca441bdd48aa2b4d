/* node.h - perpd's roles on threads: start, threads, stop.
 *
 *   start.h      what is made before a thread runs
 *   opening.h    recovery; the commands of a start
 *   lifecycle.h  moves from phase to phase
 *   topology.h   which roles each thread has
 *   duty.h       one thread: the steps of its roles in turn, sleeping and waking
 *
 * Three threads run in the background besides those of the topology: one for core_prepare and one
 * for core_keep_history, which block, and one for key_keeper_step, which computes for long. A node
 * of a cluster has two more, for vault_keeper_step and steward_step.
 *
 * Owner. node_run is the main thread's; node_ask_stop may be called from a signal handler. */
#ifndef NODE_RUN_NODE_H
#define NODE_RUN_NODE_H

#include "base/cluster_option.h"
#include "base/config.h"
#include "base/node_exit.h"
#include "net/net.h"
#include "node/recover/poison.h"
#include "node/recover/run_folder.h"
#include "node/recover/snapshot_child.h"
#include "node/replicator/replicator.h"
#include "node/replicator/snapshot_publisher.h"
#include "node/replicator/steward.h"
#include "node/replicator/vault_keeper.h"
#include "node/run/certificate.h"
#include "node/run/core.h"
#include "node/run/duty.h"
#include "node/run/etcd_mail.h"
#include "node/run/phase.h"
#include "node/run/poison_share.h"
#include "node/run/throttle.h"
#include "node/run/topology.h"
#include "node/run/waiting.h"

enum { NODE_PATH_BYTES = 4096, NODE_ETCD_MAX = 2 + ETCD_MEMBERS_MAX };

/* One net thread's rings and reply buffers. */
struct node_net {
    struct net *net;
    struct ring commands, answers, queries, replies;
    struct reply_pool pool;
    void *ring_memory;
    size_t ring_bytes;
    void *pool_memory;
    struct duty *duty; /* the thread that has its role */
    struct certificate_mail certificate;
    /* Up to where each ring's consumer was woken; the producer's. */
    CC_NO_SHARE uint64_t commands_woken;
    uint64_t queries_woken;
    CC_NO_SHARE uint64_t answers_woken;
    CC_NO_SHARE uint64_t replies_woken;
};

/* What this process was built from (base/version.h). */
struct node_version {
    const char *number, *commit, *build;
};

struct node {
    const struct config *options;
    struct node_version version; /* set before node_run */
    struct topology topology;
    struct clock clock;
    struct disk *disk;
    uint64_t events_woken; /* events and books shown when net threads were woken for them */
    struct core core;
    struct replicator *replicator;              /* NULL: not in a cluster */
    struct etcd *etcd;                          /* the replicator's client */
    struct etcd_mail etcd_mails[NODE_ETCD_MAX]; /* to it, to the steward's `any` and its `each` */
    char cluster_node[CLUSTER_NODE_BYTES + 1];  /* this node's name in it */
    struct archive_copy archive_copy;           /* of store.archive_copy */
    struct disk *vault_disk;                    /* NULL: not in a cluster */
    struct vault_keeper vault_keeper;
    struct snapshot_publisher publisher;
    bool vault_hangs;       /* a thread of its did not end */
    struct waiting waiting; /* for an upgrade; the journal's thread, and the vault's */
    _Atomic bool upgrades;  /* this leader stops for one */
    struct steward steward;
    struct poison_share poison_share; /* by the steward's thread */
    struct throttle throttle;         /* the matcher's */
    char history_folder[NODE_PATH_BYTES];
    char admin_token[NET_ADMIN_TOKEN_BYTES];
    struct signing_key signing; /* of signing.key */
    struct certificate certificate;
    struct address_claims connections_of, streams_of; /* client addresses */
    struct run_folder run_folder;
    struct poison poison;
    struct snapshot_child snapshot_child;
    struct key_tables *key_tables; /* NULL: no tables are kept */
    struct key_keeper key_keeper;
    struct account_rate *account_rates;  /* NULL: no limit */
    struct client_rate *client_rates;    /* likewise */
    struct newcomer_rate *newcomer_rate; /* likewise; NULL also without a class of unfunded ones */
    struct node_net nets[TOPOLOGY_NETS_MAX];
    struct duty duties[TOPOLOGY_THREADS_MAX];
    struct duty *matcher, *journal, *follower; /* the threads that have these roles */
    _Atomic clockid_t background_clock;        /* CPU time of the background thread */
    _Atomic clockid_t keys_clock;              /* and of the keys thread */
    _Atomic clockid_t history_clock;           /* and of the history thread */
    _Atomic clockid_t scrub_clock;             /* and of the scrub thread */
    _Atomic bool announced;                    /* by the first thread: the ready line is printed */
    _Atomic bool stands_by;                    /* likewise: the standby line */
    _Atomic bool waits;                        /* likewise: for an upgrade (upgrade.h) */
    _Atomic bool is_authored;                  /* by the matcher: the commands of the term */
    _Atomic bool is_held;                      /* likewise, in PHASE_HANDING: none will follow */
    uint64_t followed_ns;                      /* the first thread's: last clock_follow */
    uint64_t given_up_ns;            /* the journal thread's: its replicator ended; 0: no */
    uint64_t opened_sequence;        /* of the start's last command; before PHASE_OPEN */
    uint64_t drain_end_ns;           /* clock_monotonic_ns; before PHASE_DRAINING */
    uint64_t stop_end_ns;            /* the same; before PHASE_STOPPING */
    _Atomic uint64_t maintenance_ns; /* announced, unix ns; 0: none */
    _Atomic uint32_t nets_left;      /* net threads that are not drained */
    struct refusal refusal;
    CC_NO_SHARE struct histogram turn_ns; /* of the matcher's turns that did work */
    struct phase phase;
    _Atomic bool stop_asked;
};

/* Starts, serves until node_ask_stop, stops. Returns the exit code. Reasons are logged; `ready
 * http://HOST:PORT`, with TLS https, on standard output says that it serves. */
int node_run(struct node *node, const struct config *options);

/* Asks for a look at the files of TLS. Safe in a signal handler. */
void node_ask_reload(struct node *node);

/* Asks for a clean stop. Safe in a signal handler. */
void node_ask_stop(struct node *node);

#endif
