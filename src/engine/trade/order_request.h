/* order_request.h - an order on its way in: rows market_id to liquidation of R11, for placements
 * (codes 0 and 5), replacements (code 2) and orders that wait (code 6). Owned by the engine.
 *
 *   the code fills struct order_request ── form ── terms ── order_plan.h: decide ── act
 *                                          7-12    15-27                  28-34     cannot fail
 *
 * A replacement meets every row as if its own old rest were gone: in R1's bounds, in R4's sums and
 * in the count of row order_count that rest is left out, without being taken out (`out`).
 *
 * Order.  The steps in this order; rows target and expected_remaining are the caller's, between
 *         form and terms. Nothing but check-on-touch has changed anything before act.
 * Units.  Prices and quantities raw, notionals micro-USDC, rates ppm. */
#ifndef ENGINE_TRADE_ORDER_REQUEST_H
#define ENGINE_TRADE_ORDER_REQUEST_H

#include "engine/state/state.h"

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
    bool waits;   /* an untriggered order (code 6): it meets the rows of *_of_wait */
    bool fires;   /* a conditional order that fires: with an IOC it goes on after makers_max */
    bool goes_on; /* one that has gone on so: its record is there */

    uint8_t reason;      /* beside a refusal by order_request_form: enum reason */
    uint8_t side;        /* enum order_side */
    uint8_t tif;         /* enum order_tif */
    bool keeps_priority; /* a replacement at its price with no more than it had (R3) */
    uint32_t market_index;
    uint32_t holding; /* HOLDING_NONE: the portfolio has nothing in the market */
    uint32_t tick;    /* in the order's own ladder */
    struct market *market;
    uint64_t quantity; /* unsigned */
    uint64_t notional;
    int64_t position;
    uint32_t passed;       /* dead orders that row slippage has passed */
    uint64_t out_quantity; /* old rest of the replaced order, 0: a placement */
    uint64_t out_price;
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

static inline bool order_request_is_market(const struct order_request *request)
{
    return order_type_is_market(request->order_type);
}

static inline bool order_request_replaces(const struct order_request *request)
{
    return request->replaced != ORDER_NONE;
}

/* True if a rest of it would enter the book. */
static inline bool order_request_may_rest(const struct order_request *request)
{
    return request->tif == ORDER_GTC || request->tif == ORDER_GTT;
}

/* The request of an order that fired and goes on; row liquidation of what is left of it. */
CC_MUST_USE enum status order_request_resume(struct engine *engine, uint32_t order,
                                             struct order_request *request);

static inline uint8_t order_request_flags(const struct order_request *request)
{
    return order_flags(request->post_only, request->reduce_only, request->stp,
                       (enum order_tif)request->tif);
}

#endif
