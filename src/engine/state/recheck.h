/* recheck.h - what must be checked again because it changed: portfolios by the next flush (risk.h),
 * the holders of a market by a scan in the work queue (R7). Owned by the engine. */
#ifndef ENGINE_STATE_RECHECK_H
#define ENGINE_STATE_RECHECK_H

#include "base/compiler.h"

#define RECHECK_STALE_MANY UINT32_MAX /* portfolio.stale_holding: more than one is out of date */
#define RECHECK_LIST_END   UINT32_MAX /* of the lists of portfolios; portfolio 0 is a portfolio */

struct engine;

struct recheck {
    uint64_t mark_epoch;   /* raised by every change of a mark or of tiers; from 1 */
    uint64_t walk_count;   /* names walks: walk_stamp of holdings */
    uint32_t changed_head; /* portfolios to check exactly, linked by changed_next */
    uint32_t judged_head;  /* those of them to be judged, likewise, by ascending number */
};

/* Prepares empty lists. */
void recheck_init(struct recheck *recheck);

/* The cash of a refreshed portfolio changed: the next risk_flush checks it. */
void recheck_portfolio(struct engine *engine, uint32_t portfolio);

/* The holding's position or orders changed: the next risk_flush checks its portfolio. */
void recheck_holding(struct engine *engine, uint32_t holding);

/* Likewise, after a fill: a run that ranks the market looks at the holder once more
 * (deleverage_rank_moved). */
void recheck_traded(struct engine *engine, uint32_t holding);

/* A mark moved: the figures of every portfolio are out of date. Queues the scan. */
void recheck_mark_moved(struct engine *engine, uint32_t market);

/* The market's mark was computed, or its state changed: a portfolio that could not be liquidated
 * because of it is looked at again (R7, Waits). */
void recheck_waiting(struct engine *engine, uint32_t market);

/* The market's tiers changed: the slacks of its holders bound nothing any more. */
void recheck_tiers_changed(struct engine *engine, uint32_t market);

#endif
