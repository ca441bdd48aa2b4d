#include "engine/risk/risk.h"

#include "engine/risk/deleverage_rank.h"
#include "engine/risk/fund.h"
#include "engine/risk/funding_pay.h"
#include "engine/risk/judge.h"
#include "engine/risk/margin.h"
#include "engine/risk/rests.h"
#include "engine/state/trigger.h"

/* The portfolio is solvent at today's marks: what its legs lose counts from here on (R7 L3). Below
 * 0 they keep the marks of the last state that was. */
static void see_marks(struct engine *engine, struct portfolio *portfolio)
{
    for (uint32_t at = portfolio->holding_head; at != HOLDING_NONE;
         at = engine->holdings.rows[at].next) {
        struct holding *holding = &engine->holdings.rows[at];
        holding->mark_seen = engine->markets.rows[holding->market].mark;
    }
    portfolio->unseen = false;
}

/* The exact check: computes both slacks and whether E < IM. True: the portfolio is to be judged. */
CC_MUST_USE static bool check(struct engine *engine, struct portfolio *portfolio)
{
    int128 equity = margin_equity(portfolio);

    if (CC_UNLIKELY(equity < portfolio->initial && equity >= portfolio->initial - portfolio->loose))
        margin_resolve(engine, portfolio);
    portfolio->slack_maintenance = equity - portfolio->maintenance;
    portfolio->slack_initial = equity - portfolio->initial;
    portfolio->flagged = equity < portfolio->initial;
    if (portfolio->unseen && equity >= 0)
        see_marks(engine, portfolio);
    return CC_UNLIKELY(portfolio->slack_maintenance < 0 ||
                       portfolio->status == PORTFOLIO_IN_LIQUIDATION);
}

/* A judgement may move cash: the slacks follow. */
static void judge(struct engine *engine, struct portfolio *portfolio, uint32_t index)
{
    if (judge_portfolio(engine, index)) {
        bool again = check(engine, portfolio);
        (void)again;
    }
}

void risk_refresh(struct engine *engine, uint32_t index)
{
    struct portfolio *portfolio = state_portfolio(engine, index);

    funding_pay_refresh(engine, portfolio, index);
    if (portfolio->figure_epoch != engine->recheck.mark_epoch ||
        portfolio->stale_holding != HOLDING_NONE)
        margin_bring(engine, portfolio);
    if (check(engine, portfolio))
        judge(engine, portfolio, index);
}

void risk_fund_moved(struct engine *engine)
{
    struct portfolio *fund = state_portfolio(engine, FUND_PORTFOLIO);

    if (fund->changed)
        return; /* the flush will check it, and give back what is empty */
    margin_bring(engine, fund);
    bool judged = check(engine, fund);
    (void)judged;
}

/* Whether the record has neither position nor orders any more and no order is under way on it. */
static bool is_left(const struct engine *engine, uint32_t index)
{
    const struct holding *holding = &engine->holdings.rows[index];

    return holding->size == 0 && holding->order_head == ORDER_NONE &&
           !liquidation_step_holds(engine, index) && !trigger_holds(engine, index);
}

/* Gives back the holdings of the portfolio that have neither position nor orders any more. */
static void free_empty(struct engine *engine, const struct portfolio *portfolio)
{
    uint32_t at = portfolio->holding_head;

    while (at != HOLDING_NONE) {
        uint32_t next = state_holding(engine, at)->next;
        if (is_left(engine, at)) {
            margin_drop(engine, at);
            holding_free_empty(engine, at);
        }
        at = next;
    }
}

/* Into the list of those to be judged. It stays `changed`: it is checked again when its turn comes,
 * whatever changes it until then. */
static void put_to_judge(struct engine *engine, uint32_t index)
{
    uint32_t *link = &engine->recheck.judged_head;

    while (*link != RECHECK_LIST_END && *link < index)
        link = &state_portfolio(engine, *link)->changed_next;
    state_portfolio(engine, index)->changed_next = *link;
    *link = index;
}

