#include "engine/place.h"

#include "engine/margin.h"
#include "engine/mark.h"
#include "engine/match.h"
#include "engine/resting.h"

enum {
    PLACE_ASSET_ALL = 0xFFFF,
    PLACE_STP_MAX = 3,
    PLACE_ORDER_TYPE_LIMIT = 1,
};

enum { PLACE_EXPIRY_IOC = 0, PLACE_EXPIRY_FOK = 1 };
#define PLACE_EXPIRY_GTC UINT64_MAX

#define PLACE_SIZE_MAX     (INT64_C(1) << 42) /* R1: |s| + B of an entry */
#define PLACE_COST_MAX     (INT64_C(1) << 52) /* |c| + bn */
#define PLACE_NOTIONAL_MAX (INT64_C(1) << 50)
#define PLACE_FEES_MAX     ((INT64_C(1) << 62) - (INT64_C(1) << 52)) /* room for one command's */

/* The body of code 0 (W3). */
struct place_body {
    uint64_t account_id;
    uint32_t subaccount_index;
    uint32_t portfolio_index;
    uint64_t price;
    int64_t quantity;
    uint64_t expiry;
    uint8_t post_only;
    uint8_t reduce_only;
    uint8_t stp;
    uint8_t pad;
    uint16_t asset_id;
    uint16_t pad2;
};

static_assert(sizeof(struct place_body) == 48, "W3: PlaceLimitOrder");

/* A placement on its way through the rows. */
struct place {
    struct place_body body;
    uint32_t market_index;
    uint32_t portfolio;
    uint32_t holding; /* HOLDING_NONE: the portfolio has nothing in the market */
    struct market *market;
    uint64_t quantity; /* unsigned */
    uint64_t notional;
    int64_t position;
    uint32_t tick; /* in the order's own ladder */
    enum order_side side;
    enum order_tif tif;
    bool is_told; /* a refusal is kept as a REJECTED order: row 13 and later */
};

static bool may_rest(const struct place *place)
{
    return place->tif == ORDER_GTC || place->tif == ORDER_GTT;
}

/* Row 10: what the market's state lets in. */
static enum status check_state(const struct place *place)
{
    switch ((enum market_state)place->market->state) {
    case MARKET_ACTIVE:
        return STATUS_request_completed;
    case MARKET_POST_ONLY:
        return place->body.post_only ? STATUS_request_completed : STATUS_rejected_market_post_only;
    case MARKET_REDUCE_ONLY:
        return place->body.reduce_only ? STATUS_request_completed
                                       : STATUS_rejected_market_reduce_only;
    case MARKET_CANCEL_ONLY:
        return STATUS_rejected_market_cancel_only;
    case MARKET_HALTED:
        return STATUS_rejected_market_halted;
    case MARKET_CLOSED:
    case MARKET_STATE_COUNT:
        break;
    }
    return STATUS_market_closed;
}

/* Rows 11 and 12: flags and time in force. */
static enum status check_flags(const struct engine *engine, struct place *place)
{
    const struct place_body *body = &place->body;
    uint64_t life_ns = state_option(engine, OPTION_limits_gtt_max_s) * MARK_SECOND_NS;

    place->tif = body->expiry == PLACE_EXPIRY_IOC   ? ORDER_IOC
                 : body->expiry == PLACE_EXPIRY_FOK ? ORDER_FOK
                 : body->expiry == PLACE_EXPIRY_GTC ? ORDER_GTC
                                                    : ORDER_GTT;
    if (body->post_only > 1 || body->reduce_only > 1 || body->stp > PLACE_STP_MAX)
        return STATUS_rejected_invalid_order_flags;
    if (body->post_only && !may_rest(place))
        return STATUS_rejected_invalid_order_flags;
    if (place->tif != ORDER_GTT)
        return STATUS_request_completed;
    if (body->expiry > INT64_MAX || body->expiry > engine->t_ns + life_ns)
        return STATUS_rejected_invalid_order_flags;
    return body->expiry <= engine->t_ns ? STATUS_order_rejected_expired : STATUS_request_completed;
}

