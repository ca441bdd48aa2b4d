#include "node/history/exchange_counters.h"

#include "base/log.h"
#include "base/money.h"
#include "engine/state/market.h"
#include "engine/state/portfolio.h"
#include "engine/state/share.h"
#include "engine/view/read.h"

void exchange_counters_count(struct exchange_counters *counters, const struct effect *effect)
{
    struct effect_funding_epoch epoch;
    struct effect_portfolio_state portfolio;
    struct effect_liquidation liquidation;
    struct effect_market_state market;
    struct effect_mmp mmp;
    struct effect_withdrawal withdrawal;

    switch (effect->code) {
    case EFFECT_funding_payment:
        published_add(&counters->funding_payments, 1);
        break;
    case EFFECT_funding_epoch:
        memcpy(&epoch, effect->bytes, sizeof epoch);
        if (epoch.open != 0)
            published_add(&counters->funding_hours, 1);
        break;
    case EFFECT_portfolio_state:
        memcpy(&portfolio, effect->bytes, sizeof portfolio);
        if (portfolio.status == PORTFOLIO_IN_LIQUIDATION)
            published_add(&counters->liquidated, 1);
        break;
    case EFFECT_liquidation:
        memcpy(&liquidation, effect->bytes, sizeof liquidation);
        INVARIANT(liquidation.level >= 1 && liquidation.level <= EXCHANGE_COUNTERS_LEVELS);
        published_add(&counters->liquidations[liquidation.level - 1], 1);
        break;
    case EFFECT_market_state:
        memcpy(&market, effect->bytes, sizeof market);
        if (market.cause == CAUSE_ORACLE && market.state == MARKET_CANCEL_ONLY)
            published_add(&counters->holds, 1);
        break;
    case EFFECT_trigger:
        published_add(&counters->triggers, 1);
        break;
    case EFFECT_mmp:
        memcpy(&mmp, effect->bytes, sizeof mmp);
        if (mmp.frozen_until != 0)
            published_add(&counters->freezes, 1);
        break;
    case EFFECT_withdrawal:
        memcpy(&withdrawal, effect->bytes, sizeof withdrawal);
        published_add(withdrawal.outcome == WITHDRAWAL_PENDING   ? &counters->withdrawals_requested
                      : withdrawal.outcome == WITHDRAWAL_SETTLED ? &counters->withdrawals_settled
                                                                 : &counters->withdrawals_reverted,
                      1);
        break;
    case EFFECT_settlement:
        published_add(&counters->settlements, 1);
        break;
    default:
        break;
    }
}

static void refresh_indexes(struct exchange_counters *counters, const struct engine *engine)
{
    uint32_t count = read_market_count(engine);

    INVARIANT(count <= CC_COUNT(counters->indexes));
    for (uint32_t k = 0; k < count; k++) {
        struct exchange_counters_index *index = &counters->indexes[k];
        struct read_market_health health;
        read_market_health(engine, k, &health);
        published_set(&index->publish_ns, health.publish_ns);
        published_set(&index->asset_id, health.asset_id);
        published_set(&index->state, health.state);
        published_set(&index->mark_valid, health.is_mark_valid);
        published_words_set(index->symbol, health.symbol, CC_COUNT(index->symbol));
    }
    /* pairs: index_lines, alarm_page_write */
    atomic_store_explicit(&counters->index_count, count, memory_order_release);
}

/* Logged once each time that it gets there; it is over below 65 %, so that it does not flicker. */
static void refresh_table(struct exchange_counters *counters, const struct engine *engine,
                          enum share_table table)
{
    bool was_high = published_get(&counters->table_alarm[table]) != 0;
    uint64_t size = share_size(engine, table), used = 0;

    for (uint32_t class = 0; class < SHARE_CLASS_COUNT; class ++) {
        uint32_t rows = share_used(engine, table, (enum share_class) class);
        used += rows;
        published_set(&counters->table_used[table][class], rows);
    }
    published_set(&counters->table_size[table], size);
    bool is_high = size != 0 && used * 100 >= size * (was_high ? 65 : 70);
    if (is_high == was_high)
        return;
    published_set(&counters->table_alarm[table], is_high);
    log_line(is_high ? LOG_WARN : LOG_INFO, "table",
             is_high ? "%s: %lu of %lu rows are used" : "%s: %lu of %lu rows are used again",
             share_table_name(table), used, size);
}

void exchange_counters_refresh(struct exchange_counters *counters, const struct engine *engine)
{
    int64_t fund, fees, pending;

    read_house(engine, &fund, &fees);
    uint32_t count = read_withdrawals_pending(engine, &pending);
    /* relaxed: shown only. */
    atomic_store_explicit(&counters->fund_cash, fund, memory_order_relaxed);
    atomic_store_explicit(&counters->fee_account, fees, memory_order_relaxed);
    atomic_store_explicit(&counters->owed, money_clamp(read_owed(engine)), memory_order_relaxed);
    atomic_store_explicit(&counters->solvency, money_clamp(read_solvency(engine)),
                          memory_order_relaxed);
    atomic_store_explicit(&counters->pending_amount, pending, memory_order_relaxed);
    published_set(&counters->pending_count, count);
    published_set(&counters->work_items, read_work_count(engine));
    refresh_indexes(counters, engine);
    for (uint32_t table = 0; table < SHARE_TABLE_COUNT; table++)
        refresh_table(counters, engine, (enum share_table)table);
}

void exchange_counters_refresh_claims(struct exchange_counters *counters,
                                      const struct engine *engine)
{
    atomic_store_explicit(&counters->claims, money_clamp(read_claims(engine)),
                          memory_order_relaxed);
}
