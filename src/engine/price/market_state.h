/* market_state.h - codes 1002 and 1008: the states of R9, set by the operator or by the node. Owned
 * by the engine.
 *
 * The state is set at once; an oracle hold goes on, and ends in this state (R5). REDUCE_ONLY with
 * `force` announces the closing of the market, any other state calls it off (R9).
 *
 * The node halts a market for a failed invariant, with the cause `invariant`. It sets other states
 * around a restart or when it lacks something, with the cause `restart`. Only the operator sets
 * CLOSED, an hour after its announcement or by force; it begins the settlement of the market
 * (R9). */
#ifndef ENGINE_PRICE_MARKET_STATE_H
#define ENGINE_PRICE_MARKET_STATE_H

#include "engine/state/state.h"

/* Sets a market's state with its cause. The mark of a HALTED market does not move, so a market that
 * leaves HALTED gets the mark of its index. */
void market_state_move(struct engine *engine, uint32_t index, enum market_state state,
                       enum effect_cause cause);

/* Applies code 1002: sets the state of one market. A signed command has passed row credential. A
 * refusal changes nothing. */
CC_MUST_USE enum status market_state_set(struct engine *engine, const struct command *command,
                                         struct engine_result *result);

/* Applies code 1008: sets the state of every market that is not CLOSED, by ascending asset id. A
 * refusal changes nothing. */
CC_MUST_USE enum status market_state_set_all(struct engine *engine, const struct command *command,
                                             struct engine_result *result);

/* Applies code 2017: every market that is not CLOSED is HALTED with the cause `restored`, also
 * after a gap of the clock that is open, until the operator gives it another state. */
void market_state_restored(struct engine *engine);

/* Returns the lowest asset id above `after` of a market that takes orders, or will take them when
 * its oracle hold or the gap of the clock ends; 0: none. */
CC_MUST_USE uint16_t market_state_next_open(const struct engine *engine, uint16_t after);

/* Returns the asset id of a market (an index in order of definition), or 0 if it is HALTED, CLOSED
 * or does not exist. A gap of the clock counts as the state after it. */
CC_MUST_USE uint16_t market_state_unhalted(const struct engine *engine, uint32_t index);

#endif
