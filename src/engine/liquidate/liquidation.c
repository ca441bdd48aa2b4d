#include "engine/liquidate/liquidation.h"

#include "engine/liquidate/backstop.h"
#include "engine/risk/fund.h"
#include "engine/risk/margin.h"
#include "engine/state/cancel_list.h"
#include "engine/state/conditional.h"
#include "engine/trade/own_order.h"

#define LIQUIDATION_LARGE UINT64_C(100000000000) /* 100,000 USDC: sold in two actions */

enum { LIQUIDATION_FIRST_PART = 5, LIQUIDATION_WELL_PERCENT = 105 };

/* What a portfolio in liquidation may do now. */
struct plan {
    uint64_t wake_ns; /* level 0: when a pause ends that keeps it, 0: none does */
    uint32_t holding; /* level 1: the leg to sell */
    uint8_t level;    /* 1; 2: backstop, or a run when that fails; 0: it waits */
};

static bool has_position(const struct engine *engine, const struct portfolio *portfolio)
{
    for (uint32_t at = portfolio->holding_head; at != HOLDING_NONE;
         at = engine->holdings.rows[at].next)
        if (engine->holdings.rows[at].size != 0)
            return true;
    return false;
}

bool liquidation_is_running(const struct engine *engine, uint32_t portfolio)
{
    return engine->liquidation.step == LIQUIDATION_RUN &&
           engine->liquidation.portfolio == portfolio;
}

/* In the middle of an order or a run: not judged before its end. */
static bool is_busy(const struct engine *engine, uint32_t portfolio)
{
    return engine->liquidation.step != LIQUIDATION_IDLE &&
           engine->liquidation.portfolio == portfolio;
}

bool liquidation_holds(const struct engine *engine, uint32_t holding)
{
    uint8_t step = engine->liquidation.step;

    if (CC_LIKELY(step != LIQUIDATION_ORDER && step != LIQUIDATION_UNWIND))
        return false;
    return engine->orders.hot[own_order_index(engine, OWN_ORDER_TAKER)].holding == holding;
}

void liquidation_tell(struct engine *engine, uint32_t index, uint8_t level, uint64_t price,
                      int64_t size)
{
    const struct holding *holding = state_holding(engine, index);
    struct market *market = state_market(engine, holding->market);
    uint16_t asset_id = market->record.asset_id;
    struct effect_liquidation body = {
        .portfolio = portfolio_effect_id(state_portfolio(engine, holding->portfolio)),
        .price = price,
        .size = size,
        .asset_id = asset_id,
        .level = level,
    };

    market_next_seq(market);
    effects_emit(engine, EFFECT_liquidation, index, asset_id, &body);
}

static int64_t narrow(int128 value)
{
    if (value > INT64_MAX)
        return INT64_MAX;
    return value < INT64_MIN ? INT64_MIN : (int64_t)value;
}

/* The only writer of these two states; 2112. */
static void set_status(struct engine *engine, uint32_t index, enum portfolio_status status)
{
    struct portfolio *portfolio = state_portfolio(engine, index);
    struct effect_portfolio_state body = {
        .portfolio = portfolio_effect_id(portfolio),
        .equity = narrow(margin_equity(portfolio)),
        .maintenance = narrow(portfolio->maintenance),
        .status = (uint8_t)status,
    };

    INVARIANT(portfolio->status != status && portfolio->status != PORTFOLIO_CLOSED);
    portfolio->status = (uint8_t)status;
    effects_emit(engine, EFFECT_portfolio_state, index, 0, &body);
}

/* --- waiting ---------------------------------------------------------------------------------- */

static void set_wake(struct engine *engine, uint32_t index, uint64_t wake_ns)
{
    struct timer_heap *waits = &engine->liquidation.waits;

    state_portfolio(engine, index)->liquidation_wake_ns = wake_ns;
    if (wake_ns == 0) {
        timer_heap_remove(waits, index);
        return;
    }
    timer_heap_set(waits, index, wake_ns, index);
    work_queue_timer_set(engine, wake_ns);
}

uint64_t liquidation_deadline(const struct engine *engine)
{
    return timer_heap_deadline(&engine->liquidation.waits);
}

