#include "engine/state/market.h"

#include "base/rule.h"
#include "engine/state/state.h"
#include "engine/table/market_change.h"

enum { MARKET_STRESS_PART = 10 }; /* of a value that a frozen market takes off */

#define MARKET_OLD_NS (60 * MARKET_SECOND_NS) /* an index that is older takes all of it off */

#define COVERED(field) +sizeof(((struct market_tier *)0)->field)
static_assert(sizeof(struct market_tier) == 0 MARKET_TIER_FIELDS(COVERED),
              "every byte of a tier is in its field list");
#undef COVERED
#define COVERED(field) +sizeof(((struct market_record *)0)->field)
static_assert(sizeof(struct market_record) == 0 MARKET_RECORD_FIELDS(COVERED),
              "every byte of a record is in its field list");
#undef COVERED
#define COVERED(field) +sizeof(((struct market *)0)->field)
static_assert(sizeof(struct market) == 0 MARKET_FIELDS(COVERED) MARKET_CACHES(COVERED),
              "every byte of a market is in one of its field lists");
#undef COVERED

uint32_t market_find(const struct engine *engine, uint32_t asset_id)
{
    if (asset_id >= CC_COUNT(engine->markets.by_asset))
        return MARKET_NONE;
    uint8_t number = engine->markets.by_asset[asset_id];
    return number == 0 ? MARKET_NONE : number - 1u;
}

enum status market_of_asset(const struct engine *engine, uint16_t asset_id, uint32_t *index)
{
    if (asset_id == 0 || asset_id == MARKET_ASSET_ALL)
        return ROW_STATUS(market_id);
    *index = market_find(engine, asset_id);
    return *index == MARKET_NONE ? ROW_STATUS(market) : STATUS_request_completed;
}

bool market_mark_is_valid(const struct engine *engine, uint32_t market_index)
{
    const struct market *market = &engine->markets.rows[market_index];
    uint64_t age_ns = state_option(engine, OPTION_exchange_oracle_max_age_ms) * 1000000;

    if (market->state == MARKET_CLOSED) /* valid from the end of its settlement on */
        return market->mark_valid;
    if (market->index_price == 0 || market->hold_count != 0)
        return false;
    return age_ns == 0 || market->publish_ns >= engine->t_ns ||
           engine->t_ns - market->publish_ns <= age_ns;
}

bool market_is_frozen(const struct engine *engine, uint32_t index)
{
    return engine->markets.rows[index].state == MARKET_HALTED ||
           !market_mark_is_valid(engine, index);
}

uint128 market_stress(const struct engine *engine, uint32_t index, uint128 value)
{
    const struct market *market = &engine->markets.rows[index];
    bool is_old =
        market->publish_ns < engine->t_ns && engine->t_ns - market->publish_ns > MARKET_OLD_NS;

    if (market->state >= MARKET_HALTED || market->hold_count != 0 || is_old)
        return value;
    return (value + MARKET_STRESS_PART - 1) / MARKET_STRESS_PART;
}

static void emit_state(struct engine *engine, uint32_t index, enum effect_cause cause)
{
    struct market *market = &engine->markets.rows[index];
    struct effect_market_state body = {
        .asset_id = market->record.asset_id,
        .state = market->state,
        .cause = (uint8_t)cause,
        .price = market->state == MARKET_CLOSED ? market->mark : 0,
    };

    (void)market_next_seq(market);
    effects_emit(engine, EFFECT_market_state, index, body.asset_id, &body);
}

enum market_state market_own_state(const struct engine *engine, uint32_t index)
{
    const struct market *market = &engine->markets.rows[index];
    bool is_kept = engine->clock_step_ns != 0 && market->state != MARKET_CLOSED;

    return (enum market_state)(is_kept ? market->clock_state : market->state);
}

void market_set_state(struct engine *engine, uint32_t index, enum market_state state,
                      enum effect_cause cause)
{
    struct market *market = &engine->markets.rows[index];

