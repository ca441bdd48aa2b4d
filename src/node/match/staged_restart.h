/* staged_restart.h - exchange.restart=staged: after a start the markets open again in two steps
 * (R9).
 *
 *   start: CANCEL_ONLY ──10 s──> POST_ONLY ──10 s──> the former state      (unsigned 1002 each)
 *              a market that was REDUCE_ONLY skips the first step ──┘
 *
 * Only markets that were ACTIVE, POST_ONLY or REDUCE_ONLY take part. A market leaves when the
 * operator, the fund's deficit or a failed invariant gives it another state. The former states are
 * in the file `restart` before the first market is closed; a start within the 20 s continues with
 * them (roles.md, Staged start). journal.md, Restart file, has the layout of the file.
 *
 * Wait.   staged_restart_load and staged_restart_store block and belong to the start; the step does
 *         not block.
 * Owner.  The matcher's thread.
 * Units.  Times of the node clock, from which t is made. */
#ifndef NODE_MATCH_STAGED_RESTART_H
#define NODE_MATCH_STAGED_RESTART_H

#include "base/published.h"
#include "node/match/sequencer.h"
#include "store/disk.h"

#define STAGED_RESTART_STEP_NS UINT64_C(10000000000)

enum { STAGED_RESTART_STEPS = 2, STAGED_RESTART_ALL = MARKET_ASSET_ALL };

struct staged_restart_market {
    uint16_t asset_id;
    uint8_t former; /* enum market_state before the start; it becomes this again */
    uint8_t set;    /* enum market_state that the last step gave it */
};

struct staged_restart {
    uint64_t began_ns;
    uint32_t step; /* number of steps done */
    uint32_t count;
    struct staged_restart_market markets[ENGINE_MARKETS_MAX]; /* ascending asset id */
    /* Markets that may owe their state to a staged start whose file is gone: an operator judges. */
    uint32_t doubtful_count;
    uint16_t doubtful[ENGINE_MARKETS_MAX];
    struct published doubts; /* doubtful_count, for the alarm */
};

/* Lists the markets that take part in a start at now_ns: those of the file, if the start that wrote
 * it did not finish its steps before last_ns (t of the last command before this start), and those
 * that are open now. 0 or -errno. A damaged file counts as none: its markets keep their states.
 * Without a file those that are CANCEL_ONLY or POST_ONLY are doubtful, and an error line names each
 * with what to do. */
CC_MUST_USE int staged_restart_load(struct staged_restart *restart, const struct engine *engine,
                                    struct disk *disk, const uint8_t exchange_id[32],
                                    uint64_t last_ns, uint64_t now_ns);

/* Replaces the file atomically and durably. 0 or -errno. */
CC_MUST_USE int staged_restart_store(const struct staged_restart *restart, struct disk *disk,
                                     const uint8_t exchange_id[32]);

/* The first market above `after` that is not CANCEL_ONLY yet: its asset id; 0: there is none. */
uint16_t staged_restart_next_open(struct staged_restart *restart, const struct engine *engine,
                                  uint16_t after);

/* Takes a market out, or all of them (STAGED_RESTART_ALL): its state is set by someone else. */
void staged_restart_leave(struct staged_restart *restart, uint16_t asset_id);

/* The same when it is the operator who set it: it is not doubtful any more either. */
void staged_restart_judge(struct staged_restart *restart, uint16_t asset_id);

/* Whether a state that an operator sets concerns it. */
CC_MUST_USE static inline bool staged_restart_cares(const struct staged_restart *restart)
{
    return (restart->count | restart->doubtful_count) != 0;
}

CC_MUST_USE static inline bool staged_restart_is_due(const struct staged_restart *restart,
                                                     uint64_t now_ns)
{
    return CC_UNLIKELY(restart->count != 0) &&
           now_ns >= restart->began_ns + (restart->step + 1) * STAGED_RESTART_STEP_NS;
}

/* Authors the step that is due and returns the number of commands. *room_left becomes false when
 * the journal has no room for the next one. */
CC_MUST_USE uint32_t staged_restart_step(struct staged_restart *restart,
                                         struct sequencer *sequencer, bool *room_left);

#endif