void liquidation_fire(struct engine *engine)
{
    uint32_t portfolio = timer_heap_first(&engine->liquidation.waits);

    set_wake(engine, portfolio, 0);
    risk_touch(engine, portfolio);
}

/* Which of a portfolio's markets keep it from being liquidated. */
enum keeper { KEEPER_MARK, KEEPER_HALT, KEEPER_MATCHING };

static bool keeps(const struct engine *engine, uint32_t market, enum keeper keeper)
{
    switch (keeper) {
    case KEEPER_MARK:
        return !market_mark_is_valid(engine, market);
    case KEEPER_HALT:
        return engine->markets.rows[market].state == MARKET_HALTED;
    case KEEPER_MATCHING:
        break;
    }
    return !market_matches(&engine->markets.rows[market]);
}

/* True when one does; each of them is told to have it looked at again (risk_market_moved_on). */
static bool is_kept(struct engine *engine, const struct portfolio *portfolio, enum keeper keeper)
{
    bool kept = false;

    for (uint32_t at = portfolio->holding_head; at != HOLDING_NONE;) {
        const struct holding *holding = state_holding(engine, at);
        if (holding->size != 0 && keeps(engine, holding->market, keeper)) {
            state_market(engine, holding->market)->waited = true;
            kept = true;
        }
        at = holding->next;
    }
    return kept;
}

/* --- what to do ------------------------------------------------------------------------------- */

/* When the leg may be sold on the book: pauses of 100 ms and 30 s (R7). */
static uint64_t ready_ns(const struct portfolio *portfolio, const struct holding *holding)
{
    uint64_t ready = 0;

    if (portfolio->liquidation_ns != 0)
        ready = portfolio->liquidation_ns + LIQUIDATION_PAUSE_NS;
    if (holding->liquidation_ns != 0 && holding->liquidation_ns + LIQUIDATION_LEG_PAUSE_NS > ready)
        ready = holding->liquidation_ns + LIQUIDATION_LEG_PAUSE_NS;
    return ready;
}

static bool is_larger(const struct engine *engine, const struct holding *leg, uint32_t than)
{
    const struct holding *other = &engine->holdings.rows[than];

    if (than == HOLDING_NONE || leg->figure_maintenance != other->figure_maintenance)
        return than == HOLDING_NONE || leg->figure_maintenance > other->figure_maintenance;
    return engine->markets.rows[leg->market].record.asset_id <
           engine->markets.rows[other->market].record.asset_id;
}

/* L1: the leg with the largest MM of those that may be sold now. */
static void plan_book(struct engine *engine, const struct portfolio *portfolio, struct plan *plan)
{
    for (uint32_t at = portfolio->holding_head; at != HOLDING_NONE;) {
        const struct holding *holding = state_holding(engine, at);
        uint64_t ready = ready_ns(portfolio, holding);
        bool matches = market_matches(state_market(engine, holding->market));
        if (holding->size == 0 || !matches) {
            at = holding->next;
            continue;
        }
        if (ready > engine->t_ns) {
            if (plan->wake_ns == 0 || ready < plan->wake_ns)
                plan->wake_ns = ready;
        } else if (is_larger(engine, holding, plan->holding)) {
            plan->holding = at;
        }
        at = holding->next;
    }
    if (plan->holding != HOLDING_NONE)
        plan->level = 1;
    else
        (void)is_kept(engine, portfolio, KEEPER_MATCHING);
}

/* The portfolio is up to date, in liquidation and has a position. */
static struct plan make_plan(struct engine *engine, const struct portfolio *portfolio)
{
    struct plan plan = { .holding = HOLDING_NONE };

    if (is_kept(engine, portfolio, KEEPER_MARK))
        return plan;
    if (3 * margin_equity(portfolio) >= 2 * portfolio->maintenance)
        plan_book(engine, portfolio, &plan);
    else if (!is_kept(engine, portfolio, KEEPER_HALT))
        plan.level = 2;
    return plan;
}

static void queue(struct engine *engine, uint32_t index)
{
    struct portfolio *portfolio = state_portfolio(engine, index);

    set_wake(engine, index, 0);
    if (portfolio->liquidation_queued)
        return;
    portfolio->liquidation_queued = true;
    work_queue_push(engine, WORK_LIQUIDATION, index);
}

