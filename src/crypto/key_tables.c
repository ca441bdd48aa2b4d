#include "crypto/key_tables.h"

#include <errno.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/key_map.h"

enum { PAGE_BYTES = 2 * 1024 * 1024 };

/* The memory of tables of one size, with the numbers from `first` on. Memory backs its pages in
 * order; freed numbers are used before new ones. */
struct shelf {
    void *region; /* as it was mapped */
    size_t region_bytes;
    uint8_t *memory; /* the first whole page of it */
    size_t memory_bytes;
    size_t backed; /* bytes of `memory` */
    uint32_t positions;
    uint32_t first, count;
    uint32_t begun; /* numbers ever used */
    uint32_t *spare;
    uint32_t spare_count;
};

enum { LARGE, SMALL, SHELVES };

struct key_tables {
    struct key_map *map;
    struct shelf shelves[SHELVES];
    struct ed25519_table *tables; /* by number */
    uint32_t capacity;
    struct key_tables_counters counters;
};

static int shelf_init(struct shelf *shelf, uint32_t positions, uint32_t first, uint32_t tables)
{
    *shelf = (struct shelf){ .positions = positions, .first = first, .count = tables };
    if (tables == 0)
        return 0;
    size_t bytes = tables * ed25519_table_bytes(positions);
    shelf->memory_bytes = (bytes + PAGE_BYTES - 1) & ~(size_t)(PAGE_BYTES - 1);
    shelf->region_bytes = shelf->memory_bytes + PAGE_BYTES;
    shelf->spare = calloc(tables, sizeof *shelf->spare);
    if (shelf->spare == NULL ||
        arena_map(REGION_keys, &shelf->region, shelf->region_bytes, false) != 0)
        return -ENOMEM;
    uintptr_t start = (uintptr_t)shelf->region;
    size_t skipped = (size_t)(-start & (PAGE_BYTES - 1));
    shelf->memory = (uint8_t *)shelf->region + skipped;
    return 0;
}

static void shelf_free(struct shelf *shelf)
{
    arena_unmap(shelf->region, shelf->region_bytes);
    free(shelf->spare);
}

static struct ed25519_multiple *shelf_multiples(const struct shelf *shelf, uint32_t number)
{
    INVARIANT(number >= shelf->first && number - shelf->first < shelf->count);
    size_t at = (number - shelf->first) * ed25519_table_bytes(shelf->positions);
    return (void *)(shelf->memory + at);
}

/* Returns a number without a key whose memory is backed; 0 if there is none. */
static uint32_t shelf_alloc(struct shelf *shelf)
{
    if (shelf->spare_count > 0)
        return shelf->spare[--shelf->spare_count];
    if (shelf->begun == shelf->count)
        return KEY_MAP_NONE;
    size_t end = (shelf->begun + 1) * ed25519_table_bytes(shelf->positions);
    if (end > shelf->backed) {
        if (arena_populate(shelf->memory + shelf->backed, PAGE_BYTES) != 0)
            return KEY_MAP_NONE;
        shelf->backed += PAGE_BYTES;
    }
    return shelf->first + shelf->begun++;
}

static struct shelf *shelf_of(struct key_tables *tables, uint32_t number)
{
    return &tables->shelves[number < tables->shelves[SMALL].first ? LARGE : SMALL];
}

static void number_free(struct key_tables *tables, uint32_t number)
{
    struct shelf *shelf = shelf_of(tables, number);
    INVARIANT(number >= shelf->first && number - shelf->first < shelf->begun);
    INVARIANT(shelf->spare_count < shelf->begun);
    shelf->spare[shelf->spare_count++] = number;
}

