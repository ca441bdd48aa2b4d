/* elect.h - who leads a cluster: this node's session, what it shows of itself, and the election.
 *
 *   lease granted ──> node/<node> put ──> leader watched ──> gone: rank, term, one transaction
 *        renewed while the node is alive     shown each second      won: ELECTED with an epoch
 *
 * Order.  The epoch is the revision at which this node's key `leader` was put; every write of a
 *         term compares it. A session that ends takes both keys with it: a leader then is LOST,
 *         another node begins another session.
 * Wait.   Nothing blocks. Times are parameters: now_ns is CLOCK_MONOTONIC, the read deadline is
 *         CLOCK_BOOTTIME, which goes on while a machine sleeps.
 * Owner.  One thread.
 * Errors. ELECT_FAILED with a sentence and whether it is a refusal of the data (exit 3). */
#ifndef REPL_ELECT_H
#define REPL_ELECT_H

#include "repl/cluster_row.h"
#include "repl/elect_state.h"
#include "repl/repl_key.h"

#define ELECT_RENEW_NS        UINT64_C(250000000)
#define ELECT_SHOW_NS         UINT64_C(1000000000)
#define ELECT_BEHIND_NS       UINT64_C(500000000) /* from being current to being shown as behind */
#define ELECT_RANK_NS         UINT64_C(60000000)
#define ELECT_HANDED_NS       UINT64_C(500000000)   /* for the node that was handed the lead */
#define ELECT_CLOCK_NS        UINT64_C(10000000000) /* for a node whose clock is less off */
#define ELECT_UNJUDGED_NS     UINT64_C(2000000000)  /* for a node whose clock is judged */
#define ELECT_RETRY_NS        UINT64_C(100000000)
#define ELECT_NODE_WAIT_NS    UINT64_C(3000000000) /* and two leases: the key of the name */
#define ELECT_DEADLINE_NS     UINT64_C(200000000)  /* before the lease ends */
#define ELECT_REQUEST_LIFE_NS UINT64_C(5000000000)

struct elect_config {
    struct etcd *etcd;
    const char *cluster; /* outlives it */
    const char *node;
    uint32_t rules_version;
    int64_t lease_s;
    bool is_candidate;
    const char *public_address, *admin_address;
    struct cluster_identity identity;
};

/* What the node says of itself, each turn. */
struct elect_status {
    uint64_t received_frame, durable_frame, applied;
    int64_t clock_difference_ns;
    uint64_t clock_wait_ns; /* it is a candidate once nobody has led for so long; 0: at once */
    uint64_t hash_sequence; /* of the newest state that its replica has shown; 0: none */
    uint8_t effects_hash[32];
    uint64_t wall_ns; /* node clock */
    bool is_judged;   /* its clock, by frames of a leader */
    bool is_current;  /* it has applied all that counts and may lead */
    bool is_alive;    /* its threads turn: the session is renewed */
    bool waits;       /* for an upgrade, and has all frames: it applies nothing */
    bool creates;     /* make the cluster, with this genesis and term, if there is none */
    uint64_t create_term;
    struct cluster_genesis genesis;
};

struct elect {
    struct elect_config config;
    enum elect_state state;
    const char *text; /* of ELECT_FAILED */
    bool is_refusal;  /* the data are refused: exit 3 */
    struct elect_status status;

    int64_t lease;             /* 0: none */
    uint64_t renewed_ns;       /* when the last renewal was sent */
    uint64_t renewal_boot_ns;  /* the same on CLOCK_BOOTTIME */
    uint64_t deadline_boot_ns; /* reads of a leader until then; 0: none yet */
    uint64_t shown_ns;         /* when the node key was put last */
    uint64_t current_ns;       /* when status.is_current was last; 0: never */
    uint8_t shown_state;
    uint64_t shown_hash_sequence;
    bool is_shown;          /* the node key is this session's */
    uint64_t name_taken_ns; /* since when another has the node's name; 0: nobody */

    bool has_created;
    bool is_identified; /* the cluster is there and is this exchange's */
    struct cluster_genesis genesis;
    uint64_t asked_ns; /* when the identity was asked for last */

    bool watches;
    int64_t watch_revision; /* from it on */
    bool has_leader;
    struct cluster_leader leader;
    int64_t leader_epoch; /* create_revision of its key */

    uint64_t leaderless_ns; /* since when nobody leads, within this session; 0: not known, or one */
    uint64_t stands_ns;     /* when the election may begin; 0: the rank is not known */
    uint64_t again_ns;
    uint64_t term; /* that is won, or tried */
    uint64_t previous_term;
    bool was_handed;          /* the leader before handed over */
    bool was_upgraded;        /* it let nodes of a later rules_version lead, and no others */
    int64_t upgrade_revision; /* of the key that says so when the election began; 0: none */
    int64_t term_revision;
    int64_t epoch;     /* of ELECT_ELECTED */
    uint64_t sequence; /* of tags */
    uint64_t tags[9];  /* of the request under way of each kind; 0: none */
    uint64_t elections;
};

void elect_begin(struct elect *elect, const struct elect_config *config);

/* One turn. boot_ns: CLOCK_BOOTTIME. */
void elect_step(struct elect *elect, const struct elect_status *status, uint64_t now_ns,
                uint64_t boot_ns);

/* Takes an answer of REPL_ELECT. */
void elect_done(struct elect *elect, const struct etcd_done *done, uint64_t now_ns);

/* Gives the lead to `node`: deletes `leader` and puts `handover`, which that node sees. Every frame
 * of this term counts, and none follows. False: ask again later. */
CC_MUST_USE bool elect_ballot_hand(struct elect *elect, const char *node, uint64_t last_frame);

/* Deletes the key `leader` if it is this node's: another may lead at once. The answer is not waited
 * for. */
void elect_resign(struct elect *elect);

#endif
