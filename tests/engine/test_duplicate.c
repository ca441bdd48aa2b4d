/* The duplicate set (wire.md W5): exact, bounded by count, each id known for past + future + 10 s
 * and dropped a slice at a time; against a reference that searches a flat list. */
#include "engine/table/duplicate.h"
#include "rig.h"

enum {
    PAST_MS = 30000, /* W5's defaults */
    FUTURE_MS = 5000,
    WINDOW_MS = PAST_MS + FUTURE_MS,
    ACCOUNTS = 8,
};

static const uint64_t START_MS = 1760000000000; /* a multiple of 16 */

static struct duplicate set;

static void make(uint32_t slots)
{
    duplicate_init(&set, rig_memory(duplicate_bytes(slots, WINDOW_MS, ACCOUNTS)), slots, WINDOW_MS,
                   ACCOUNTS);
}

static void drop(void)
{
    rig_free(set.index.buckets, duplicate_bytes(set.slots, WINDOW_MS, ACCOUNTS));
}

/* A UUIDv7 of the given time; `low` tells it from others of that time. */
static struct duplicate_row row_of(uint64_t ms, uint64_t account, uint64_t low)
{
    uint64_t high = __builtin_bswap64(ms << 16 | 0x7000);

    return (struct duplicate_row){
        .id = { high, __builtin_bswap64(0x8000000000000000u | low) },
        .account = account,
        .processed_at_ns = low * 3,
        .outcome = duplicate_outcome(low, (uint8_t)(low % 56)),
    };
}

/* Any function of the key will do; keeping few bits makes many of them collide. */
static uint64_t hash_of(const struct duplicate_row *row, uint64_t spread)
{
    uint64_t state = row->id[0] ^ row->id[1] * 3 ^ row->account * 0x9E3779B97F4A7C15u;

    return rig_random(&state) & spread;
}

static const struct duplicate_row *find(const struct duplicate_row *row)
{
    return duplicate_find(&set, hash_of(row, UINT64_MAX), row->account, row->id);
}

static void insert(const struct duplicate_row *row)
{
    duplicate_insert(&set, hash_of(row, UINT64_MAX), row);
}

