/* steward.h - watches over the cluster as a whole: takes a survey each second, shows it, raises the
 * alarms of it (replication.md, Survey), and puts the keys that belong to no term.
 *
 *   survey_keys ── steward_step ──> words of the survey ──> any thread: steward_survey
 *                       ├── log lines, steward_used_percent
 *   steward_offer ────────┴── keys snapshot/ of what the vault has, image/ of what this node has
 *
 * Order.  The survey is words with a version before and after them: a reader that saw another
 *         version reads again.
 * Wait.   A step waits for etcd, at most SURVEY_WAIT_NS for each question.
 * Owner.  A thread of its own; what reads is any thread's, and never waits. */
#ifndef NODE_REPLICATOR_STEWARD_H
#define NODE_REPLICATOR_STEWARD_H

#include "base/clock.h"
#include "base/published.h"
#include "repl/survey.h"

#define STEWARD_STEP_NS UINT64_C(1000000000)

/* Parts of cluster.etcd_quota, in percent. */
enum { STEWARD_ALARM_PERCENT = 50, STEWARD_HALF_PERCENT = 70, STEWARD_CLOSED_PERCENT = 80 };

struct steward_config {
    const struct clock *clock;
    const char *cluster; /* these outlive it */
    const char *node;    /* this one; each[0] is etcd's member of its machine */
    uint64_t quota;      /* cluster.etcd_quota, bytes */
    uint64_t clock_ns;   /* cluster.clock_ms */
};

enum { STEWARD_WORDS = (sizeof(struct survey) + 7) / 8 };

struct steward {
    struct steward_config config;
    struct etcd *any, *each[ETCD_MEMBERS_MAX];
    uint32_t each_count;
    struct survey survey;
    uint64_t due_ns;
    uint64_t few_ns; /* since when fewer than two nodes are current; 0: they are not */
    bool is_few;     /* logged */
    uint32_t told;   /* the percent state that is logged */
    uint32_t off;    /* nodes with a clock that is wrong, as it is logged */
    uint64_t etcd_leader;
    uint64_t at[ETCD_MEMBERS_MAX]; /* the member at each address; 0: it never answered */
    uint64_t place_ns, reclaim_ns; /* no sooner etcd's leader is moved, a full etcd emptied */
    struct cluster_snapshot offer; /* the vault's thread's until is_offered */
    bool is_in_vault;              /* the offer */
    _Atomic bool is_offered;
    _Atomic bool is_refused; /* etcd took the key of an offer for good not; who offers clears it */
    _Atomic bool ends;       /* a step asks no more */
    _Atomic bool halves;     /* etcd's database is above STEWARD_HALF_PERCENT */
    _Atomic bool is_full;    /* and above STEWARD_CLOSED_PERCENT */
    CC_NO_SHARE _Atomic uint64_t version;
    _Atomic uint64_t words[STEWARD_WORDS];
    struct published used_percent, current, etcd_leaders, snapshot_sequence;
};

/* One step: takes a survey when one is due. The work done. */
uint32_t steward_step(struct steward *steward);

/* Lets a step under way ask nothing more. Any thread. */
void steward_ask_end(struct steward *steward);

/* The vault's thread: the vault has this snapshot, whose key is to be put; the oldest of more than
 * SURVEY_SNAPSHOTS lose theirs. Or this node alone has it, and shows its hash to the others. False:
 * the one before it is not through. */
CC_MUST_USE bool steward_offer(struct steward *steward, const struct cluster_snapshot *snapshot,
                               bool is_in_vault);

/* Ends its clients; any may be NULL. */
void steward_end(struct steward *steward);

/* ---- any thread ------------------------------------------------------------------------------ */

/* Gives the newest survey. False: none was taken, or it was written in each of a few looks. */
CC_MUST_USE bool steward_survey(const struct steward *steward, struct survey *survey);

#endif