    if (CC_UNLIKELY(engine->clock_step_ns != 0)) {
        INVARIANT(market->state == MARKET_HALTED);
        market->clock_state = state == MARKET_CLOSED ? 0 : (uint8_t)state;
        if (state != MARKET_CLOSED)
            return;
    }
    if (market->state == state && state != MARKET_CLOSED)
        return;
    INVARIANT(market_record_may_become((enum market_state)market->state, state));
    market->state = (uint8_t)state;
    emit_state(engine, index, cause);
    if (state == MARKET_REDUCE_ONLY || state == MARKET_CLOSED)
        work_queue_market_cancel(engine, index);
    recheck_waiting(engine, index);
    if (state == MARKET_CLOSED)
        work_queue_second_changed(engine);
}

void market_tighten(struct engine *engine, uint32_t index, enum market_state state,
                    enum effect_cause cause)
{
    struct market *market = &engine->markets.rows[index];

    if (market->hold_count != 0 && market->former_state < state)
        market->former_state = (uint8_t)state;
    if (market_own_state(engine, index) < state)
        market_set_state(engine, index, state, cause);
}

static bool symbol_is_taken(const struct engine *engine, const struct market_record *record)
{
    for (uint32_t i = 0; i < engine->markets.count; i++)
        if (memcmp(engine->markets.rows[i].record.symbol, record->symbol, MARKET_SYMBOL_BYTES) == 0)
            return true;
    return false;
}

/* Puts the newest market in order among the sorted ones. */
static void sort_in(struct market_table *table)
{
    uint32_t at = table->count - 1;
    uint16_t asset_id = table->rows[at].record.asset_id;

    while (at > 0 && table->rows[table->sorted[at - 1]].record.asset_id > asset_id) {
        table->sorted[at] = table->sorted[at - 1];
        at--;
    }
    table->sorted[at] = (uint8_t)(table->count - 1);
}

void market_enter(struct engine *engine)
{
    struct market_table *table = &engine->markets;
    uint32_t index = table->count - 1;
    struct market *market = &table->rows[index];
    uint64_t ladder_ticks = market->record.max_price / market->record.tick_size + 1;

    INVARIANT(ladder_ticks <= BOOK_TICKS_MAX);
    table->by_asset[market->record.asset_id] = (uint8_t)(index + 1);
    sort_in(table);
    book_init(&market->book, table->ladders + index * book_bytes(BOOK_TICKS_MAX),
              (uint32_t)ladder_ticks, engine->orders.hot, &table->pages);
}

/* The rule that a record for a new market breaks beside those of every record. */
static enum operator_rule new_rule(const struct engine *engine, const struct market_record *record)
{
    if (record->effective_at_ns != 0)
        return OPERATOR_RULE_new_effective;
    if (record->state == MARKET_CLOSED)
        return OPERATOR_RULE_new_state;
    return symbol_is_taken(engine, record) ? OPERATOR_RULE_name_taken : OPERATOR_RULE_none;
}

static enum status define_new(struct engine *engine, const struct market_record *record,
                              struct engine_result *result)
{
    struct market_table *table = &engine->markets;
    enum operator_rule broken = new_rule(engine, record);

    if (broken != OPERATOR_RULE_none)
        return result_refuse(result, broken, STATUS_order_rejected_invalid);
    if (table->count == ENGINE_MARKETS_MAX)
        return result_refuse(result, OPERATOR_RULE_market_room, ROW_STATUS(room));
    uint32_t index = table->count++;
    struct market *market = &table->rows[index];
    market->record = *record;
    market->state = record->state;
    market->record.state = 0; /* it was the first state, now it would only mislead */
    market->record.absent = 0;
    market->second_ns = engine->t_ns / MARKET_SECOND_NS * MARKET_SECOND_NS;
    market->premium_slot = engine->t_ns / MARKET_SLOT_NS;
    market->funding_hour = engine->t_ns / MARKET_HOUR_NS;
    market_enter(engine);
    emit_state(engine, index, CAUSE_OPERATOR);
    if (engine->clock_step_ns != 0) { /* as clock_gap_open has halted the others */
        market->clock_state = market->state;
        market->state = MARKET_HALTED;
        if (market->clock_state != MARKET_HALTED)
            emit_state(engine, index, CAUSE_CLOCK);
    }
    work_queue_second_changed(engine);
    return STATUS_request_completed;
}

