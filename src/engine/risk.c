#include "engine/risk.h"

#include "engine/funding.h"
#include "engine/margin.h"

/* End of the list of changed portfolios; portfolio 0 is a portfolio. */
#define RISK_LIST_END UINT32_MAX

void risk_init(struct risk *risk)
{
    *risk = (struct risk){ .mark_epoch = 1, .changed_head = RISK_LIST_END };
}

/* The exact check: both slacks anew, and whether E < IM. */
static void check(struct engine *engine, uint32_t index)
{
    struct portfolio *portfolio = state_portfolio(engine, index);
    int128 equity = margin_equity(portfolio);

    if (CC_UNLIKELY(equity < portfolio->initial && equity >= portfolio->initial - portfolio->loose))
        margin_resolve(engine, index);
    portfolio->slack_maintenance = equity - portfolio->maintenance;
    portfolio->slack_initial = equity - portfolio->initial;
    portfolio->flagged = equity < portfolio->initial;
}

void risk_touch(struct engine *engine, uint32_t portfolio)
{
    funding_touch(engine, portfolio);
    margin_bring(engine, portfolio);
    check(engine, portfolio);
}

void risk_changed(struct engine *engine, uint32_t index)
{
    struct holding *holding = state_holding(engine, index);
    struct portfolio *portfolio = state_portfolio(engine, holding->portfolio);

    holding->figure_mark = 0;
    if (portfolio->stale_holding == HOLDING_NONE)
        portfolio->stale_holding = index;
    else if (portfolio->stale_holding != index)
        portfolio->stale_holding = RISK_STALE_MANY;
    if (!portfolio->changed) {
        portfolio->changed = true;
        portfolio->changed_next = engine->risk.changed_head;
        engine->risk.changed_head = holding->portfolio;
    }
}

/* Gives back the holdings of the portfolio that have neither position nor orders any more. */
static void settle_empty(struct engine *engine, uint32_t portfolio)
{
    uint32_t at = state_portfolio(engine, portfolio)->holding_head;

    while (at != HOLDING_NONE) {
        const struct holding *holding = state_holding(engine, at);
        uint32_t next = holding->next;
        if (holding->size == 0 && holding->order_head == ORDER_NONE) {
            margin_drop(engine, at);
            holding_settle(engine, at);
        }
        at = next;
    }
}

/* Takes the newest of the changed portfolios from the list and checks it. */
static void check_newest(struct engine *engine)
{
    uint32_t index = engine->risk.changed_head;
    struct portfolio *portfolio = state_portfolio(engine, index);

    engine->risk.changed_head = portfolio->changed_next;
    portfolio->changed = false;
    if (portfolio->stale_holding == RISK_STALE_MANY) {
        settle_empty(engine, index);
    } else if (portfolio->stale_holding != HOLDING_NONE) {
        uint32_t at = portfolio->stale_holding;
        const struct holding *holding = state_holding(engine, at);
        if (holding->size == 0 && holding->order_head == ORDER_NONE) {
            margin_drop(engine, at);
            holding_settle(engine, at);
        }
    }
    risk_touch(engine, index);
}

void risk_flush_until(struct engine *engine, uint32_t last)
{
    while (engine->risk.changed_head != last) {
        INVARIANT(engine->risk.changed_head != RISK_LIST_END);
        check_newest(engine);
    }
}

void risk_flush(struct engine *engine)
{
    risk_flush_until(engine, RISK_LIST_END);
}

void risk_mark_moved(struct engine *engine, uint32_t market)
{
    engine->risk.mark_epoch++;
    work_queue_scan(engine, market);
}

void risk_tiers_changed(struct engine *engine, uint32_t market)
{
    state_market(engine, market)->tier_generation++;
    engine->risk.mark_epoch++;
    work_queue_scan(engine, market);
    engine->work.scans[market].exact = 1;
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
    uint64_t move = holding->mark_seen > market->mark ? holding->mark_seen - market->mark
                                                      : market->mark - holding->mark_seen;

    if (size > market->scan_max)
        market->scan_max = size;
    if (exact) {
        risk_touch(engine, holding->portfolio);
        return;
    }
    if (move == 0)
        return;
    const struct market_record *record = &market->record;
    uint32_t by_leverage = (MONEY_PPM - 1) / leverage_in_force(market, holding->leverage) + 1;
    uint32_t initial_ppm = tier_imr_max(record->tiers, record->tier_count);
    uint64_t orders = (uint64_t)(holding->sides[0].size + holding->sides[1].size);

    if (initial_ppm < by_leverage)
        initial_ppm = by_leverage;
    int64_t maintenance = weight(size, tier_mmr_max(record->tiers, record->tier_count));
    int64_t initial = weight(size + orders, initial_ppm);
    portfolio->slack_maintenance -= (int128)maintenance * (int64_t)move + 1;
    portfolio->slack_initial -= (int128)initial * (int64_t)move + 1;
    holding->mark_seen = market->mark;
    if (portfolio->slack_maintenance < 0 || portfolio->slack_initial < 0)
        risk_touch(engine, holding->portfolio);
}