/* Into the queue, or to sleep. */
static void consider(struct engine *engine, uint32_t index)
{
    struct plan plan = make_plan(engine, state_portfolio(engine, index));

    if (plan.level == 0)
        set_wake(engine, index, plan.wake_ns);
    else
        queue(engine, index);
}

/* --- in and out ------------------------------------------------------------------------------- */

void liquidation_cancel(struct engine *engine, uint32_t index)
{
    conditional_doom(engine, index, MARKET_NONE, CONDITIONAL_BOTH, CONDITIONAL_ALL,
                     REASON_liquidation);
    cancel_list_portfolio(engine, index, REASON_liquidation);
}

static void enter(struct engine *engine, uint32_t index)
{
    set_status(engine, index, PORTFOLIO_IN_LIQUIDATION);
    liquidation_cancel(engine, index);
    queue(engine, index); /* whether it may act then is seen when its turn comes */
}

static void leave(struct engine *engine, uint32_t index)
{
    struct portfolio *portfolio = state_portfolio(engine, index);

    for (uint32_t at = portfolio->holding_head; at != HOLDING_NONE;
         at = state_holding(engine, at)->next)
        state_holding(engine, at)->liquidation_ns = 0;
    set_wake(engine, index, 0);
    set_status(engine, index, PORTFOLIO_ACTIVE);
}

bool liquidation_judge(struct engine *engine, uint32_t index)
{
    struct portfolio *portfolio = state_portfolio(engine, index);
    bool has = has_position(engine, portfolio);
    bool pays = !has && portfolio->cash < 0;

    if (index == FUND_PORTFOLIO || is_busy(engine, index))
        return false;
    if (pays)
        fund_take(engine, index, portfolio->cash);
    int128 equity = margin_equity(portfolio);
    if (portfolio->status == PORTFOLIO_ACTIVE) {
        if (has && equity < portfolio->maintenance && !is_kept(engine, portfolio, KEEPER_MARK))
            enter(engine, index);
    } else if (portfolio->status == PORTFOLIO_IN_LIQUIDATION) {
        if (!has || equity * 100 >= portfolio->maintenance * LIQUIDATION_WELL_PERCENT)
            leave(engine, index);
        else if (!portfolio->liquidation_queued)
            consider(engine, index);
    }
    return pays;
}

/* --- L1 --------------------------------------------------------------------------------------- */

/* The whole leg, or a fifth of a large one that was not sold from before. */
static uint64_t quantity_to_sell(const struct engine *engine, const struct market *market,
                                 struct holding *holding)
{
    uint64_t size = margin_abs(holding->size), lot = market->record.lot_size;

    if (size * market->mark <= LIQUIDATION_LARGE || holding->liquidation_ns != 0)
        return size;
    holding->liquidation_ns = engine->t_ns;
    uint64_t part = (size + LIQUIDATION_FIRST_PART - 1) / LIQUIDATION_FIRST_PART;
    part = (part + lot - 1) / lot * lot;
    return part < size ? part : size;
}

/* Where the leg's share of equity is gone, but no further than its maintenance rate. */
static uint64_t limit_price(const struct engine *engine, const struct portfolio *portfolio,
                            const struct holding *holding)
{
    const struct market *market = &engine->markets.rows[holding->market];
    uint64_t size = margin_abs(holding->size);
    uint32_t rate = tier_find(market->record.tiers, size * market->mark)->mmr_ppm;
    int128 mark = (int128)market->mark;
    int128 share =
        money_fdiv(margin_equity(portfolio) * holding->figure_maintenance, portfolio->maintenance);
    int128 distance = money_fdiv(share, size);

    if (holding->size > 0) {
        int128 price = mark - distance, least = money_cdiv(mark * (MONEY_PPM - rate), MONEY_PPM);
        return own_order_price_up(engine, holding->market,
                                  (uint64_t)(price > least ? price : least));
    }
    int128 price = mark + distance, most = money_fdiv(mark * (MONEY_PPM + rate), MONEY_PPM);
    return own_order_price_down(engine, holding->market, (uint64_t)(price < most ? price : most));
}

