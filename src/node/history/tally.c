#include "node/history/tally.h"

#include "engine/state/market.h"
#include "engine/state/portfolio.h"
#include "engine/view/read_figures.h"
#include "node/history/counter.h"

void tally_tell(struct tally *tally, const struct effect *effect)
{
    struct effect_funding_epoch epoch;
    struct effect_portfolio_state portfolio;
    struct effect_liquidation liquidation;
    struct effect_market_state market;
    struct effect_mmp mmp;
    struct effect_withdrawal withdrawal;

    switch (effect->code) {
    case EFFECT_funding_payment:
        counter_add(&tally->funding_payments);
        break;
    case EFFECT_funding_epoch:
        memcpy(&epoch, effect->bytes, sizeof epoch);
        if (epoch.open != 0)
            counter_add(&tally->funding_hours);
        break;
    case EFFECT_portfolio_state:
        memcpy(&portfolio, effect->bytes, sizeof portfolio);
        if (portfolio.status == PORTFOLIO_IN_LIQUIDATION)
            counter_add(&tally->liquidated);
        break;
    case EFFECT_liquidation:
        memcpy(&liquidation, effect->bytes, sizeof liquidation);
        INVARIANT(liquidation.level >= 1 && liquidation.level <= TALLY_LEVELS);
        counter_add(&tally->liquidations[liquidation.level - 1]);
        break;
    case EFFECT_market_state:
        memcpy(&market, effect->bytes, sizeof market);
        if (market.cause == CAUSE_ORACLE && market.state == MARKET_CANCEL_ONLY)
            counter_add(&tally->holds);
        break;
    case EFFECT_trigger:
        counter_add(&tally->triggers);
        break;
    case EFFECT_mmp:
        memcpy(&mmp, effect->bytes, sizeof mmp);
        if (mmp.frozen_until != 0)
            counter_add(&tally->freezes);
        break;
    case EFFECT_withdrawal:
        memcpy(&withdrawal, effect->bytes, sizeof withdrawal);
        counter_add(withdrawal.outcome == WITHDRAWAL_PENDING   ? &tally->withdrawals_requested
                    : withdrawal.outcome == WITHDRAWAL_SETTLED ? &tally->withdrawals_settled
                                                               : &tally->withdrawals_reverted);
        break;
    case EFFECT_settlement:
        counter_add(&tally->settlements);
        break;
    default:
        break;
    }
}

void tally_look(struct tally *tally, const struct engine *engine)
{
    int64_t fund, fees, pending;

    read_figures_house(engine, &fund, &fees);
    uint32_t count = read_figures_withdrawals(engine, &pending);
    /* relaxed: shown only. */
    atomic_store_explicit(&tally->fund_cash, fund, memory_order_relaxed);
    atomic_store_explicit(&tally->fee_account, fees, memory_order_relaxed);
    atomic_store_explicit(&tally->pending_amount, pending, memory_order_relaxed);
    atomic_store_explicit(&tally->pending_count, count, memory_order_relaxed);
    atomic_store_explicit(&tally->work_items, read_figures_work(engine), memory_order_relaxed);
}