/* Rows 7 to 12, in order; fills what is known of market and order. */
static enum status check_form(struct engine *engine, const struct command *command,
                              struct place *place)
{
    memcpy(&place->body, command_body(command), sizeof place->body);
    place->portfolio = engine->turn.portfolio;
    if (place->body.asset_id == 0 || place->body.asset_id == PLACE_ASSET_ALL)
        return STATUS_order_rejected_invalid_market;
    place->market_index = market_find(engine, place->body.asset_id);
    if (place->market_index == MARKET_NONE)
        return STATUS_rejected_market_not_found;
    place->market = state_market(engine, place->market_index);
    if ((place->body.pad | place->body.pad2) != 0)
        return STATUS_order_rejected_invalid;
    enum status status = check_state(place);
    return status != STATUS_request_completed ? status : check_flags(engine, place);
}

static bool is_multiple(uint64_t value, uint64_t unit)
{
    return unit == 1 || value % unit == 0;
}

/* R1: |s| + B <= 2^42 and |c| + bn <= 2^52 with this order, reduce-only ones included. */
static bool size_fits(const struct engine *engine, const struct place *place)
{
    const struct holding *holding = &engine->holdings.rows[place->holding];

    if (place->holding == HOLDING_NONE)
        return !holding_over_markets(engine, place->portfolio, place->market_index);
    const struct holding_side *side = &holding->sides[place->side];
    uint64_t sum = margin_abs(holding->size) + (uint64_t)(side->size + side->reduce_size);
    return sum + place->quantity <= (uint64_t)PLACE_SIZE_MAX;
}

static bool notional_fits(const struct engine *engine, const struct place *place)
{
    const struct holding *holding = &engine->holdings.rows[place->holding];

    if (place->notional > (uint64_t)PLACE_NOTIONAL_MAX)
        return false;
    if (place->holding == HOLDING_NONE)
        return true;
    const struct holding_side *side = &holding->sides[place->side];
    uint64_t sum = margin_abs(holding->cost) + (uint64_t)(side->notional + side->reduce_notional);
    return sum + place->notional <= (uint64_t)PLACE_COST_MAX;
}

/* Rows 15, 16, 17 and 17b: quantity and price by themselves. */
static enum status check_size_and_price(struct engine *engine, struct place *place)
{
    const struct market_record *record = &place->market->record;
    uint64_t price = place->body.price;

    place->side = place->body.quantity < 0 ? ORDER_SHORT : ORDER_LONG;
    place->quantity = place->side == ORDER_SHORT ? -(uint64_t)place->body.quantity
                                                 : (uint64_t)place->body.quantity;
    if (place->quantity == 0)
        return STATUS_rejected_size_zero;
    if (place->quantity < record->min_size || place->quantity > record->max_order_size ||
        place->quantity > (uint64_t)MARKET_RAW_MAX ||
        !is_multiple(place->quantity, record->lot_size))
        return STATUS_rejected_invalid_size;
    place->holding = holding_find(engine, place->portfolio, place->market_index);
    if (!size_fits(engine, place))
        return STATUS_rejected_invalid_size;
    if (price == 0 || price > record->max_price || !is_multiple(price, record->tick_size))
        return STATUS_rejected_invalid_price;
    uint128 notional = (uint128)price * place->quantity;
    place->notional = notional > UINT64_MAX ? UINT64_MAX : (uint64_t)notional;
    if (!notional_fits(engine, place))
        return STATUS_rejected_invalid_size;
    uint64_t ticks = record->tick_size == 1 ? price : price / record->tick_size;
    place->tick = book_tick(&place->market->book, place->side, (uint32_t)ticks);
    return STATUS_request_completed;
}

/* Row 19: the marks that this portfolio's margin rests on. */
static bool marks_stand(const struct engine *engine, const struct place *place)
{
    uint32_t at = engine->portfolios.rows[place->portfolio].holding_head;

    if (place->market->mark == 0)
        return false;
    if (place->body.reduce_only)
        return true;
    if (!mark_is_valid(engine, place->market_index))
        return false;
    for (; at != HOLDING_NONE; at = engine->holdings.rows[at].next) {
        uint32_t market = engine->holdings.rows[at].market;
        if (market == place->market_index)
            continue;
        if (engine->markets.rows[market].state == MARKET_HALTED || !mark_is_valid(engine, market))
            return false;
    }
    return true;
}

/* Row 20: buy price * 1e6 <= mark * (1e6 + band), sell price * 1e6 >= mark * (1e6 - band). */
static bool within_band(const struct place *place)
{
    uint64_t band = place->market->record.price_band_ppm;
    uint64_t price = place->body.price * MONEY_PPM;

    return place->side == ORDER_LONG ? price <= place->market->mark * (MONEY_PPM + band)
                                     : price >= place->market->mark * (MONEY_PPM - band);
}

