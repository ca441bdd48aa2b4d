/* market_state.h - codes 1002 and 1008: the states of R9, set by the operator or by the node. Owned
 * by the engine.
 *
 *   operator (signed)  ── the state, at once; ends an oracle hold with its newest price (R5)
 *   node (unsigned)    ── the state, at once; a hold goes on, and ends in this state
 *
 * The node halts for a failed invariant and stops the taking of orders for what it lacks: cause
 * `invariant` goes with HALTED, `restart` with every other state.
 * CLOSED is the operator's, after an hour of REDUCE_ONLY or by force, and settles the
 * market (R9). */
#ifndef ENGINE_PRICE_MARKET_STATE_H
#define ENGINE_PRICE_MARKET_STATE_H

#include "base/compiler.h"
#include "base/status.h"

struct engine;
struct command;
struct engine_result;

/* Code 1002: one market. Row credential has passed when it is signed. */
CC_MUST_USE enum status market_state_set(struct engine *engine, const struct command *command,
                                         struct engine_result *result);

/* Code 1008: every market that is not CLOSED, by ascending asset id. */
CC_MUST_USE enum status market_state_set_all(struct engine *engine, const struct command *command,
                                             struct engine_result *result);

/* The lowest asset id above `after` of the markets that take orders, or will again when their
 * oracle hold ends; 0: none. */
CC_MUST_USE uint16_t market_state_next_open(const struct engine *engine, uint16_t after);

/* The asset id of a market (index in order of definition) that is neither HALTED nor CLOSED, or
 * 0. */
CC_MUST_USE uint16_t market_state_unhalted(const struct engine *engine, uint32_t index);

#endif
