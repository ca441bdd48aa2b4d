/* order_request.h - an order on its way in: rows market_id to room of R11 and the walk, for
 * placements (codes 0 and 5) and for replacements (code 2). Owned by the engine.
 *
 *   the code fills struct order_request ── form ── terms ── decide ── act
 *                                          7-12    15-27    28-34     cannot fail
 *
 * A replacement meets every row as if its own old rest were gone: in R1's bounds, in R4's sums and
 * in the count of row order_count that rest is left out, without being taken out (`out`).
 *
 * Order.  The steps in this order; rows target and expected_remaining are the caller's, between
 *         form and terms. Nothing but check-on-touch has changed anything before act.
 * Units.  Prices and quantities raw, notionals micro-USDC, rates ppm. */
#ifndef ENGINE_TRADE_ORDER_REQUEST_H
#define ENGINE_TRADE_ORDER_REQUEST_H

#include "engine/trade/match.h"

/* Sum of the fills of an order that may be replaced: 4,096 makers add at most 2^62. */
#define ORDER_REQUEST_FILLED_MAX (UINT64_C(1) << 62)

/* The caller fills the first part from the body, order_request_form and order_request_terms the
 * rest. */
struct order_request {
    uint64_t price;          /* limit; of a market order: 0, then the bound of its slippage */
    int64_t signed_quantity; /* as in the body; INT64_MIN is met by row size */
    uint64_t expiry;
    uint32_t slippage_ppm; /* parameter of a market order, 0: the market's */
    uint32_t pads;         /* all pad bytes of the body, any bit */
    uint32_t portfolio;
    uint32_t account;
    uint32_t replaced; /* the order that this replaces, or ORDER_NONE; known at row target */
    uint16_t asset_id;
    uint8_t order_type; /* enum order_type */
    uint8_t post_only, reduce_only, stp;
    bool waits; /* an untriggered order (code 6): it meets the rows of *_of_wait */

    uint8_t reason;   /* beside a refusal by order_request_form: enum reason */
    uint8_t side;     /* enum order_side */
    uint8_t tif;      /* enum order_tif */
    bool keeps_place; /* a replacement at its price with no more than it had (R3) */
    uint32_t market_index;
    uint32_t holding; /* HOLDING_NONE: the portfolio has nothing in the market */
    uint32_t tick;    /* in the order's own ladder */
    struct market *market;
    uint64_t quantity; /* unsigned */
    uint64_t notional;
    int64_t position;
    uint64_t out_quantity; /* old rest of the replaced order, 0: a placement */
    uint64_t out_price;
};

/* What was decided: the taker and what its walk found. */
struct order_request_plan {
    struct match_taker taker;
    struct match match;
};

/* Rows market_id to expiry; finds the market. must_rest: neither IOC nor FOK will do (a
 * replacement). */
CC_MUST_USE enum status order_request_form(struct engine *engine, struct order_request *request,
                                           bool must_rest);

/* Rows size_zero to liquidation, without those of conditional orders. */
CC_MUST_USE enum status order_request_terms(struct engine *engine, struct order_request *request);

/* The rows of an order that is to wait for its price (R8), between which code 6 has its own:
 * 7 to 10; 11 and 12; 15 to 17b; 19, 21 and 22's parameter; 25, 27 and 34. */
CC_MUST_USE enum status order_request_market(struct engine *engine, struct order_request *request);
CC_MUST_USE enum status order_request_flags_of_wait(const struct engine *engine,
                                                    const struct order_request *request,
                                                    uint8_t live_tif);
CC_MUST_USE enum status order_request_amount_of_wait(struct engine *engine,
                                                     struct order_request *request);
CC_MUST_USE enum status order_request_state_of_wait(const struct engine *engine,
                                                    const struct order_request *request);
CC_MUST_USE enum status order_request_count_of_wait(struct engine *engine,
                                                    const struct order_request *request);

/* Rows post_only_crosses to room. applying.makers gets how many makers the walk met. */
CC_MUST_USE enum status order_request_decide(struct engine *engine,
                                             const struct order_request *request,
                                             struct order_request_plan *plan);

/* Executes the plan for an order whose record has the request's terms and is in no book: a
 * placement allocated it (`hash` names it in the id map), or a replacement lifted it. Afterwards it
 * rests, or it has ended, its 2101 is emitted and it is released. */
void order_request_act(struct engine *engine, const struct order_request *request,
                       const struct order_request_plan *plan, uint32_t order, uint64_t hash,
                       struct engine_result *result);

static inline uint8_t order_request_flags(const struct order_request *request)
{
    return order_flags(request->post_only, request->reduce_only, request->stp,
                       (enum order_tif)request->tif);
}

#endif
