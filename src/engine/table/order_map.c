#include "engine/table/order_map.h"

size_t order_map_bytes(uint32_t order_slots)
{
    return hash_index_bytes(order_slots);
}

void order_map_init(struct order_map *map, void *memory, uint32_t order_slots, struct order *orders)
{
    hash_index_init(&map->index, memory, order_slots);
    map->orders = orders;
}

uint32_t order_map_find(const struct order_map *map, uint64_t hash, uint32_t account,
                        const uint64_t id[2])
{
    struct hash_index_probe probe = hash_index_probe(&map->index, hash);

    while (hash_index_next(&map->index, &probe)) {
        const struct order *order = &map->orders[probe.index];
        if (CC_LIKELY(order->id[0] == id[0] && order->id[1] == id[1] && order->account == account))
            return probe.index;
    }
    return ORDER_NONE;
}

void order_map_insert(struct order_map *map, uint64_t hash, uint32_t order)
{
    uint32_t slot = hash_index_insert(&map->index, hash, order);
    bool is_home = slot >> HASH_INDEX_BUCKET_SHIFT == hash_index_home(&map->index, hash);

    INVARIANT((slot & ORDER_MAP_DISPLACED) == 0);
    map->orders[order].map_slot = is_home ? slot : slot | ORDER_MAP_DISPLACED;
}

void order_map_remove(struct order_map *map, struct mix_key key, uint32_t order)
{
    const struct order *record = &map->orders[order];
    uint32_t slot = order_map_slot(record);
    struct hash_index_bucket *bucket = &map->index.buckets[slot >> HASH_INDEX_BUCKET_SHIFT];

    INVARIANT(bucket->index[slot & ((1u << HASH_INDEX_BUCKET_SHIFT) - 1)] == order);
    if (CC_LIKELY((record->map_slot & ORDER_MAP_DISPLACED) == 0)) {
        hash_index_vacate(&map->index, slot);
        return;
    }
    uint64_t hash = mix_id(key, record->account, (const uint8_t *)record->id);
    hash_index_remove(&map->index, (uint32_t)(hash >> 32), slot);
}
