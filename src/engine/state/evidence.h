/* evidence.h - what an answer says beyond its status if the request asks for it (W5, X-Ack: full):
 * the state of the order, and the best prices of the market. Owned by the engine.
 *
 * Only commands with COMMAND_WANTS_EVIDENCE pay. The state is read and never changed, so neither
 * image nor effects_hash can tell whether somebody asked.
 *
 * Order.  evidence_of_order while the order is in its table, in its last state or resting; from
 *         then on each 2101 of it in this command renews the evidence, those of deferred work too,
 *         so that it is as of the end of the command (J4); evidence_end after the deferred work.
 *         A fired order that goes on (R3) has no 2101: each of its walks renews it. It is in no
 *         queue, and until its first fill it is shown as it was last, UNTRIGGERED.
 * Owner.  `result` NULL: an order that is not the request's own (a batch's item, a trigger).
 * Bound.  The queue is walked over at most EVIDENCE_STEPS orders a way; from an order farther from
 *         both ends of its level there is no quantity_ahead. */
#ifndef ENGINE_STATE_EVIDENCE_H
#define ENGINE_STATE_EVIDENCE_H

#include "engine/state/state.h"

enum { EVIDENCE_STEPS = 2048 };

static inline bool evidence_is_wanted(const struct command *command)
{
    return CC_UNLIKELY((command->flags & COMMAND_WANTS_EVIDENCE) != 0);
}

/* evidence_of_order of a command that asked. */
void evidence_add_order(struct engine *engine, struct engine_result *result, uint32_t order);

/* An order was made or found, and this is what the command has made of it. */
static inline void evidence_of_order(struct engine *engine, struct engine_result *result,
                                     uint32_t order)
{
    if (result != NULL && evidence_is_wanted(engine->applying.command))
        evidence_add_order(engine, result, order);
}

/* The same of an order that waits for a price (conditional.h). */
void evidence_add_wait(struct engine *engine, struct engine_result *result, uint32_t conditional);
static inline void evidence_of_wait(struct engine *engine, struct engine_result *result,
                                    uint32_t conditional)
{
    if (evidence_is_wanted(engine->applying.command))
        evidence_add_wait(engine, result, conditional);
}

/* A resting order that was found is about to end in this state, as it is now. */
void evidence_of_end(struct engine *engine, struct engine_result *result, uint32_t order,
                     enum order_state state);

/* A placement was refused and is kept as a REJECTED order of this size (R3). */
void evidence_of_refusal(const struct engine *engine, struct engine_result *result,
                         uint64_t quantity);

/* After all that the command does: the queue before its order, and the market. */
void evidence_end(const struct engine *engine, struct engine_result *result);

/* Best prices and sequence of the market that codes 0 to 7 name; nothing for other codes, and when
 * there is no such market. Alone: for an answer of the peek. */
void evidence_of_market(const struct engine *engine, const struct command *command,
                        struct engine_result *result);

#endif
