/* mark.h - index and mark of a market (rules.md R5). Owned by the engine.
 *
 *   oracle update ── held? ──> index ──┐
 *   full second ──> ema ───────────────┴──> mark = median(index, index + ema, book), clamped
 *               └──> then a sample of R9 (samples.h), the hour (funding.h), the premium (premium.h)
 *
 * Units.  Prices raw, ema raw * 2^20, times unix ns.
 * Bound.  Impact prices look at engine.makers_max orders at most. */
#ifndef ENGINE_PRICE_MARK_H
#define ENGINE_PRICE_MARK_H

#include "base/compiler.h"
#include "base/status.h"

enum {
    MARK_EMA_SHIFT = 20,
    MARK_EMA_SECONDS = 150,
    MARK_HOLD_PPM = 100000,      /* a greater distance from the reference is held ... */
    MARK_HOLD_AGREE_PPM = 20000, /* ... until a run of updates lies within this ... */
    MARK_ANCHOR_PPM = 200000,    /* ... and its newest within this of the anchor */
    MARK_CLOSING_SECONDS = 1800, /* after so long the mark of a market that closes is its mean */
};

#define MARK_HOLD_WITHIN_NS (60 * MARKET_SECOND_NS) /* holds in a row have one anchor */
#define MARK_RUN_NS         (2 * MARKET_SECOND_NS)  /* a run is at least as long */
#define MARK_CLOSING_NS     (MARK_CLOSING_SECONDS * MARKET_SECOND_NS)
#define MARK_REST_NS        (MARKET_SECOND_NS / 4) /* an order counts that has rested so long */

struct engine;
struct command;
struct engine_result;

/* Applies code 1000 after the checks of its pads, market and state: checks price and time (R5) and
 * updates index and mark. `draw`: the first 8 bytes of its signature. A refusal changes nothing. */
CC_MUST_USE enum status mark_oracle(struct engine *engine, uint32_t market, uint64_t publish_ns,
                                    uint64_t price, uint64_t draw);

/* Code 1010: the operator accepts the newest held price, which it names within 2 % (R10). */
CC_MUST_USE enum status mark_accept_index(struct engine *engine, const struct command *command,
                                          struct engine_result *result);

/* Computes the mark when a market leaves HALTED, if its index is valid. Nobody trades on the mark
 * from before the halt (R5, the mark after a halt). */
void mark_leave_halt(struct engine *engine, uint32_t market);

/* Runs the timer of a full second: ema, mark, sample, then funding and premium. */
void mark_second(struct engine *engine, uint32_t market);

/* Sets the mark of a market that closes. It is not valid until the settlement is complete. A hold
 * ends, and its prices are lost. The caller emits the mark (mark_emit). */
void mark_settle_at(struct engine *engine, uint32_t market, uint64_t price);

/* Emits the market's index and mark (2109). */
void mark_emit(struct engine *engine, uint32_t market);

/* Returns the average raw price to sell (bids) or buy (asks) the market's impact notional, rounded
 * against the taker, by the orders that have rested for MARK_REST_NS at the engine's t and have not
 * been reduce-only since they entered. 0: they are too few. */
CC_MUST_USE uint64_t mark_impact(const struct engine *engine, uint32_t market, bool bids);

/* Returns the third price of R5's median as the book is now: of best bid, best ask and last trade,
 * within mark_book_ppm of the index. 0: none exists, or the market does not match. */
CC_MUST_USE uint64_t mark_third(const struct engine *engine, uint32_t market);

#endif
