/* hash_index.h - from a 64-bit keyed hash to the 32-bit indexes of the records that have it.
 *
 * One cache line a bucket: 10 tags of 16 bits, 10 indexes, and how many records of this bucket
 * had to go further. A full bucket overflows to the next one, so refusal is by count alone: a
 * table for n records always takes n, whatever their hashes. A tag only proposes: the owner
 * compares the whole key in its own record.
 *
 *   for (struct hash_index_probe p = hash_index_probe(map, hash); hash_index_next(map, &p);)
 *       if (key of p.index is the one) return p.index;
 *
 * Owner.  The engine; the hash is secret (keyed), so clients cannot aim at a bucket.
 * Bound.  A lookup reads the home bucket, and further ones only while some record overflowed.
 * Order.  Placement depends on history and is no part of the state that replicas compare. */
#ifndef ENGINE_TABLE_HASH_INDEX_H
#define ENGINE_TABLE_HASH_INDEX_H

#include "base/compiler.h"
#include "base/lanes.h"

enum {
    HASH_INDEX_SLOTS = 10,          /* records a bucket */
    HASH_INDEX_LOAD = 6,            /* records a bucket when the table is full: 4 % overflow */
    HASH_INDEX_PLACE_BITS = 4,      /* place = bucket << 4 | slot */
    HASH_INDEX_SLOT_BITS = 0x55555, /* bit 2i for each slot i */
};

struct hash_index_bucket {
    uint16_t tag[HASH_INDEX_SLOTS];   /* 0: free */
    uint32_t overflow;                /* records that passed over this bucket */
    uint32_t index[HASH_INDEX_SLOTS]; /* of the owner's records */
};

static_assert(sizeof(struct hash_index_bucket) == CC_CACHE_LINE, "a bucket is one line");
static_assert(sizeof(uint16_t[HASH_INDEX_SLOTS]) <= LANES_BYTES, "one comparison sees all tags");

struct hash_index {
    struct hash_index_bucket *buckets;
    uint32_t bucket_count;
    uint32_t count;   /* records in it */
    uint32_t records; /* laid out for */
};

struct hash_index_probe {
    uint32_t index;   /* the candidate, after hash_index_next gave true */
    uint32_t bucket;  /* being read */
    uint32_t pending; /* its slots with this tag that were not given yet, as hash_index_match */
    uint16_t tag;
};

size_t hash_index_bytes(uint32_t records);

/* `memory`: hash_index_bytes(records) zero bytes, 64-byte aligned, that outlive the table. */
void hash_index_init(struct hash_index *map, void *memory, uint32_t records);

/* Adds `index` (not 0) and gives its place, which its owner keeps for the removal. There are fewer
 * than `records` in it. Whether the key is there already is the owner's business. */
CC_MUST_USE uint32_t hash_index_insert(struct hash_index *map, uint64_t hash, uint32_t index);

/* Removes the record at `place`; `home` is the upper half of the hash it was inserted with. */
void hash_index_remove(struct hash_index *map, uint32_t home, uint32_t place);

/* The same of a record that is in its home bucket. */
static inline void hash_index_vacate(struct hash_index *map, uint32_t place)
{
    uint16_t *tag = &map->buckets[place >> HASH_INDEX_PLACE_BITS]
                         .tag[place & ((1u << HASH_INDEX_PLACE_BITS) - 1)];

    INVARIANT(*tag != 0);
    INVARIANT(map->count > 0);
    map->count--;
    *tag = 0;
}

static inline uint32_t hash_index_home(const struct hash_index *map, uint64_t hash)
{
    return (uint32_t)((hash >> 32) * map->bucket_count >> 32);
}

static inline uint16_t hash_index_tag(uint64_t hash)
{
    return (uint16_t)(hash | 1u);
}

/* Bit 2i is set when slot i has this tag: one comparison of the first half of the line, in which
 * only the first 10 lanes are tags. */
static inline uint32_t hash_index_match(const struct hash_index_bucket *bucket, uint16_t tag)
{
    return lanes_equal16((const uint8_t *)bucket, tag) & HASH_INDEX_SLOT_BITS;
}

static inline struct hash_index_probe hash_index_probe(const struct hash_index *map, uint64_t hash)
{
    struct hash_index_probe probe = { .bucket = hash_index_home(map, hash) };

    probe.tag = hash_index_tag(hash);
    probe.pending = hash_index_match(&map->buckets[probe.bucket], probe.tag);
    return probe;
}

/* The next record that may have the hash in probe->index, or false when there is none left. */
static inline bool hash_index_next(const struct hash_index *map, struct hash_index_probe *probe)
{
    while (CC_UNLIKELY(probe->pending == 0)) {
        if (CC_LIKELY(map->buckets[probe->bucket].overflow == 0))
            return false;
        probe->bucket = probe->bucket + 1 == map->bucket_count ? 0 : probe->bucket + 1;
        probe->pending = hash_index_match(&map->buckets[probe->bucket], probe->tag);
    }
    uint32_t slot = (uint32_t)__builtin_ctz(probe->pending) / 2;
    probe->pending &= probe->pending - 1;
    probe->index = map->buckets[probe->bucket].index[slot];
    return true;
}

static inline void hash_index_prefetch(const struct hash_index *map, uint64_t hash)
{
    __builtin_prefetch(&map->buckets[hash_index_home(map, hash)], 1);
}

/* The likely index for a prefetch of the record, unverified; 0 when there is none at home. */
static inline uint32_t hash_index_peek(const struct hash_index *map, uint64_t hash)
{
    struct hash_index_probe probe = hash_index_probe(map, hash);

    if (probe.pending == 0)
        return 0;
    return map->buckets[probe.bucket].index[__builtin_ctz(probe.pending) / 2];
}

#endif
