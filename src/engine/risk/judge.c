#include "engine/risk/judge.h"

#include "base/money.h"
#include "engine/risk/fund.h"
#include "engine/risk/margin.h"
#include "engine/risk/risk.h"
#include "engine/state/cancel_list.h"
#include "engine/state/state.h"

enum { LIQUIDATION_WELL_PERCENT = 105 };

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
        .portfolio = portfolio_effect_id(portfolio),
        .equity = money_clamp(margin_equity(portfolio)),
        .maintenance = money_clamp(portfolio->maintenance),
        .status = (uint8_t)status,
    };

    INVARIANT(portfolio->status != PORTFOLIO_CLOSED);
    portfolio_move(portfolio, status);
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

/* True if any does. Marks each such market, so that a move of it checks the portfolio again
 * (recheck_waiting). */
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
static void plan_book(struct engine *engine, const struct portfolio *portfolio,
                      struct judge_plan *plan)
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

struct judge_plan judge_plan(struct engine *engine, const struct portfolio *portfolio)
{
    struct judge_plan plan = { .holding = HOLDING_NONE };

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

void judge_consider(struct engine *engine, uint32_t index)
{
    struct judge_plan plan = judge_plan(engine, state_portfolio(engine, index));

    if (plan.level == 0)
        set_wake(engine, index, plan.wake_ns);
    else
        queue(engine, index);
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

bool judge_portfolio(struct engine *engine, uint32_t index)
{
    struct portfolio *portfolio = state_portfolio(engine, index);
    bool has = has_position(engine, portfolio);
    bool pays = !has && portfolio->cash < 0;

    if (index == FUND_PORTFOLIO || liquidation_step_is_busy(engine, index))
        return false;
    if (pays)
        fund_transfer(engine, index, portfolio->cash);
    int128 equity = margin_equity(portfolio);
    if (portfolio->status == PORTFOLIO_ACTIVE) {
        if (has && equity < portfolio->maintenance && !is_kept(engine, portfolio, KEEPER_MARK))
            enter(engine, index);
    } else if (portfolio->status == PORTFOLIO_IN_LIQUIDATION) {
        if (!has || equity * 100 >= portfolio->maintenance * LIQUIDATION_WELL_PERCENT)
            leave(engine, index);
        else if (!portfolio->liquidation_queued)
            judge_consider(engine, index);
    }
    return pays;
}