void market_find_due(struct market_table *table)
{
    table->tiers_due_ns = UINT64_MAX;
    for (uint32_t i = 0; i < table->count; i++) {
        const struct market *market = &table->rows[i];
        if (market->next_tier_count != 0 && market->record.effective_at_ns < table->tiers_due_ns)
            table->tiers_due_ns = market->record.effective_at_ns;
    }
}

/* A record for an existing market says what is wanted in full: what it does not repeat of tiers
 * that wait for their time is given up. */
static enum status change(struct engine *engine, uint32_t index, struct market_record *record,
                          struct engine_result *result)
{
    struct market *market = &engine->markets.rows[index];
    struct market_record now = market->record;
    bool is_tighter = market_change_is_tighter(record, &now);
    enum operator_rule broken = market_change_rule(record, &now, is_tighter, engine->t_ns);

    if (broken == OPERATOR_RULE_none && !market_change_keep_absent(record, &now))
        broken = OPERATOR_RULE_book_kept;
    if (broken != OPERATOR_RULE_none)
        return result_refuse(result, broken, STATUS_order_rejected_invalid);
    if (market->state == MARKET_CLOSED)
        return result_refuse(result, OPERATOR_RULE_record_closed, ROW_STATUS(market_closed));
    market->record = *record;
    market->record.state = 0;
    memset(market->next_tiers, 0, sizeof market->next_tiers);
    market->next_tier_count = 0;
    market->next_max_leverage = 0;
    if (is_tighter) {
        memcpy(market->next_tiers, record->tiers, sizeof market->next_tiers);
        market->next_tier_count = record->tier_count;
        market->next_max_leverage = record->max_leverage;
        memcpy(market->record.tiers, now.tiers, sizeof now.tiers);
        market->record.tier_count = now.tier_count;
        market->record.max_leverage = now.max_leverage;
    } else {
        recheck_tiers_changed(engine, index);
    }
    market_find_due(&engine->markets);
    return STATUS_request_completed;
}

enum status market_define(struct engine *engine, const struct command *command,
                          struct engine_result *result)
{
    struct market_record record;

    enum operator_rule broken =
        market_record_read(&record, command_body(command), command_body_bytes(command));
    if (broken != OPERATOR_RULE_none)
        return result_refuse(result, broken, STATUS_order_rejected_invalid);
    uint32_t index = market_find(engine, record.asset_id);
    return index == MARKET_NONE ? define_new(engine, &record, result)
                                : change(engine, index, &record, result);
}

static void activate(struct engine *engine, uint32_t index)
{
    struct market *market = &engine->markets.rows[index];

    memcpy(market->record.tiers, market->next_tiers, sizeof market->record.tiers);
    market->record.tier_count = market->next_tier_count;
    market->record.max_leverage = market->next_max_leverage;
    market->record.effective_at_ns = 0;
    memset(market->next_tiers, 0, sizeof market->next_tiers);
    market->next_tier_count = 0;
    market->next_max_leverage = 0;
    recheck_tiers_changed(engine, index);
}

void market_activate_tiers(struct engine *engine)
{
    struct market_table *table = &engine->markets;

    if (CC_LIKELY(engine->t_ns < table->tiers_due_ns))
        return;
    for (uint32_t i = 0; i < table->count; i++)
        if (table->rows[i].next_tier_count != 0 &&
            table->rows[i].record.effective_at_ns <= engine->t_ns)
            activate(engine, i);
    market_find_due(table);
}
