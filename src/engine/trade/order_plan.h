/* order_plan.h - what an order request will do: the taker and what its walk found. Decides by rows
 * post_only_crosses to room of R11, then acts. Owned by the engine.
 *
 * Order.  After order_request_form and order_request_terms. Before act only check-on-touch changes
 *         anything: the walk refreshes the makers that it meets.
 * Units.  As in order_request.h. */
#ifndef ENGINE_TRADE_ORDER_PLAN_H
#define ENGINE_TRADE_ORDER_PLAN_H

#include "engine/trade/match.h"
#include "engine/trade/order_request.h"

/* Sum of the fills of an order that may be replaced: 4,096 makers add at most 2^62. */
#define ORDER_PLAN_FILLED_MAX (UINT64_C(1) << 62)

struct order_plan {
    struct match_taker taker;
    struct match match;
};

/* Returns the request as a taker. */
CC_MUST_USE struct match_taker order_plan_taker(const struct engine *engine,
                                                const struct order_request *request);

/* Rows post_only_crosses to room. applying.makers gets how many makers the walk met; a refusal adds
 * them to applying.unpaid. */
CC_MUST_USE enum status order_plan_decide(struct engine *engine,
                                          const struct order_request *request,
                                          struct order_plan *plan);

/* Ends an order that fired and goes on: CANCELED for this reason, 2101, released. */
void order_plan_give_up(struct engine *engine, uint32_t order, uint8_t reason);

/* Executes the plan for an order whose record has the request's terms and is in no book: a
 * placement allocated it (`hash` names it in the id map), or a replacement lifted it. Afterwards it
 * rests, or it has ended, its 2101 is emitted and it is released. */
void order_plan_act(struct engine *engine, const struct order_request *request,
                    const struct order_plan *plan, uint32_t order, uint64_t hash,
                    struct engine_result *result);

#endif
