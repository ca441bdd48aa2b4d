#include "engine/view/read_ticker.h"

#include "engine/state/state.h"

static uint64_t best_price(const struct market *market, enum order_side side)
{
    uint32_t tick = book_best(&market->book, side);

    if (tick == BOOK_TICK_NONE)
        return 0;
    return book_price(&market->book, side, tick) * market->record.tick_size;
}

void read_ticker(const struct engine *engine, uint16_t asset_id, struct row_ticker *row)
{
    uint32_t index = market_find(engine, asset_id);

    INVARIANT(index != MARKET_NONE);
    const struct market *market = &engine->markets.rows[index];
    *row = (struct row_ticker){
        .book_seq = market->book_seq,
        .last_price = market->last_price,
        .mark_price = market->mark,
        .index_price = market->index_price,
        .bid_price = best_price(market, ORDER_LONG),
        .ask_price = best_price(market, ORDER_SHORT),
        .open_interest = market->open_interest,
        .price_decimals = market->record.price_decimals,
        .size_decimals = market->record.size_decimals,
    };
    memcpy(row->market, market->record.symbol, sizeof row->market);
}
