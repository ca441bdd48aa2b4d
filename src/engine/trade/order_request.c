#include "engine/trade/order_request.h"

#include "base/rule.h"
#include "engine/risk/margin.h"
#include "engine/state/share_count.h"
#include "engine/trade/excess.h"
#include "engine/trade/match.h"
#include "engine/trade/resting.h"

enum { STP_MAX = 3 };

#define SIZE_SUM_MAX (INT64_C(1) << 42) /* R1: |s| + B of a request */
#define COST_SUM_MAX (INT64_C(1) << 52) /* |c| + bn */
#define NOTIONAL_MAX (INT64_C(1) << 50)

/* --- rows up to expiry ------------------------------------------------------------------------ */

/* What the market's state lets in. In a gap nothing takes (R3); an order that waits does not. */
static enum status check_state(struct order_request *request)
{
    bool in_gap = CC_UNLIKELY(request->market->in_gap) && !request->post_only && !request->waits;

    if (in_gap && market_matches(request->market))
        request->reason = REASON_market_gap;
    switch ((enum market_state)request->market->state) {
    case MARKET_ACTIVE:
        return in_gap ? ROW_STATUS(market_post_only) : STATUS_request_completed;
    case MARKET_POST_ONLY:
        return request->post_only ? STATUS_request_completed : ROW_STATUS(market_post_only);
    case MARKET_REDUCE_ONLY:
        if (in_gap)
            return ROW_STATUS(market_post_only);
        return request->reduce_only ? STATUS_request_completed : ROW_STATUS(market_reduce_only);
    case MARKET_CANCEL_ONLY:
        return ROW_STATUS(market_cancel_only);
    case MARKET_HALTED:
        return ROW_STATUS(market_halted);
    case MARKET_CLOSED:
    case MARKET_STATE_COUNT:
        break;
    }
    return ROW_STATUS(market_closed);
}

/* Flags and time in force. */
static enum status check_flags(const struct engine *engine, struct order_request *request,
                               bool must_rest)
{
    uint64_t life_ns = state_option(engine, OPTION_limits_gtt_max_s) * MARKET_SECOND_NS;

    request->tif = request->expiry == ORDER_EXPIRY_IOC   ? ORDER_IOC
                   : request->expiry == ORDER_EXPIRY_FOK ? ORDER_FOK
                   : request->expiry == ORDER_EXPIRY_GTC ? ORDER_GTC
                                                         : ORDER_GTT;
    if (request->post_only > 1 || request->reduce_only > 1 || request->stp > STP_MAX)
        return ROW_STATUS(flags);
    if ((request->post_only || must_rest) && !order_request_may_rest(request))
        return ROW_STATUS(flags);
    if (request->tif != ORDER_GTT)
        return STATUS_request_completed;
    if (request->expiry > INT64_MAX || request->expiry > engine->t_ns + life_ns)
        return ROW_STATUS(flags);
    return request->expiry <= engine->t_ns ? ROW_STATUS(expiry) : STATUS_request_completed;
}

enum status order_request_market(struct engine *engine, struct order_request *request)
{
    request->reason = REASON_none;
    enum status status = market_of_asset(engine, request->asset_id, &request->market_index);
    if (status != STATUS_request_completed)
        return status;
    request->market = state_market(engine, request->market_index);
    if (request->pads != 0)
        return ROW_STATUS(form);
    if (CC_UNLIKELY(engine->mmps.slots.count != 0) && request->post_only == 1 && !request->waits &&
        mmp_is_frozen(engine, request->portfolio, request->market_index)) {
        request->reason = REASON_mmp_frozen;
        return ROW_STATUS(mmp_frozen);
    }
    return check_state(request);
}

enum status order_request_form(struct engine *engine, struct order_request *request, bool must_rest)
{
    enum status status = order_request_market(engine, request);

    return status != STATUS_request_completed ? status : check_flags(engine, request, must_rest);
}

