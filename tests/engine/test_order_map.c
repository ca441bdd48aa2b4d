/* Orders are found by (account, order id) and by nothing less (rules.md R3). */
#include "engine/order_map.h"
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

static uint32_t add(uint64_t hash, uint32_t account, uint64_t id0, uint64_t id1)
{
    uint32_t index = order_take(&table);

    CHECK(index != ORDER_NONE);
    table.hot[index].account = account;
    table.hot[index].id[0] = id0;
    table.hot[index].id[1] = id1;
    order_map_insert(&map, hash, index);
    return index;
}

/* The whole key decides, even where the hashes are made equal. */
static void test_key(void)
{
    make(8);
    uint32_t a = add(42, 1, 10, 20), b = add(42, 2, 10, 20), c = add(42, 1, 10, 21);
    uint32_t d = add(42, 1, 11, 20);

    CHECK(order_map_find(&map, 42, 1, (uint64_t[2]){ 10, 20 }) == a);
    CHECK(order_map_find(&map, 42, 2, (uint64_t[2]){ 10, 20 }) == b);
    CHECK(order_map_find(&map, 42, 1, (uint64_t[2]){ 10, 21 }) == c);
    CHECK(order_map_find(&map, 42, 1, (uint64_t[2]){ 11, 20 }) == d);
    CHECK(order_map_find(&map, 42, 3, (uint64_t[2]){ 10, 20 }) == ORDER_NONE);
    CHECK(order_map_find(&map, 42, 1, (uint64_t[2]){ 11, 21 }) == ORDER_NONE);
    order_map_remove(&map, a);
    CHECK(order_map_find(&map, 42, 1, (uint64_t[2]){ 10, 20 }) == ORDER_NONE);
    CHECK(order_map_find(&map, 42, 2, (uint64_t[2]){ 10, 20 }) == b);
    drop();
}

/* A full table of orders, all of them on one hash, then random comings and goings. */
static void test_full(uint64_t spread, uint64_t seed)
{
    static struct {
        uint64_t hash, id;
        uint32_t account, index;
    } want[SLOTS];
    uint64_t random = seed;

    make(SLOTS);
    for (uint32_t turn = 0; turn < 40 * SLOTS; turn++) {
        uint32_t k = turn < SLOTS ? turn : rig_below(&random, SLOTS);
        if (turn >= SLOTS) {
            order_map_remove(&map, want[k].index);
            order_release(&table, want[k].index);
            CHECK(order_map_find(&map, want[k].hash, want[k].account,
                                 (uint64_t[2]){ want[k].id, 1 }) == ORDER_NONE);
        }
        want[k].hash = rig_random(&random) & spread;
        want[k].id = rig_random(&random);
        want[k].account = rig_below(&random, 3);
        want[k].index = add(want[k].hash, want[k].account, want[k].id, 1);
        uint32_t other = turn < SLOTS ? k : rig_below(&random, SLOTS);
        CHECK(order_map_find(&map, want[other].hash, want[other].account,
                             (uint64_t[2]){ want[other].id, 1 }) == want[other].index);
    }
    CHECK(order_take(&table) == ORDER_NONE); /* the table refuses, the map has never */
    drop();
}

int main(void)
{
    test_key();
    test_full(UINT64_MAX, 1);
    test_full(0, 2);
    return 0;
}
