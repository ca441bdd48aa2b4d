/* order_map.h - finds a live order by (account, order id). Owned by the engine.
 *
 * Bound.  It has room for every slot of the order table, so it never refuses.
 * Order.  The 128-bit id and the account index are compared in the order's hot line; the keyed
 *         64-bit hash of (account, id) comes with the command, or from the node on image load. */
#ifndef ENGINE_TABLE_ORDER_MAP_H
#define ENGINE_TABLE_ORDER_MAP_H

#include "base/compiler.h"
#include "base/mix.h"
#include "engine/table/hash_index.h"
#include "engine/table/order.h"

/* Bit of order.map_slot: the order is not in the home bucket of its hash. */
#define ORDER_MAP_DISPLACED (1u << 31)

struct order_map {
    struct hash_index index;
    struct order *orders; /* order_table.hot */
};

/* Returns the bytes that order_map_init needs for that many. */
size_t order_map_bytes(uint32_t order_slots);

/* Prepares an empty map. `memory` has order_map_bytes(order_slots) zero bytes, 64-byte aligned, and
 * outlives the map. `orders` is the hot array of the order table with that many slots. */
void order_map_init(struct order_map *map, void *memory, uint32_t order_slots,
                    struct order *orders);

/* Returns the index of the live order with this account (table index) and id, or ORDER_NONE. `hash`
 * is mix_id of both. */
CC_MUST_USE uint32_t order_map_find(const struct order_map *map, uint64_t hash, uint32_t account,
                                    const uint64_t id[2]);

/* Adds an order and writes its map_slot. Its id and account are set; `hash` is mix_id of them. The
 * caller has checked that no other live order has the same account and id. */
void order_map_insert(struct order_map *map, uint64_t hash, uint32_t order);

/* Removes an order. `key` is the key of mix_id: the hash is computed again if the order is not in
 * its home bucket. */
void order_map_remove(struct order_map *map, struct mix_key key, uint32_t order);

/* Returns the order's bucket and slot in the index. */
static inline uint32_t order_map_slot(const struct order *order)
{
    return order->map_slot & ~ORDER_MAP_DISPLACED;
}

/* Prefetches the bucket of a hash: the first of two steps. */
static inline void order_map_prefetch(const struct order_map *map, uint64_t hash)
{
    hash_index_prefetch(&map->index, hash);
}

/* Prefetches the bucket of an order that will be removed (a maker about to be filled). */
static inline void order_map_prefetch_slot(const struct order_map *map, const struct order *order)
{
    CC_PREFETCH(&map->index.buckets[order_map_slot(order) >> HASH_INDEX_BUCKET_SHIFT]);
}

/* Returns the likely order of a hash for order_prefetch, the second step. It is not checked; 0:
 * none. */
static inline uint32_t order_map_peek(const struct order_map *map, uint64_t hash)
{
    return hash_index_peek(&map->index, hash);
}

#endif