static void begin_order(struct engine *engine, uint32_t index, uint32_t leg)
{
    struct portfolio *portfolio = state_portfolio(engine, index);
    struct holding *holding = state_holding(engine, leg);
    struct own_order_terms terms = {
        .quantity = quantity_to_sell(engine, state_market(engine, holding->market), holding),
        .price = limit_price(engine, portfolio, holding),
        .holding = leg,
        .side = holding->size > 0 ? ORDER_SHORT : ORDER_LONG,
        .type = ORDER_LIQUIDATE,
        .reduce_only = true,
    };

    portfolio->liquidation_ns = engine->t_ns;
    engine->liquidation.step = LIQUIDATION_ORDER;
    engine->liquidation.portfolio = index;
    (void)own_order_make(engine, OWN_ORDER_TAKER, &terms);
}

/* 2101, 2113, and the check of whoever was met and of the portfolio itself. */
static void end_order(struct engine *engine, uint8_t reason)
{
    uint32_t index = own_order_index(engine, OWN_ORDER_TAKER);
    const struct order *order = &engine->orders.hot[index];
    int64_t filled = (int64_t)order_filled(&engine->orders, index);

    own_order_end(engine, OWN_ORDER_TAKER, own_order_limit(engine), reason);
    if (filled != 0)
        liquidation_tell(engine, order->holding, 1,
                         order_filled_notional(&engine->orders, index) / (uint64_t)filled,
                         order->side == ORDER_SHORT ? filled : -filled);
    engine->liquidation.step = LIQUIDATION_IDLE;
    risk_changed(engine, order->holding);
    risk_flush(engine);
}

/* A slice of the order: the makers that the units allow. */
static void go_on_with_order(struct engine *engine, uint32_t *units)
{
    uint32_t index = own_order_index(engine, OWN_ORDER_TAKER);
    const struct order *order = &engine->orders.hot[index];
    const struct holding *holding = state_holding(engine, order->holding);
    bool opposes = order->side == ORDER_SHORT ? holding->size > 0 : holding->size < 0;
    uint8_t reason = REASON_reduce_only;

    if (opposes && market_matches(state_market(engine, order->market)) &&
        market_mark_is_valid(engine, order->market)) {
        if (own_order_match(engine, FILL_LIQUIDATION, units, &reason))
            end_order(engine, reason);
        else
            risk_flush(engine);
        return;
    }
    *units -= 1;
    end_order(engine, opposes ? (uint8_t)REASON_market_state : reason);
}

/* --- the item --------------------------------------------------------------------------------- */

static void begin_run(struct engine *engine, uint32_t index)
{
    liquidation_cancel(engine, index);
    engine->liquidation.step = LIQUIDATION_RUN;
    engine->liquidation.portfolio = index;
    deleverage_begin(engine, index);
}

static void go_on_with_run(struct engine *engine, uint32_t index, uint32_t *units)
{
    if (!deleverage_go_on(engine, index, units))
        return;
    engine->liquidation.step = LIQUIDATION_IDLE;
    risk_touch(engine, index);
}

bool liquidation_unit(struct engine *engine, uint32_t index, uint32_t *units)
{
    struct portfolio *portfolio = state_portfolio(engine, index);

    risk_touch(engine, index);
    if (engine->liquidation.step == LIQUIDATION_ORDER) {
        go_on_with_order(engine, units);
        return true;
    }
    if (engine->liquidation.step == LIQUIDATION_RUN) {
        go_on_with_run(engine, index, units);
        return true;
    }
    if (portfolio->status != PORTFOLIO_IN_LIQUIDATION)
        return false;
    struct plan plan = make_plan(engine, portfolio);
    if (plan.level == 0)
        return false;
    if (plan.level == 1) {
        begin_order(engine, index, plan.holding);
        go_on_with_order(engine, units);
    } else if (!backstop_take(engine, index, units)) {
        begin_run(engine, index);
        go_on_with_run(engine, index, units);
    }
    return true;
}

void liquidation_finish(struct engine *engine, uint32_t index)
{
    struct portfolio *portfolio = state_portfolio(engine, index);

    portfolio->liquidation_queued = false;
    if (portfolio->status == PORTFOLIO_IN_LIQUIDATION)
        consider(engine, index);
}