/* Row 24: a reduce-only order opposes a position; a fill-or-kill fits in it. */
static bool may_reduce(const struct place *place)
{
    bool opposes = place->side == ORDER_LONG ? place->position < 0 : place->position > 0;

    return opposes && (place->tif != ORDER_FOK || place->quantity <= margin_abs(place->position));
}

/* Rows 19 to 26. Rows 22, 23 and 25 are of market and conditional kinds; row 27 has no producer. */
static enum status check_against_state(struct engine *engine, struct place *place)
{
    const struct holding *holding = &engine->holdings.rows[place->holding];
    const struct portfolio *portfolio = state_portfolio(engine, place->portfolio);
    bool reduce_only = place->body.reduce_only != 0;

    place->position = place->holding == HOLDING_NONE ? 0 : holding->size;
    if (!marks_stand(engine, place))
        return STATUS_rejected_mark_price_zero;
    if (!within_band(place))
        return STATUS_rejected_invalid_price;
    if (place->notional < place->market->record.min_notional && !reduce_only)
        return STATUS_rejected_invalid_size;
    if (reduce_only && !may_reduce(place))
        return STATUS_invalid_reduce_only_order;
    if (may_rest(place) && portfolio->account != 0 &&
        portfolio->open_order_count >= state_option(engine, OPTION_limits_open_orders))
        return STATUS_rejected_max_open_orders_exceeded;
    return STATUS_request_completed;
}

/* What is left of the order after the walk would rest. */
static bool rests(const struct place *place, const struct match *match)
{
    return may_rest(place) && match->stop == MATCH_BOOK;
}

/* Rows 29 and 30. */
static enum status check_walk(const struct place *place, const struct match *match)
{
    bool fok = place->tif == ORDER_FOK;
    bool ends_taker = place->body.stp == STP_EXPIRE_TAKER || place->body.stp == STP_EXPIRE_BOTH;

    if (match->self && (match->self_first || (fok && ends_taker)))
        return STATUS_self_trade_prevention;
    if (fok && match->filled != place->quantity)
        return STATUS_rejected_f_o_k_not_fully_filled_low_liquidity;
    return STATUS_request_completed;
}

/* Rows 31 to 33: R4's taker test over the state after the walk. */
static enum status check_margin(struct engine *engine, const struct place *place,
                                const struct match *match)
{
    int64_t moved = place->side == ORDER_LONG ? (int64_t)match->filled : -(int64_t)match->filled;
    struct margin_change change = {
        .size_after = place->position + moved,
        .equity = match->equity,
        .rest_price = place->body.price,
        .side = (uint8_t)place->side,
    };

    if (rests(place, match) && !place->body.reduce_only)
        change.rest_size = (int64_t)match->remaining;
    if (CC_LIKELY(margin_taker_passes(engine, place->portfolio, place->market_index, place->holding,
                                      &change)))
        return STATUS_request_completed;
    if (place->tif == ORDER_FOK)
        return STATUS_rejected_f_o_k_not_fully_filled_insufficient_margin;
    return match->filled != 0 ? STATUS_insufficient_margin_to_trade
                              : STATUS_insufficient_margin_to_place;
}

/* Row 34: tables and the bounds that only the inside sees. */
static bool has_room(const struct engine *engine, const struct place *place,
                     const struct match *match)
{
    if (match->guard || engine->orders.count >= engine->orders.limit)
        return false;
    if (match->filled != 0 &&
        (engine->fee_account > PLACE_FEES_MAX || engine->fee_account < -PLACE_FEES_MAX))
        return false;
    if (place->holding == HOLDING_NONE && engine->holdings.count >= engine->holdings.limit)
        return false;
    return !rests(place, match) ||
           resting_fits(engine, place->market_index, place->side, place->tick);
}

