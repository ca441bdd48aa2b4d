/* survey.h - how a cluster is: its nodes, the members of etcd, what the vault has.
 *
 *   keys node/, member/, leader, ──┐
 *   segment/, snapshot/            │
 *   members, by any of them ───────┼──> struct survey
 *   status, asked of each ─────────┘
 *
 * Order.  survey_keys begins a survey, survey_members and survey_status of each address add to it.
 * Wait.   One question after the other, at most SURVEY_WAIT_NS for each.
 * Owner.  One thread, which has the clients; no other request is in flight on them.
 * Bound.  SURVEY_NODES_MAX nodes, as many that joined, ETCD_MEMBERS_MAX members of etcd; of more
 *         nodes only the number. */
#ifndef REPL_SURVEY_H
#define REPL_SURVEY_H

#include "repl/cluster_row.h"
#include "repl/repl_key.h"

enum { SURVEY_NODES_MAX = 16, SURVEY_VERSION_BYTES = 16, SURVEY_SNAPSHOTS = 3 };

#define SURVEY_WAIT_NS UINT64_C(1000000000)

struct survey_member {
    uint64_t id, leader; /* leader: that it follows; 0: none */
    int64_t db_bytes, used_bytes;
    char name[ETCD_NAME_BYTES]; /* empty: it has not started, or no list of members came */
    char version[SURVEY_VERSION_BYTES];
    bool answers;    /* its status came; else the numbers are 0 */
    bool is_learner; /* it has no vote */
    bool is_full;    /* it knows of the alarm that the quota is used up */
};

/* What a node says of its newest snapshot. */
struct survey_image {
    uint64_t sequence;
    uint8_t hash[32];
    char node[CLUSTER_LABEL_BYTES + 1];
};

/* Without a pointer: it is published as words. */
struct survey {
    uint64_t taken_ns;                                    /* node clock; 0: none was taken */
    uint64_t term;                                        /* of the leader */
    uint64_t vault_segment, vault_last_frame, vault_t_ns; /* the newest in the vault */
    uint32_t node_count, nodes_more, member_count;
    uint32_t joined_count, joined_more;
    bool has_answer; /* etcd answered for its keys: else nodes, leader and vault are not known */
    bool has_leader, has_vault;
    uint32_t snapshot_count;                      /* in the vault, at most SURVEY_SNAPSHOTS ... */
    uint64_t snapshot_sequence[SURVEY_SNAPSHOTS]; /* ... the newest ones, newest first */
    struct cluster_snapshot snapshot;             /* the newest; of no use without any */
    uint32_t image_count;
    struct survey_image images[SURVEY_NODES_MAX]; /* of the nodes' own newest snapshots, by name */
    char leader[CLUSTER_LABEL_BYTES + 1];
    struct cluster_node nodes[SURVEY_NODES_MAX];            /* by name */
    char joined[SURVEY_NODES_MAX][CLUSTER_LABEL_BYTES + 1]; /* keys member/, by name */
    struct survey_member members[ETCD_MEMBERS_MAX];
};

/* Begins a survey with what the keys say. What another one found is gone, but for the newest
 * segment. */
void survey_keys(struct survey *survey, const char *cluster, struct etcd *etcd);

/* The members by their names. */
void survey_members(struct survey *survey, struct etcd *etcd);

/* The status of the member that answers: `one` speaks to one address. Returns its id; 0: none did.
 */
uint64_t survey_status(struct survey *survey, struct etcd *one);

/* The greatest part of `quota` that a member's database uses, in percent, at most 100: pages that
 * are free do not count, for they are used again. */
CC_MUST_USE uint32_t survey_used_percent(const struct survey *survey, uint64_t quota);

/* Whether a node of this name is there: it has its session. */
CC_MUST_USE bool survey_has_node(const struct survey *survey, const char *node);

/* Whether a node of this name has joined the cluster, there or not. */
CC_MUST_USE bool survey_has_joined(const struct survey *survey, const char *node);

/* The nodes that lead or are current. */
CC_MUST_USE uint32_t survey_current(const struct survey *survey);

/* How many nodes have a clock that was judged off by more than `bound_ns`, the leader too if it was
 * elected so; *first gets the first of them by name, NULL: none. */
CC_MUST_USE uint32_t survey_clocks_off(const struct survey *survey, uint64_t bound_ns,
                                       const struct cluster_node **first);

/* etcd's leader, as most of those say that answer; 0: none. */
CC_MUST_USE uint64_t survey_etcd_leader(const struct survey *survey);

/* Whether etcd takes no puts and grants no leases, for the quota is used up. */
CC_MUST_USE bool survey_is_full(const struct survey *survey);

/* How many other nodes than `node` have a snapshot of this sequence and this image hash; *other is
 * the first by name of those that have it with another hash, NULL: none. */
CC_MUST_USE uint32_t survey_same_image(const struct survey *survey, const char *node,
                                       uint64_t sequence, const uint8_t hash[32],
                                       const char **other);

/* The first node by name that is current and does not lead; NULL: there is none. */
CC_MUST_USE const char *survey_first_standby(const struct survey *survey);

/* The node that has to make room then: the one that leads, else the first current one by name.
 * NULL: there is none. */
CC_MUST_USE const char *survey_reclaimer(const struct survey *survey);

/* To which member etcd's leader has to go, for it must not be on the machine of the node that
 * leads: that is `node`, whose machine has the member `own`. A voter that answers and follows it.
 * 0: all is well, or there is none. */
CC_MUST_USE uint64_t survey_place_of_leader(const struct survey *survey, const char *node,
                                            uint64_t own);

#endif