enum status order_request_flags_of_wait(const struct engine *engine,
                                        const struct order_request *request, uint8_t live_tif)
{
    uint64_t life_ns = state_option(engine, OPTION_limits_gtt_max_s) * MARKET_SECOND_NS;

    if (request->post_only > 1 || request->reduce_only > 1 || request->stp > STP_MAX)
        return ROW_STATUS(flags);
    if (live_tif > ORDER_GTC || (order_request_is_market(request) && live_tif != ORDER_IOC) ||
        (request->post_only && live_tif != ORDER_GTC))
        return ROW_STATUS(flags);
    if (request->expiry == ORDER_EXPIRY_IOC || request->expiry == ORDER_EXPIRY_FOK)
        return ROW_STATUS(flags);
    if (request->expiry == ORDER_EXPIRY_GTC)
        return STATUS_request_completed;
    if (request->expiry > INT64_MAX || request->expiry > engine->t_ns + life_ns)
        return ROW_STATUS(flags);
    return request->expiry <= engine->t_ns ? ROW_STATUS(expiry_of_conditional)
                                           : STATUS_request_completed;
}

/* --- rows from size_zero to liquidation ------------------------------------------------------- */

static bool is_multiple(uint64_t value, uint64_t unit)
{
    return unit == 1 || value % unit == 0;
}

/* W8: a record that is made for the order. One that waits makes none. */
static bool holding_has_room(const struct engine *engine, const struct order_request *request)
{
    return share_leaves(engine, engine->portfolios.rows[request->portfolio].account,
                        SHARE_positions, 1);
}

/* R1: |s| + B <= 2^42 and 64 markets, with this order, reduce-only ones included. */
static bool size_fits(const struct engine *engine, const struct order_request *request)
{
    const struct holding *holding = &engine->holdings.rows[request->holding];

    if (request->holding == HOLDING_NONE ||
        (holding->size == 0 && holding->order_head == ORDER_NONE)) {
        if (holding_over_markets(engine, request->portfolio, request->market_index))
            return false;
        if (request->holding == HOLDING_NONE)
            return request->waits || holding_has_room(engine, request);
    }
    const struct holding_side *side = &holding->sides[request->side];
    uint64_t sum = margin_abs(holding->size) + (uint64_t)(side->size + side->reduce_size);
    return sum - request->out_quantity + request->quantity <= (uint64_t)SIZE_SUM_MAX;
}

/* R1: a notional of 2^50, |c| + bn <= 2^52. */
static bool notional_fits(const struct engine *engine, const struct order_request *request)
{
    const struct holding *holding = &engine->holdings.rows[request->holding];

    if (request->notional > (uint64_t)NOTIONAL_MAX)
        return false;
    if (request->holding == HOLDING_NONE)
        return true;
    const struct holding_side *side = &holding->sides[request->side];
    uint64_t sum = margin_abs(holding->cost) + (uint64_t)(side->notional + side->reduce_notional);
    return sum - request->out_quantity * request->out_price + request->notional <=
           (uint64_t)COST_SUM_MAX;
}

/* A replacement stays on its side. */
static enum status check_size(struct engine *engine, struct order_request *request)
{
    const struct market_record *record = &request->market->record;

    request->side = request->signed_quantity < 0 ? ORDER_SHORT : ORDER_LONG;
    request->quantity = request->side == ORDER_SHORT ? -(uint64_t)request->signed_quantity
                                                     : (uint64_t)request->signed_quantity;
    if (request->quantity == 0)
        return ROW_STATUS(size_zero);
    if (request->quantity < record->min_size || request->quantity > record->max_order_size ||
        request->quantity > (uint64_t)MARKET_RAW_MAX ||
        !is_multiple(request->quantity, record->lot_size))
        return ROW_STATUS(size);
    request->out_quantity = 0;
    request->out_price = 0;
    if (order_request_replaces(request)) {
        const struct order *old = &engine->orders.hot[request->replaced];
        if (old->side != request->side)
            return ROW_STATUS(size);
        request->out_quantity = old->remaining;
        request->out_price = resting_price(engine, old);
    }
    request->holding = holding_find(engine, request->portfolio, request->market_index);
    return size_fits(engine, request) ? STATUS_request_completed : ROW_STATUS(size);
}

