/* matcher.h - the role that sequences: takes commands, stamps, applies and journals them, answers.
 *
 *   net thread ── command ring ──> matcher_step: peek │ reserve, stamp, apply, publish ──> journal
 *   net thread <── answer ring ──  answer { sequence, release_sequence }
 *
 * Order.  Commands of a ring are sequenced in ring order; rings are drained round robin, at most
 *         MATCHER_RING_TURN commands a ring a turn (wire.md, Fairness). Apply precedes append, and
 *         the journal's room is reserved before apply: what was applied can always be journalled.
 * Wait.   matcher_step never blocks. A full journal buffer leaves the commands in their rings.
 * Owner.  One thread. It is the keyring's only writer once recovery is over.
 * Bound.  MATCHER_COMMANDS_A_TURN commands, one work tick and one time tick a turn; of an alarm
 *         (alarm.h) and of a staged start (stage.h) one command a market; of what the run before
 *         has left armed GRACE_ARMS_A_TURN (grace.h). */
#ifndef NODE_MATCH_MATCHER_H
#define NODE_MATCH_MATCHER_H

#include "base/keyring.h"
#include "base/ring.h"
#include "node/match/alarm.h"
#include "node/match/grace.h"
#include "node/match/sequencer.h"
#include "node/match/stage.h"
#include "node/recover/poison_file.h"

enum {
    MATCHER_RING_TURN = 16,
    MATCHER_COMMANDS_A_TURN = 256,
    MATCHER_LINKS_MAX = 64,
    MATCHER_TICK_NS = 100 * 1000 * 1000, /* an idle primary's tick (journal.md, Durable) */
};

/* The two rings to and from one net thread. */
struct matcher_link {
    struct ring *commands;
    struct ring *answers;
};

/* Totals since start; written by the matcher, read by anyone. Those of the node's own commands are
 * in the sequencer. */
struct matcher_counters {
    _Atomic uint64_t commands;             /* sequenced commands of clients */
    _Atomic uint64_t peeked;               /* answered without a sequence */
    _Atomic uint64_t status[STATUS_COUNT]; /* answers by status */
    _Atomic uint64_t journal_full;         /* turns that ended for want of journal room */
};

struct matcher {
    struct sequencer sequencer;
    struct matcher_link links[MATCHER_LINKS_MAX];
    uint32_t link_count;
    uint32_t link_next;
    const struct poison_file *poison; /* requests that are not applied; NULL: none */

    struct alarm alarm; /* what the node itself found wrong */
    struct stage stage; /* of a staged start, while it lasts */
    struct grace grace; /* of the arms that this start has found */
    struct matcher_counters counters;
};

void matcher_init(struct matcher *matcher, struct engine *engine, struct journal *journal,
                  const struct clock *clock, struct engine_sink *sink);

/* Adds a pair of rings; before the first step. */
void matcher_link(struct matcher *matcher, struct ring *commands, struct ring *answers);

/* Marks commands in `mark` and refuses those of `poison`, NULL for none (poison.h); before the
 * first step. Without it nothing survives a fault. */
void matcher_guard(struct matcher *matcher, struct fault_mark *mark,
                   const struct poison_file *poison);

/* One turn. Gives the number of commands and ticks taken, 0 when there was nothing to do. */
uint32_t matcher_step(struct matcher *matcher);

/* When the next tick is due, on the node clock: a park must not last beyond it. */
uint64_t matcher_deadline_ns(const struct matcher *matcher);

/* After a turn that did nothing: is there something to do all the same, which a full journal, or
 * tombstones that are not durable (core.c), hold up. */
bool matcher_is_held(const struct matcher *matcher);

#endif