/* The order's record, its holding made when there was none. */
static uint32_t take_order(struct engine *engine, const struct command *command,
                           const struct place *place)
{
    uint32_t index = order_take(&engine->orders);
    struct order *order = &engine->orders.hot[index];
    struct order_cold *cold = &engine->orders.cold[index];

    INVARIANT(index != ORDER_NONE);
    memcpy(order->id, command_request_id(command), sizeof order->id);
    order->tick = place->tick;
    order->remaining = place->quantity;
    order->sequence = engine->sequence;
    order->holding = place->holding != HOLDING_NONE
                         ? place->holding
                         : holding_get(engine, place->portfolio, place->market_index);
    order->market = (uint16_t)place->market_index;
    order->side = (uint8_t)place->side;
    order->flags =
        order_flags(place->body.post_only, place->body.reduce_only, place->body.stp, place->tif);
    order->account = engine->turn.account;
    cold->expiry_ns = place->body.expiry;
    cold->placed_ns = engine->t_ns;
    cold->updated_ns = engine->t_ns;
    cold->placed_sequence = engine->sequence;
    cold->order_type = PLACE_ORDER_TYPE_LIMIT;
    return index;
}

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

/* After the execution: filled, resting or canceled. */
static void end_taker(struct engine *engine, const struct command *command,
                      const struct place *place, const struct match *match, uint32_t index)
{
    struct order *order = &engine->orders.hot[index];
    struct order_cold *cold = &engine->orders.cold[index];

    INVARIANT(order->remaining == match->remaining);
    if (order->remaining != 0 && rests(place, match)) {
        if (cold->filled == 0)
            order_move(order, cold, ORDER_OPEN);
        resting_insert(engine, index, command->request_hash);
        return;
    }
    INVARIANT(order->remaining != 0 || cold->filled != 0);
    if (order->remaining != 0) {
        order_move(order, cold, ORDER_CANCELED);
        cold->reason = cancel_reason(match);
    }
    resting_tell_state(engine, index);
    risk_changed(engine, order->holding);
    order_release(&engine->orders, index);
}

/* Rows 28 to 35. */
static enum status match_and_act(struct engine *engine, const struct command *command,
                                 struct place *place)
{
    struct match match;
    struct match_taker taker = {
        .market = place->market_index,
        .portfolio = place->portfolio,
        .account = engine->turn.account,
        .position = place->position,
        .quantity = place->quantity,
        .limit_tick = book_mirror(&place->market->book, place->tick),
        .side = (uint8_t)place->side,
        .stp = place->body.stp,
        .reduce_only = place->body.reduce_only != 0,
    };

    if (place->body.post_only) {
        if (match_crosses(engine, &taker, &match))
            return STATUS_rejected_post_only_would_cross_book;
    } else {
        match_walk(engine, &taker, &match);
    }
    enum status status = check_walk(place, &match);
    if (status != STATUS_request_completed)
        return status;
    status = check_margin(engine, place, &match);
    if (status != STATUS_request_completed)
        return status;
    if (!has_room(engine, place, &match))
        return STATUS_order_rejected_internal;
    uint32_t order = take_order(engine, command, place);
    match_act(engine, &taker, &match, order);
    end_taker(engine, command, place, &match, order);
    return STATUS_request_completed;
}

static enum status run_rows(struct engine *engine, const struct command *command,
                            struct place *place)
{
    enum status status = check_form(engine, command, place);

    if (status != STATUS_request_completed)
        return status;
    place->is_told = true;
    status = check_size_and_price(engine, place);
    if (status != STATUS_request_completed)
        return status;
    status = check_against_state(engine, place);
    if (status != STATUS_request_completed)
        return status;
    return match_and_act(engine, command, place);
}

/* 2101 of a placement that was refused at row 13 or later: there is no record (R3). */
static void tell_refused(struct engine *engine, const struct command *command,
                         const struct place *place, enum status status)
{
    struct effect_order_state body = {
        .remaining = place->quantity,
        .price = place->body.price,
        .status = ORDER_REJECTED,
        .reason = (uint8_t)status,
        .side = (uint8_t)place->side,
        .order_type = PLACE_ORDER_TYPE_LIMIT,
        .asset_id = place->body.asset_id,
    };

    memcpy(body.order_id, command_request_id(command), sizeof body.order_id);
    effects_emit(engine, EFFECT_order_state, EFFECT_NO_RECORD, place->body.asset_id, &body);
}

enum status place_limit(struct engine *engine, const struct command *command,
                        struct engine_result *result)
{
    struct place place;

    (void)result;
    place.is_told = false;
    enum status status = run_rows(engine, command, &place);
    if (status != STATUS_request_completed && place.is_told)
        tell_refused(engine, command, &place, status);
    return status;
}