static uint64_t slippage_ppm(const struct order_request *request)
{
    return request->slippage_ppm != 0 ? request->slippage_ppm
                                      : request->market->record.max_slippage_ppm;
}

/* The last price that a market order may trade at within this distance of the mark: to the tick
 * inside, at most the market's highest; 0: none. */
static uint64_t price_within(const struct order_request *request, uint64_t ppm)
{
    const struct market_record *record = &request->market->record;
    uint64_t tick = record->tick_size;
    uint64_t highest = record->max_price - record->max_price % tick;
    uint128 bound;

    if (request->side == ORDER_LONG) {
        bound = (uint128)request->market->mark * (MONEY_PPM + ppm) / MONEY_PPM;
        bound -= bound % tick;
    } else {
        uint64_t part = ppm < MONEY_PPM ? MONEY_PPM - ppm : 0;
        bound = ((uint128)request->market->mark * part + MONEY_PPM - 1) / MONEY_PPM;
        bound = (bound + tick - 1) / tick * tick;
    }
    return bound > highest ? highest : (uint64_t)bound;
}

/* The limit of a market order: mark * (1 +- slippage), at least one tick. The parameter may still
 * be too large (row slippage). */
static void set_slippage_limit(struct order_request *request)
{
    uint64_t tick = request->market->record.tick_size;
    uint64_t price = price_within(request, slippage_ppm(request));

    request->price = price < tick ? tick : price;
}

/* Row price_band is for limit kinds: the walk of a market order stops at the band (R3). */
static void stop_at_band(struct order_request *request)
{
    uint64_t last = price_within(request, request->market->record.price_band_ppm);

    if (request->side == ORDER_LONG ? last < request->price : last > request->price)
        request->price = last;
}

/* A reduce-only order turns into another kind while the market's cancellation list is worked off
 * that spared it: where it rests the list would cover it, so it is entered again. */
static bool joins_list(const struct engine *engine, const struct order_request *request)
{
    const struct order *old = &engine->orders.hot[request->replaced];

    return !request->reduce_only && (old->flags & ORDER_REDUCE_ONLY) != 0 &&
           old->stamp < request->market->cancel_sequence;
}

/* The price by itself, and R1's bounds of notional. */
static enum status check_price(struct engine *engine, struct order_request *request)
{
    const struct market_record *record = &request->market->record;

    if (order_request_is_market(request)) {
        if (request->market->mark == 0)
            return STATUS_request_completed; /* row mark */
        set_slippage_limit(request);
    } else if (request->price == 0 && request->waits) {
        return STATUS_request_completed; /* row trigger */
    } else if (request->price == 0 || request->price > record->max_price ||
               !is_multiple(request->price, record->tick_size)) {
        return ROW_STATUS(price);
    }
    uint128 notional = (uint128)request->price * request->quantity;
    request->notional = notional > UINT64_MAX ? UINT64_MAX : (uint64_t)notional;
    if (!notional_fits(engine, request))
        return ROW_STATUS(notional);
    if (order_request_is_market(request))
        stop_at_band(request);
    uint64_t ticks = record->tick_size == 1 ? request->price : request->price / record->tick_size;
    request->tick =
        book_tick(&request->market->book, (enum order_side)request->side, (uint32_t)ticks);
    request->keeps_priority =
        order_request_replaces(request) && request->price == request->out_price &&
        request->quantity <= request->out_quantity && !joins_list(engine, request);
    return STATUS_request_completed;
}

/* Row mark: it was computed, and the market is not frozen, unless the order can only reduce. */
static bool mark_stands(const struct engine *engine, const struct order_request *request)
{
    if (request->market->mark == 0)
        return false;
    return request->reduce_only || !market_is_frozen(engine, request->market_index);
}

/* For limit kinds: buy price * 1e6 <= mark * (1e6 + band), sell price * 1e6 >= mark * (1e6 -
 * band). */
