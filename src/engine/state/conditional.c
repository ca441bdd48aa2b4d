#include "engine/state/conditional.h"

#include "engine/state/cancel_list.h"
#include "engine/state/evidence.h"
#include "engine/state/private_event.h"
#include "engine/state/share_count.h"
#include "engine/state/trigger.h"
#include "engine/table/image_sink.h"
#include "engine/table/whole_lines.h"

#define COVERED(field) +sizeof(((struct conditional *)0)->field)
static_assert(sizeof(struct conditional) == 0 CONDITIONAL_FIELDS(COVERED)
                                                CONDITIONAL_CACHES(COVERED),
              "every byte of an untriggered order is in one of its field lists");
#undef COVERED
#define COVERED(field) +sizeof(((struct conditional_origin *)0)->field)
static_assert(sizeof(struct conditional_origin) == 0 CONDITIONAL_ORIGIN_FIELDS(COVERED)
                                                       CONDITIONAL_ORIGIN_CACHES(COVERED),
              "every byte of an origin is in one of its field lists");
#undef COVERED

/* --- the table -------------------------------------------------------------------------------- */

static size_t rows_bytes(uint32_t slots)
{
    return whole_lines(((size_t)slots + 1) * sizeof(struct conditional));
}

static size_t origins_bytes(uint32_t slots)
{
    return whole_lines(((size_t)slots + 1) * sizeof(struct conditional_origin));
}

size_t conditional_table_bytes(uint32_t slots)
{
    return rows_bytes(slots) + origins_bytes(slots) + hash_index_bytes(slots) +
           whole_lines(timer_heap_bytes(slots));
}

void conditional_table_init(struct conditional_table *table, void *memory, uint32_t slots)
{
    uint8_t *at = memory;

    INVARIANT((uintptr_t)memory % CC_CACHE_LINE == 0);
    table->rows = (void *)at;
    at += rows_bytes(slots);
    table->origins = (void *)at;
    at += origins_bytes(slots);
    hash_index_init(&table->map, at, slots);
    at += hash_index_bytes(slots);
    timer_heap_init(&table->expiries, at, slots);
    table->slots = slots;
    table->limit = slots;
    table->fresh = CONDITIONAL_NONE + 1;
    for (uint32_t i = 0; i < ENGINE_MARKETS_MAX; i++)
        for (uint32_t source = 0; source < SOURCE_COUNT; source++)
            table->trees[i][source][TRIGGER_RISING].nearest = UINT64_MAX;
}

uint32_t conditional_alloc(struct conditional_table *table)
{
    uint32_t index = table->free_head;

    if (table->count >= table->limit)
        return CONDITIONAL_NONE;
    if (index != CONDITIONAL_NONE)
        table->free_head = table->rows[index].left;
    else
        index = table->fresh++;
    INVARIANT(index <= table->slots);
    table->count++;
    table->rows[index] = (struct conditional){ .state = ORDER_UNTRIGGERED };
    return index;
}

void conditional_release(struct conditional_table *table, uint32_t index)
{
    struct conditional *row = &table->rows[index];

    INVARIANT(index != CONDITIONAL_NONE && row->waits_in == WAITS_NOWHERE);
    INVARIANT(table->count > 0 && row->quantity != 0);
    table->count--;
    row->quantity = 0; /* a second release is caught */
    row->left = table->free_head;
    table->free_head = index;
}

/* --- the lists -------------------------------------------------------------------------------- */

static void link_row(struct engine *engine, uint32_t index)
{
    struct conditional_table *table = &engine->conditionals;
    struct conditional *row = &table->rows[index];
    struct portfolio *owner = state_portfolio(engine, row->portfolio);
    uint32_t *market_tail = &table->market_tails[row->market];

    row->list_prev = owner->conditional_tail;
    if (row->list_prev == CONDITIONAL_NONE)
        owner->conditional_head = index;
    else
        table->rows[row->list_prev].list_next = index;
    owner->conditional_tail = index;
    owner->conditional_count++;
    share_add(engine, owner->account, SHARE_conditionals);
    row->market_prev = *market_tail;
    if (row->market_prev == CONDITIONAL_NONE)
        table->market_heads[row->market] = index;
    else
        table->rows[row->market_prev].market_next = index;
    *market_tail = index;
}

