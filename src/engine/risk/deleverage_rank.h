/* deleverage_rank.h - the ranking of a deleveraging run: the 256 holders that are filled first, and
 * the rest (rules.md R7, L3). Owned by the engine.
 *
 *   begin: scan ──> rows ── filled ──> again: the next 256 of the rest ──> rows ...
 *             └───> rest                 └─ the mark has moved, or no rest ──> begin
 *
 * Order.  Score descending, ties by account, subaccount, portfolio; the fund last.
 * Bound.  A holder met is O(log n), n the rest; 256 of the rest are taken in the unit of a fill.
 * Units.  Sizes and quantities raw. */
#ifndef ENGINE_RISK_DELEVERAGE_RANK_H
#define ENGINE_RISK_DELEVERAGE_RANK_H

#include "base/compiler.h"
#include "engine/state/liquidation_step.h"

struct holding;

/* Begins the ranking of the run's leg: holders are met from the first. */
void deleverage_rank_begin(struct engine *engine);

/* Ranks the next holder of the leg's market whose position opposes `size`. False: there is none,
 * the ranking has ended. */
CC_MUST_USE bool deleverage_rank_step(struct engine *engine, int64_t size);

/* Ranks again when no row is left: the next of the rest, if the rows gave something and the mark is
 * that of the scan, else by a new scan. Pass 1 ends when nobody can give (R7), or when rankings in
 * a row gave nothing. */
void deleverage_rank_again(struct engine *engine);

/* Position of the run's portfolio in the leg's market, 0: none; *holding is its record. */
CC_MUST_USE int64_t deleverage_rank_leg_size(const struct engine *engine, uint32_t portfolio,
                                             uint32_t *holding);

/* The price of a fill of the run's leg made now: of pass 1 held within the band, of pass 2 the
 * mark. */
CC_MUST_USE uint64_t deleverage_rank_price(const struct engine *engine);

/* How much a holder, up to date, can give at this price: when it is worse for it than the mark, no
 * more than leaves its own equity at or above zero, in whole lots. */
CC_MUST_USE uint64_t deleverage_rank_bearable(const struct engine *engine,
                                              const struct holding *holding, uint64_t price);

/* How much the holder, up to date and opposite, can give: in pass 1 no more than leaves its own
 * equity at or above zero, in whole lots. */
CC_MUST_USE uint64_t deleverage_rank_room(const struct engine *engine,
                                          const struct holding *holding);

/* Adds a row to the rest of the run: a portfolio that has none there. */
void deleverage_rank_leave_out(struct engine *engine, const struct deleverage_row *row);

/* Whether two positions have opposite signs. */
CC_MUST_USE bool deleverage_rank_opposes(int64_t a, int64_t b);

/* During a run: the portfolio, up to date, has traded in that market. If the ranking has met it
 * already, it is ranked again by what it is now. */
void deleverage_rank_moved(struct engine *engine, uint32_t portfolio);

#endif
