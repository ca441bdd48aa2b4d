#include "engine/state/account_position.h"

#include "engine/state/state.h"

size_t account_position_table_bytes(uint32_t slots)
{
    return slot_table_bytes(slots, sizeof(struct account_position)) + hash_index_bytes(slots);
}

void account_position_table_init(struct account_position_table *table, void *memory, uint32_t slots)
{
    *table = (struct account_position_table){ .rows = memory, .slots = slot_table_init(slots) };
    hash_index_init(&table->map,
                    (uint8_t *)memory + slot_table_bytes(slots, sizeof(struct account_position)),
                    slots);
}

static uint64_t key_hash(const struct engine *engine, uint32_t account, uint32_t market)
{
    return mix_fold(((uint64_t)account << 16 | market) ^ engine->key.high,
                    engine->key.low ^ UINT64_C(0xA0761D6478BD642F));
}

static uint32_t find(const struct engine *engine, uint32_t account, uint32_t market)
{
    const struct account_position_table *table = &engine->account_positions;
    struct hash_index_probe probe =
        hash_index_probe(&table->map, key_hash(engine, account, market));

    while (hash_index_next(&table->map, &probe))
        if (table->rows[probe.index].account == account &&
            table->rows[probe.index].market == market)
            return probe.index;
    return ACCOUNT_POSITION_NONE;
}

uint64_t account_position_size(const struct engine *engine, uint32_t account, uint32_t market)
{
    return engine->account_positions.rows[find(engine, account, market)]
        .size; /* the dummy's is 0 */
}

/* The record of the account in the market: a new one if there is none. */
static uint32_t get(struct engine *engine, uint32_t account, uint32_t market)
{
    struct account_position_table *table = &engine->account_positions;
    uint32_t index = find(engine, account, market);

    if (index != ACCOUNT_POSITION_NONE)
        return index;
    index = slot_table_alloc(&table->slots, table->rows[table->slots.free_head].next);
    table->rows[index] = (struct account_position){
        .account = account,
        .market = (uint16_t)market,
        .map_slot = hash_index_insert(&table->map, key_hash(engine, account, market), index),
    };
    return index;
}

void account_position_enter(struct engine *engine, uint32_t holding)
{
    struct holding *rows = engine->holdings.rows;
    uint32_t account = engine->portfolios.rows[rows[holding].portfolio].account;
    struct account *owner = &engine->accounts.rows[account];

    if (!account_position_counts(owner))
        return;
    uint32_t index = get(engine, account, rows[holding].market);
    engine->account_positions.rows[index].count++;
    rows[holding].account_position = index;
    rows[holding].account_prev = HOLDING_NONE;
    rows[holding].account_next = owner->holding_head;
    if (owner->holding_head != HOLDING_NONE)
        rows[owner->holding_head].account_prev = holding;
    owner->holding_head = holding;
}

static void unlink_holding(struct engine *engine, uint32_t account, const struct holding *holding)
{
    struct holding *rows = engine->holdings.rows;

    if (holding->account_prev == HOLDING_NONE)
        engine->accounts.rows[account].holding_head = holding->account_next;
    else
        rows[holding->account_prev].account_next = holding->account_next;
    if (holding->account_next != HOLDING_NONE)
        rows[holding->account_next].account_prev = holding->account_prev;
}

void account_position_leave(struct engine *engine, uint32_t holding)
{
    struct account_position_table *table = &engine->account_positions;
    uint32_t index = engine->holdings.rows[holding].account_position;
    struct account_position *row = &table->rows[index];

    INVARIANT(index != ACCOUNT_POSITION_NONE && row->count != 0);
    unlink_holding(engine, row->account, &engine->holdings.rows[holding]);
    if (--row->count != 0)
        return;
    INVARIANT(row->size == 0);
    uint64_t hash = key_hash(engine, row->account, row->market);
    hash_index_remove(&table->map, (uint32_t)(hash >> 32), row->map_slot);
    *row = (struct account_position){ .next = slot_table_free(&table->slots, index) };
}

static uint64_t magnitude(int64_t size)
{
    return size < 0 ? -(uint64_t)size : (uint64_t)size;
}

void account_position_move(struct engine *engine, uint32_t index, int64_t before, int64_t after)
{
    INVARIANT(index != ACCOUNT_POSITION_NONE);
    engine->account_positions.rows[index].size += magnitude(after) - magnitude(before);
}

void account_position_begin(struct engine *engine, uint32_t portfolio)
{
    for (uint32_t at = engine->portfolios.rows[portfolio].holding_head; at != HOLDING_NONE;
         at = engine->holdings.rows[at].next) {
        struct holding *holding = &engine->holdings.rows[at];
        INVARIANT(holding->account_position == ACCOUNT_POSITION_NONE);
        account_position_enter(engine, at);
        account_position_move(engine, holding->account_position, 0, holding->size);
    }
}
