#include "engine/liquidate/deal.h"

#include "engine/liquidate/liquidation.h"
#include "engine/trade/own_order.h"

void deal_make(struct engine *engine, uint32_t loser, uint32_t other, uint64_t quantity,
               uint64_t price, uint8_t level)
{
    bool is_long = state_holding(engine, loser)->size > 0;
    struct own_order_terms terms = {
        .quantity = quantity,
        .price = price,
        .holding = loser,
        .side = is_long ? ORDER_SHORT : ORDER_LONG,
        .type = ORDER_AUTO_DELEVERAGE,
        .reduce_only = true,
    };
    uint32_t taker = own_order_make(engine, OWN_ORDER_TAKER, &terms);

    terms.holding = other;
    terms.side = is_long ? ORDER_LONG : ORDER_SHORT;
    uint32_t maker = own_order_make(engine, OWN_ORDER_MAKER, &terms);
    fill_between(engine, maker, taker, price, CASH_adl);
    own_order_end(engine, OWN_ORDER_MAKER, price, REASON_none);
    own_order_end(engine, OWN_ORDER_TAKER, price, REASON_none);
    liquidation_emit(engine, loser, level, price, is_long ? (int64_t)quantity : -(int64_t)quantity);
}
