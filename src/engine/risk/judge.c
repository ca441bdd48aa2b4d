#include "engine/risk/judge.h"

#include "base/money.h"
#include "engine/risk/fund.h"
#include "engine/risk/margin.h"
#include "engine/risk/risk.h"
#include "engine/state/cancel_list.h"
#include "engine/state/market_price.h"
#include "engine/state/private_event.h"
#include "engine/state/state.h"

enum {
    LIQUIDATION_WELL_PERCENT = 105,
    JUDGE_FUND_MOST =
        10, /* times its equity: what the fund holds at most before it is deleveraged */
};

static bool has_position(const struct engine *engine, const struct portfolio *portfolio)
{
    for (uint32_t at = portfolio->holding_head; at != HOLDING_NONE;
         at = engine->holdings.rows[at].next)
        if (engine->holdings.rows[at].size != 0)
            return true;
    return false;
}

/* The only writer of these two states; 2112. */
static void set_status(struct engine *engine, uint32_t index, enum portfolio_status status)
{
    struct portfolio *portfolio = state_portfolio(engine, index);
    struct effect_portfolio_state body = {
        .portfolio = portfolio_effect_id(engine, index),
        .equity = money_clamp(margin_equity(portfolio)),
        .maintenance = money_clamp(portfolio->maintenance),
        .status = (uint8_t)status,
    };

    INVARIANT(portfolio->status != PORTFOLIO_CLOSED);
    portfolio_move(portfolio, status);
    private_event_add(engine, index, 1);
    effects_emit(engine, EFFECT_portfolio_state, index, 0, &body);
}

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

uint64_t judge_deadline(const struct engine *engine)
{
    return timer_heap_deadline(&engine->liquidation.waits);
}

void judge_fire(struct engine *engine)
{
    uint32_t portfolio = timer_heap_first(&engine->liquidation.waits);

    set_wake(engine, portfolio, 0);
    risk_refresh(engine, portfolio);
}

/* E with live legs at the better of mark and index for their owner (R7): a book liquidates nobody.
 * `announced`: legs of markets that close count as well. */
static int128 better_equity(const struct engine *engine, const struct portfolio *portfolio,
                            bool announced)
{
    int128 equity = margin_equity(portfolio);

    for (uint32_t at = portfolio->holding_head; at != HOLDING_NONE;
         at = engine->holdings.rows[at].next) {
        const struct holding *holding = &engine->holdings.rows[at];
        const struct market *market = &engine->markets.rows[holding->market];
        if (holding->size == 0 || market_is_frozen(engine, holding->market) ||
            (!announced && market->announced_ns != 0))
            continue;
        uint64_t better = market_price_better(market, holding->size > 0);
        equity += margin_fill_equity(better, market->mark, holding->size);
    }
    return equity;
}

/* R7: 3E* < 2MM. */
static bool is_low(const struct engine *engine, const struct portfolio *portfolio)
{
    return 3 * better_equity(engine, portfolio, true) < 2 * portfolio->maintenance;
}

/* When the leg may be sold on the book: pauses of 100 ms and 1 s (R7). */
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

struct judge_plan judge_plan(const struct engine *engine, const struct portfolio *portfolio)
{
    struct judge_plan plan = { .holding = HOLDING_NONE };
    bool has_live = false;

    for (uint32_t at = portfolio->holding_head; at != HOLDING_NONE;) {
        const struct holding *holding = &engine->holdings.rows[at];
        const struct market *market = &engine->markets.rows[holding->market];
        uint32_t index = at;
        at = holding->next;
        if (holding->size == 0)
            continue;
        has_live |= !market_is_frozen(engine, holding->market);
        if (!market_matches(market) || !market_mark_is_valid(engine, holding->market))
            continue;
        uint64_t ready = ready_ns(portfolio, holding);
        if (plan.wake_ns == 0 || ready < plan.wake_ns)
            plan.wake_ns = ready;
        if (ready <= engine->t_ns && is_larger(engine, holding, plan.holding))
            plan.holding = index;
    }
    if (has_live && is_low(engine, portfolio))
        plan.level = 2;
    else if (plan.holding != HOLDING_NONE)
        plan.level = 1;
    return plan;
}

