#include "engine/trade/entry.h"

#include "base/rule.h"
#include "engine/risk/margin.h"
#include "engine/state/evidence.h"
#include "engine/trade/resting.h"

enum { ENTRY_STP_MAX = 3 };

#define ENTRY_SIZE_MAX     (INT64_C(1) << 42) /* R1: |s| + B of an entry */
#define ENTRY_COST_MAX     (INT64_C(1) << 52) /* |c| + bn */
#define ENTRY_NOTIONAL_MAX (INT64_C(1) << 50)
#define ENTRY_FEES_MAX     ((INT64_C(1) << 62) - (INT64_C(1) << 52)) /* room for one command's */

static bool is_market(const struct entry *entry)
{
    return order_type_is_market(entry->order_type);
}

static bool replaces(const struct entry *entry)
{
    return entry->replaced != ORDER_NONE;
}

static bool may_rest(const struct entry *entry)
{
    return entry->tif == ORDER_GTC || entry->tif == ORDER_GTT;
}

/* --- rows up to expiry ------------------------------------------------------------------------ */

/* What the market's state lets in. */
static enum status check_state(const struct entry *entry)
{
    switch ((enum market_state)entry->market->state) {
    case MARKET_ACTIVE:
        return STATUS_request_completed;
    case MARKET_POST_ONLY:
        return entry->post_only ? STATUS_request_completed : ROW_STATUS(market_post_only);
    case MARKET_REDUCE_ONLY:
        return entry->reduce_only ? STATUS_request_completed : ROW_STATUS(market_reduce_only);
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
static enum status check_flags(const struct engine *engine, struct entry *entry, bool must_rest)
{
    uint64_t life_ns = state_option(engine, OPTION_limits_gtt_max_s) * MARKET_SECOND_NS;

    entry->tif = entry->expiry == ORDER_EXPIRY_IOC   ? ORDER_IOC
                 : entry->expiry == ORDER_EXPIRY_FOK ? ORDER_FOK
                 : entry->expiry == ORDER_EXPIRY_GTC ? ORDER_GTC
                                                     : ORDER_GTT;
    if (entry->post_only > 1 || entry->reduce_only > 1 || entry->stp > ENTRY_STP_MAX)
        return ROW_STATUS(flags);
    if ((entry->post_only || must_rest) && !may_rest(entry))
        return ROW_STATUS(flags);
    if (entry->tif != ORDER_GTT)
        return STATUS_request_completed;
    if (entry->expiry > INT64_MAX || entry->expiry > engine->t_ns + life_ns)
        return ROW_STATUS(flags);
    return entry->expiry <= engine->t_ns ? ROW_STATUS(expiry) : STATUS_request_completed;
}

enum status entry_market(struct engine *engine, struct entry *entry)
{
    entry->reason = REASON_none;
    enum status status = market_of_asset(engine, entry->asset_id, &entry->market_index);
    if (status != STATUS_request_completed)
        return status;
    entry->market = state_market(engine, entry->market_index);
    if (entry->pads != 0)
        return ROW_STATUS(form);
    if (CC_UNLIKELY(engine->mmps.count != 0) && entry->post_only == 1 && !entry->waits &&
        mmp_is_frozen(engine, entry->portfolio, entry->market_index)) {
        entry->reason = REASON_mmp_frozen;
        return ROW_STATUS(mmp_frozen);
    }
    return check_state(entry);
}

enum status entry_form(struct engine *engine, struct entry *entry, bool must_rest)
{
    enum status status = entry_market(engine, entry);

    return status != STATUS_request_completed ? status : check_flags(engine, entry, must_rest);
}

enum status entry_flags_of_wait(const struct engine *engine, const struct entry *entry,
                                uint8_t live_tif)
{
    uint64_t life_ns = state_option(engine, OPTION_limits_gtt_max_s) * MARKET_SECOND_NS;

    if (entry->post_only > 1 || entry->reduce_only > 1 || entry->stp > ENTRY_STP_MAX)
        return ROW_STATUS(flags);
    if (live_tif > ORDER_GTC || (is_market(entry) && live_tif != ORDER_IOC) ||
        (entry->post_only && live_tif != ORDER_GTC))
        return ROW_STATUS(flags);
    if (entry->expiry == ORDER_EXPIRY_IOC || entry->expiry == ORDER_EXPIRY_FOK)
        return ROW_STATUS(flags);
    if (entry->expiry == ORDER_EXPIRY_GTC)
        return STATUS_request_completed;
    if (entry->expiry > INT64_MAX || entry->expiry > engine->t_ns + life_ns)
        return ROW_STATUS(flags);
    return entry->expiry <= engine->t_ns ? ROW_STATUS(expiry_of_conditional)
                                         : STATUS_request_completed;
}

/* --- rows from size_zero to liquidation ------------------------------------------------------- */

static bool is_multiple(uint64_t value, uint64_t unit)
{
    return unit == 1 || value % unit == 0;
}

/* R1: |s| + B <= 2^42 and 64 markets, with this order, reduce-only ones included. */
static bool size_fits(const struct engine *engine, const struct entry *entry)
{
    const struct holding *holding = &engine->holdings.rows[entry->holding];

    if (entry->holding == HOLDING_NONE ||
        (holding->size == 0 && holding->order_head == ORDER_NONE)) {
        if (holding_over_markets(engine, entry->portfolio, entry->market_index))
            return false;
        if (entry->holding == HOLDING_NONE)
            return true;
    }
    const struct holding_side *side = &holding->sides[entry->side];
    uint64_t sum = margin_abs(holding->size) + (uint64_t)(side->size + side->reduce_size);
    return sum - entry->out_quantity + entry->quantity <= (uint64_t)ENTRY_SIZE_MAX;
}

/* R1: a notional of 2^50, |c| + bn <= 2^52. */
static bool notional_fits(const struct engine *engine, const struct entry *entry)
{
    const struct holding *holding = &engine->holdings.rows[entry->holding];

    if (entry->notional > (uint64_t)ENTRY_NOTIONAL_MAX)
        return false;
    if (entry->holding == HOLDING_NONE)
        return true;
    const struct holding_side *side = &holding->sides[entry->side];
    uint64_t sum = margin_abs(holding->cost) + (uint64_t)(side->notional + side->reduce_notional);
    return sum - entry->out_quantity * entry->out_price + entry->notional <=
           (uint64_t)ENTRY_COST_MAX;
}

/* A replacement stays on its side. */
static enum status check_size(struct engine *engine, struct entry *entry)
{
    const struct market_record *record = &entry->market->record;

    entry->side = entry->signed_quantity < 0 ? ORDER_SHORT : ORDER_LONG;
    entry->quantity = entry->side == ORDER_SHORT ? -(uint64_t)entry->signed_quantity
                                                 : (uint64_t)entry->signed_quantity;
    if (entry->quantity == 0)
        return ROW_STATUS(size_zero);
    if (entry->quantity < record->min_size || entry->quantity > record->max_order_size ||
        entry->quantity > (uint64_t)MARKET_RAW_MAX ||
        !is_multiple(entry->quantity, record->lot_size))
        return ROW_STATUS(size);
    entry->out_quantity = 0;
    entry->out_price = 0;
    if (replaces(entry)) {
        const struct order *old = &engine->orders.hot[entry->replaced];
        if (old->side != entry->side)
            return ROW_STATUS(size);
        entry->out_quantity = old->remaining;
        entry->out_price = resting_price(engine, old);
    }
    entry->holding = holding_find(engine, entry->portfolio, entry->market_index);
    return size_fits(engine, entry) ? STATUS_request_completed : ROW_STATUS(size);
}

static uint64_t slippage_ppm(const struct entry *entry)
{
    return entry->slippage_ppm != 0 ? entry->slippage_ppm : entry->market->record.max_slippage_ppm;
}

/* The last price that a market order may trade at within this distance of the mark: to the tick
 * inside, at most the market's highest; 0: none. */
static uint64_t price_within(const struct entry *entry, uint64_t ppm)
{
    const struct market_record *record = &entry->market->record;
    uint64_t tick = record->tick_size;
    uint64_t highest = record->max_price - record->max_price % tick;
    uint128 bound;

    if (entry->side == ORDER_LONG) {
        bound = (uint128)entry->market->mark * (MONEY_PPM + ppm) / MONEY_PPM;
        bound -= bound % tick;
    } else {
        uint64_t part = ppm < MONEY_PPM ? MONEY_PPM - ppm : 0;
        bound = ((uint128)entry->market->mark * part + MONEY_PPM - 1) / MONEY_PPM;
        bound = (bound + tick - 1) / tick * tick;
    }
    return bound > highest ? highest : (uint64_t)bound;
}

/* The limit of a market order: mark * (1 +- slippage), at least one tick. The parameter may still
 * be too large (row slippage). */
static void set_slippage_limit(struct entry *entry)
{
    uint64_t tick = entry->market->record.tick_size;
    uint64_t price = price_within(entry, slippage_ppm(entry));

    entry->price = price < tick ? tick : price;
}

/* Row price_band is for limit kinds: the walk of a market order stops at the band (R3). */
static void stop_at_band(struct entry *entry)
{
    uint64_t last = price_within(entry, entry->market->record.price_band_ppm);

    if (entry->side == ORDER_LONG ? last < entry->price : last > entry->price)
        entry->price = last;
}

/* A reduce-only order turns into another kind while the market's cancellation list is worked off
 * that spared it: in its place the list would cover it, so it is entered anew. */
static bool joins_list(const struct engine *engine, const struct entry *entry)
{
    const struct order *old = &engine->orders.hot[entry->replaced];

    return !entry->reduce_only && (old->flags & ORDER_REDUCE_ONLY) != 0 &&
           old->stamp < entry->market->cancel_sequence;
}

/* The price by itself, and R1's bounds of notional. */
static enum status check_price(struct engine *engine, struct entry *entry)
{
    const struct market_record *record = &entry->market->record;

    if (is_market(entry)) {
        if (entry->market->mark == 0)
            return STATUS_request_completed; /* row mark */
        set_slippage_limit(entry);
    } else if (entry->price == 0 && entry->waits) {
        return STATUS_request_completed; /* row trigger */
    } else if (entry->price == 0 || entry->price > record->max_price ||
               !is_multiple(entry->price, record->tick_size)) {
        return ROW_STATUS(price);
    }
    uint128 notional = (uint128)entry->price * entry->quantity;
    entry->notional = notional > UINT64_MAX ? UINT64_MAX : (uint64_t)notional;
    if (!notional_fits(engine, entry))
        return ROW_STATUS(notional);
    if (is_market(entry))
        stop_at_band(entry);
    uint64_t ticks = record->tick_size == 1 ? entry->price : entry->price / record->tick_size;
    entry->tick = book_tick(&entry->market->book, (enum order_side)entry->side, (uint32_t)ticks);
    entry->keeps_place = replaces(entry) && entry->price == entry->out_price &&
                         entry->quantity <= entry->out_quantity && !joins_list(engine, entry);
    return STATUS_request_completed;
}

/* The marks that this portfolio's margin rests on. */
static bool marks_stand(const struct engine *engine, const struct entry *entry)
{
    uint32_t at = engine->portfolios.rows[entry->portfolio].holding_head;

    if (entry->market->mark == 0)
        return false;
    if (entry->reduce_only)
        return true;
    if (!market_mark_is_valid(engine, entry->market_index))
        return false;
    for (; at != HOLDING_NONE; at = engine->holdings.rows[at].next) {
        const struct holding *holding = &engine->holdings.rows[at];
        uint32_t market = holding->market;
        bool is_empty = holding->size == 0 && holding->order_head == ORDER_NONE;
        if (market == entry->market_index || is_empty)
            continue;
        if (engine->markets.rows[market].state == MARKET_HALTED ||
            !market_mark_is_valid(engine, market))
            return false;
    }
    return true;
}

/* For limit kinds: buy price * 1e6 <= mark * (1e6 + band), sell price * 1e6 >= mark * (1e6 -
 * band). */
static bool within_band(const struct entry *entry)
{
    uint64_t band = entry->market->record.price_band_ppm;
    uint64_t price = entry->price * MONEY_PPM;

    return entry->side == ORDER_LONG ? price <= entry->market->mark * (MONEY_PPM + band)
                                     : price >= entry->market->mark * (MONEY_PPM - band);
}

/* Limit kinds at their price, market kinds at the mark. */
static bool is_too_small(const struct entry *entry)
{
    uint128 notional = is_market(entry) ? (uint128)entry->market->mark * entry->quantity
                                        : (uint128)entry->notional;
    return notional < entry->market->record.min_notional;
}

/* For market kinds. An empty side is no reason: the order is canceled (row completed). */
static bool exceeds_slippage(struct engine *engine, const struct entry *entry)
{
    enum order_side other = book_opposite((enum order_side)entry->side);
    uint64_t ppm = slippage_ppm(entry), mark = entry->market->mark;

    if (ppm > entry->market->record.max_slippage_ppm)
        return true;
    uint64_t best = match_best_live(engine, entry->market_index, other);
    if (best == 0)
        return false;
    return entry->side == ORDER_LONG ? best * MONEY_PPM > mark * (MONEY_PPM + ppm)
                                     : best * MONEY_PPM < mark * (MONEY_PPM - ppm);
}

/* A reduce-only order opposes a position; a fill-or-kill fits in it. */
static bool may_reduce(const struct entry *entry)
{
    bool opposes = entry->side == ORDER_LONG ? entry->position < 0 : entry->position > 0;

    return opposes && (entry->tif != ORDER_FOK || entry->quantity <= margin_abs(entry->position));
}

/* What a portfolio in liquidation still may place. An order that waits has no position to
 * be held against. */
static bool reduces(const struct entry *entry)
{
    bool opposes = entry->side == ORDER_LONG ? entry->position < 0 : entry->position > 0;

    return entry->reduce_only ||
           (!entry->waits && opposes && entry->quantity <= margin_abs(entry->position));
}

/* While it is being deleveraged nothing at all may enter (R7). */
static bool is_liquidated(struct engine *engine, const struct entry *entry)
{
    return CC_UNLIKELY(state_portfolio(engine, entry->portfolio)->status ==
                       PORTFOLIO_IN_LIQUIDATION) &&
           (!reduces(entry) || liquidation_step_is_running(engine, entry->portfolio));
}

/* Rows mark to liquidation. */
static enum status check_against_state(struct engine *engine, struct entry *entry)
{
    const struct holding *holding = &engine->holdings.rows[entry->holding];
    const struct portfolio *portfolio = state_portfolio(engine, entry->portfolio);
    bool reduce_only = entry->reduce_only != 0;

    entry->position = entry->holding == HOLDING_NONE ? 0 : holding->size;
    if (!marks_stand(engine, entry))
        return ROW_STATUS(mark);
    if (!is_market(entry) && !within_band(entry))
        return ROW_STATUS(price_band);
    if (!reduce_only && is_too_small(entry))
        return ROW_STATUS(min_notional);
    if (is_market(entry) && exceeds_slippage(engine, entry))
        return ROW_STATUS(slippage);
    if (reduce_only && !may_reduce(entry))
        return ROW_STATUS(reduce_only);
    uint32_t open_orders = portfolio->open_order_count - (replaces(entry) ? 1 : 0);
    if (may_rest(entry) && portfolio->account != 0 &&
        open_orders >= state_option(engine, OPTION_limits_open_orders))
        return ROW_STATUS(order_count);
    return is_liquidated(engine, entry) ? ROW_STATUS(liquidation) : STATUS_request_completed;
}

enum status entry_amount_of_wait(struct engine *engine, struct entry *entry)
{
    enum status status = check_size(engine, entry);

    return status != STATUS_request_completed ? status : check_price(engine, entry);
}

enum status entry_state_of_wait(const struct engine *engine, const struct entry *entry)
{
    if (!marks_stand(engine, entry))
        return ROW_STATUS(mark);
    if (!entry->reduce_only && is_too_small(entry))
        return ROW_STATUS(min_notional);
    return entry->slippage_ppm > entry->market->record.max_slippage_ppm ? ROW_STATUS(slippage)
                                                                        : STATUS_request_completed;
}

/* They need no margin, and all accounts share one table: an account may have as many as one
 * full subaccount (R8, how many an account may have). */
static bool waits_too_often(const struct engine *engine, const struct portfolio *portfolio)
{
    uint64_t limit = state_option(engine, OPTION_limits_conditional_orders);
    uint64_t of_account = limit * state_option(engine, OPTION_limits_portfolios);

    return portfolio->conditional_count >= limit ||
           engine->accounts.rows[portfolio->account].conditional_count >= of_account;
}

enum status entry_count_of_wait(struct engine *engine, const struct entry *entry)
{
    if (waits_too_often(engine, state_portfolio(engine, entry->portfolio)))
        return ROW_STATUS(conditional_count);
    if (is_liquidated(engine, entry))
        return ROW_STATUS(liquidation);
    return engine->conditionals.count >= engine->conditionals.limit ? ROW_STATUS(room)
                                                                    : STATUS_request_completed;
}

enum status entry_terms(struct engine *engine, struct entry *entry)
{
    enum status status = check_size(engine, entry);

    if (status != STATUS_request_completed)
        return status;
    status = check_price(engine, entry);
    return status != STATUS_request_completed ? status : check_against_state(engine, entry);
}

/* --- rows from post_only_crosses to room ------------------------------------------------------ */

/* What is left of the order after the walk would rest. */
static bool rests(const struct entry *entry, const struct match *match)
{
    return may_rest(entry) && match->stop == MATCH_BOOK;
}

static enum status check_walk(const struct entry *entry, const struct match *match)
{
    bool fok = entry->tif == ORDER_FOK;
    bool ends_taker = entry->stp == STP_EXPIRE_TAKER || entry->stp == STP_EXPIRE_BOTH;

    if (match->self && (match->self_first || (fok && ends_taker)))
        return ROW_STATUS(self_trade);
    if (fok && match->filled != entry->quantity)
        return ROW_STATUS(fok_liquidity);
    return STATUS_request_completed;
}

/* R4's taker test over the state after the walk. */
static enum status check_margin(struct engine *engine, const struct entry *entry,
                                const struct match *match)
{
    int64_t moved = entry->side == ORDER_LONG ? (int64_t)match->filled : -(int64_t)match->filled;
    struct margin_change change = {
        .size_after = entry->position + moved,
        .equity = match->equity,
        .rest_price = entry->price,
        .side = entry->side,
    };

    if (rests(entry, match) && !entry->reduce_only)
        change.rest_size = (int64_t)match->remaining;
    if (replaces(entry) && !(engine->orders.hot[entry->replaced].flags & ORDER_REDUCE_ONLY)) {
        change.out_size = (int64_t)entry->out_quantity;
        change.out_price = entry->out_price;
    }
    if (CC_LIKELY(margin_taker_passes(engine, entry->portfolio, entry->market_index, entry->holding,
                                      &change)))
        return STATUS_request_completed;
    if (entry->tif == ORDER_FOK)
        return ROW_STATUS(fok_margin);
    return match->filled != 0 ? ROW_STATUS(margin_to_trade) : ROW_STATUS(margin_to_place);
}

/* Whether the ladder has a page for the rest; a replacement leaves its own place first. */
static bool ladder_fits(const struct engine *engine, const struct entry *entry)
{
    enum order_side side = (enum order_side)entry->side;

    if (resting_fits(engine, entry->market_index, side, entry->tick))
        return true;
    return replaces(entry) &&
           book_frees_page(&entry->market->book, side, engine->orders.hot[entry->replaced].tick);
}

/* Tables and the bounds that only the walk sees. An order that is filled and replaced
 * without end would outgrow its sum of fills. */
static bool has_room(const struct engine *engine, const struct entry *entry,
                     const struct match *match)
{
    if (replaces(entry) &&
        order_filled_notional(&engine->orders, entry->replaced) > ENTRY_FILLED_MAX)
        return false;
    if (match->guard || (!replaces(entry) && engine->orders.count >= engine->orders.limit))
        return false;
    if (match->filled != 0 &&
        (engine->fee_account > ENTRY_FEES_MAX || engine->fee_account < -ENTRY_FEES_MAX))
        return false;
    if (entry->holding == HOLDING_NONE && engine->holdings.count >= engine->holdings.limit)
        return false;
    return !rests(entry, match) || ladder_fits(engine, entry);
}

enum status entry_decide(struct engine *engine, const struct entry *entry, struct entry_plan *plan)
{
    struct match *match = &plan->match;

    plan->taker = (struct match_taker){
        .market = entry->market_index,
        .portfolio = entry->portfolio,
        .account = entry->account,
        .position = entry->position,
        .quantity = entry->quantity,
        .limit_tick = book_mirror(&entry->market->book, entry->tick),
        .side = entry->side,
        .stp = entry->stp,
        .reduce_only = entry->reduce_only != 0,
    };
    if (entry->keeps_place) { /* at its price nothing stands on the other side (I5) */
        *match = (struct match){ .remaining = entry->quantity, .stop = MATCH_BOOK };
        return check_margin(engine, entry, match);
    }
    if (entry->post_only) {
        bool crosses = match_crosses(engine, &plan->taker, match);
        engine->applying.makers = match->makers;
        if (crosses)
            return ROW_STATUS(post_only_crosses);
    } else {
        match_walk(engine, &plan->taker, match);
        engine->applying.makers = match->makers;
    }
    enum status status = check_walk(entry, match);
    if (status != STATUS_request_completed)
        return status;
    status = check_margin(engine, entry, match);
    if (status != STATUS_request_completed)
        return status;
    return has_room(engine, entry, match) ? STATUS_request_completed : ROW_STATUS(room);
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

void entry_act(struct engine *engine, const struct entry *entry, const struct entry_plan *plan,
               uint32_t index, uint64_t hash, struct engine_result *result)
{
    struct order *order = &engine->orders.hot[index];

    match_act(engine, &plan->taker, &plan->match, index);
    INVARIANT(order->remaining == plan->match.remaining);
    if (order->remaining != 0 && rests(entry, &plan->match)) {
        if (order->state == ORDER_NEW)
            order_move(order, order_filled(&engine->orders, index), ORDER_OPEN);
        if (replaces(entry))
            resting_return(engine, index);
        else
            resting_insert(engine, index, hash);
        evidence_of_order(engine, result, index);
        return;
    }
    uint64_t filled = order_filled(&engine->orders, index);
    INVARIANT(order->remaining != 0 || filled != 0);
    if (order->remaining != 0) {
        order_move(order, filled, ORDER_CANCELED);
        order->reason = cancel_reason(&plan->match);
    }
    if (replaces(entry))
        resting_drop(engine, index);
    resting_emit_state(engine, index);
    recheck_holding(engine, order->holding);
    evidence_of_order(engine, result, index);
    order_release(&engine->orders, index);
}