int key_tables_create(struct key_tables **tables, const struct key_tables_config *config)
{
    struct key_tables *made = calloc(1, sizeof *made);
    *tables = NULL;
    if (made == NULL)
        return -ENOMEM;
    made->capacity = config->large + config->small;
    made->tables = calloc((size_t)made->capacity + 1, sizeof *made->tables);
    int failed = made->tables == NULL ? -ENOMEM : 0;
    if (failed == 0)
        failed = key_map_init(&made->map, made->capacity, config->readers, config->hash_key);
    if (failed == 0)
        failed = shelf_init(&made->shelves[LARGE], ED25519_TABLE_POSITIONS, 1, config->large);
    if (failed == 0)
        failed = shelf_init(&made->shelves[SMALL], ED25519_TABLE_POSITIONS_SMALL, 1 + config->large,
                            config->small);
    if (failed != 0) {
        key_tables_destroy(made);
        return failed;
    }
    *tables = made;
    return 0;
}

void key_tables_destroy(struct key_tables *tables)
{
    if (tables == NULL)
        return;
    for (unsigned i = 0; i < SHELVES; i++)
        shelf_free(&tables->shelves[i]);
    key_map_free(tables->map);
    free(tables->tables);
    free(tables);
}

const struct ed25519_table *key_tables_find(const struct key_tables *tables, const uint8_t *key)
{
    if (tables == NULL)
        return NULL;
    uint32_t number = key_map_find(tables->map, key);
    if (number == KEY_MAP_NONE)
        return NULL;
    __builtin_prefetch(&tables->tables[number]); /* read when the turn's signatures are verified */
    return &tables->tables[number];
}

void key_tables_quiet(struct key_tables *tables, uint32_t reader)
{
    if (tables != NULL)
        key_map_quiet(tables->map, reader);
}

uint32_t key_tables_number(const struct key_tables *tables, const uint8_t *key)
{
    return key_map_find(tables->map, key);
}

uint32_t key_tables_capacity(const struct key_tables *tables)
{
    return tables->capacity;
}

const uint8_t *key_tables_key(const struct key_tables *tables, uint32_t number)
{
    INVARIANT(number > 0 && number <= tables->capacity);
    return key_map_key(tables->map, number);
}

/* Frees the numbers whose table no reader can use any more. */
static void reclaim(struct key_tables *tables)
{
    uint32_t number;
    while ((number = key_map_reclaim(tables->map)) != KEY_MAP_NONE)
        number_free(tables, number);
}

int key_tables_add(struct key_tables *tables, const uint8_t *key)
{
    INVARIANT(key_tables_number(tables, key) == KEY_MAP_NONE);
    reclaim(tables);
    uint32_t number = shelf_alloc(&tables->shelves[LARGE]);
    if (number == KEY_MAP_NONE)
        number = shelf_alloc(&tables->shelves[SMALL]);
    if (number == KEY_MAP_NONE) {
        published_add(&tables->counters.full, 1);
        return -ENOMEM;
    }
    const struct shelf *shelf = shelf_of(tables, number);
    struct ed25519_multiple *multiples = shelf_multiples(shelf, number);
    if (ed25519_table_build(multiples, shelf->positions, key) != 0) {
        number_free(tables, number);
        published_add(&tables->counters.refused, 1);
        return -EINVAL;
    }
    struct ed25519_table *table = &tables->tables[number];
    *table = (struct ed25519_table){ .multiples = multiples, .positions = shelf->positions };
    memcpy(table->key, key, sizeof table->key);
    if (key_map_put(tables->map, number, key) != 0) {
        number_free(tables, number);
        published_add(&tables->counters.full, 1);
        return -ENOMEM;
    }
    published_add(&tables->counters.built, 1);
    published_add(&tables->counters.present, 1);
    return (int)number;
}

void key_tables_remove(struct key_tables *tables, const uint8_t *key)
{
    if (key_map_remove(tables->map, key) == KEY_MAP_NONE)
        return;
    published_add(&tables->counters.removed, 1);
    published_add(&tables->counters.present, UINT64_MAX); /* one less */
}

const struct key_tables_counters *key_tables_counters(const struct key_tables *tables)
{
    return &tables->counters;
}
