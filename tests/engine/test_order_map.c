/* Orders are found by (account, order id) and by nothing less (rules.md R3). */
#include "engine/table/order_map.h"
#include "rig.h"

enum { SLOTS = 500 };

static struct order_table table;
static struct order_map map;

static void make(uint32_t slots)
{
    order_table_init(&table, rig_memory(order_table_bytes(slots)), slots);
    order_map_init(&map, rig_memory(order_map_bytes(slots)), slots, table.hot);
}

static void drop(void)
{
    rig_free(map.index.buckets, order_map_bytes(table.slots));
    rig_free(table.hot, order_table_bytes(table.slots));
}

/* With the second one every id has the hash 0: the last factor of mix_id is 0 then. */
static const struct mix_key spread = { 1, 2 }, level = { 1, UINT64_C(0xA0761D6478BD642F) };
static struct mix_key key;

static uint64_t hash_of(uint32_t account, const uint64_t id[2])
{
    return mix_id(key, account, (const uint8_t *)id);
}

static uint32_t add(uint32_t account, uint64_t id0, uint64_t id1)
{
    uint32_t index = order_alloc(&table);

    CHECK(index != ORDER_NONE);
    table.hot[index].account = account;
    table.hot[index].id[0] = id0;
    table.hot[index].id[1] = id1;
    order_map_insert(&map, hash_of(account, table.hot[index].id), index);
    return index;
}

static uint32_t find(uint32_t account, uint64_t id0, uint64_t id1)
{
    uint64_t id[2] = { id0, id1 };

    return order_map_find(&map, hash_of(account, id), account, id);
}

/* The whole key decides, even where the hashes are made equal. */
static void test_key(void)
{
    key = level;
    make(8);
    uint32_t a = add(1, 10, 20), b = add(2, 10, 20), c = add(1, 10, 21), d = add(1, 11, 20);

    CHECK(hash_of(1, (uint64_t[2]){ 10, 20 }) == 0 && hash_of(3, (uint64_t[2]){ 7, 7 }) == 0);
    CHECK(find(1, 10, 20) == a && find(2, 10, 20) == b);
    CHECK(find(1, 10, 21) == c && find(1, 11, 20) == d);
    CHECK(find(3, 10, 20) == ORDER_NONE && find(1, 11, 21) == ORDER_NONE);
    order_map_remove(&map, key, a);
    CHECK(find(1, 10, 20) == ORDER_NONE && find(2, 10, 20) == b);
    drop();
}

/* A full table of orders, with the second key all of them on one hash, then random comings and
 * goings. At the end no bucket remembers one that passed over it. */
static void test_full(struct mix_key with, uint64_t seed)
{
    static struct {
        uint64_t id;
        uint32_t account, index;
    } want[SLOTS];
    uint64_t random = seed;

    key = with;
    make(SLOTS);
    for (uint32_t turn = 0; turn < 40 * SLOTS; turn++) {
        uint32_t k = turn < SLOTS ? turn : rig_below(&random, SLOTS);
        if (turn >= SLOTS) {
            order_map_remove(&map, key, want[k].index);
            order_release(&table, want[k].index);
            CHECK(find(want[k].account, want[k].id, 1) == ORDER_NONE);
        }
        want[k].id = rig_random(&random);
        want[k].account = rig_below(&random, 3);
        want[k].index = add(want[k].account, want[k].id, 1);
        uint32_t other = turn < SLOTS ? k : rig_below(&random, SLOTS);
        CHECK(find(want[other].account, want[other].id, 1) == want[other].index);
    }
    CHECK(order_alloc(&table) == ORDER_NONE); /* the table refuses, the map has never */
    for (uint32_t k = 0; k < SLOTS; k++)
        order_map_remove(&map, key, want[k].index);
    CHECK(map.index.count == 0);
    for (uint32_t i = 0; i < map.index.bucket_count; i++)
        CHECK(map.index.buckets[i].overflow == 0);
    drop();
}

int main(void)
{
    test_key();
    test_full(spread, 1);
    test_full(level, 2);
    return 0;
}
