#include "engine/risk/funding_pay.h"

#include "base/money.h"
#include "engine/risk/ledger.h"
#include "engine/state/private_event.h"

#define FUNDING_PPB 1000000000

int64_t funding_pay_amount(int64_t size, uint64_t index, int64_t rate_ppb)
{
    int128 x = (int128)size * (int64_t)index * rate_ppb;

    return (int64_t)(x > 0 ? -money_cdiv(x, FUNDING_PPB) : money_fdiv(-x, FUNDING_PPB));
}

bool funding_pay_is_due(const struct engine *engine, const struct holding *holding)
{
    return holding->size != 0 &&
           holding->funding_epoch != engine->markets.rows[holding->market].funding_epoch;
}

static void pay_position(struct engine *engine, uint32_t index)
{
    struct holding *holding = state_holding(engine, index);
    struct market *market = state_market(engine, holding->market);
    int64_t payment =
        funding_pay_amount(holding->size, market->funding_index, market->funding_rate_ppb);

    INVARIANT(market->funding_open && holding->funding_epoch + 1 == market->funding_epoch);
    holding->funding_epoch = market->funding_epoch;
    if (payment == 0)
        return;
    holding->net_funding += payment;
    market->funding_pool -= payment;
    struct effect_funding_payment body = {
        .portfolio = portfolio_effect_id(engine, holding->portfolio),
        .payment = payment,
        .size = holding->size,
        .rate_ppb = market->funding_rate_ppb,
        .asset_id = market->record.asset_id,
        .epoch = market->funding_epoch,
    };
    private_event_add(engine, holding->portfolio, 1);
    effects_emit(engine, EFFECT_funding_payment, index, body.asset_id, &body);
    ledger_post(engine, holding->portfolio, CASH_funding, payment, state_next_id(engine));
}

uint32_t funding_pay(struct engine *engine, uint32_t index)
{
    struct portfolio *portfolio = state_portfolio(engine, index);
    uint32_t count = 0;

    for (uint32_t at = portfolio->holding_head; at != HOLDING_NONE;
         at = state_holding(engine, at)->next) {
        if (!funding_pay_is_due(engine, state_holding(engine, at)))
            continue;
        pay_position(engine, at);
        count++;
    }
    portfolio->funding_count = (uint32_t)engine->funding_count;
    return count;
}