/* Gives back what has become empty and checks a changed portfolio. */
CC_MUST_USE static inline bool check_changed(struct engine *engine, struct portfolio *portfolio,
                                             uint32_t index)
{
    if (portfolio->stale_holding == RECHECK_STALE_MANY) {
        free_empty(engine, portfolio);
    } else if (portfolio->stale_holding != HOLDING_NONE) {
        uint32_t at = portfolio->stale_holding;
        if (is_left(engine, at)) {
            margin_drop(engine, at);
            holding_free_empty(engine, at);
        }
    }
    funding_pay_refresh(engine, portfolio, index);
    margin_bring(engine, portfolio);
    portfolio->stale_holding = HOLDING_NONE;
    if (CC_UNLIKELY(portfolio->moved)) {
        portfolio->moved = false;
        deleverage_rank_moved(engine, index);
    }
    return check(engine, portfolio);
}

void risk_flush_until(struct engine *engine, uint32_t last)
{
    struct recheck *recheck = &engine->recheck;

    while (recheck->changed_head != last) {
        uint32_t index = recheck->changed_head;
        INVARIANT(index != RECHECK_LIST_END);
        struct portfolio *portfolio = state_portfolio(engine, index);
        recheck->changed_head = portfolio->changed_next;
        if (check_changed(engine, portfolio, index))
            put_to_judge(engine, index);
        else
            portfolio->changed = false;
    }
}

void risk_flush(struct engine *engine)
{
    struct recheck *recheck = &engine->recheck;

    risk_flush_until(engine, RECHECK_LIST_END);
    while (CC_UNLIKELY(recheck->judged_head != RECHECK_LIST_END)) {
        uint32_t index = recheck->judged_head;
        struct portfolio *portfolio = state_portfolio(engine, index);
        recheck->judged_head = portfolio->changed_next;
        portfolio->changed = false;
        if (check_changed(engine, portfolio, index))
            judge(engine, portfolio, index);
    }
}

/* cdiv(size * (1e6 + rate), 1e6): what a move of one raw unit can cost at most. size <= 2^44 */
static int64_t weight(uint64_t size, uint32_t rate_ppm)
{
    return money_ppm_up(size, MONEY_PPM + rate_ppm);
}

void risk_scan(struct engine *engine, uint32_t index, bool exact)
{
    struct holding *holding = state_holding(engine, index);
    struct market *market = state_market(engine, holding->market);
    struct portfolio *portfolio = state_portfolio(engine, holding->portfolio);
    uint64_t size = margin_abs(holding->size);
    uint64_t move = money_distance(holding->mark_seen, market->mark);

    if (size > market->scan_max)
        market->scan_max = size;
    if (CC_UNLIKELY(holding->portfolio == FUND_PORTFOLIO))
        judge_fund(engine);
    if (exact) {
        risk_refresh(engine, holding->portfolio);
        return;
    }
    if (move == 0) { /* one that waits for this market may be met without a move */
        if (CC_UNLIKELY(portfolio->slack_maintenance < 0 ||
                        portfolio->status == PORTFOLIO_IN_LIQUIDATION))
            risk_refresh(engine, holding->portfolio);
        return;
    }
    const struct market_record *record = &market->record;
    uint32_t by_leverage = (MONEY_PPM - 1) / leverage_in_force(market, holding->leverage) + 1;
    uint32_t initial_ppm = tier_imr_max(record->tiers, record->tier_count);
    uint64_t orders =
        (uint64_t)(holding->sides[0].size + holding->sides[1].size + rests_excess(holding));

    if (initial_ppm < by_leverage)
        initial_ppm = by_leverage;
    int64_t maintenance = weight(size, tier_mmr_max(record->tiers, record->tier_count));
    int64_t initial = weight(size + orders, initial_ppm);
    portfolio->slack_maintenance -= (int128)maintenance * (int64_t)move + 1;
    portfolio->slack_initial -= (int128)initial * (int64_t)move + 1;
    if (portfolio->slack_maintenance < 0 || portfolio->slack_initial < 0 ||
        portfolio->status == PORTFOLIO_IN_LIQUIDATION)
        risk_refresh(engine, holding->portfolio); /* sees the mark if E >= 0 */
    else
        holding->mark_seen = market->mark;
}
