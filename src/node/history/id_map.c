#include "node/history/id_map.h"

#include "base/arena.h"

static size_t places_bytes(const struct id_map *map)
{
    return ((size_t)map->mask + 1) * sizeof *map->places;
}

int id_map_init(struct id_map *map, struct mix_key key, uint32_t capacity, const void *rows,
                size_t row_bytes, size_t id_at)
{
    INVARIANT(capacity != 0 && (capacity & (capacity - 1)) == 0);
    INVARIANT(capacity <= 1u << 30);
    *map = (struct id_map){
        .key = key,
        .rows = rows,
        .mask = 2 * capacity - 1,
        .row_bytes = (uint32_t)row_bytes,
        .id_at = (uint32_t)id_at,
    };
    void *memory;
    int failed = arena_map(&memory, places_bytes(map), false);
    if (failed == 0)
        map->places = memory;
    return failed;
}

void id_map_free(struct id_map *map)
{
    if (map->places != NULL)
        arena_unmap(map->places, places_bytes(map));
    map->places = NULL;
}

static const uint8_t *id_of(const struct id_map *map, uint32_t row)
{
    return map->rows + (size_t)row * map->row_bytes + map->id_at;
}

static uint32_t tag_of(const struct id_map *map, uint64_t account_id, const uint8_t *id)
{
    return (uint32_t)(mix_id(map->key, account_id, id) >> 32);
}

/* Place of (account, id), or of the free place that ends its run. */
static uint32_t place(const struct id_map *map, uint64_t account_id, const uint8_t *id)
{
    uint32_t tag = tag_of(map, account_id, id);
    uint32_t at = tag & map->mask;

    for (; map->places[at].row_next != 0; at = (at + 1) & map->mask) {
        if (map->places[at].tag != tag)
            continue;
        const uint8_t *found = id_of(map, map->places[at].row_next - 1);
        if (cc_load64(found) == account_id && memcmp(found + 8, id, UUID_BYTES) == 0)
            break;
    }
    return at;
}

uint32_t id_map_find(const struct id_map *map, uint64_t account_id, const uint8_t id[UUID_BYTES])
{
    uint32_t row_next = map->places[place(map, account_id, id)].row_next;
    return row_next == 0 ? ID_MAP_NONE : row_next - 1;
}

void id_map_add(struct id_map *map, uint32_t row)
{
    const uint8_t *id = id_of(map, row);
    struct id_map_place *free = &map->places[place(map, cc_load64(id), id + 8)];

    INVARIANT(free->row_next == 0);
    free->row_next = row + 1;
    free->tag = tag_of(map, cc_load64(id), id + 8);
}

/* Frees a place and moves later entries of its run back, so that no search meets a false end. */
void id_map_remove(struct id_map *map, uint32_t row)
{
    const uint8_t *id = id_of(map, row);
    uint32_t hole = place(map, cc_load64(id), id + 8);

    INVARIANT(map->places[hole].row_next == row + 1);
    for (uint32_t at = (hole + 1) & map->mask; map->places[at].row_next != 0;
         at = (at + 1) & map->mask) {
        uint32_t wanted = map->places[at].tag & map->mask;
        if (((at - wanted) & map->mask) < ((at - hole) & map->mask))
            continue; /* its home lies behind the hole: it stays reachable */
        map->places[hole] = map->places[at];
        hole = at;
    }
    map->places[hole].row_next = 0;
}