static void unlink_row(struct engine *engine, uint32_t index)
{
    struct conditional_table *table = &engine->conditionals;
    struct conditional *row = &table->rows[index];
    struct portfolio *owner = state_portfolio(engine, row->portfolio);

    *(row->list_prev == CONDITIONAL_NONE ? &owner->conditional_head
                                         : &table->rows[row->list_prev].list_next) = row->list_next;
    *(row->list_next == CONDITIONAL_NONE ? &owner->conditional_tail
                                         : &table->rows[row->list_next].list_prev) = row->list_prev;
    INVARIANT(owner->conditional_count > 0);
    owner->conditional_count--;
    share_drop(engine, owner->account, SHARE_conditionals);
    *(row->market_prev == CONDITIONAL_NONE ? &table->market_heads[row->market]
                                           : &table->rows[row->market_prev].market_next) =
        row->market_next;
    *(row->market_next == CONDITIONAL_NONE ? &table->market_tails[row->market]
                                           : &table->rows[row->market_next].market_prev) =
        row->market_prev;
}

static bool is_timed(const struct conditional *row)
{
    return row->flags >> ORDER_TIF_SHIFT == ORDER_GTT;
}

void conditional_enter(struct engine *engine, uint32_t index)
{
    struct conditional_table *table = &engine->conditionals;
    struct conditional *row = &table->rows[index];

    INVARIANT(row->quantity != 0 && conditional_is_kind(row->order_type));
    row->map_slot = hash_index_insert(&table->map, row->hash, index);
    link_row(engine, index);
    if (is_timed(row)) {
        timer_heap_set(&table->expiries, index, row->expiry_ns, conditional_rank(row));
        work_queue_timer_set(engine, row->expiry_ns);
    }
    if (row->kill_reason == REASON_none)
        trigger_wait(engine, index);
}

void conditional_leave(struct engine *engine, uint32_t index)
{
    struct conditional_table *table = &engine->conditionals;
    const struct conditional *row = &table->rows[index];

    trigger_forget(engine, index);
    hash_index_remove(&table->map, (uint32_t)(row->hash >> 32), row->map_slot);
    unlink_row(engine, index);
    timer_heap_remove(&table->expiries, index);
}

uint32_t conditional_find(const struct engine *engine, uint32_t account, const uint8_t id[16],
                          uint64_t hash)
{
    struct hash_index_probe probe = hash_index_probe(&engine->conditionals.map, hash);
    uint64_t words[2];

    memcpy(words, id, sizeof words);
    while (hash_index_next(&engine->conditionals.map, &probe)) {
        const struct conditional *row = &engine->conditionals.rows[probe.index];
        if (row->id[0] == words[0] && row->id[1] == words[1] && row->account == account)
            return probe.index;
    }
    return CONDITIONAL_NONE;
}

uint32_t conditional_find_live(const struct engine *engine, uint32_t account, const uint8_t id[16],
                               uint64_t hash)
{
    uint32_t index = conditional_find(engine, account, id, hash);
    uint8_t reason;

    if (index == CONDITIONAL_NONE || conditional_death(engine, index, &reason) != ORDER_NEW)
        return CONDITIONAL_NONE;
    return index;
}

/* --- how they end ----------------------------------------------------------------------------- */

static bool is_on_account_list(const struct engine *engine, const struct conditional *row)
{
    return cancel_list_covers(engine, row->account, row->market, conditional_rank(row));
}

enum order_state conditional_death(const struct engine *engine, uint32_t index, uint8_t *reason)
{
    const struct conditional *row = &engine->conditionals.rows[index];

    *reason = row->kill_reason;
    if (row->kill_reason != REASON_none)
        return ORDER_CANCELED;
    if (is_on_account_list(engine, row)) {
        *reason = REASON_operator;
        return ORDER_CANCELED;
    }
    if ((row->flags & ORDER_REDUCE_ONLY) == 0 &&
        portfolio_dead_man_has_come(&engine->portfolios.rows[row->portfolio], engine->t_ns)) {
        *reason = REASON_dead_man;
        return ORDER_CANCELED;
    }
    if (engine->markets.rows[row->market].state == MARKET_CLOSED) {
        *reason = REASON_market_state;
        return ORDER_CANCELED;
    }
    return is_timed(row) && row->expiry_ns <= engine->t_ns ? ORDER_EXPIRED : ORDER_NEW;
}

