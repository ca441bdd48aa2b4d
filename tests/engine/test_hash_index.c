/* hash_index takes exactly the records it was laid out for, whatever their hashes, and finds each
 * among them (roles.md, Configuration: "refuse by count only"). */

#include "engine/table/hash_index.h"
#include "engine/table/slot_table.h"
#include "rig.h"

enum { RECORDS = 3000 };

struct record {
    uint64_t hash;
    uint32_t place;
    bool present;
};

static struct record records[RECORDS + 1];

/* How many candidates of the record's hash are the record itself: must be one, or none. */
static uint32_t occurrences(const struct hash_index *map, uint64_t hash, uint32_t index)
{
    uint32_t found = 0;

    for (struct hash_index_probe p = hash_index_probe(map, hash); hash_index_next(map, &p);)
        found += p.index == index;
    return found;
}

/* No record left: no tag and no overflow count may be left behind. */
static void check_empty(const struct hash_index *map)
{
    CHECK(map->count == 0);
    for (uint32_t b = 0; b < map->bucket_count; b++) {
        CHECK(map->buckets[b].overflow == 0);
        for (uint32_t slot = 0; slot < HASH_INDEX_SLOTS; slot++)
            CHECK(map->buckets[b].tag[slot] == 0);
    }
}

/* Random inserts and removals up to a full table; `spread` masks the hashes: 0 makes all equal. */
static void run(uint64_t seed, uint32_t record_count, uint64_t spread)
{
    size_t bytes = hash_index_bytes(record_count);
    struct hash_index map;
    uint64_t random = seed;

    hash_index_init(&map, rig_memory(bytes), record_count);
    memset(records, 0, sizeof records);
    for (uint32_t turn = 0; turn < 12 * record_count; turn++) {
        uint32_t index = 1 + rig_below(&random, record_count);
        struct record *record = &records[index];
        bool filling = turn / (3 * record_count) % 2 == 0; /* full, then nearly empty, twice */
        if (!record->present && (filling || rig_below(&random, 4) == 0)) {
            record->hash = rig_random(&random) & spread;
            record->place = hash_index_insert(&map, record->hash, index);
            record->present = true;
        } else if (record->present && (!filling || rig_below(&random, 4) == 0)) {
            hash_index_remove(&map, (uint32_t)(record->hash >> 32), record->place);
            record->present = false;
        }
        CHECK(occurrences(&map, record->hash, index) == record->present);
    }
    for (uint32_t index = 1; index <= record_count; index++)
        if (!records[index].present) {
            records[index].hash = rig_random(&random) & spread;
            records[index].place = hash_index_insert(&map, records[index].hash, index);
        }
    CHECK(map.count == record_count); /* exactly full */
    for (uint32_t index = 1; index <= record_count; index++)
        CHECK(occurrences(&map, records[index].hash, index) == 1);
    for (uint32_t index = 1; index <= record_count; index++)
        hash_index_remove(&map, (uint32_t)(records[index].hash >> 32), records[index].place);
    check_empty(&map);
    rig_free(map.buckets, bytes);
}

/* Random buckets of few tags, neighbours of each other's values included: the match is exact. */
static void test_match(void)
{
    uint64_t random = 7;

    for (uint32_t turn = 0; turn < 200000; turn++) {
        struct hash_index_bucket bucket;
        uint32_t want = 0;
        uint16_t tag = (uint16_t)(rig_below(&random, 4) * (turn % 4 < 2 ? 1 : 0x4000));
        for (uint32_t slot = 0; slot < HASH_INDEX_SLOTS; slot++) {
            bucket.tag[slot] = (uint16_t)(rig_below(&random, 4) * (turn % 2 == 0 ? 1 : 0x4000));
            bucket.index[slot] = 0;
            want |= (bucket.tag[slot] == tag ? 1u : 0u) << 2 * slot;
        }
        bucket.overflow = rig_below(&random, 2) * 0xffff;
        CHECK(hash_index_match(&bucket, tag) == want);
    }
}

static void insert_too_many(void *context)
{
    struct hash_index *map = context;

    for (uint32_t i = 1; i <= 8; i++)
        CHECK(hash_index_insert(map, i, i) < 32);
}

static void test_bound(void)
{
    size_t bytes = hash_index_bytes(7);
    struct hash_index map;

    hash_index_init(&map, rig_memory(bytes), 7);
    CHECK(rig_aborts(insert_too_many, &map));
    rig_free(map.buckets, bytes);
}

/* --- slot_table, which hands out the indexes of such records --------------------------------- */

static void alloc_fifth(void *slots)
{
    (void)slot_table_alloc(slots, 0);
}

static void free_fresh(void *slots)
{
    (void)slot_table_free(slots, 5);
}

/* Freed rows first, the last freed one before the others; no more than the limit; nothing is freed
 * that was not handed out. */
static void test_slots(void)
{
    struct slot_table slots = slot_table_init(4);
    uint32_t next[5] = { 0 };

    CHECK(!slot_table_has_room(&slots));
    slots.limit = 4;
    for (uint32_t i = 1; i <= 3; i++)
        CHECK(slot_table_alloc(&slots, next[slots.free_head]) == i);
    next[1] = slot_table_free(&slots, 1);
    next[3] = slot_table_free(&slots, 3);
    CHECK(slots.count == 1);
    CHECK(slot_table_alloc(&slots, next[slots.free_head]) == 3);
    CHECK(slot_table_alloc(&slots, next[slots.free_head]) == 1);
    CHECK(slot_table_has_room(&slots));
    CHECK(slot_table_alloc(&slots, next[slots.free_head]) == 4);
    CHECK(!slot_table_has_room(&slots));
    CHECK(rig_aborts(alloc_fifth, &slots));
    CHECK(rig_aborts(free_fresh, &slots));
}

int main(void)
{
    test_match();
    test_slots();
    run(1, RECORDS, UINT64_MAX);
    run(2, RECORDS, 0x000fffff0000000f); /* some buckets, few tags */
    run(3, 300, 0);                      /* one bucket, one tag */
    run(4, 5, UINT64_MAX);               /* one bucket in all: wraps onto itself */
    run(5, 23, 0xffffffff00000000);      /* the last bucket overflows to the first */
    test_bound();
    return 0;
}
