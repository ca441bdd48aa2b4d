#include "node/history/id_map.h"

#include "base/account_id.h"
#include "base/arena.h"

static size_t places_bytes(const struct id_map *map)
{
    return ((size_t)map->mask + 1) * sizeof *map->slots;
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
    int failed = arena_map(REGION_history, &memory, places_bytes(map), false);
    if (failed == 0)
        map->slots = memory;
    return failed;
}

void id_map_free(struct id_map *map)
{
    if (map->slots != NULL)
        arena_unmap(map->slots, places_bytes(map));
    map->slots = NULL;
}

static const uint8_t *id_of(const struct id_map *map, uint32_t row)
{
    return map->rows + (size_t)row * map->row_bytes + map->id_at;
}

static uint32_t tag_of(const struct id_map *map, uint64_t account_id, const uint8_t *id)
{
    return (uint32_t)(mix_id(map->key, account_id_hashed(account_id), id) >> 32);
}

/* Place of (account, id), or of the free slot that ends its run. */
static uint32_t slot(const struct id_map *map, uint64_t account_id, const uint8_t *id)
{
    uint32_t tag = tag_of(map, account_id, id);
    uint32_t at = tag & map->mask;

    for (; map->slots[at].row_next != 0; at = (at + 1) & map->mask) {
        if (map->slots[at].tag != tag)
            continue;
        const uint8_t *found = id_of(map, map->slots[at].row_next - 1);
        if (cc_load64(found) == account_id && memcmp(found + 8, id, UUID_BYTES) == 0)
            break;
    }
    return at;
}

uint32_t id_map_find(const struct id_map *map, uint64_t account_id, const uint8_t id[UUID_BYTES])
{
    uint32_t row_next = map->slots[slot(map, account_id, id)].row_next;
    return row_next == 0 ? ID_MAP_NONE : row_next - 1;
}

void id_map_add(struct id_map *map, uint32_t row)
{
    const uint8_t *id = id_of(map, row);
    struct id_map_slot *free = &map->slots[slot(map, cc_load64(id), id + 8)];

    INVARIANT(free->row_next == 0);
    free->row_next = row + 1;
    free->tag = tag_of(map, cc_load64(id), id + 8);
}

/* Frees a slot and moves later entries of its run back, so that no search meets a false end. */
void id_map_remove(struct id_map *map, uint32_t row)
{
    const uint8_t *id = id_of(map, row);
    uint32_t hole = slot(map, cc_load64(id), id + 8);

    INVARIANT(map->slots[hole].row_next == row + 1);
    for (uint32_t at = (hole + 1) & map->mask; map->slots[at].row_next != 0;
         at = (at + 1) & map->mask) {
        uint32_t wanted = map->slots[at].tag & map->mask;
        if (((at - wanted) & map->mask) < ((at - hole) & map->mask))
            continue; /* its home is after the hole: it stays reachable */
        map->slots[hole] = map->slots[at];
        hole = at;
    }
    map->slots[hole].row_next = 0;
}
