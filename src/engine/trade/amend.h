/* amend.h - codes 1 and 2: reduces or replaces a resting order (R3). Owned by the engine.
 *
 *   reduction     keeps id and priority; of all that remains, or more: a cancel
 *   replacement   keeps the id; keeps the priority if the price is the same and the size does not
 *                 grow; else the order leaves its queue and enters again, like a placement
 *
 * A refusal leaves the order and its sums unchanged. */
#ifndef ENGINE_TRADE_AMEND_H
#define ENGINE_TRADE_AMEND_H

#include "base/compiler.h"
#include "base/status.h"

struct engine;
struct command;
struct engine_result;
struct order_request;
struct order_plan;

/* The order that an amendment, or an item of a batch, names. */
struct amend_target {
    const uint8_t *id; /* 16 bytes */
    uint64_t hash;     /* mix_id of (account, id) */
    uint64_t expected; /* remaining that its owner expects; 0: any */
    uint32_t pads;     /* all pad bytes of a reduction, any bit (request.pads of a replacement) */
    uint16_t asset_id;
};

/* Decides rows target_id to size of a reduction and sets *order to its target. It changes no
 * state. */
CC_MUST_USE enum status amend_reduce_decide(struct engine *engine,
                                            const struct amend_target *target, uint64_t reduce_by,
                                            struct engine_result *result, uint32_t *order);

/* Acts on a reduction that amend_reduce_decide has let through. It cannot fail. */
void amend_reduce_act(struct engine *engine, uint32_t order, uint64_t reduce_by,
                      struct engine_result *result);

/* Decides rows target_id to liquidation of a replacement and sets request->replaced. The caller has
 * filled the body's part of the request. It changes no state. */
CC_MUST_USE enum status amend_replace_terms(struct engine *engine,
                                            const struct amend_target *target,
                                            struct order_request *request,
                                            struct engine_result *result);

/* Decides all rows of a replacement, and acts if they pass. The caller has filled the body's part
 * of the request. */
CC_MUST_USE enum status amend_replace_rows(struct engine *engine, const struct amend_target *target,
                                           struct order_request *request,
                                           struct engine_result *result);

/* Acts on a replacement that order_plan_decide has let through. It cannot fail. */
void amend_replace_act(struct engine *engine, const struct order_request *request,
                       const struct order_plan *plan, struct engine_result *result);

/* Applies code 1: rows target_id to size. Row portfolio has passed, which set
 * applying.portfolio. */
CC_MUST_USE enum status amend_reduce(struct engine *engine, const struct command *command,
                                     struct engine_result *result);

/* Applies code 2: rows target_id to completed. Row portfolio has passed, as above. */
CC_MUST_USE enum status amend_replace(struct engine *engine, const struct command *command,
                                      struct engine_result *result);

#endif
