/* hash_index.h - a map from a 64-bit keyed hash to the 32-bit indexes of the records that have it.
 *
 * A bucket is one cache line: 10 tags of 16 bits, 10 indexes, and the number of records that had to
 * pass this bucket. A full bucket overflows to the next one, so a table for n records always
 * accepts n, with any hashes. A tag is only a hint: the owner compares the whole key in its own
 * record.
 *
 *   for (struct hash_index_probe p = hash_index_probe(map, hash); hash_index_next(map, &p);)
 *       if (key of p.index is the one) return p.index;
 *
 * Owner.  The engine; the hash is secret (keyed), so clients cannot aim at a bucket.
 * Bound.  A lookup reads the home bucket. It reads the next ones only while records overflowed.
 * Order.  The slot of a record depends on history. It is no part of the state that replicas
 *         compare. */
#ifndef ENGINE_TABLE_HASH_INDEX_H
#define ENGINE_TABLE_HASH_INDEX_H

#include "base/compiler.h"
#include "base/lanes.h"

enum {
    HASH_INDEX_SLOTS = 10,          /* records in a bucket at most */
    HASH_INDEX_LOAD = 6,            /* mean records in a bucket of a full table: 4 % overflow */
    HASH_INDEX_BUCKET_SHIFT = 4,    /* a slot number is bucket << 4 | slot in it */
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
    uint32_t count;   /* records in the table */
    uint32_t records; /* most records; memory is laid out for them */
};

struct hash_index_probe {
    uint32_t index;   /* the candidate, after hash_index_next returned true */
    uint32_t bucket;  /* the bucket being read */
    uint32_t pending; /* its slots with this tag not yet returned; bits as in hash_index_match */
    uint16_t tag;
};

/* Returns the bytes that hash_index_init needs for that many. */
size_t hash_index_bytes(uint32_t records);

/* Prepares an empty table. `memory` has hash_index_bytes(records) zero bytes, 64-byte aligned, and
 * outlives the table. */
void hash_index_init(struct hash_index *map, void *memory, uint32_t records);

/* Adds `index` (not 0). Returns its bucket << 4 | slot, which the owner keeps for the removal. The
 * table has fewer than `records` records. The owner checks for a key that is there already. */
CC_MUST_USE uint32_t hash_index_insert(struct hash_index *map, uint64_t hash, uint32_t index);

/* Removes the record at `slot` (of hash_index_insert). `home` is the upper half of its hash. */
void hash_index_remove(struct hash_index *map, uint32_t home, uint32_t slot);

/* Removes a record whose slot the owner has not kept. */
void hash_index_erase(struct hash_index *map, uint64_t hash, uint32_t index);

/* Removes a record that is in its home bucket. */
static inline void hash_index_vacate(struct hash_index *map, uint32_t slot)
{
    uint16_t *tag = &map->buckets[slot >> HASH_INDEX_BUCKET_SHIFT]
                         .tag[slot & ((1u << HASH_INDEX_BUCKET_SHIFT) - 1)];

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

/* Returns a word whose bit 2i is set if slot i has this tag. It compares the first half of the line
 * at once; only the first 10 lanes of it are tags. */
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

/* Sets probe->index to the next record that may have the hash. False when none is left. */
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
    CC_PREFETCH(&map->buckets[hash_index_home(map, hash)]);
}

/* Returns the likely index of the record, for a prefetch. It is not checked; 0: none at home. */
static inline uint32_t hash_index_peek(const struct hash_index *map, uint64_t hash)
{
    struct hash_index_probe probe = hash_index_probe(map, hash);

    if (probe.pending == 0)
        return 0;
    return map->buckets[probe.bucket].index[__builtin_ctz(probe.pending) / 2];
}

#endif
