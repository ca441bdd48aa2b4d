#include "engine/image/market_load.h"

#include "engine/image/market_former.h"
#include "engine/price/funding.h"
#include "engine/price/mark.h"
#include "engine/price/premium.h"
#include "engine/table/image_read.h"

static const char *wrong_record(const struct market *row)
{
    struct market_record next = row->record;

    if (row->record.state != 0 || !market_record_holds(&row->record))
        return "the record of a market breaks a rule";
    if ((row->next_tier_count != 0) != (row->record.effective_at_ns != 0))
        return "a market has a time of tiers without tiers, or tiers without a time";
    if (row->next_tier_count == 0)
        return row->next_max_leverage == 0 &&
                       image_read_is_zero(row->next_tiers, sizeof row->next_tiers)
                   ? NULL
                   : "a market has tiers that never come in force";
    memcpy(next.tiers, row->next_tiers, sizeof next.tiers);
    next.tier_count = row->next_tier_count;
    next.max_leverage = row->next_max_leverage;
    return market_record_holds(&next) ? NULL : "the next tiers of a market break a rule";
}

static bool is_price(uint64_t price)
{
    return price <= (uint64_t)MARKET_RAW_MAX;
}

static const char *wrong_prices(const struct engine *engine, const struct market *row)
{
    if (!is_price(row->index_price) || !is_price(row->last_price) || !is_price(row->anchor) ||
        row->mark > IMAGE_READ_MARK_MAX || row->checked_mark > IMAGE_READ_MARK_MAX ||
        !image_read_is_money(row->ema) || !image_read_is_money(row->funding_pool))
        return "a market has a price beyond every bound";
    if (row->second_ns > engine->t_ns || row->hold_until_ns > engine->t_ns ||
        row->taken_ns > engine->t_ns || row->announced_ns > engine->t_ns ||
        row->reference_from > engine->t_ns / MARKET_SECOND_NS + 1 ||
        row->second_ns % MARKET_SECOND_NS != 0)
        return "a market has prices of a time to come";
    if (row->max_abs_size > (uint64_t)IMAGE_READ_MONEY_MAX || row->scan_max > row->max_abs_size)
        return "a market has sizes beyond every bound";
    return NULL;
}

static const char *wrong_state(const struct engine *engine, const struct market *row)
{
    bool is_held = row->hold_count != 0;

    if (row->state >= MARKET_STATE_COUNT || row->former_state >= MARKET_STATE_COUNT ||
        !image_read_is_bool(&row->mark_valid))
        return "a market has a state that does not exist";
    if (!image_read_is_bool(&row->in_gap) || (row->state == MARKET_CLOSED && row->in_gap))
        return "a market is in a gap in a way that cannot be";
    bool is_kept = engine->clock_step_ns != 0 && row->state != MARKET_CLOSED;
    if (!image_read_is_bool(&row->passes_hour) || row->clock_state > MARKET_HALTED ||
        (is_kept ? row->state != MARKET_HALTED : row->clock_state != 0))
        return "a market is halted by the clock in a way that cannot be";
    if (row->hold_count > MARKET_HOLD_UPDATES || (!is_held && row->former_state != 0) ||
        is_held != (row->run_low != 0) || row->run_low > row->run_high ||
        row->run_newest < row->run_low || row->run_newest > row->run_high ||
        !is_price(row->run_high) || row->run_first_ns > row->publish_ns ||
        is_held != (row->run_first_ns != 0))
        return "a market is held in a way that cannot be";
    return NULL;
}

/* A slot gives at most one sample, and the last slot lies in the last hour. */
static bool samples_hold(const struct market *row)
{
    if (row->premium_slot / PREMIUM_SAMPLES != row->funding_hour ||
        row->premium_count > row->premium_slot % PREMIUM_SAMPLES + 1)
        return false;
    int64_t most = row->premium_count * PREMIUM_SAMPLE_MAX;
    return row->premium_sum <= most && row->premium_sum >= -most &&
           row->premium_ppb <= PREMIUM_SAMPLE_MAX && row->premium_ppb >= -PREMIUM_SAMPLE_MAX;
}

static const char *wrong_funding(const struct engine *engine, const struct market *row)
{
    if (!samples_hold(row))
        return "a market has samples that cannot be";
    if (row->premium_slot > engine->t_ns / MARKET_SLOT_NS ||
        row->funding_hour > engine->t_ns / MARKET_HOUR_NS ||
        row->funding_epoch_hour > row->funding_hour)
        return "a market has funding of a time to come";
    if (!image_read_is_bool(&row->funding_open) || !image_read_is_bool(&row->waited) ||
        !is_price(row->funding_index) || row->funding_rate_ppb > PREMIUM_RATE_MAX_PPB ||
        row->funding_rate_ppb < -PREMIUM_RATE_MAX_PPB)
        return "a market has an epoch that cannot be";
    if (!row->funding_open)
        return row->funding_from == 0 ? NULL : "a market has an epoch that is open and is not";
    return row->funding_epoch != 0 && row->funding_from <= engine->portfolios.count &&
                   (uint128)row->funding_index * row->max_abs_size <= FUNDING_VALUE_MAX
               ? NULL
               : "a market has an epoch that cannot be";
}

static const char *wrong_among(const struct market_table *table, const struct market *row)
{
    if (table->by_asset[row->record.asset_id] != 0)
        return "an asset id stands twice";
    for (uint32_t i = 0; i < table->count; i++)
        if (memcmp(table->rows[i].record.symbol, row->record.symbol, MARKET_SYMBOL_BYTES) == 0)
            return "the name of a market stands twice";
    return NULL;
}

static const char *wrong_with(const struct engine *engine, const struct market *row)
{
    const char *wrong = wrong_record(row);

    if (wrong == NULL)
        wrong = wrong_prices(engine, row);
    if (wrong == NULL)
        wrong = wrong_state(engine, row);
    if (wrong == NULL)
        wrong = wrong_funding(engine, row);
    if (wrong == NULL && row->cancel_sequence > order_stamp_behind(engine->sequence))
        wrong = "a market has a cancellation by a command to come";
    return wrong != NULL ? wrong : wrong_among(&engine->markets, row);
}

bool market_load(struct engine *engine, struct image_read *read)
{
    struct market_table *table = &engine->markets;
    struct market *row;
    size_t row_bytes = 0 MARKET_FIELDS(IMAGE_READ_BYTES);

    if (read->version <= 3)
        row_bytes = market_former_bytes(read->version);
    else if (read->version == 4)
        row_bytes = 0 MARKET_FIELDS_4(IMAGE_READ_BYTES);

    for (; image_read_begins(read, row_bytes); read->row++) {
        if (table->count == ENGINE_MARKETS_MAX)
            return image_read_refuse(read, "more markets than there can be");
        row = &table->rows[table->count];
        if (read->version <= 3) {
            market_former_load(engine, read, row);
        } else if (read->version == 4) {
            MARKET_FIELDS_4(IMAGE_READ)
        } else {
            MARKET_FIELDS(IMAGE_READ)
        }
        const char *wrong = wrong_with(engine, row);
        if (wrong != NULL)
            return image_read_refuse(read, wrong);
        engine->work.gaps += row->in_gap;
        table->count++;
        market_enter(engine);
    }
    market_find_due(table);
    work_queue_second_changed(engine);
    return read->wrong == NULL;
}
