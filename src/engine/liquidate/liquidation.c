#include "engine/liquidate/liquidation.h"

#include "engine/liquidate/backstop.h"
#include "engine/liquidate/legs.h"
#include "engine/liquidate/netting.h"
#include "engine/risk/fund.h"
#include "engine/risk/judge.h"
#include "engine/risk/margin.h"
#include "engine/risk/risk.h"
#include "engine/state/cancel_list.h"
#include "engine/state/conditional.h"
#include "engine/state/market_price.h"
#include "engine/state/private_event.h"
#include "engine/trade/own_order.h"

#define LIQUIDATION_WHOLE UINT64_C(2000000000) /* 2,000 USDC: a leg of at most this is sold whole */

enum {
    LIQUIDATION_PARTS = 5,          /* a larger one in at most so many actions */
    LIQUIDATION_PENALTY_PART = 4,   /* of the leg's maintenance rate ... */
    LIQUIDATION_PENALTY_MAX = 5000, /* ... at most this many ppm */
};

void liquidation_emit(struct engine *engine, uint32_t index, uint8_t level, uint64_t price,
                      int64_t size)
{
    const struct holding *holding = state_holding(engine, index);
    struct market *market = state_market(engine, holding->market);
    uint16_t asset_id = market->record.asset_id;
    struct effect_liquidation body = {
        .portfolio = portfolio_effect_id(engine, holding->portfolio),
        .price = price,
        .size = size,
        .asset_id = asset_id,
        .level = level,
    };

    market_next_seq(market);
    private_event_add(engine, holding->portfolio, 1);
    effects_emit(engine, EFFECT_liquidation, index, asset_id, &body);
}

/* --- L1 --------------------------------------------------------------------------------------- */

/* ppm of what is sold of a leg of this tier. */
static uint32_t penalty_of(const struct market_tier *tier)
{
    uint32_t quarter = tier->mmr_ppm / LIQUIDATION_PENALTY_PART;

    return quarter < LIQUIDATION_PENALTY_MAX ? quarter : LIQUIDATION_PENALTY_MAX;
}

/* What brings E to 1.2 MM when it is sold at the mark, at least a fifth; a small leg whole. */
static uint64_t quantity_to_sell(const struct engine *engine, const struct portfolio *portfolio,
                                 const struct holding *holding, const struct market_tier *tier)
{
    const struct market *market = &engine->markets.rows[holding->market];
    uint64_t size = margin_abs(holding->size), lot = market->record.lot_size;
    uint64_t least = (size + LIQUIDATION_PARTS - 1) / LIQUIDATION_PARTS;

    if (size * market->mark <= LIQUIDATION_WHOLE)
        return size;
    int128 lacks = 12 * portfolio->maintenance - 10 * margin_equity(portfolio);
    int128 value =
        money_cdiv(lacks * MONEY_PPM, 12 * (int128)tier->mmr_ppm - 10 * (int128)penalty_of(tier));
    int128 quantity = money_cdiv(value, market->mark);
    quantity = quantity < (int128)least ? (int128)least : quantity;
    if (quantity >= (int128)size)
        return size;
    uint64_t whole_lots = ((uint64_t)quantity + lot - 1) / lot * lot;
    return whole_lots < size ? whole_lots : size;
}

/* Where a sale with its penalty would leave E / MM as it is, from the better of mark and index;
 * within the band of the mark. */
static uint64_t limit_price(const struct engine *engine, const struct portfolio *portfolio,
                            const struct holding *holding, const struct market_tier *tier)
{
    const struct market *market = &engine->markets.rows[holding->market];
    uint64_t size = margin_abs(holding->size);
    int128 better = (int128)market_price_better(market, holding->size > 0);
    int128 share =
        money_fdiv(margin_equity(portfolio) * holding->figure_maintenance, portfolio->maintenance) -
        money_ppm_up(size * market->mark, penalty_of(tier));
    int128 distance = share > 0 && size != 0 ? money_fdiv(share, size) : 0;

    if (holding->size > 0) {
        int128 price = better - distance, least = (int128)market_price_low(market);
        return own_order_price_up(engine, holding->market,
                                  (uint64_t)(price > least ? price : least));
    }
    int128 price = better + distance, most = (int128)market_price_high(market);
    return own_order_price_down(engine, holding->market, (uint64_t)(price < most ? price : most));
}

