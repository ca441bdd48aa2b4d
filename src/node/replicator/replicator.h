/* replicator.h - a node's part in its cluster: standby, candidate, leader (replication.md).
 *
 *   standby   log in etcd ──tail──> journal_cluster_adopt ──> disk, followers
 *   taking    elected: the log's rest adopted ──> may_author ──> words.is_authored ──> it leads
 *   leader    journal_cluster_next_frame ──lead──> log ──landed──> journal_cluster_replicated
 *   handing   words.is_held, and all its frames count ──elect_ballot_hand──> standby
 *
 * Order.  replicator_create, replicator_begin, replicator_agree (within recovery),
 *         replicator_attach, then steps.
 * Wait.   replicator_agree waits for etcd; the step never blocks.
 * Owner.  The journal's thread, which owns the journal's side too. replicator_leader, _is_fresh,
 *         _term and _is_stuck: any thread. replicator_lead: the matcher, once the phase is TAKING.
 * Errors. A step that returns -1 has ended: replicator_end says why and with which exit code. */
#ifndef NODE_REPLICATOR_REPLICATOR_H
#define NODE_REPLICATOR_REPLICATOR_H

#include "base/clock.h"
#include "base/hash_vote.h"
#include "node/replicator/replicator_config.h"
#include "repl/cluster_row.h"
#include "store/journal_cluster.h"
#include "store/recovery.h"

struct replicator;

/* What other roles report to it, each turn. */
struct replicator_words {
    uint64_t applied; /* sequence, by the follower */
    bool is_authored; /* the matcher has published the commands of the term */
    bool is_held;     /* and publishes nothing more: the lead may be handed over */
    bool is_alive;    /* the threads turn */
};

/* Of an election that was won: the term, and the body of its record 2016. */
struct replicator_lead {
    uint64_t term;
    uint8_t body[64];
};

struct replicator_end {
    int exit_code;    /* enum node_exit */
    bool is_diverged; /* the state of the engines is evidence */
    char text[256];
};

/* NULL without memory. Takes over `etcd`. */
CC_MUST_USE struct replicator *replicator_create(const struct replicator_config *config,
                                                 struct etcd *etcd);
void replicator_destroy(struct replicator *replicator); /* NULL: nothing */

/* Begins to speak for the node: clients of others get `public_address`. `wake_file` is
 * readable when the thread must wake. 0 or -errno. */
CC_MUST_USE int replicator_begin(struct replicator *replicator, const char *public_address,
                                 const char *admin_address, int wake_file);

/* A recovery_agree: which frame of this journal the log has too. Waits for etcd. */
enum refusal_kind replicator_agree(void *context, const struct frame_tail *tails, uint32_t count,
                                   uint64_t least, uint64_t *keep, struct refusal *refusal);

/* Continues after the journal's last frame. */
void replicator_attach(struct replicator *replicator, struct journal *journal);

/* In place of it: continues after that frame without applying anything, until the snapshot of an
 * upgrade is there (replicator_upgrade_row). */
void replicator_upgrade_wait(struct replicator *replicator, struct journal *journal);

/* One turn. The work done, or -1. */
CC_MUST_USE int replicator_step(struct replicator *replicator,
                                const struct replicator_words *words);
CC_MUST_USE const struct replicator_end *replicator_end(const struct replicator *replicator);

/* Whether it was elected and every frame that counts is adopted: the matcher authors. */
CC_MUST_USE bool replicator_may_author(const struct replicator *replicator);
CC_MUST_USE const struct replicator_lead *replicator_lead(const struct replicator *replicator);

/* Whether a frame of its term counts: it serves as the leader. */
CC_MUST_USE bool replicator_leads(const struct replicator *replicator);

/* Whether this leader is to hand over, or does: it must take no commands. Any thread. */
CC_MUST_USE bool replicator_hand_is_wanted(const struct replicator *replicator);

/* Lets another node lead at once: at the end of a clean stop. Waits up to 200 ms for etcd. */
void replicator_resign(struct replicator *replicator);

