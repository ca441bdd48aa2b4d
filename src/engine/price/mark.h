/* mark.h - index and mark of a market (rules.md R5). Owned by the engine.
 *
 *   oracle update ── held? ──> index ──┐
 *   full second ──> ema ───────────────┴──> mark = median(index, index + ema, book), clamped
 *               └──> then a sample of R9 (samples.h), the hour (funding.h), the premium (premium.h)
 *
 * Units.  Prices raw, ema raw * 2^20, times unix ns.
 * Bound.  Impact prices read at most engine.makers_max orders. */
#ifndef ENGINE_PRICE_MARK_H
#define ENGINE_PRICE_MARK_H

#include "base/compiler.h"
#include "base/status.h"

enum {
    MARK_EMA_SHIFT = 20,
    MARK_EMA_SECONDS = 150,
    MARK_CLAMP_PPM = 50000,
    MARK_HOLD_PERCENT = 10,      /* a move beyond it is held ... */
    MARK_HOLD_AGREE_PERCENT = 2, /* ... until three updates lie within this */
};

#define MARK_SECOND_NS      UINT64_C(1000000000)
#define MARK_HOLD_WITHIN_NS (60 * MARK_SECOND_NS)

struct engine;

/* Code 1000 behind its pads, market and state checks: price and time (R5), then the update. */
CC_MUST_USE enum status mark_oracle(struct engine *engine, uint32_t market, uint64_t publish_ns,
                                    uint64_t price);

/* An operator has set the market's state: a hold ends, and its newest price is taken (R5). */
void mark_end_hold(struct engine *engine, uint32_t market);

/* The market was HALTED and is not any more: the mark of its index, while that is valid, before
 * anybody trades on the one it had (R5, the mark after a halt). */
void mark_leave_halt(struct engine *engine, uint32_t market);

/* The timer of a full second: ema, mark, then what else comes each second. */
void mark_second(struct engine *engine, uint32_t market);

/* Whether the market's index is valid now (R5): not held, accepted, not stale; of a CLOSED market
 * whether its settlement is complete. */
CC_MUST_USE bool mark_is_valid(const struct engine *engine, uint32_t market);

/* The market closes: the mark is this price, not valid until all is settled; a hold ends without a
 * price being taken. Told by mark_tell. */
void mark_settle_at(struct engine *engine, uint32_t market, uint64_t price);

/* 2109. */
void mark_tell(struct engine *engine, uint32_t market);

/* Average raw price to sell (bids) or buy (asks) the market's impact notional, rounded against the
 * taker; 0: undefined. */
CC_MUST_USE uint64_t mark_impact(const struct engine *engine, uint32_t market, bool bids);

#endif
