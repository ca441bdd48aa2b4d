#include "base/key_map.h"

#include <errno.h>
#include <stdlib.h>

enum {
    BUCKET_SLOTS = 8,
    SLOTS_PER_NUMBER = 4,
    TAG_SHIFT = 32, /* in a slot: the upper half of the hash, then the number */
};

struct bucket {
    alignas(CC_CACHE_LINE) _Atomic uint64_t slots[BUCKET_SLOTS];
};

struct name {
    uint8_t key[KEY_MAP_KEY_BYTES];
};

/* A number that was removed, and the first epoch at which no reader finds it. */
struct removal {
    uint64_t epoch;
    uint32_t number;
};

struct reader {
    CC_NO_SHARE _Atomic uint64_t seen; /* epoch of the reader's last quiet point */
};

struct key_map {
    struct mix_key hash_key;
    uint32_t numbers;
    uint32_t reader_count;
    uint32_t bucket_mask;
    struct bucket *buckets;
    struct name *names;       /* by number; written only while no slot has the number */
    struct removal *removals; /* ring of `numbers`, oldest first; private to the writer */
    uint64_t removed, reclaimed;
    struct reader *readers;
    CC_NO_SHARE _Atomic uint64_t epoch; /* removals so far */
};

static uint64_t key_hash(const struct key_map *map, const uint8_t *key)
{
    return mix_credential(map->hash_key, 0, key, KEY_MAP_KEY_BYTES);
}

/* The two buckets of a hash; they may be the same. The tag is made of bits that choose neither. */
static void bucket_pair(const struct key_map *map, uint64_t hash, struct bucket *pair[2])
{
    pair[0] = &map->buckets[hash & map->bucket_mask];
    pair[1] = &map->buckets[mix_fold(hash, map->hash_key.high | 1) & map->bucket_mask];
}

static void *alloc_zeroed(size_t count, size_t bytes)
{
    size_t whole = (count * bytes + CC_CACHE_LINE * 2 - 1) & ~(size_t)(CC_CACHE_LINE * 2 - 1);
    void *memory = aligned_alloc((size_t)CC_CACHE_LINE * 2, whole);
    if (memory != NULL)
        memset(memory, 0, whole);
    return memory;
}

int key_map_init(struct key_map **map, uint32_t numbers, uint32_t readers, struct mix_key hash_key)
{
    INVARIANT(numbers > 0 && numbers <= UINT32_MAX / (2 * SLOTS_PER_NUMBER));
    uint32_t buckets = 1;
    while (buckets * BUCKET_SLOTS < numbers * SLOTS_PER_NUMBER)
        buckets *= 2;
    struct key_map *made = alloc_zeroed(1, sizeof *made);
    *map = NULL;
    if (made == NULL)
        return -ENOMEM;
    made->hash_key = hash_key;
    made->numbers = numbers;
    made->reader_count = readers;
    made->bucket_mask = buckets - 1;
    made->buckets = alloc_zeroed(buckets, sizeof *made->buckets);
    made->names = alloc_zeroed((size_t)numbers + 1, sizeof *made->names);
    made->removals = alloc_zeroed(numbers, sizeof *made->removals);
    made->readers = alloc_zeroed((size_t)readers + 1, sizeof *made->readers);
    if (made->buckets == NULL || made->names == NULL || made->removals == NULL ||
        made->readers == NULL) {
        key_map_free(made);
        return -ENOMEM;
    }
    *map = made;
    return 0;
}

void key_map_free(struct key_map *map)
{
    if (map == NULL)
        return;
    free(map->buckets);
    free(map->names);
    free(map->removals);
    free(map->readers);
    free(map);
}

/* Returns the slot of the key, or NULL. Another key may have the same tag, so the key itself is
 * compared. */
