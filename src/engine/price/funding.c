#include "engine/price/funding.h"

#include "base/money.h"
#include "engine/price/mark.h"
#include "engine/price/premium.h"
#include "engine/risk/fund.h"
#include "engine/risk/funding_pay.h"
#include "engine/risk/risk.h"
#include "engine/table/image_read.h"

static void emit_epoch(struct engine *engine, uint32_t index)
{
    struct market *market = state_market(engine, index);
    struct effect_funding_epoch body = {
        .index = market->funding_index,
        .rate_ppb = market->funding_rate_ppb,
        .hour = market->funding_epoch_hour * MARKET_HOUR_NS,
        .pool = market->funding_pool,
        .epoch = market->funding_epoch,
        .asset_id = market->record.asset_id,
        .open = market->funding_open,
    };

    (void)market_next_seq(market);
    effects_emit(engine, EFFECT_funding_epoch, index, body.asset_id, &body);
}

/* --- an epoch --------------------------------------------------------------------------------- */

/* Visits the next holder of the open epoch, which pays if it owes. *count gets the number of
 * payments. False: no holder is left. */
static bool next_holder(struct engine *engine, uint32_t index, uint32_t *count)
{
    struct market *market = state_market(engine, index);
    uint32_t at = holding_next_holder(engine, index, market->funding_from);

    *count = 0;
    if (at == HOLDING_NONE)
        return false;
    const struct holding *holding = state_holding(engine, at);
    uint32_t portfolio = holding->portfolio;
    market->funding_from = portfolio + 1;
    if (funding_pay_is_due(engine, holding)) {
        *count = funding_pay(engine, portfolio);
        risk_refresh(engine, portfolio);
    }
    return true;
}

void funding_to_fund(struct engine *engine, int64_t amount)
{
    if (amount == 0)
        return;
    risk_refresh(engine, FUND_PORTFOLIO);
    fund_pay(engine, amount);
    risk_refresh(engine, FUND_PORTFOLIO);
}

/* Closes the epoch after the last holder: the fund gets the roundings of the payments. */
static void close_epoch(struct engine *engine, uint32_t index)
{
    struct market *market = state_market(engine, index);
    int64_t pool = market->funding_pool;

    market->funding_pool = 0;
    market->funding_open = false;
    market->funding_from = 0;
    funding_to_fund(engine, pool);
    emit_epoch(engine, index);
}

void funding_complete(struct engine *engine, uint32_t index)
{
    uint32_t count;

    if (!state_market(engine, index)->funding_open)
        return;
    while (next_holder(engine, index, &count)) {
    }
    close_epoch(engine, index);
}

static void open_epoch(struct engine *engine, uint32_t index, int64_t rate_ppb)
{
    struct market *market = state_market(engine, index);

    market->funding_epoch++;
    market->funding_epoch_hour = market->funding_hour;
    market->funding_index = market->index_price;
    market->funding_rate_ppb = rate_ppb;
    market->funding_open = true;
    engine->funding_count++;
    engine->recheck.mark_epoch++;
    emit_epoch(engine, index);
    if (market->funding_queued) /* the item of an epoch that was completed early still waits */
        return;
    market->funding_queued = true;
    work_queue_push(engine, WORK_FUNDING, index);
}

void funding_hour(struct engine *engine, uint32_t index)
{
    struct market *market = state_market(engine, index);
    uint64_t hour = engine->t_ns / MARKET_HOUR_NS;

    if (CC_LIKELY(hour <= market->funding_hour))
        return;
    int64_t rate_ppb = premium_end_hour(engine, index, hour);
    bool is_skipped = market->passes_hour || market->state >= MARKET_HALTED ||
                      !market_mark_is_valid(engine, index);

    market->funding_hour = hour;
    if (is_skipped)
        return;
    funding_complete(engine, index);
    open_epoch(engine, index, rate_ppb);
}

/* --- deferred work ---------------------------------------------------------------------------- */

bool funding_unit(struct engine *engine, uint32_t index, uint32_t *units)
{
    uint32_t count;

    if (!state_market(engine, index)->funding_open || !next_holder(engine, index, &count))
        return false;
    uint32_t cost = count > 1 ? count : 1;
    *units -= cost < *units ? cost : *units;
    return true;
}

void funding_finish(struct engine *engine, uint32_t index)
{
    struct market *market = state_market(engine, index);

    market->funding_queued = false;
    if (market->funding_open)
        close_epoch(engine, index);
}

bool funding_load(struct engine *engine, uint32_t index, struct image_read *read)
{
    if (index >= engine->markets.count)
        return image_read_refuse(read, "funding of no market");
    struct market *market = state_market(engine, index);
    if (market->funding_queued)
        return image_read_refuse(read, "funding of a market is queued twice");
    if (!market->funding_open && market->state != MARKET_CLOSED)
        return image_read_refuse(read, "funding of an epoch that is not open");
    market->funding_queued = true;
    return true;
}
