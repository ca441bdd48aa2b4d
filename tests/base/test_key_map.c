/* key_map: what was put is found, what was removed is not, and a number comes back only when every
 * reader has passed a quiet point since; readers beside the writer see whole things only. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/key_map.h"
#include "check.h"

static const struct mix_key hash_key = { 0x0123456789abcdef, 0xfedcba9876543211 };

static void key_of(uint8_t key[KEY_MAP_KEY_BYTES], uint64_t number)
{
    memset(key, 0, KEY_MAP_KEY_BYTES);
    cc_store64(key + 8, number);
}

static void test_one(void)
{
    struct key_map *map;
    uint8_t key[KEY_MAP_KEY_BYTES], other[KEY_MAP_KEY_BYTES];
    CHECK(key_map_init(&map, 4, 2, hash_key) == 0);
    key_of(key, 1);
    key_of(other, 2);
    CHECK(key_map_find(map, key) == KEY_MAP_NONE && key_map_remove(map, key) == KEY_MAP_NONE);
    CHECK(key_map_put(map, 3, key) == 0);
    CHECK(key_map_find(map, key) == 3 && key_map_find(map, other) == KEY_MAP_NONE);
    CHECK(memcmp(key_map_key(map, 3), key, sizeof key) == 0);
    CHECK(key_map_put(map, 4, other) == 0 && key_map_find(map, other) == 4);

    /* Neither reader was quiet since, then one of them, then both; a second quiet of the first
     * stands for nobody else. */
    CHECK(key_map_remove(map, key) == 3 && key_map_find(map, key) == KEY_MAP_NONE);
    CHECK(key_map_find(map, other) == 4);
    CHECK(key_map_reclaim(map) == KEY_MAP_NONE);
    key_map_quiet(map, 0);
    key_map_quiet(map, 0);
    CHECK(key_map_reclaim(map) == KEY_MAP_NONE);
    key_map_quiet(map, 1);
    CHECK(key_map_reclaim(map) == 3 && key_map_reclaim(map) == KEY_MAP_NONE);

    /* A quiet point frees what was removed before it, not what is removed after. */
    CHECK(key_map_put(map, 3, key) == 0 && key_map_remove(map, other) == 4);
    key_map_quiet(map, 0);
    key_map_quiet(map, 1);
    CHECK(key_map_remove(map, key) == 3);
    CHECK(key_map_reclaim(map) == 4 && key_map_reclaim(map) == KEY_MAP_NONE);
    key_map_free(map);
    key_map_free(NULL);
}

/* As many keys as numbers, put and removed over and over: places are used again, so none is ever
 * refused and a look stays two lines. */
static void test_many(void)
{
    enum { NUMBERS = 3000, ROUNDS = 20 };
    struct key_map *map;
    uint8_t key[KEY_MAP_KEY_BYTES];
    CHECK(key_map_init(&map, NUMBERS, 0, hash_key) == 0);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        for (uint32_t i = 1; i <= NUMBERS; i++) {
            key_of(key, (uint64_t)round * NUMBERS + i);
            CHECK(key_map_put(map, i, key) == 0);
        }
        for (uint32_t i = 1; i <= NUMBERS; i++) {
            key_of(key, (uint64_t)round * NUMBERS + i);
            CHECK(key_map_find(map, key) == i && key_map_remove(map, key) == i);
            CHECK(key_map_find(map, key) == KEY_MAP_NONE);
            CHECK(key_map_reclaim(map) == i); /* no readers: at once */
        }
    }
    key_map_free(map);
}

/* A bucket takes 8 keys: the next is refused and none is lost. With so few numbers only a number
 * that is put twice gets there. */
static void test_full(void)
{
    struct key_map *map;
    uint8_t key[KEY_MAP_KEY_BYTES];
    CHECK(key_map_init(&map, 2, 0, hash_key) == 0); /* 8 places, one bucket */
    for (uint64_t i = 0; i < 8; i++) {
        key_of(key, i);
        CHECK(key_map_put(map, 1 + i % 2, key) == 0);
    }
    key_of(key, 8);
    CHECK(key_map_put(map, 1, key) == -ENOSPC && key_map_find(map, key) == KEY_MAP_NONE);
    key_map_free(map);
}

/* ---- readers beside the writer: `things` are plain memory, the thread sanitizer watches ------ */

enum {
    KEYS = 64,
    NUMBERS_SHARED = 24,
    READERS = 2,
    ROUNDS_SHARED = 200000,
    WORDS = 8,
    FOUND_LEAST = 1000
};

static struct key_map *shared;
static uint64_t things[NUMBERS_SHARED + 1][WORDS]; /* each word: the key that the number has */
static _Atomic bool over;
static _Atomic uint64_t found_count;

static void *read_things(void *context)
{
    uint32_t reader = (uint32_t)(uintptr_t)context;
    uint8_t key[KEY_MAP_KEY_BYTES];
    for (uint64_t turn = reader; !atomic_load(&over); turn++) {
        key_map_quiet(shared, reader);
        for (uint64_t i = 0; i < 4; i++) {
            uint64_t wanted = (turn * 7 + i) % KEYS;
            key_of(key, wanted);
            uint32_t number = key_map_find(shared, key);
            for (unsigned word = 0; word < WORDS && number != KEY_MAP_NONE; word++)
                CHECK(things[number][word] == wanted);
            if (number != KEY_MAP_NONE)
                atomic_fetch_add_explicit(&found_count, 1, memory_order_relaxed);
        }
    }
    return NULL;
}

static void write_things(void)
{
    uint32_t spare[NUMBERS_SHARED], spare_count = 0, number;
    uint8_t key[KEY_MAP_KEY_BYTES];
    for (uint32_t i = 1; i <= NUMBERS_SHARED; i++)
        spare[spare_count++] = i;
    uint64_t random = 88172645463325252u;
    for (uint32_t round = 0; round < ROUNDS_SHARED || atomic_load(&found_count) < FOUND_LEAST;
         round++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        uint64_t wanted = random % KEYS;
        key_of(key, wanted);
        while ((number = key_map_reclaim(shared)) != KEY_MAP_NONE)
            spare[spare_count++] = number;
        if (key_map_find(shared, key) != KEY_MAP_NONE) {
            (void)key_map_remove(shared, key);
        } else if (spare_count > 0) {
            number = spare[--spare_count];
            for (unsigned word = 0; word < WORDS; word++)
                things[number][word] = wanted;
            CHECK(key_map_put(shared, number, key) == 0);
        }
    }
}

static void test_readers(void)
{
    pthread_t threads[READERS];
    CHECK(key_map_init(&shared, NUMBERS_SHARED, READERS, hash_key) == 0);
    for (uintptr_t i = 0; i < READERS; i++)
        CHECK(pthread_create(&threads[i], NULL, read_things, (void *)i) == 0);
    write_things();
    atomic_store(&over, true);
    for (unsigned i = 0; i < READERS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    key_map_free(shared);
}

int main(void)
{
    test_one();
    test_many();
    test_full();
    test_readers();
    return 0;
}
