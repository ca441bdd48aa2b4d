#include "engine/trade/order_plan.h"

#include "base/rule.h"
#include "engine/risk/rests.h"
#include "engine/state/evidence.h"
#include "engine/trade/resting.h"

#define FEES_MAX ((INT64_C(1) << 62) - (INT64_C(1) << 52)) /* room for one command's */

struct match_taker order_plan_taker(const struct engine *engine,
                                    const struct order_request *request)
{
    uint64_t most = state_option(engine, OPTION_engine_makers_max);

    return (struct match_taker){
        .market = request->market_index,
        .portfolio = request->portfolio,
        .account = request->account,
        .position = request->position,
        .quantity = request->quantity,
        .limit_tick = book_mirror(&request->market->book, request->tick),
        .makers_most = (uint32_t)most - engine->applying.batch_makers,
        .side = request->side,
        .stp = request->stp,
        .reduce_only = request->reduce_only != 0,
    };
}

/* What is left of the order after the walk would rest. */
static bool rests(const struct order_request *request, const struct match *match)
{
    return order_request_may_rest(request) && match->stop == MATCH_BOOK;
}

static enum status check_walk(const struct order_request *request, const struct match *match)
{
    bool fok = request->tif == ORDER_FOK;
    bool ends_taker = request->stp == STP_EXPIRE_TAKER || request->stp == STP_EXPIRE_BOTH;

    if (match->self && (match->self_first || (fok && ends_taker)))
        return ROW_STATUS(self_trade);
    if (fok && match->filled != request->quantity)
        return ROW_STATUS(fok_liquidity);
    return STATUS_request_completed;
}

/* R4's taker test over the state after the walk. */
static enum status check_margin(struct engine *engine, const struct order_request *request,
                                const struct match *match)
{
    int64_t moved = request->side == ORDER_LONG ? (int64_t)match->filled : -(int64_t)match->filled;
    struct margin_change change = {
        .size_after = request->position + moved,
        .equity = match->equity,
        .rest_price = request->price,
        .side = request->side,
    };
    int64_t longs_before = request->position > 0 ? request->position : 0;
    int64_t longs_after = change.size_after > 0 ? change.size_after : 0;

    change.interest = match->interest + longs_after - longs_before;

    if (rests(request, match))
        *(request->reduce_only ? &change.rest_reduce : &change.rest_size) =
            (int64_t)match->remaining;
    if (order_request_replaces(request)) {
        bool reduced = (engine->orders.hot[request->replaced].flags & ORDER_REDUCE_ONLY) != 0;
        *(reduced ? &change.out_reduce : &change.out_size) = (int64_t)request->out_quantity;
        change.out_price = request->out_price;
    }
    if (CC_LIKELY(margin_taker_passes(engine, request->portfolio, request->market_index,
                                      request->holding, &change)))
        return STATUS_request_completed;
    if (request->tif == ORDER_FOK)
        return ROW_STATUS(fok_margin);
    return match->filled != 0 ? ROW_STATUS(margin_to_trade) : ROW_STATUS(margin_to_place);
}

/* Whether the ladder has a page for the rest. A replacement may take that which it leaves free, but
 * not carry one from within the band of the mark to a price beyond it. */
static bool ladder_fits(const struct engine *engine, const struct order_request *request)
{
    uint32_t market = request->market_index;
    enum order_side side = (enum order_side)request->side;

    if (resting_fits(engine, market, side, request->tick))
        return true;
    if (!order_request_replaces(request))
        return false;
    uint32_t left = engine->orders.hot[request->replaced].tick;
    return book_frees_page(&request->market->book, side, left) &&
           (resting_is_near(engine, market, side, request->tick) ||
            !resting_is_near(engine, market, side, left));
}

/* Ladder pages, and the bounds that only the walk sees. An order that is filled and replaced
 * without end would outgrow its sum of fills. */