static void begin_order(struct engine *engine, uint32_t index, uint32_t leg)
{
    struct portfolio *portfolio = state_portfolio(engine, index);
    struct holding *holding = state_holding(engine, leg);
    const struct market *market = state_market(engine, holding->market);
    const struct market_tier *tier =
        tier_find(market->record.tiers, margin_abs(holding->size) * market->mark);
    struct own_order_terms terms = {
        .quantity = quantity_to_sell(engine, portfolio, holding, tier),
        .price = limit_price(engine, portfolio, holding, tier),
        .holding = leg,
        .side = holding->size > 0 ? ORDER_SHORT : ORDER_LONG,
        .type = ORDER_LIQUIDATE,
        .reduce_only = true,
    };

    portfolio->netted = false;
    portfolio->liquidation_ns = engine->t_ns;
    holding->liquidation_ns = engine->t_ns;
    liquidation_step_move(&engine->liquidation, LIQUIDATION_ORDER);
    engine->liquidation.portfolio = index;
    engine->liquidation.penalty_ppm = penalty_of(tier);
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
    liquidation_step_move(&engine->liquidation, LIQUIDATION_IDLE);
    recheck_holding(engine, order->holding);
    risk_flush(engine);
}

/* A unit of the order: the next maker. */
static void go_on_with_order(struct engine *engine, uint32_t *units)
{
    uint32_t one = 1;
    uint32_t index = state_own_order(engine, OWN_ORDER_TAKER);
    const struct order *order = &engine->orders.hot[index];
    const struct holding *holding = state_holding(engine, order->holding);
    bool opposes = order->side == ORDER_SHORT ? holding->size > 0 : holding->size < 0;
    uint8_t reason = REASON_reduce_only;

    *units -= 1;
    if (opposes && market_matches(state_market(engine, order->market)) &&
        market_mark_is_valid(engine, order->market)) {
        if (own_order_match(engine, FILL_LIQUIDATION, &one, &reason))
            end_order(engine, reason);
        else
            risk_flush(engine);
        return;
    }
    end_order(engine, opposes ? (uint8_t)REASON_market_state : reason);
}

/* --- the item --------------------------------------------------------------------------------- */

static void begin_run(struct engine *engine, uint32_t index)
{
    liquidation_step_move(&engine->liquidation, LIQUIDATION_RUN);
    engine->liquidation.portfolio = index;
    deleverage_begin(engine, index);
}

static void go_on_with_run(struct engine *engine, uint32_t index, uint32_t *units)
{
    if (!deleverage_go_on(engine, index, units))
        return;
    liquidation_step_move(&engine->liquidation, LIQUIDATION_IDLE);
    engine->liquidation.fund_is_done = index == FUND_PORTFOLIO;
    risk_refresh(engine, index);
}

/* The fund has too much: once an item. False: it is done, or nothing of it is live. */
static bool begin_run_of_fund(struct engine *engine, uint32_t *units)
{
    struct legs legs;

    if (engine->liquidation.fund_is_done)
        return false;
    legs_make(engine, FUND_PORTFOLIO, &legs);
    if (legs.count == 0)
        return false;
    begin_run(engine, FUND_PORTFOLIO);
    go_on_with_run(engine, FUND_PORTFOLIO, units);
    return true;
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
    if (index == FUND_PORTFOLIO)
        return begin_run_of_fund(engine, units);
    if (portfolio->status != PORTFOLIO_IN_LIQUIDATION)
        return false;
    struct judge_plan plan = judge_plan(engine, portfolio);
    if (plan.level == 0)
        return false;
    if (plan.level == 1) {
        begin_order(engine, index, plan.holding);
        go_on_with_order(engine, units);
        return true;
    }
    judge_cancel_orders(engine, index);
    if (!portfolio->netted) {
        portfolio->netted = true;
        netting_make(engine, index, units);
        return true;
    }
    portfolio->netted = false;
    if (!backstop_assume(engine, index, units)) {
        begin_run(engine, index);
        go_on_with_run(engine, index, units);
    }
    return true;
}

void liquidation_finish(struct engine *engine, uint32_t index)
{
    struct portfolio *portfolio = state_portfolio(engine, index);

    portfolio->liquidation_queued = false;
    if (index == FUND_PORTFOLIO)
        engine->liquidation.fund_is_done = false;
    if (portfolio->status == PORTFOLIO_IN_LIQUIDATION)
        judge_consider(engine, index);
}