static bool within_band(const struct order_request *request)
{
    uint64_t band = request->market->record.price_band_ppm;
    uint64_t price = request->price * MONEY_PPM;

    return request->side == ORDER_LONG ? price <= request->market->mark * (MONEY_PPM + band)
                                       : price >= request->market->mark * (MONEY_PPM - band);
}

/* Limit kinds at their price, market kinds at the mark. */
static bool is_too_small(const struct order_request *request)
{
    uint128 notional = order_request_is_market(request)
                           ? (uint128)request->market->mark * request->quantity
                           : (uint128)request->notional;
    return notional < request->market->record.min_notional;
}

/* For market kinds. An empty side is no reason: the order is canceled (row completed). */
static bool exceeds_slippage(struct engine *engine, struct order_request *request)
{
    enum order_side other = book_opposite((enum order_side)request->side);
    uint64_t ppm = slippage_ppm(request), mark = request->market->mark;

    if (ppm > request->market->record.max_slippage_ppm)
        return true;
    uint64_t best = match_best_live(engine, request->market_index, other, &request->passed);
    if (best == 0)
        return false;
    return request->side == ORDER_LONG ? best * MONEY_PPM > mark * (MONEY_PPM + ppm)
                                       : best * MONEY_PPM < mark * (MONEY_PPM - ppm);
}

/* A reduce-only order opposes a position; a fill-or-kill fits in it. */
static bool may_reduce(const struct order_request *request)
{
    bool opposes = request->side == ORDER_LONG ? request->position < 0 : request->position > 0;

    return opposes &&
           (request->tif != ORDER_FOK || request->quantity <= margin_abs(request->position));
}

/* It could rest beside so many reduce-only orders as may exceed the position, which they take up
 * already. An old rest is left out. */
static bool reduces_too_often(const struct engine *engine, const struct order_request *request)
{
    const struct holding *holding = &engine->holdings.rows[request->holding];
    const struct holding_side *side = &holding->sides[request->side];
    uint32_t count = side->order_count - side->margin_count;
    uint32_t enough = excess_orders(engine, holding);
    int64_t size = side->reduce_size;

    if (CC_LIKELY(count < enough) || !order_request_may_rest(request))
        return false;
    if (order_request_replaces(request) &&
        (engine->orders.hot[request->replaced].flags & ORDER_REDUCE_ONLY) != 0) {
        count--;
        size -= (int64_t)request->out_quantity;
    }
    return count >= enough && size >= (int64_t)margin_abs(request->position);
}

/* What a portfolio in liquidation still may place. An order that waits has no position to
 * be held against. */
static bool reduces(const struct order_request *request)
{
    bool opposes = request->side == ORDER_LONG ? request->position < 0 : request->position > 0;

    return request->reduce_only ||
           (!request->waits && opposes && request->quantity <= margin_abs(request->position));
}

/* Under water, and while it is being deleveraged, nothing at all may enter (R4, R7). */
static bool is_liquidated(struct engine *engine, const struct order_request *request)
{
    const struct portfolio *portfolio = state_portfolio(engine, request->portfolio);

    if (CC_UNLIKELY(margin_equity(portfolio) < 0))
        return true;
    return CC_UNLIKELY(portfolio->status == PORTFOLIO_IN_LIQUIDATION) &&
           (!reduces(request) || liquidation_step_is_running(engine, request->portfolio));
}

/* Row order_count, of the portfolio, of its account and of the account's class. */
static bool rests_too_often(const struct engine *engine, const struct order_request *request)
{
    const struct portfolio *portfolio = &engine->portfolios.rows[request->portfolio];
    const struct account *owner = &engine->accounts.rows[portfolio->account];
    uint32_t of_account = owner->counts[SHARE_orders];
    uint32_t less = order_request_replaces(request) ? 1 : 0;

    if (portfolio->open_order_count - less >= state_option(engine, OPTION_limits_open_orders) ||
        of_account - less >= state_option(engine, OPTION_limits_account_open_orders))
        return true;
    return less == 0 && !share_leaves(engine, portfolio->account, SHARE_orders, 1);
}

/* Row order_count of every order: it needs a row while it is executed, those of an atomic batch all
 * at once. */