static bool has_room(const struct engine *engine, const struct order_request *request,
                     const struct match *match)
{
    if (order_request_replaces(request) &&
        order_filled_notional(&engine->orders, request->replaced) > ORDER_PLAN_FILLED_MAX)
        return false;
    if (request->goes_on)
        return !match->guard;
    if (match->guard)
        return false;
    if (match->filled != 0 && (engine->fee_account > FEES_MAX || engine->fee_account < -FEES_MAX))
        return false;
    return !rests(request, match) || ladder_fits(engine, request);
}

static enum status decide(struct engine *engine, const struct order_request *request,
                          struct order_plan *plan)
{
    struct match *match = &plan->match;

    plan->taker = order_plan_taker(engine, request);
    engine->applying.makers = 0;
    if (request->keeps_priority) { /* the other side has no order at its price (I5) */
        *match = (struct match){ .remaining = request->quantity, .stop = MATCH_BOOK };
        return check_margin(engine, request, match);
    }
    if (request->post_only) {
        bool crosses = match_crosses(engine, &plan->taker, match);
        engine->applying.makers = match->makers;
        if (crosses)
            return ROW_STATUS(post_only_crosses);
    } else {
        match_walk(engine, &plan->taker, match);
        engine->applying.makers = match->makers;
    }
    enum status status = check_walk(request, match);
    if (status != STATUS_request_completed)
        return status;
    status = check_margin(engine, request, match);
    if (status != STATUS_request_completed)
        return status;
    return has_room(engine, request, match) ? STATUS_request_completed : ROW_STATUS(room);
}

enum status order_plan_decide(struct engine *engine, const struct order_request *request,
                              struct order_plan *plan)
{
    enum status status = decide(engine, request, plan);

    if (status != STATUS_request_completed)
        engine->applying.unpaid += engine->applying.makers;
    return status;
}

/* --- row completed ---------------------------------------------------------------------------- */

/* Why a taker that neither is filled nor rests was canceled. */
static uint8_t cancel_reason(const struct match *match)
{
    switch ((enum match_stop)match->stop) {
    case MATCH_SELF:
    case MATCH_BOTH:
    case MATCH_DONE: /* used up by a decrement */
        return STATUS_self_trade_prevention;
    case MATCH_REDUCED:
        return REASON_reduce_only;
    case MATCH_MAX:
        return REASON_match_limit;
    case MATCH_BOOK:
        break;
    }
    return REASON_time_in_force;
}

void order_plan_give_up(struct engine *engine, uint32_t index, uint8_t reason)
{
    struct order *order = &engine->orders.hot[index];

    order_move(order, order_filled(&engine->orders, index), ORDER_CANCELED);
    order->reason = reason;
    resting_emit_state(engine, index);
    rests_changed(engine, order->holding);
    order_release(&engine->orders, index);
}

void order_plan_act(struct engine *engine, const struct order_request *request,
                    const struct order_plan *plan, uint32_t index, uint64_t hash,
                    struct engine_result *result)
{
    struct order *order = &engine->orders.hot[index];

    match_act(engine, &plan->taker, &plan->match, index);
    INVARIANT(order->remaining == plan->match.remaining);
    if (order->remaining != 0 && rests(request, &plan->match)) {
        if (order->state == ORDER_NEW)
            order_move(order, order_filled(&engine->orders, index), ORDER_OPEN);
        if (order_request_replaces(request))
            resting_return(engine, index);
        else
            resting_insert(engine, index, hash);
        evidence_of_order(engine, result, index);
        return;
    }
    if (CC_UNLIKELY(request->fires) && order->remaining != 0 && request->tif == ORDER_IOC &&
        plan->match.stop == MATCH_MAX) {
        engine->conditionals.going = index;
        rests_changed(engine, order->holding);
        evidence_of_order(engine, result, index);
        return;
    }
    uint64_t filled = order_filled(&engine->orders, index);
    INVARIANT(order->remaining != 0 || filled != 0);
    if (order->remaining != 0) {
        order_move(order, filled, ORDER_CANCELED);
        order->reason = cancel_reason(&plan->match);
    }
    if (order_request_replaces(request))
        resting_drop(engine, index);
    resting_emit_state(engine, index);
    rests_changed(engine, order->holding);
    evidence_of_order(engine, result, index);
    order_release(&engine->orders, index);
}
