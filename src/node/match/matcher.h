/* matcher.h - the role that takes commands from net, has each sequenced, and answers it.
 *
 *   net thread ── command ring ──> matcher_step: peek │ reserve, stamp, apply, publish ──> journal
 *   net thread <── answer ring ──  answer { sequence, release_sequence }
 *
 * Order.  Commands of one ring are sequenced in ring order. Rings are drained round robin, at most
 *         MATCHER_RING_TURN commands of a ring at a time (wire.md, Fairness).
 * Wait.   matcher_step never blocks. While the journal buffer is full, commands stay in their
 *         rings.
 * Owner.  One thread. After recovery it is the keyring's only writer.
 * Bound.  A turn: MATCHER_COMMANDS_A_TURN commands, one work tick and one time tick; one 1011 and
 *         one tick while the clock is stopped (stopped_clock.h); one command a
 *         market for an alarm (alarm.h) and for a staged restart (staged_restart.h);
 *         DISCONNECT_RESTART_ARMS_A_TURN commands for disconnect arms (disconnect_restart.h). */
#ifndef NODE_MATCH_MATCHER_H
#define NODE_MATCH_MATCHER_H

#include "base/keyring.h"
#include "base/published.h"
#include "base/ring.h"
#include "node/match/alarm.h"
#include "node/match/disconnect_restart.h"
#include "node/match/sequencer.h"
#include "node/match/staged_restart.h"
#include "node/match/stopped_clock.h"
#include "node/recover/poison_file.h"

enum {
    MATCHER_RING_TURN = 16,
    MATCHER_COMMANDS_A_TURN = 256,
    MATCHER_LINKS_MAX = 64,
    MATCHER_TICK_NS = 1000 * 1000 * 1000,        /* of a primary that nobody asks any more */
    MATCHER_LEADER_TICK_NS = 100 * 1000 * 1000,  /* of a cluster's leader, asked or not */
    MATCHER_STOPPED_TICK_NS = 100 * 1000 * 1000, /* while the clock is stopped (stopped_clock.h) */
    MATCHER_AWAKE_MS = 10000, /* beside the window of ids: ticks go on after the last command */
};

/* The two rings to and from one net thread. */
struct matcher_link {
    struct ring *commands;
    struct ring *answers;
};

/* Totals since start, written by the matcher and read by any thread. The sequencer counts the
 * commands that the node authors. */
struct matcher_counters {
    struct published commands;             /* sequenced commands of clients */
    struct published peeked;               /* answered without a sequence */
    struct published status[STATUS_COUNT]; /* answers by status */
    struct published journal_full;         /* turns that ended without journal room */
    struct published sign_counts_fallen;   /* commands of passkeys whose count did not rise */
};

struct matcher {
    struct sequencer sequencer;
    struct matcher_link links[MATCHER_LINKS_MAX];
    uint32_t link_count;
    uint32_t link_next;
    const struct poison_file *poison; /* requests that are refused, this thread's; NULL: none */
    uint64_t outside_t_ns;            /* of the last command of a client; before it, of the start */
    _Atomic bool tick_wanted;         /* a reader has found nothing at an old t (query.h) */

    struct alarm alarm;                   /* faults that the node found */
    struct staged_restart staged_restart; /* while it lasts */
    struct disconnect_restart disconnect_restart;
    struct stopped_clock stopped_clock; /* while a gap of the clock is open */
    struct matcher_counters counters;
};

/* Prepares a matcher without links over parts that outlive it. It cannot fail. */
void matcher_init(struct matcher *matcher, struct engine *engine, struct journal *journal,
                  const struct clock *clock, struct engine_sink *sink);

/* Adds a pair of rings. Call it before the first step. */
void matcher_link(struct matcher *matcher, struct ring *commands, struct ring *answers);

/* Names each applied command in `mark`, and refuses the requests of `poison` (NULL: none). Call it
 * before the first step; without it a fault leaves no trace (poison.h). */
void matcher_guard(struct matcher *matcher, struct fault_mark *mark,
                   const struct poison_file *poison);

/* One turn. Returns the number of commands and ticks sequenced or answered; 0: there were none. */
uint32_t matcher_step(struct matcher *matcher);

/* Answers what waits in the rings with request_dropped: this node of a cluster leads no more. The
 * number of commands. */
uint32_t matcher_drop(struct matcher *matcher);

/* When the next tick or disconnect arm is due, on the node clock: the latest end of a sleep. */
uint64_t matcher_deadline_ns(const struct matcher *matcher);

/* After a turn that did nothing: true if work is waiting for journal room or for durable
 * tombstones (core.c). */
bool matcher_is_held(const struct matcher *matcher);

#endif
