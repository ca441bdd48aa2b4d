/* clock_gap.h - a gap of the clock (rules.md R9): a start has found its clock far from the last
 * known time, and nothing is due until code 1011 confirms it. Owned by the engine.
 *
 *   2014 with a step ──> open: every market that is not CLOSED is HALTED, its state is kept
 *        1011 that names the step ──> closed: the states return
 *
 * While it is open no timer fires, whatever t is: the node's clock stays at the last t. A second
 * start within it changes the step and keeps the states that are kept.
 *
 * Units. A step is the start's clock less the last known time, ns; 0: no gap. */
#ifndef ENGINE_PRICE_CLOCK_GAP_H
#define ENGINE_PRICE_CLOCK_GAP_H

#include "engine/state/state.h"

/* The step of a 2014. 0: a gap that is open stays as it is. */
void clock_gap_open(struct engine *engine, int64_t step_ns);

/* Applies code 1011: the states return, and an hour of funding that begins before the next full
 * second is passed over when the clock goes forward: always when the node authored it. A signed
 * command has passed row credential. A refusal changes nothing. */
CC_MUST_USE enum status clock_gap_confirm(struct engine *engine, const struct command *command,
                                          struct engine_result *result);

#endif