static bool table_is_full(const struct engine *engine, const struct order_request *request)
{
    uint32_t wanted = engine->applying.batch_orders != 0 ? engine->applying.batch_orders : 1;

    return !order_request_replaces(request) && engine->orders.limit - engine->orders.count < wanted;
}

/* Rows mark to liquidation. */
static enum status check_against_state(struct engine *engine, struct order_request *request)
{
    const struct holding *holding = &engine->holdings.rows[request->holding];
    const struct portfolio *portfolio = state_portfolio(engine, request->portfolio);
    bool reduce_only = request->reduce_only != 0;

    request->position = request->holding == HOLDING_NONE ? 0 : holding->size;
    if (!mark_stands(engine, request))
        return ROW_STATUS(mark);
    if (!order_request_is_market(request) && !within_band(request))
        return ROW_STATUS(price_band);
    if (is_too_small(request) &&
        !(reduce_only && request->quantity >= margin_abs(request->position)))
        return ROW_STATUS(min_notional);
    if (order_request_is_market(request) && exceeds_slippage(engine, request))
        return ROW_STATUS(slippage);
    if (reduce_only && (!may_reduce(request) || reduces_too_often(engine, request)))
        return ROW_STATUS(reduce_only);
    if (table_is_full(engine, request) ||
        (order_request_may_rest(request) && portfolio->account != 0 &&
         rests_too_often(engine, request)))
        return ROW_STATUS(order_count);
    return is_liquidated(engine, request) ? ROW_STATUS(liquidation) : STATUS_request_completed;
}

enum status order_request_resume(struct engine *engine, uint32_t index,
                                 struct order_request *request)
{
    const struct order *order = &engine->orders.hot[index];
    const struct holding *holding = state_holding(engine, order->holding);

    *request = (struct order_request){
        .price = resting_price(engine, order),
        .portfolio = holding->portfolio,
        .account = order->account,
        .replaced = ORDER_NONE,
        .order_type = order->order_type,
        .reduce_only = (order->flags & ORDER_REDUCE_ONLY) != 0,
        .stp = (order->flags >> ORDER_STP_SHIFT) & 3u,
        .fires = true,
        .goes_on = true,
        .side = order->side,
        .tif = ORDER_IOC,
        .market_index = order->market,
        .holding = order->holding,
        .tick = order->tick,
        .market = state_market(engine, order->market),
        .quantity = order->remaining,
        .position = holding->size,
    };
    return is_liquidated(engine, request) ? ROW_STATUS(liquidation) : STATUS_request_completed;
}

enum status order_request_amount_of_wait(struct engine *engine, struct order_request *request)
{
    enum status status = check_size(engine, request);

    return status != STATUS_request_completed ? status : check_price(engine, request);
}

enum status order_request_state_of_wait(const struct engine *engine,
                                        const struct order_request *request)
{
    if (!mark_stands(engine, request))
        return ROW_STATUS(mark);
    if (!request->reduce_only && is_too_small(request))
        return ROW_STATUS(min_notional);
    return request->slippage_ppm > request->market->record.max_slippage_ppm
               ? ROW_STATUS(slippage)
               : STATUS_request_completed;
}

/* They need no margin, and all accounts share one table. */
static bool waits_too_often(const struct engine *engine, const struct portfolio *portfolio)
{
    return portfolio->conditional_count >= state_option(engine, OPTION_limits_conditional_orders) ||
           !share_fits(engine, portfolio->account, SHARE_conditionals, 1);
}

enum status order_request_count_of_wait(struct engine *engine, const struct order_request *request)
{
    if (waits_too_often(engine, state_portfolio(engine, request->portfolio)))
        return ROW_STATUS(conditional_count);
    return is_liquidated(engine, request) ? ROW_STATUS(liquidation) : STATUS_request_completed;
}

enum status order_request_terms(struct engine *engine, struct order_request *request)
{
    request->passed = 0;
    enum status status = check_size(engine, request);

    if (status != STATUS_request_completed)
        return status;
    status = check_price(engine, request);
    return status != STATUS_request_completed ? status : check_against_state(engine, request);
}
