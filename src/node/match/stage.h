/* stage.h - exchange.restart=staged: the markets are opened again step by step after a start (R9).
 *
 *   start: CANCEL_ONLY ──10 s──> POST_ONLY ──10 s──> the state of before      (unsigned 1002 each)
 *              a state that takes no less than POST_ONLY lets in skips that step ──┘
 *
 * Only markets that were ACTIVE, POST_ONLY or REDUCE_ONLY take part; one that the operator, the
 * fund's deficit or a failed invariant gives another state leaves. What they were is kept in the
 * file `restart` before the first of them is closed: a start within the 20 s goes on with it
 * (roles.md, Staged start).
 *
 * Layout of the file: journal.md, Restart file.
 *
 * Wait.   stage_load and stage_store block and belong to the start; stage_step does not.
 * Owner.  The matcher's thread.
 * Units.  Times of the node clock: the same that t is made of. */
#ifndef NODE_MATCH_STAGE_H
#define NODE_MATCH_STAGE_H

#include "node/match/sequencer.h"
#include "store/disk.h"

#define STAGE_STEP_NS UINT64_C(10000000000)

enum { STAGE_STEPS = 2, STAGE_ALL = MARKET_ASSET_ALL };

struct stage_market {
    uint16_t asset_id;
    uint8_t former; /* enum market_state: what it was, and becomes again */
    uint8_t set;    /* what the stages gave it last */
};

struct stage {
    uint64_t began_ns;
    uint32_t step; /* done since */
    uint32_t count;
    struct stage_market markets[ENGINE_MARKETS_MAX]; /* ascending asset id */
};

/* Which markets take part in a start at now_ns: those of the file, if the start that wrote it did
 * not come to its end (last_ns: the t of the last command before this start), and those that are
 * open now. 0 or -errno; a file that is damaged counts as
 * none, and its markets keep their states. */
CC_MUST_USE int stage_load(struct stage *stage, const struct engine *engine, struct disk *disk,
                           const uint8_t exchange_id[32], uint64_t last_ns, uint64_t now_ns);

/* Replaces the file at once, durably. 0 or -errno. */
CC_MUST_USE int stage_store(const struct stage *stage, struct disk *disk,
                            const uint8_t exchange_id[32]);

/* The markets that do not stand at CANCEL_ONLY yet, one a call: asset id, or 0 when all do. */
uint16_t stage_next_open(struct stage *stage, const struct engine *engine, uint16_t after);

/* Whoever sets a market's state from now on judges for itself: the asset leaves, or STAGE_ALL. */
void stage_leave(struct stage *stage, uint16_t asset_id);

CC_MUST_USE static inline bool stage_is_due(const struct stage *stage, uint64_t now_ns)
{
    return CC_UNLIKELY(stage->count != 0) &&
           now_ns >= stage->began_ns + (stage->step + 1) * STAGE_STEP_NS;
}

/* Authors the step that is due. The commands authored; *room_left becomes false when the journal
 * had no room for the next one. */
CC_MUST_USE uint32_t stage_step(struct stage *stage, struct sequencer *sequencer, bool *room_left);

#endif
