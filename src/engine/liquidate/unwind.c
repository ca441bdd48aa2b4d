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

static void begin_order(struct engine *engine, uint32_t index)
{
    const struct holding *holding = state_holding(engine, index);
    const struct market *market = state_market(engine, holding->market);
    uint64_t size = margin_abs(holding->size), lot = market->record.lot_size;
    uint64_t part = size / UNWIND_PART / lot * lot;
    uint128 mark = market->mark;
    uint64_t low =
        (uint64_t)((mark * (MONEY_PPM - UNWIND_DISTANCE_PPM) + MONEY_PPM - 1) / MONEY_PPM);
    uint64_t high = (uint64_t)(mark * (MONEY_PPM + UNWIND_DISTANCE_PPM) / MONEY_PPM);
    bool is_long = holding->size > 0;
    struct own_order_terms terms = {
        .quantity = part != 0 ? part : lot,
        .price = is_long ? own_order_price_up(engine, holding->market, low)
                         : own_order_price_down(engine, holding->market, high),
        .holding = index,
        .side = is_long ? ORDER_SHORT : ORDER_LONG,
        .type = ORDER_LIQUIDATE,
        .reduce_only = true,
    };

    engine->liquidation.step = LIQUIDATION_UNWIND;
    engine->liquidation.portfolio = FUND_PORTFOLIO;
    (void)own_order_make(engine, OWN_ORDER_TAKER, &terms);
}

/* False when the order is done: there is one a second. */
bool unwind_unit(struct engine *engine, uint32_t market, uint32_t *units)
{
    uint32_t index = position_of_fund(engine, market);
    bool goes_on = engine->liquidation.step == LIQUIDATION_UNWIND;
    uint8_t reason = REASON_market_state;
    bool done = true;

    risk_refresh(engine, FUND_PORTFOLIO);
    if (!goes_on && (index == HOLDING_NONE || !may_trade(engine, market)))
        return false;
    if (!goes_on)
        begin_order(engine, index);
    if (may_trade(engine, market))
        done = own_order_match(engine, FILL_UNWIND, units, &reason);
    else
        *units -= 1;
    if (done) {
        own_order_end(engine, OWN_ORDER_TAKER, own_order_limit(engine), reason);
        engine->liquidation.step = LIQUIDATION_IDLE;
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