/* Marks the markets of legs that can not be sold, so that a move of one checks the portfolio again
 * (recheck_waiting). */
static void wait_for_markets(struct engine *engine, const struct portfolio *portfolio)
{
    for (uint32_t at = portfolio->holding_head; at != HOLDING_NONE;
         at = engine->holdings.rows[at].next) {
        const struct holding *holding = &engine->holdings.rows[at];
        struct market *market = state_market(engine, holding->market);
        if (holding->size != 0 &&
            (!market_matches(market) || !market_mark_is_valid(engine, holding->market)))
            market->waited = true;
    }
}

static void queue_item(struct engine *engine, uint32_t index)
{
    struct portfolio *portfolio = state_portfolio(engine, index);

    if (portfolio->liquidation_queued)
        return;
    portfolio->liquidation_queued = true;
    work_queue_push(engine, WORK_LIQUIDATION, index);
}

static void queue(struct engine *engine, uint32_t index)
{
    set_wake(engine, index, 0);
    queue_item(engine, index);
}

void judge_consider(struct engine *engine, uint32_t index)
{
    struct judge_plan plan = judge_plan(engine, state_portfolio(engine, index));

    if (plan.level != 0) {
        queue(engine, index);
        return;
    }
    wait_for_markets(engine, state_portfolio(engine, index));
    set_wake(engine, index, plan.wake_ns);
}

void judge_cancel_orders(struct engine *engine, uint32_t index)
{
    conditional_kill(engine, index, MARKET_NONE, CONDITIONAL_BOTH, CONDITIONAL_ALL,
                     REASON_liquidation);
    cancel_list_portfolio(engine, index, REASON_liquidation);
}

static void enter(struct engine *engine, uint32_t index)
{
    set_status(engine, index, PORTFOLIO_IN_LIQUIDATION);
    judge_cancel_orders(engine, index);
    if (!state_portfolio(engine, index)->liquidation_queued)
        judge_consider(engine, index);
}

/* owed of R2, at this check. */
static void set_owed(struct engine *engine, uint32_t index, int128 equity)
{
    bool is_owed = state_portfolio(engine, index)->status == PORTFOLIO_IN_LIQUIDATION && equity < 0;
    int128 owed = is_owed ? -equity : 0;

    INVARIANT(engine->liquidation.owed_total >= engine->liquidation.owed[index]);
    engine->liquidation.owed_total += owed - engine->liquidation.owed[index];
    engine->liquidation.owed[index] = owed;
}

static void leave(struct engine *engine, uint32_t index)
{
    struct portfolio *portfolio = state_portfolio(engine, index);

    for (uint32_t at = portfolio->holding_head; at != HOLDING_NONE;
         at = state_holding(engine, at)->next)
        state_holding(engine, at)->liquidation_ns = 0;
    portfolio->netted = false;
    set_wake(engine, index, 0);
    set_status(engine, index, PORTFOLIO_ACTIVE);
}

bool judge_portfolio(struct engine *engine, uint32_t index)
{
    struct portfolio *portfolio = state_portfolio(engine, index);
    bool has = has_position(engine, portfolio);
    bool pays = !has && portfolio->cash < 0;

    if (index == FUND_PORTFOLIO || liquidation_step_is_busy(engine, index))
        return false;
    if (pays)
        fund_pay_deficit(engine, index);
    int128 equity = margin_equity(portfolio);
    if (portfolio->status == PORTFOLIO_ACTIVE) {
        if (has && equity < portfolio->maintenance &&
            better_equity(engine, portfolio, false) < portfolio->maintenance)
            enter(engine, index);
    } else if (portfolio->status == PORTFOLIO_IN_LIQUIDATION) {
        if (!has || equity * 100 >= portfolio->maintenance * LIQUIDATION_WELL_PERCENT)
            leave(engine, index);
        else if (!portfolio->liquidation_queued)
            judge_consider(engine, index);
    }
    set_owed(engine, index, equity);
    return pays;
}

void judge_fund(struct engine *engine)
{
    uint128 gross;
    int128 equity = margin_equity_now(engine, FUND_PORTFOLIO, &gross);

    if ((int128)gross > JUDGE_FUND_MOST * equity)
        queue_item(engine, FUND_PORTFOLIO);
}
