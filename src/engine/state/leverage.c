#include "engine/state/leverage.h"

#include "engine/state/share_count.h"
#include "engine/table/image_read.h"

#define COVERED(field) +sizeof(((struct leverage *)0)->field)
static_assert(sizeof(struct leverage) == 0 LEVERAGE_FIELDS(COVERED) LEVERAGE_CACHES(COVERED),
              "every byte of a setting is in one of its field lists");
#undef COVERED

size_t leverage_table_bytes(uint32_t slots)
{
    return slot_table_bytes(slots, sizeof(struct leverage)) + hash_index_bytes(slots);
}

void leverage_table_init(struct leverage_table *table, void *memory, uint32_t slots)
{
    *table = (struct leverage_table){ .rows = memory, .slots = slot_table_init(slots) };
    hash_index_init(&table->map,
                    (uint8_t *)memory + slot_table_bytes(slots, sizeof(struct leverage)), slots);
}

static uint64_t key_hash(const struct engine *engine, uint32_t portfolio)
{
    return mix_fold(portfolio ^ engine->key.low, engine->key.high ^ UINT64_C(0xC2B2AE3D27D4EB4F));
}

uint32_t leverage_first(const struct engine *engine, uint32_t portfolio)
{
    const struct leverage_table *table = &engine->leverages;

    if (table->slots.count == 0)
        return LEVERAGE_NONE;
    struct hash_index_probe probe = hash_index_probe(&table->map, key_hash(engine, portfolio));
    while (hash_index_next(&table->map, &probe))
        if (table->rows[probe.index].portfolio == portfolio)
            return probe.index;
    return LEVERAGE_NONE;
}

uint32_t leverage_setting(const struct engine *engine, uint32_t portfolio, uint32_t market)
{
    const struct leverage *rows = engine->leverages.rows;
    uint32_t at = leverage_first(engine, portfolio);

    while (at != LEVERAGE_NONE && rows[at].market < market)
        at = rows[at].next;
    return at != LEVERAGE_NONE && rows[at].market == market ? rows[at].setting : 0;
}

static void map_out(struct engine *engine, uint32_t index)
{
    struct leverage_table *table = &engine->leverages;
    uint64_t hash = key_hash(engine, table->rows[index].portfolio);

    hash_index_remove(&table->map, (uint32_t)(hash >> 32), table->rows[index].map_slot);
}

static void map_in(struct engine *engine, uint32_t index)
{
    struct leverage_table *table = &engine->leverages;
    uint64_t hash = key_hash(engine, table->rows[index].portfolio);

    table->rows[index].map_slot = hash_index_insert(&table->map, hash, index);
}

static uint32_t account_of(const struct engine *engine, uint32_t portfolio)
{
    return engine->portfolios.rows[portfolio].account;
}

/* Removes the row after `before` (LEVERAGE_NONE: the first). */
static void drop(struct engine *engine, uint32_t before, uint32_t index)
{
    struct leverage_table *table = &engine->leverages;
    uint32_t next = table->rows[index].next;

    share_drop(engine, account_of(engine, table->rows[index].portfolio), SHARE_leverages);
    if (before != LEVERAGE_NONE) {
        table->rows[before].next = next;
    } else {
        map_out(engine, index);
        if (next != LEVERAGE_NONE)
            map_in(engine, next);
    }
    table->rows[index] = (struct leverage){ .next = slot_table_free(&table->slots, index) };
}

/* Puts a new row between `before` and `next`. */
static void add(struct engine *engine, uint32_t before, uint32_t next, const struct leverage *row)
{
    struct leverage_table *table = &engine->leverages;
    uint32_t index = slot_table_alloc(&table->slots, table->rows[table->slots.free_head].next);

    share_add(engine, account_of(engine, row->portfolio), SHARE_leverages);
    table->rows[index] = *row;
    table->rows[index].next = next;
    if (before != LEVERAGE_NONE) {
        table->rows[before].next = index;
        return;
    }
    if (next != LEVERAGE_NONE)
        map_out(engine, next);
    map_in(engine, index);
}

bool leverage_keep(struct engine *engine, uint32_t portfolio, uint32_t market, uint32_t setting)
{
    struct leverage_table *table = &engine->leverages;
    uint32_t before = LEVERAGE_NONE, at = leverage_first(engine, portfolio);

    while (at != LEVERAGE_NONE && table->rows[at].market < market) {
        before = at;
        at = table->rows[at].next;
    }
    bool is_kept = at != LEVERAGE_NONE && table->rows[at].market == market;
    if (is_kept && setting != 0) {
        table->rows[at].setting = (uint16_t)setting;
    } else if (is_kept) {
        drop(engine, before, at);
    } else if (setting != 0) {
        if (!share_fits(engine, account_of(engine, portfolio), SHARE_leverages, 1))
            return false;
        struct leverage row = {
            .portfolio = portfolio,
            .market = (uint16_t)market,
            .setting = (uint16_t)setting,
        };
        add(engine, before, at, &row);
    }
    return true;
}

void leverage_forget(struct engine *engine, uint32_t portfolio)
{
    for (uint32_t at; (at = leverage_first(engine, portfolio)) != LEVERAGE_NONE;)
        drop(engine, LEVERAGE_NONE, at);
}

/* Rows come by portfolio, then market: each goes after the one before it. */
bool leverage_load(struct engine *engine, struct image_read *read)
{
    struct leverage_table *table = &engine->leverages;
    uint32_t before = LEVERAGE_NONE;

    for (;; read->row++) {
        struct leverage loaded = { .next = LEVERAGE_NONE }, *row = &loaded;
        const struct leverage *last = &table->rows[before];
        if (!image_read_begins(read, 0 LEVERAGE_FIELDS(IMAGE_READ_BYTES)))
            return read->wrong == NULL;
        if (!slot_table_has_room(&table->slots))
            return image_read_refuse(read, "more leverages than the configuration allows");
        LEVERAGE_FIELDS(IMAGE_READ)
        if (row->portfolio >= engine->portfolios.count || row->market >= engine->markets.count)
            return image_read_refuse(read, "a leverage has a portfolio or market of nobody");
        if (row->setting == 0 || row->setting > MARKET_LEVERAGE_MAX)
            return image_read_refuse(read, "a leverage that cannot be set");
        if (before != LEVERAGE_NONE &&
            (row->portfolio < last->portfolio ||
             (row->portfolio == last->portfolio && row->market <= last->market)))
            return image_read_refuse(read, "the leverages are not in their order");
        bool is_first = before == LEVERAGE_NONE || row->portfolio != last->portfolio;
        add(engine, is_first ? LEVERAGE_NONE : before, LEVERAGE_NONE, row);
        before = table->slots.fresh - 1;
    }
}