void conditional_emit(struct engine *engine, uint32_t index)
{
    const struct conditional *row = &engine->conditionals.rows[index];
    uint16_t asset_id = engine->markets.rows[row->market].record.asset_id;
    struct effect_order_state body = {
        .remaining = row->quantity,
        .price = row->price,
        .status = row->state,
        .reason = row->reason,
        .side = row->side,
        .order_type = row->order_type,
        .asset_id = asset_id,
    };

    memcpy(body.order_id, row->id, sizeof body.order_id);
    private_event_add(engine, row->portfolio, 1);
    effects_emit(engine, EFFECT_order_state, EFFECT_CONDITIONAL | index, asset_id, &body);
    if (CC_UNLIKELY(index == engine->applying.untriggered))
        evidence_add_wait(engine, engine->applying.answer, index);
}

void conditional_end(struct engine *engine, uint32_t index, enum order_state state, uint8_t reason)
{
    struct conditional *row = &engine->conditionals.rows[index];

    INVARIANT(order_state_may_become((enum order_state)row->state, state));
    conditional_leave(engine, index);
    row->state = (uint8_t)state;
    row->reason = reason;
    conditional_emit(engine, index);
    conditional_release(&engine->conditionals, index);
}

static bool is_for(const struct conditional *row, uint32_t market, enum conditional_sides sides,
                   enum conditional_which which)
{
    bool is_reduce_only = (row->flags & ORDER_REDUCE_ONLY) != 0;

    if (market != MARKET_NONE && row->market != market)
        return false;
    if (sides != CONDITIONAL_BOTH && (sides == CONDITIONAL_BUYS) != (row->side == ORDER_LONG))
        return false;
    return which == CONDITIONAL_ALL || (which == CONDITIONAL_REDUCE_ONLY) == is_reduce_only;
}

void conditional_kill(struct engine *engine, uint32_t portfolio, uint32_t market,
                      enum conditional_sides sides, enum conditional_which which, uint8_t reason)
{
    uint32_t at = state_portfolio(engine, portfolio)->conditional_head;
    bool any = false;

    INVARIANT(reason != REASON_none);
    for (; at != CONDITIONAL_NONE; at = engine->conditionals.rows[at].list_next) {
        struct conditional *row = &engine->conditionals.rows[at];
        if (row->kill_reason != REASON_none || !is_for(row, market, sides, which))
            continue;
        trigger_forget(engine, at);
        row->kill_reason = is_on_account_list(engine, row) ? REASON_operator : reason;
        any = true;
    }
    if (any)
        work_queue_release(engine, portfolio);
}

uint32_t conditional_first_killed(const struct engine *engine, uint32_t portfolio)
{
    uint32_t at = engine->portfolios.rows[portfolio].conditional_head;

    while (at != CONDITIONAL_NONE && engine->conditionals.rows[at].kill_reason == REASON_none)
        at = engine->conditionals.rows[at].list_next;
    return at;
}

bool conditional_drop_of_market(struct engine *engine, uint32_t market)
{
    uint32_t index = engine->conditionals.market_heads[market];
    uint8_t reason;

    if (index == CONDITIONAL_NONE)
        return false;
    enum order_state state = conditional_death(engine, index, &reason);
    INVARIANT(state == ORDER_CANCELED);
    conditional_end(engine, index, state, reason);
    return true;
}

void conditional_expire(struct engine *engine)
{
    uint32_t index = timer_heap_first(&engine->conditionals.expiries);
    const struct conditional *row = &engine->conditionals.rows[index];
    uint16_t asset_id = engine->markets.rows[row->market].record.asset_id;
    struct effect_timer body = {
        .portfolio = portfolio_effect_id(engine, row->portfolio),
        .kind = TIMER_EXPIRY,
        .asset_id = asset_id,
    };
    uint8_t reason;
    enum order_state state = conditional_death(engine, index, &reason);

    INVARIANT(index != CONDITIONAL_NONE && state != ORDER_NEW);
    effects_emit(engine, EFFECT_timer, EFFECT_CONDITIONAL | index, asset_id, &body);
    conditional_end(engine, index, state, reason);
}

