#include "engine/state/deposit.h"

#include "engine/state/state.h"
#include "engine/table/image_read.h"
#include "engine/table/whole_lines.h"

#define COVERED(field) +sizeof(((struct deposit *)0)->field)
static_assert(sizeof(struct deposit) == 0 DEPOSIT_FIELDS(COVERED),
              "every byte of a deposit is in its field list");
#undef COVERED

static size_t rows_bytes(uint32_t slots)
{
    return whole_lines(((size_t)slots + 1) * sizeof(struct deposit));
}

size_t deposit_table_bytes(uint32_t slots)
{
    return rows_bytes(slots) + hash_index_bytes(slots);
}

void deposit_table_init(struct deposit_table *table, void *memory, uint32_t slots)
{
    *table = (struct deposit_table){ .rows = memory, .slots = slots };
    hash_index_init(&table->map, (uint8_t *)memory + rows_bytes(slots), slots);
}

static bool is_seen(const struct deposit_table *table, uint64_t hash, const uint8_t *external_ref)
{
    struct hash_index_probe probe = hash_index_probe(&table->map, hash);

    while (hash_index_next(&table->map, &probe))
        if (memcmp(table->rows[probe.index].external_ref, external_ref, DEPOSIT_REF_BYTES) == 0)
            return true;
    return false;
}

static void map_in(struct deposit_table *table, uint64_t hash, uint32_t index)
{
    uint32_t slot = hash_index_insert(&table->map, hash, index);
    (void)slot; /* a reference is never removed */
}

bool deposit_is_known(const struct engine *engine, const uint8_t external_ref[DEPOSIT_REF_BYTES])
{
    uint64_t hash = mix_credential(engine->key, 0, external_ref, DEPOSIT_REF_BYTES);

    return is_seen(&engine->deposits_seen, hash, external_ref);
}

bool deposit_fits(const struct engine *engine)
{
    return engine->deposits_seen.count < engine->deposits_seen.limit;
}

void deposit_add(struct engine *engine, const uint8_t external_ref[DEPOSIT_REF_BYTES])
{
    struct deposit_table *table = &engine->deposits_seen;
    uint32_t index = ++table->count;

    INVARIANT(index <= table->limit);
    table->rows[index].sequence = engine->sequence;
    memcpy(table->rows[index].external_ref, external_ref, DEPOSIT_REF_BYTES);
    map_in(table, mix_credential(engine->key, 0, external_ref, DEPOSIT_REF_BYTES), index);
}

bool deposit_load(struct engine *engine, struct image_read *read)
{
    struct deposit_table *table = &engine->deposits_seen;
    struct deposit *row = NULL;
    uint64_t last = 0;

    for (; image_read_begins(read, 0 DEPOSIT_FIELDS(IMAGE_READ_BYTES)); read->row++) {
        if (table->count == table->limit)
            return image_read_refuse(read, "more deposits than the configuration allows");
        row = &table->rows[table->count + 1];
        DEPOSIT_FIELDS(IMAGE_READ)
        if (row->sequence <= last || row->sequence > engine->sequence)
            return image_read_refuse(read, "the deposits are not in the order of their crediting");
        last = row->sequence;
        uint64_t hash = mix_credential(engine->key, 0, row->external_ref, DEPOSIT_REF_BYTES);
        if (is_seen(table, hash, row->external_ref))
            return image_read_refuse(read, "a reference of a deposit stands twice");
        map_in(table, hash, ++table->count);
    }
    return read->wrong == NULL;
}
