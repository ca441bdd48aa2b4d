#include "engine/view/read_figures.h"

#include "engine/price/funding.h"
#include "engine/price/mark.h"
#include "engine/price/premium.h"
#include "engine/state/state.h"

uint8_t read_figures_state(const struct engine *engine, uint32_t k)
{
    const struct market *market = &engine->markets.rows[engine->markets.sorted[k]];

    INVARIANT(k < engine->markets.count);
    return market->hold_count != 0 ? market->former_state : market->state;
}

bool read_figures_mark(const struct engine *engine, const char symbol[32], struct row_mark *row)
{
    for (uint32_t i = 0; i < engine->markets.count; i++) {
        const struct market *market = &engine->markets.rows[i];
        if (memcmp(market->record.symbol, symbol, sizeof market->record.symbol) != 0)
            continue;
        *row = (struct row_mark){
            .book_seq = market->book_seq,
            .mark_price = market->mark,
            .index_price = market->index_price,
            .premium_ppb = market->premium_ppb,
            .predicted_rate_ppb = premium_predicted(engine, i),
            .valid = market_mark_is_valid(engine, i),
            .price_decimals = market->record.price_decimals,
        };
        memcpy(row->market, symbol, sizeof row->market);
        return true;
    }
    return false;
}

void read_figures_house(const struct engine *engine, int64_t *fund, int64_t *fees)
{
    *fund = engine->portfolios.rows[0].cash;
    *fees = engine->fee_account;
}

uint32_t read_figures_work(const struct engine *engine)
{
    return engine->work.count;
}

uint32_t read_figures_withdrawals(const struct engine *engine, int64_t *amount)
{
    *amount = engine->withdrawals_pending;
    return engine->withdrawals.slots.count -
           engine->withdrawals.releases.count; /* less the ended ones */
}

void read_figures_epoch(const struct engine *engine, uint16_t asset_id, uint64_t *hour_ns,
                        uint64_t *index_price)
{
    uint32_t index;
    enum status status = market_of_asset(engine, asset_id, &index);
    const struct market *market = &engine->markets.rows[index];

    INVARIANT(status == STATUS_request_completed);
    *hour_ns = market->funding_epoch_hour * MARKET_HOUR_NS;
    *index_price = market->funding_index;
}
