#include "engine/table/hash_index.h"

static_assert((1 << HASH_INDEX_BUCKET_SHIFT) >= HASH_INDEX_SLOTS, "a slot fits its bits");

/* There are more slots than records, so an insert below the bound always ends. */
static uint32_t hash_index_buckets(uint32_t records)
{
    return records / HASH_INDEX_LOAD + 1;
}

size_t hash_index_bytes(uint32_t records)
{
    return (size_t)hash_index_buckets(records) * sizeof(struct hash_index_bucket);
}

void hash_index_init(struct hash_index *map, void *memory, uint32_t records)
{
    INVARIANT(records != 0 && records <= 1u << 28); /* bucket << 4 | slot fits 32 bits */
    INVARIANT((uintptr_t)memory % CC_CACHE_LINE == 0);
    *map = (struct hash_index){
        .buckets = memory,
        .bucket_count = hash_index_buckets(records),
        .records = records,
    };
}

uint32_t hash_index_insert(struct hash_index *map, uint64_t hash, uint32_t index)
{
    uint32_t bucket = hash_index_home(map, hash);
    uint32_t vacant;

    INVARIANT(map->count < map->records);
    INVARIANT(index != 0);
    map->count++;
    while (CC_UNLIKELY((vacant = hash_index_match(&map->buckets[bucket], 0)) == 0)) {
        map->buckets[bucket].overflow++;
        bucket = bucket + 1 == map->bucket_count ? 0 : bucket + 1;
    }
    uint32_t slot = (uint32_t)__builtin_ctz(vacant) / 2;
    map->buckets[bucket].tag[slot] = hash_index_tag(hash);
    map->buckets[bucket].index[slot] = index;
    return bucket << HASH_INDEX_BUCKET_SHIFT | slot;
}

void hash_index_remove(struct hash_index *map, uint32_t home, uint32_t slot)
{
    uint32_t bucket = slot >> HASH_INDEX_BUCKET_SHIFT;
    uint32_t in_bucket = slot & ((1u << HASH_INDEX_BUCKET_SHIFT) - 1);
    uint32_t passed = hash_index_home(map, (uint64_t)home << 32);

    INVARIANT(bucket < map->bucket_count && in_bucket < HASH_INDEX_SLOTS);
    INVARIANT(map->buckets[bucket].tag[in_bucket] != 0);
    INVARIANT(map->count > 0);
    map->count--;
    map->buckets[bucket].tag[in_bucket] = 0;
    while (CC_UNLIKELY(passed != bucket)) {
        INVARIANT(map->buckets[passed].overflow > 0);
        map->buckets[passed].overflow--;
        passed = passed + 1 == map->bucket_count ? 0 : passed + 1;
    }
}

void hash_index_erase(struct hash_index *map, uint64_t hash, uint32_t index)
{
    struct hash_index_probe probe = hash_index_probe(map, hash);
    uint32_t slot = 0;

    do {
        bool is_there = hash_index_next(map, &probe);
        INVARIANT(is_there);
    } while (probe.index != index);
    const struct hash_index_bucket *bucket = &map->buckets[probe.bucket];
    while (bucket->index[slot] != index || bucket->tag[slot] != probe.tag)
        slot++;
    hash_index_remove(map, (uint32_t)(hash >> 32), probe.bucket << HASH_INDEX_BUCKET_SHIFT | slot);
}