/* --- reads and the image ---------------------------------------------------------------------- */

void conditional_record(const struct engine *engine, uint32_t index, struct row_order *shown)
{
    const struct conditional *row = &engine->conditionals.rows[index];
    const struct market *market = &engine->markets.rows[row->market];
    const struct portfolio *portfolio = &engine->portfolios.rows[row->portfolio];
    bool waits = row->state == ORDER_UNTRIGGERED;

    *shown = (struct row_order){
        .account_id = state_account_id(engine, portfolio->account),
        .subaccount_index = portfolio->subaccount_index,
        .portfolio_index = portfolio->portfolio_index,
        .initial = row->quantity,
        .remaining = row->quantity,
        .price = row->price,
        .expiry = row->expiry_ns,
        .sequence = row->placed_sequence,
        .time_ns = row->placed_ns,
        .updated_at_ns = waits ? row->placed_ns : engine->t_ns,
        .status = row->state,
        .order_type = row->order_type,
        .side = row->side,
        .reason = row->reason,
        .post_only = (row->flags & ORDER_POST_ONLY) != 0,
        .reduce_only = (row->flags & ORDER_REDUCE_ONLY) != 0,
        .stp = (row->flags >> ORDER_STP_SHIFT) & 3u,
        .price_decimals = market->record.price_decimals,
        .size_decimals = market->record.size_decimals,
        .trigger_price = row->trigger_price,
        .trigger_source = row->source,
        .live_tif = row->live_tif,
    };
    memcpy(shown->id, row->id, sizeof shown->id);
    memcpy(shown->oco_group, row->oco, sizeof shown->oco_group);
    memcpy(shown->market, market->record.symbol, sizeof shown->market);
}

void conditional_keep_origin(struct engine *engine, uint32_t index, uint32_t order)
{
    const struct conditional *row = &engine->conditionals.rows[index];

    engine->conditionals.origins[order] = (struct conditional_origin){
        .trigger_price = row->trigger_price,
        .oco = { row->oco[0], row->oco[1] },
        .source = row->source,
        .live_tif = row->live_tif,
    };
}

void conditional_add_origin(const struct engine *engine, uint32_t order, struct row_order *shown)
{
    const struct conditional_origin *origin = &engine->conditionals.origins[order];

    shown->trigger_price = origin->trigger_price;
    shown->trigger_source = origin->source;
    shown->live_tif = origin->live_tif;
    memcpy(shown->oco_group, origin->oco, sizeof shown->oco_group);
}

static void write_origins(const struct engine *engine, struct image_sink *sink,
                          const struct book *book, enum order_side side)
{
    for (uint32_t tick = book_best(book, side); tick != BOOK_TICK_NONE;
         tick = book_next(book, side, tick)) {
        uint32_t order = book_head(book, side, tick);
        for (; order != ORDER_NONE; order = engine->orders.hot[order].next) {
            const struct conditional_origin *row = &engine->conditionals.origins[order];
            if (!conditional_is_kind(engine->orders.hot[order].order_type))
                continue;
            CONDITIONAL_ORIGIN_FIELDS(IMAGE_FIELD)
        }
    }
}

void conditional_image(const struct engine *engine, struct image_sink *sink)
{
    image_u64(sink, engine->conditionals.count);
    for (uint32_t i = 0; i < engine->portfolios.count; i++) {
        uint32_t at = engine->portfolios.rows[i].conditional_head;
        for (; at != CONDITIONAL_NONE; at = engine->conditionals.rows[at].list_next) {
            const struct conditional *row = &engine->conditionals.rows[at];
            CONDITIONAL_FIELDS(IMAGE_FIELD)
        }
    }
    for (uint32_t i = 0; i < engine->markets.count; i++) {
        write_origins(engine, sink, &engine->markets.rows[i].book, ORDER_LONG);
        write_origins(engine, sink, &engine->markets.rows[i].book, ORDER_SHORT);
    }
}
