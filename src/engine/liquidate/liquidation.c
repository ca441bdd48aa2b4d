#include "engine/liquidate/liquidation.h"

#include "engine/liquidate/backstop.h"
#include "engine/risk/fund.h"
#include "engine/risk/judge.h"
#include "engine/risk/margin.h"
#include "engine/risk/risk.h"
#include "engine/state/cancel_list.h"
#include "engine/state/conditional.h"
#include "engine/trade/own_order.h"

#define LIQUIDATION_LARGE UINT64_C(100000000000) /* 100,000 USDC: sold in two actions */

enum { LIQUIDATION_FIRST_PART = 5 };

void liquidation_emit(struct engine *engine, uint32_t index, uint8_t level, uint64_t price,
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

/* Emits 2101 and 2113, and checks the portfolio and those that its order met. */
static void end_order(struct engine *engine, uint8_t reason)
{
    uint32_t index = state_own_order(engine, OWN_ORDER_TAKER);
    const struct order *order = &engine->orders.hot[index];
    int64_t filled = (int64_t)order_filled(&engine->orders, index);

    own_order_end(engine, OWN_ORDER_TAKER, own_order_limit(engine), reason);
    if (filled != 0)
        liquidation_emit(engine, order->holding, 1,
                         order_filled_notional(&engine->orders, index) / (uint64_t)filled,
                         order->side == ORDER_SHORT ? filled : -filled);
    engine->liquidation.step = LIQUIDATION_IDLE;
    recheck_holding(engine, order->holding);
    risk_flush(engine);
}

/* A slice of the order: the makers that the units allow. */
static void go_on_with_order(struct engine *engine, uint32_t *units)
{
    uint32_t index = state_own_order(engine, OWN_ORDER_TAKER);
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
    judge_cancel_orders(engine, index);
    engine->liquidation.step = LIQUIDATION_RUN;
    engine->liquidation.portfolio = index;
    deleverage_begin(engine, index);
}

static void go_on_with_run(struct engine *engine, uint32_t index, uint32_t *units)
{
    if (!deleverage_go_on(engine, index, units))
        return;
    engine->liquidation.step = LIQUIDATION_IDLE;
    risk_refresh(engine, index);
}

bool liquidation_unit(struct engine *engine, uint32_t index, uint32_t *units)
{
    struct portfolio *portfolio = state_portfolio(engine, index);

    risk_refresh(engine, index);
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
    struct judge_plan plan = judge_plan(engine, portfolio);
    if (plan.level == 0)
        return false;
    if (plan.level == 1) {
        begin_order(engine, index, plan.holding);
        go_on_with_order(engine, units);
    } else if (!backstop_assume(engine, index, units)) {
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
        judge_consider(engine, index);
}
