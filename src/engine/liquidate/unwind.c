#include "engine/liquidate/unwind.h"

#include "engine/liquidate/liquidation.h"
#include "engine/risk/fund.h"
#include "engine/risk/margin.h"
#include "engine/risk/risk.h"
#include "engine/table/image_read.h"
#include "engine/trade/own_order.h"

/* The fund's position in the market, or HOLDING_NONE. */
static uint32_t position_of_fund(const struct engine *engine, uint32_t market)
{
    uint32_t index = holding_find(engine, FUND_PORTFOLIO, market);

    return index != HOLDING_NONE && engine->holdings.rows[index].size != 0 ? index : HOLDING_NONE;
}

void unwind_second(struct engine *engine, uint32_t market)
{
    bool *queued = &engine->liquidation.unwind_queued[market];

    if (*queued || CC_LIKELY(position_of_fund(engine, market) == HOLDING_NONE))
        return;
    *queued = true;
    work_queue_push(engine, WORK_UNWIND, market);
}

static bool may_trade(const struct engine *engine, uint32_t market)
{
    return market_matches(&engine->markets.rows[market]) && market_mark_is_valid(engine, market);
}

/* The low 16 bits of the mix of the newest update's signature and the second: nobody but the
 * oracle's key can know them before (R7, Fund). */
static uint32_t draw(const struct engine *engine, const struct market *market)
{
    uint64_t second = engine->t_ns / MARKET_SECOND_NS;
    uint64_t z = market->draw ^ second * UINT64_C(0x9E3779B97F4A7C15);

    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return (uint32_t)(z ^ z >> 31) & 0xFFFF;
}

/* 5 to 15 % of the position, at least a lot. False: nothing in this second. */
static bool begin_order(struct engine *engine, uint32_t index)
{
    const struct holding *holding = state_holding(engine, index);
    const struct market *market = state_market(engine, holding->market);
    uint64_t size = margin_abs(holding->size), lot = market->record.lot_size;
    uint32_t drawn = draw(engine, market);
    uint64_t percent = UNWIND_PERCENT_LEAST + (drawn >> 1) % UNWIND_PERCENTS;
    uint64_t part = size * percent / 100 / lot * lot;
    uint128 mark = market->mark;
    uint64_t low =
        (uint64_t)((mark * (MONEY_PPM - UNWIND_DISTANCE_PPM) + MONEY_PPM - 1) / MONEY_PPM);
    uint64_t high = (uint64_t)(mark * (MONEY_PPM + UNWIND_DISTANCE_PPM) / MONEY_PPM);
    bool is_long = holding->size > 0;

    if ((drawn & 1) != 0)
        return false;
    part = part != 0 ? part : lot;
    struct own_order_terms terms = {
        .quantity = part < size ? part : size,
        .price = is_long ? own_order_price_up(engine, holding->market, low)
                         : own_order_price_down(engine, holding->market, high),
        .holding = index,
        .side = is_long ? ORDER_SHORT : ORDER_LONG,
        .type = ORDER_LIQUIDATE,
        .reduce_only = true,
    };

    liquidation_step_move(&engine->liquidation, LIQUIDATION_UNWIND);
    engine->liquidation.portfolio = FUND_PORTFOLIO;
    (void)own_order_make(engine, OWN_ORDER_TAKER, &terms);
    return true;
}

/* One maker. False when the order is done: there is at most one a second. */
bool unwind_unit(struct engine *engine, uint32_t market, uint32_t *units)
{
    uint32_t index = position_of_fund(engine, market), one = 1;
    bool goes_on = engine->liquidation.step == LIQUIDATION_UNWIND;
    uint8_t reason = REASON_market_state;
    bool done = true;

    risk_refresh(engine, FUND_PORTFOLIO);
    if (!goes_on && (index == HOLDING_NONE || !may_trade(engine, market)))
        return false;
    *units -= 1;
    if (!goes_on && !begin_order(engine, index))
        return false;
    if (index == HOLDING_NONE)
        reason = REASON_reduce_only;
    else if (may_trade(engine, market))
        done = own_order_match(engine, FILL_UNWIND, &one, &reason);
    if (done) {
        own_order_end(engine, OWN_ORDER_TAKER, own_order_limit(engine), reason);
        liquidation_step_move(&engine->liquidation, LIQUIDATION_IDLE);
        recheck_portfolio(engine, FUND_PORTFOLIO);
    }
    risk_flush(engine);
    return !done;
}

void unwind_finish(struct engine *engine, uint32_t market)
{
    engine->liquidation.unwind_queued[market] = false;
}

bool unwind_load_item(struct engine *engine, uint32_t market, struct image_read *read)
{
    if (market >= engine->markets.count || engine->liquidation.unwind_queued[market])
        return image_read_refuse(read, "an unwinding of no market, or one that is queued twice");
    engine->liquidation.unwind_queued[market] = true;
    return true;
}
