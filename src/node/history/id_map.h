/* id_map.h - maps (account, 16-byte id) to the number of the row that has it.
 *
 * The rows are the caller's. The map stores their numbers with half of each id's hash: a row is
 * read only where that half agrees, and no row is read when slots are moved. A row that is removed
 * or overwritten must leave the map first.
 *
 * Owner.  The follower's thread.
 * Bound.  Twice as many slots as rows, linear probing under a secret key (mix.h). */
#ifndef NODE_HISTORY_ID_MAP_H
#define NODE_HISTORY_ID_MAP_H

#include "base/mix.h"
#include "base/uuid.h"

#define ID_MAP_NONE UINT32_MAX

struct id_map_slot {
    uint32_t row_next; /* row + 1, 0: free */
    uint32_t tag;      /* upper half of the hash; its low bits name the home */
};

struct id_map {
    struct mix_key key;
    const uint8_t *rows;
    struct id_map_slot *slots;
    uint32_t mask;
    uint32_t row_bytes;
    uint32_t id_at;
};

/* `capacity` rows, a power of two. In each row the id is at `id_at` and the account (u64) right
 * before it. 0 or -ENOMEM. */
CC_MUST_USE int id_map_init(struct id_map *map, struct mix_key key, uint32_t capacity,
                            const void *rows, size_t row_bytes, size_t id_at);
void id_map_free(struct id_map *map);

/* The number of the row, or ID_MAP_NONE. */
CC_MUST_USE uint32_t id_map_find(const struct id_map *map, uint64_t account_id,
                                 const uint8_t id[UUID_BYTES]);

/* Prefetches the cache line where a search for an id with this hash (mix_id) begins. */
static inline void id_map_prefetch(const struct id_map *map, uint64_t hash)
{
    CC_PREFETCH(&map->slots[(uint32_t)(hash >> 32) & map->mask]);
}

/* Adds a row whose account and id are not in the map. */
void id_map_add(struct id_map *map, uint32_t row);

/* Removes a row, which must be in the map. */
void id_map_remove(struct id_map *map, uint32_t row);

#endif