/* The same for nodes of a later rules_version alone, which have REPLICATOR_UPGRADE_S for it: false
 * when that was not done, which is logged. It waits for etcd, as the next two. */
enum { REPLICATOR_UPGRADE_S = 60 };
CC_MUST_USE bool replicator_upgrade_hold(struct replicator *replicator);

/* What they begin with is in the vault. False when their time is over, or etcd does not answer. */
CC_MUST_USE bool replicator_upgrade_put(struct replicator *replicator,
                                        const struct cluster_snapshot *snapshot);

/* Their time is over: any node may lead. */
void replicator_upgrade_drop(struct replicator *replicator);

/* A node that waits: the snapshot with which the newest upgrade begins, or NULL: none is known. */
CC_MUST_USE const struct cluster_snapshot *
replicator_upgrade_row(const struct replicator *replicator);

/* The file that wakes its thread, and how long that may sleep, at most `most_ns`. */
CC_MUST_USE int replicator_file(const struct replicator *replicator);
CC_MUST_USE uint64_t replicator_wait_ns(const struct replicator *replicator, uint64_t most_ns);

/* ---- any thread ------------------------------------------------------------------------------ */

/* Asks this leader to hand over to `node`. False: it was asked already and is not through. */
CC_MUST_USE bool replicator_hand_ask(struct replicator *replicator, const char *node);

/* The vault's thread: which segment of the journal on `journal` the vault needs next. False:
 * none. */
CC_MUST_USE bool replicator_vault_wants(const struct replicator *replicator, struct disk *journal,
                                        uint64_t *segment);

/* The vault's thread: that segment is in the vault. */
void replicator_vault_offer(struct replicator *replicator, const struct archive_row *row,
                            uint64_t log_bytes);

/* The vault's thread, no other: reads for a start or a standby what it asks for. The work done. */
uint32_t replicator_vault_read(struct replicator *replicator);

/* Any thread: for how long a read of the vault has not returned, and of which segment; 0: it is not
 * late (vault_reader.h), or there is none. */
CC_MUST_USE uint64_t replicator_vault_late_ns(const struct replicator *replicator,
                                              uint64_t *segment);

/* The public address of the leader, which stays; NULL: none is known. */
CC_MUST_USE const char *replicator_leader(const struct replicator *replicator);

/* Whether this leader's lease holds for sure: no other leads. */
CC_MUST_USE bool replicator_is_fresh(const struct replicator *replicator);

/* Where the engines of this node show their states, and the verdict of its cluster on the leader's.
 * Outlives the engines. */
CC_MUST_USE struct hash_vote *replicator_vote_board(struct replicator *replicator);

/* Whether too much of what this leader did does not count yet: it takes no commands. */
CC_MUST_USE bool replicator_is_stuck(const struct replicator *replicator);

/* Whether clients of this leader get the answer that outcomes are unknown: no frame has counted for
 * config.give_up_ns, or it leads no more and is about to end. */
CC_MUST_USE bool replicator_gave_up(const struct replicator *replicator);

/* Times from the sending of a frame until it counts, ns. Any thread. */
CC_MUST_USE const struct histogram *replicator_commits(const struct replicator *replicator);

/* The term of the leader that it knows. */
CC_MUST_USE uint64_t replicator_term(const struct replicator *replicator);

/* For metrics and the status; each is exact, together they are not one instant. */
struct replicator_facts {
    uint64_t term;
    uint64_t received_frame, released_frame, durable_frame;
    uint64_t found_there, elections;
    /* Of a leader: the lowest frame of the log, one more than the vault's last segment, and the
     * frames that it deleted from the log. */
    uint64_t lowest_frame, vaulted_segments, deleted_frames;
    uint64_t lease_left_ns;
    uint64_t oldest_ns;     /* the oldest frame that does not count */
    uint64_t vault_late_ns; /* of a read of the vault; 0 before it is late */
    int64_t clock_difference_ns;
    uint8_t state; /* enum cluster_state */
    bool is_connected;
};
void replicator_facts(const struct replicator *replicator, struct replicator_facts *facts);

#endif