static bool same(const struct duplicate_row *a, const struct duplicate_row *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

/* Equality is that of the whole id and the account, never of the hash. */
static void test_exact(void)
{
    struct duplicate_row a = row_of(START_MS, 7, 1), b = row_of(START_MS, 8, 1);
    struct duplicate_row c = row_of(START_MS, 7, 2), d = row_of(START_MS + 1, 7, 1);

    make(8);
    duplicate_advance(&set, START_MS, PAST_MS);
    duplicate_insert(&set, 5, &a); /* all four keys on one hash */
    CHECK(duplicate_find(&set, 5, b.account, b.id) == NULL);
    CHECK(duplicate_find(&set, 5, c.account, c.id) == NULL);
    CHECK(duplicate_find(&set, 5, d.account, d.id) == NULL);
    duplicate_insert(&set, 5, &b);
    duplicate_insert(&set, 5, &c);
    CHECK(same(duplicate_find(&set, 5, a.account, a.id), &a));
    CHECK(same(duplicate_find(&set, 5, b.account, b.id), &b));
    CHECK(same(duplicate_find(&set, 5, c.account, c.id), &c));
    CHECK(duplicate_find(&set, 5, d.account, d.id) == NULL);
    CHECK(duplicate_sequence(&c) == 2 && duplicate_status(&c) == 2);
    drop();
}

/* An id that passes the engine's check t - past - 5 s <= id is known as long as it does; its slice
 * of 16 ms goes at the first t at which no id of the slice passes. So from the earliest acceptance,
 * t = id - future - 5 s, an id lives past + future + 10 s, plus the rest of its slice. */
static void test_life(void)
{
    for (uint64_t offset = 0; offset < DUPLICATE_SLICE_MS; offset++) {
        uint64_t id_ms = START_MS + offset;
        uint64_t accepted_ms = id_ms - FUTURE_MS - 5000;
        uint64_t last_ms = id_ms + PAST_MS + 5000; /* the last t whose check it passes */
        uint64_t dropped_ms = START_MS + DUPLICATE_SLICE_MS + PAST_MS + 5000;
        struct duplicate_row row = row_of(id_ms, 1, 9);

        CHECK(last_ms - accepted_ms == PAST_MS + FUTURE_MS + 10000);
        make(4);
        duplicate_advance(&set, accepted_ms, PAST_MS);
        insert(&row);
        duplicate_advance(&set, last_ms, PAST_MS);
        CHECK(find(&row) != NULL);
        duplicate_advance(&set, dropped_ms - 1, PAST_MS);
        CHECK(find(&row) != NULL && set.count == 1);
        CHECK(duplicate_floor_ms(&set) == START_MS);
        duplicate_advance(&set, dropped_ms, PAST_MS);
        CHECK(find(&row) == NULL && set.count == 0);
        CHECK(duplicate_floor_ms(&set) == START_MS + DUPLICATE_SLICE_MS);
        duplicate_advance(&set, accepted_ms, PAST_MS); /* never back */
        CHECK(duplicate_floor_ms(&set) == START_MS + DUPLICATE_SLICE_MS);
        drop();
    }
}

/* The widest span of ids there can be at once: both ends of the window hold an row. */
static void test_span(void)
{
    struct duplicate_row oldest = row_of(START_MS - PAST_MS - 5000, 1, 1);
    struct duplicate_row newest = row_of(START_MS + FUTURE_MS + 5000, 1, 2);

    make(4);
    duplicate_advance(&set, START_MS, PAST_MS);
    insert(&oldest);
    insert(&newest);
    CHECK(find(&oldest) != NULL && find(&newest) != NULL);
    duplicate_advance(&set, START_MS + 86400000, PAST_MS); /* a day passes at once */
    CHECK(find(&oldest) == NULL && find(&newest) == NULL && set.count == 0);
    oldest = row_of(START_MS + 86400000, 1, 3);
    insert(&oldest);
    CHECK(find(&oldest) != NULL);
    drop();
}

/* Refusal is by the count of live ids: dropped ones make room at once, all in one slice or not. */
static void test_full(void)
{
    enum { SLOTS = 1000 };

    make(SLOTS);
    duplicate_set_limit(&set, SLOTS - 10);
    for (uint32_t round = 0; round < 5; round++) {
        uint64_t now_ms = START_MS + round * 60000;
        duplicate_advance(&set, now_ms, PAST_MS);
        for (uint32_t i = 0; i < SLOTS - 10; i++) {
            CHECK(!duplicate_full(&set, 1, true));
            CHECK(duplicate_full(&set, SLOTS - 10 - i + 1, true) &&
                  !duplicate_full(&set, SLOTS - 10 - i, true));
            struct duplicate_row row = row_of(now_ms, 1, i);
            insert(&row);
        }
        CHECK(duplicate_full(&set, 1, true) && !duplicate_full(&set, 0, true));
    }
    duplicate_set_limit(&set, SLOTS);
    CHECK(!duplicate_full(&set, 10, true) && duplicate_full(&set, 11, true));
    CHECK(set.fresh ==
          SLOTS - 10 + 1); /* entries were used again: memory does not follow history */
    drop();
}

static void insert_many(uint32_t count, uint64_t ms, uint64_t account, uint64_t *low)
{
    for (uint32_t i = 0; i < count; i++) {
        struct duplicate_row row = row_of(ms, account, ++*low);
        insert(&row);
    }
}

/* The live rows of each account; a twelfth of the window later at most they are forgotten. An
 * eighth of the set is kept. */
static void test_owners(void)
{
    const uint64_t part_ms = (uint64_t)((WINDOW_MS + 2 * DUPLICATE_SLACK_MS) / 11 + 32);
    uint64_t low = 0;

    make(1000);
    duplicate_advance(&set, START_MS, PAST_MS);
    insert_many(100, START_MS, 1, &low);
    insert_many(50, START_MS + 5000, 1, &low);
    insert_many(7, START_MS, 2, &low);
    insert_many(3, START_MS, ACCOUNTS, &low);
    insert_many(3, START_MS, UINT64_C(1) << 63 | 1, &low);
    CHECK(duplicate_count(&set, 1) == 150 && duplicate_count(&set, 2) == 7);
    CHECK(duplicate_count(&set, 0) == 0 && duplicate_count(&set, ACCOUNTS) == 0);
    CHECK(duplicate_count(&set, UINT64_C(1) << 63 | 1) == 0);
    uint64_t wait_ms = duplicate_wait_ms(&set, 1);
    CHECK(wait_ms > 35000 && wait_ms <= 35016 + part_ms);
    CHECK(duplicate_wait_ms(&set, 0) == 1 && duplicate_wait_ms(&set, ACCOUNTS) == 1);
    duplicate_advance(&set, START_MS + 35000, PAST_MS); /* the first are still live */
    CHECK(duplicate_count(&set, 1) == 150);
    duplicate_advance(&set, START_MS + 35016 + part_ms, PAST_MS);
    CHECK(set.count == 50 && duplicate_count(&set, 1) == 50 && duplicate_count(&set, 2) == 0);
    insert_many(5, START_MS + 40000, 1, &low);
    CHECK(duplicate_count(&set, 1) == 55);
    duplicate_advance(&set, START_MS + 10000000, PAST_MS);
    CHECK(duplicate_count(&set, 1) == 0);
    insert_many(875, START_MS + 10000000, 3, &low);
    CHECK(duplicate_count(&set, 3) == 875);
    CHECK(duplicate_full(&set, 1, false) && !duplicate_full(&set, 0, false));
    CHECK(!duplicate_full(&set, 125, true) && duplicate_full(&set, 126, true));
    insert_many(1, START_MS + 10000000, 3, &low);
    CHECK(duplicate_full(&set, 0, false));
    drop();
}

enum { LIVE_MAX = 1500, KEYS_MAX = 4000 };

static struct duplicate_row known[KEYS_MAX]; /* every key inserted lately, dropped ones too */
static uint32_t known_count;

static int key_order(const void *a, const void *b)
{
    const struct duplicate_row *x = a, *y = b;
    int by_id = memcmp(x->id, y->id, sizeof x->id); /* bytes in wire order */

    if (by_id != 0)
        return by_id;
    return x->account < y->account ? -1 : x->account > y->account;
}

/* The enumeration is the live part of the reference, sorted by key. */
static void check_enumeration(void)
{
    static struct duplicate_row want[KEYS_MAX];
    struct duplicate_cursor cursor;
    uint32_t count = 0, owned[3] = { 0 };

    for (uint32_t i = 0; i < known_count; i++)
        if (duplicate_id_ms(known[i].id) >= duplicate_floor_ms(&set)) {
            want[count++] = known[i];
            owned[known[i].account]++;
        }
    for (uint32_t i = 0; i < 3; i++)
        CHECK(duplicate_count(&set, i) >= owned[i]);
    qsort(want, count, sizeof want[0], key_order);
    CHECK(set.count == count);
    duplicate_first(&set, &cursor);
    for (uint32_t i = 0; i < count; i++) {
        CHECK(cursor.row != NULL && same(cursor.row, &want[i]));
        duplicate_next(&set, &cursor);
    }
    CHECK(cursor.row == NULL);
}

/* Random ids, some of them seen, while time goes on unevenly; `skew` puts most into one slice. */
static void run(uint64_t seed, uint64_t spread, bool skew)
{
    uint64_t random = seed;
    uint64_t now_ms = START_MS;

    make(LIVE_MAX);
    known_count = 0;
    for (uint32_t turn = 0; turn < 30000; turn++) {
        now_ms += rig_below(&random, 1000) == 0 ? 70000 : rig_below(&random, 60);
        duplicate_advance(&set, now_ms, PAST_MS);
        struct duplicate_row row = known_count > 0 && rig_below(&random, 3) == 0
                                       ? known[rig_below(&random, known_count)]
                                       : row_of(skew && rig_below(&random, 8) != 0
                                                    ? now_ms / 30000 * 30000
                                                    : now_ms - 35000 + rig_below(&random, 45001),
                                                rig_below(&random, 3), turn);
        bool want = false;
        for (uint32_t i = 0; i < known_count; i++)
            want |= key_order(&known[i], &row) == 0;
        want &= duplicate_id_ms(row.id) >= duplicate_floor_ms(&set);
        const struct duplicate_row *found =
            duplicate_find(&set, hash_of(&row, spread), row.account, row.id);
        CHECK((found != NULL) == want);
        if (!want && duplicate_id_ms(row.id) + 35000 >= now_ms && !duplicate_full(&set, 1, true)) {
            duplicate_insert(&set, hash_of(&row, spread), &row);
            if (known_count == KEYS_MAX) { /* forget the reference's dropped ones */
                uint32_t kept = 0;
                for (uint32_t i = 0; i < known_count; i++)
                    if (duplicate_id_ms(known[i].id) >= duplicate_floor_ms(&set))
                        known[kept++] = known[i];
                known_count = kept;
            }
            known[known_count++] = row;
        }
        if (turn % 500 == 0)
            check_enumeration();
    }
    check_enumeration();
    drop();
}

/* An image written and loaded gives the same set, floor included. */
static void test_reload(void)
{
    struct duplicate_cursor cursor;
    static struct duplicate_row rows[300];
    uint32_t count = 0;

    make(300);
    duplicate_advance(&set, START_MS, PAST_MS);
    for (uint32_t i = 0; i < 300; i++) {
        struct duplicate_row row = row_of(START_MS - 35000 + i * 100, i % 2, i * 7919 % 300);
        insert(&row);
    }
    duplicate_advance(&set, START_MS + 5000, PAST_MS);
    for (duplicate_first(&set, &cursor); cursor.row != NULL; duplicate_next(&set, &cursor))
        rows[count++] = *cursor.row;
    CHECK(count == 250); /* those of the first 5 s are gone: 35,000 - 5,000 ms back is slice-even */
    uint64_t floor_ms = duplicate_floor_ms(&set);
    drop();

    make(300);
    duplicate_set_floor(&set, floor_ms);
    for (uint32_t i = 0; i < count; i++)
        insert(&rows[i]);
    CHECK(duplicate_floor_ms(&set) == floor_ms && set.count == count);
    uint32_t i = 0;
    for (duplicate_first(&set, &cursor); cursor.row != NULL; duplicate_next(&set, &cursor))
        CHECK(same(cursor.row, &rows[i++]));
    CHECK(i == count);
    drop();
}

static void insert_dropped(void *context)
{
    struct duplicate_row row = row_of(START_MS - PAST_MS - 5000 - 17, 1, 1);

    (void)context;
    insert(&row);
}

static void insert_beyond(void *context)
{
    struct duplicate_row row = row_of(START_MS + 3600000, 1, 1);

    (void)context;
    insert(&row);
}

static void test_misuse(void)
{
    make(4);
    duplicate_advance(&set, START_MS, PAST_MS);
    CHECK(rig_aborts(insert_dropped, NULL));
    CHECK(rig_aborts(insert_beyond, NULL));
    drop();
}

int main(void)
{
    test_exact();
    test_life();
    test_span();
    test_full();
    test_owners();
    run(1, UINT64_MAX, false);
    run(2, UINT64_MAX, true);
    run(3, 0x0000001f00000003, false); /* many keys on one hash */
    test_reload();
    test_misuse();
    return 0;
}
