/* settlement.h - turns every position of a CLOSED market into cash at one price (rules.md R9, how a
 * market is settled). Owned by the engine.
 *
 *   1002 CLOSED ──> price, orders dead ──> pass 1: losers pay; what they lack is the shortfall
 *                                          the fund pays what it can
 *                                          pass 2: winners are paid, less a share of the rest
 *                                          pool -> fund, the mark is valid
 *
 * Order.  Deferred work; a pass goes by portfolio number. funding_pool keeps its cash between the
 *         passes.
 * Units.  Amounts micro-USDC.
 * Bound.  |T * s| <= 2^60 (R1, checked when the price is set), so profits and cuts fit 64 bits. */
#ifndef ENGINE_PRICE_SETTLEMENT_H
#define ENGINE_PRICE_SETTLEMENT_H

#include "base/compiler.h"

struct engine;
struct image_read;
struct image_sink;

/* True if the operator may close the market now: an hour after the announcement, or by force. */
CC_MUST_USE bool settlement_may_begin(const struct engine *engine, uint32_t market, bool by_force);

/* Closes a market that is not CLOSED and queues its settlement. */
void settlement_begin(struct engine *engine, uint32_t market);

/* The functions of WORK_SETTLEMENT (struct work_handler). */
CC_MUST_USE bool settlement_unit(struct engine *engine, uint32_t market, uint32_t *units);
void settlement_finish(struct engine *engine, uint32_t market);
void settlement_image(const struct engine *engine, uint32_t market, struct image_sink *sink);
CC_MUST_USE bool settlement_load(struct engine *engine, uint32_t market, struct image_read *read);

/* True if the loaded state of all CLOSED markets is consistent. The work is loaded before it. */
CC_MUST_USE bool settlement_holds(const struct engine *engine);

#endif
