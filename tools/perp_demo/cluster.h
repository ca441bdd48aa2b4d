/* cluster.h - the three members of etcd and three perpd of a demo with --cluster: made of the
 * exchange that was furnished alone, watched, a leader killed, each that ended started again.
 *
 *   cluster_begin       data/ ──copied──> n0/ n1/ n2/     etcd0/ etcd1/ etcd2/     vault/
 *   cluster_listen      "ready ..." of one: it leads; "standby ..." of the others
 *   cluster_kill        SIGKILL to the leader; the stall lasts until another leads
 *
 * Owner. The scene's thread. */
#ifndef PERP_DEMO_CLUSTER_H
#define PERP_DEMO_CLUSTER_H

#include "perp_demo/server.h"

enum { CLUSTER_NODES = 3, CLUSTER_MEMBERS = 2 * CLUSTER_NODES, CLUSTER_LIST_MAX = 512 };

struct cluster {
    bool is_on;
    char etcd[PROVISION_PATH_MAX];               /* the program */
    struct crew_member members[CLUSTER_MEMBERS]; /* of etcd, then perpd */
    uint16_t clients[CLUSTER_NODES], peers[CLUSTER_NODES];
    struct server nodes[CLUSTER_NODES];
    char texts[CLUSTER_NODES][4][CLUSTER_LIST_MAX]; /* of nodes[].more */
    const struct provision *provision;
    int leader;           /* of nodes; -1: none leads */
    uint32_t terms;       /* how often one began to lead */
    uint32_t starts;      /* of perpd after the first three */
    uint32_t kills;       /* of leaders */
    uint64_t killed_ns;   /* the last one; 0: another leads since */
    uint64_t longest_ns;  /* from a kill until another led */
    uint32_t wrong_exits; /* ended by themselves, other than deposed */
};

/* Finds etcd in PATH. False: a message was printed. */
CC_MUST_USE bool cluster_find_etcd(struct cluster *cluster);

/* Copies the data of `origin`, which has ended, starts everything and waits until one node leads
 * and the others stand by. `url` gets the nodes' addresses with commas between, the leader's first.
 * False: a message was printed. */
CC_MUST_USE bool cluster_begin(struct cluster *cluster, const struct server *origin,
                               const struct provision *provision, char *url, size_t url_bytes,
                               const volatile sig_atomic_t *interrupted);

/* Takes the lines of the nodes, and starts each perpd again that has ended. */
void cluster_listen(struct cluster *cluster);

/* Kills the leader with SIGKILL. False: nobody leads now. */
CC_MUST_USE bool cluster_kill(struct cluster *cluster);

/* Ends all: perpd by SIGTERM, then etcd. True if every perpd ended with 0. */
bool cluster_end(struct cluster *cluster, int timeout_ms);

#endif