static _Atomic uint64_t *find_slot(const struct key_map *map, const uint8_t *key, uint32_t *number)
{
    uint64_t hash = key_hash(map, key);
    struct bucket *pair[2];
    bucket_pair(map, hash, pair);
    for (unsigned b = 0; b < CC_COUNT(pair); b++) {
        for (unsigned i = 0; i < BUCKET_SLOTS; i++) {
            _Atomic uint64_t *slot = &pair[b]->slots[i];
            /* acquire (pairs: key_map_put): the name and the number's object were written before
             * the slot. */
            uint64_t word = atomic_load_explicit(slot, memory_order_acquire);
            if (word >> TAG_SHIFT != hash >> TAG_SHIFT || (uint32_t)word == KEY_MAP_NONE)
                continue;
            if (memcmp(map->names[(uint32_t)word].key, key, KEY_MAP_KEY_BYTES) == 0) {
                *number = (uint32_t)word;
                return slot;
            }
        }
    }
    *number = KEY_MAP_NONE;
    return NULL;
}

uint32_t key_map_find(const struct key_map *map, const uint8_t *key)
{
    uint32_t number;
    (void)find_slot(map, key, &number);
    return number;
}

void key_map_quiet(struct key_map *map, uint32_t reader)
{
    INVARIANT(reader < map->reader_count);
    _Atomic uint64_t *seen = &map->readers[reader].seen;
    /* acquire (pairs: key_map_remove): keys removed up to this epoch are not found after it. */
    uint64_t epoch = atomic_load_explicit(&map->epoch, memory_order_acquire);
    /* relaxed: its own word. The line is written only if something was removed since. */
    if (atomic_load_explicit(seen, memory_order_relaxed) != epoch)
        /* release (pairs: key_map_reclaim): the uses of what was found come before the report. */
        atomic_store_explicit(seen, epoch, memory_order_release);
}

int key_map_put(struct key_map *map, uint32_t number, const uint8_t *key)
{
    INVARIANT(number > 0 && number <= map->numbers);
    INVARIANT(key_map_find(map, key) == KEY_MAP_NONE);
    uint64_t hash = key_hash(map, key);
    struct bucket *pair[2];
    bucket_pair(map, hash, pair);
    for (unsigned b = 0; b < CC_COUNT(pair); b++) {
        for (unsigned i = 0; i < BUCKET_SLOTS; i++) {
            _Atomic uint64_t *slot = &pair[b]->slots[i];
            /* relaxed: only the writer changes it. */
            if (atomic_load_explicit(slot, memory_order_relaxed) != 0)
                continue;
            memcpy(map->names[number].key, key, KEY_MAP_KEY_BYTES);
            uint64_t tag = hash >> TAG_SHIFT << TAG_SHIFT;
            /* release (pairs: find_slot): the name and the object are written before the slot. */
            atomic_store_explicit(slot, tag | number, memory_order_release);
            return 0;
        }
    }
    return -ENOSPC;
}

uint32_t key_map_remove(struct key_map *map, const uint8_t *key)
{
    uint32_t number;
    _Atomic uint64_t *slot = find_slot(map, key, &number);
    if (slot == NULL)
        return KEY_MAP_NONE;
    INVARIANT(map->removed - map->reclaimed < map->numbers);
    atomic_store_explicit(slot, 0, memory_order_relaxed); /* relaxed: the epoch below orders it */
    /* relaxed load: its own word. The store's release pairs with key_map_quiet: a reader that sees
     * the epoch sees the cleared slot. */
    uint64_t epoch = atomic_load_explicit(&map->epoch, memory_order_relaxed) + 1;
    atomic_store_explicit(&map->epoch, epoch, memory_order_release);
    map->removals[map->removed++ % map->numbers] = (struct removal){ epoch, number };
    return number;
}

uint32_t key_map_reclaim(struct key_map *map)
{
    if (map->reclaimed == map->removed)
        return KEY_MAP_NONE;
    struct removal oldest = map->removals[map->reclaimed % map->numbers];
    for (uint32_t i = 0; i < map->reader_count; i++)
        /* acquire (pairs: key_map_quiet): the reader's uses come before the reuse of the number. */
        if (atomic_load_explicit(&map->readers[i].seen, memory_order_acquire) < oldest.epoch)
            return KEY_MAP_NONE;
    INVARIANT(oldest.number > 0 && oldest.number <= map->numbers);
    map->reclaimed++;
    return oldest.number;
}

const uint8_t *key_map_key(const struct key_map *map, uint32_t number)
{
    INVARIANT(number > 0 && number <= map->numbers);
    return map->names[number].key;
}
