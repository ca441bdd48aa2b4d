/* keyring: rules.md R11 (a revoked key stays as a tombstone until its sequence is durable), and
 * readers beside the writer. */
#include <errno.h>
#include <pthread.h>
#include <time.h>

#include "base/keyring.h"
#include "check.h"

static const uint8_t hash_key[16] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 };

static struct keyring_row entry_of(enum keyring_kind kind, uint64_t account_id, uint32_t number,
                                   uint64_t sequence)
{
    uint8_t bytes[KEYRING_KEY_BYTES] = { 0 };
    cc_store32(bytes, number);
    bytes[31] = (uint8_t)kind;
    struct keyring_row entry = { .account_id = account_id,
                                 .sequence = sequence,
                                 .expires_at_ns = sequence * 1000,
                                 .subaccount_pin = (int32_t)number };
    entry.key = keyring_key(kind, account_id, bytes);
    cc_store64(entry.credential_id.bytes, sequence);
    return entry;
}

static void test_one(void)
{
    struct keyring *keyring;
    struct keyring_row found;
    CHECK(keyring_init(&keyring, 16, hash_key) == 0);
    struct keyring_row entry = entry_of(KEYRING_SESSION, 7, 1, 100);
    CHECK(!keyring_find(keyring, &entry.key, &found));
    CHECK(!keyring_end(keyring, &entry.key, 5));
    CHECK(keyring_add(keyring, &entry) == 0 && keyring_count(keyring) == 1);
    CHECK(keyring_find(keyring, &entry.key, &found));
    CHECK(memcmp(&found, &entry, sizeof found) == 0);

    /* The same key under another account is another credential (R3: found by account and key). */
    struct keyring_row other = entry_of(KEYRING_SESSION, 8, 1, 101);
    CHECK(!keyring_find(keyring, &other.key, &found));
    /* An API key is found by its hash alone: the account is no part of its key. */
    uint8_t token[32] = { 9 };
    struct keyring_key by_7 = keyring_key(KEYRING_API, 7, token);
    struct keyring_key by_0 = keyring_key(KEYRING_API, 0, token);
    CHECK(memcmp(&by_7, &by_0, sizeof by_7) == 0);
    struct keyring_key device = keyring_key(KEYRING_DEVICE, 0, token);
    CHECK(memcmp(&by_0, &device, sizeof device) != 0);

    /* Ended at 200: a tombstone, until 200 is durable. */
    CHECK(keyring_end(keyring, &entry.key, 200) && !keyring_end(keyring, &entry.key, 201));
    CHECK(keyring_find(keyring, &entry.key, &found));
    CHECK(found.state == KEYRING_TOMBSTONE && found.sequence == 200);
    CHECK(keyring_retire(keyring, 199, 0) == 0);
    CHECK(keyring_find(keyring, &entry.key, &found));
    CHECK(keyring_retire(keyring, 200, 0) == 1);
    CHECK(!keyring_find(keyring, &entry.key, &found) && keyring_count(keyring) == 0);
    keyring_free(keyring);
    keyring_free(NULL);
}

/* A key made again while its tombstone stands: alive, and not retired with the old sequence. */
static void test_again(void)
{
    struct keyring *keyring;
    struct keyring_row found;
    CHECK(keyring_init(&keyring, 16, hash_key) == 0);
    struct keyring_row first = entry_of(KEYRING_SESSION, 7, 1, 100);
    struct keyring_row second = entry_of(KEYRING_SESSION, 7, 2, 101);
    CHECK(keyring_add(keyring, &first) == 0 && keyring_add(keyring, &second) == 0);
    CHECK(keyring_end(keyring, &first.key, 200) && keyring_end(keyring, &second.key, 201));
    first.sequence = 202;
    CHECK(keyring_add(keyring, &first) == 0 && keyring_count(keyring) == 2);
    CHECK(keyring_retire(keyring, 300, 0) == 1);
    CHECK(keyring_find(keyring, &first.key, &found));
    CHECK(found.state == KEYRING_LIVE && found.sequence == 202);
    CHECK(!keyring_find(keyring, &second.key, &found));
    keyring_free(keyring);
}

/* Full, retired in slices and in order, filled again many times: no leak of slots. */
static void test_churn(void)
{
    enum { CAPACITY = 500, ROUNDS = 40 };
    struct keyring *keyring;
    struct keyring_row found;
    uint64_t sequence = 1;
    CHECK(keyring_init(&keyring, CAPACITY, hash_key) == 0);
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (uint32_t i = 0; i < CAPACITY; i++) {
            struct keyring_row entry = entry_of(i % 2 ? KEYRING_MASTER : KEYRING_API, round,
                                                i + round * CAPACITY, sequence++);
            CHECK(keyring_add(keyring, &entry) == 0);
        }
        struct keyring_row more = entry_of(KEYRING_SESSION, 1, 77, sequence);
        CHECK(keyring_add(keyring, &more) == -ENOSPC);
        CHECK(!keyring_find(keyring, &more.key, &found) && keyring_count(keyring) == CAPACITY);
        uint64_t first_end = sequence;
        for (uint32_t i = 0; i < CAPACITY; i++) {
            struct keyring_row entry =
                entry_of(i % 2 ? KEYRING_MASTER : KEYRING_API, round, i + round * CAPACITY, 0);
            CHECK(keyring_find(keyring, &entry.key, &found));
            CHECK((uint32_t)found.subaccount_pin == i + round * CAPACITY);
            CHECK(keyring_end(keyring, &entry.key, sequence++));
        }
        CHECK(keyring_retire(keyring, first_end + 99, 30) == 30); /* the limit */
        CHECK(keyring_retire(keyring, first_end + 99, 0) == 70);  /* the sequence */
        CHECK(keyring_retire(keyring, sequence, 0) == CAPACITY - 100);
        CHECK(keyring_count(keyring) == 0);
    }
    keyring_free(keyring);
}

static uint64_t cpu_ns(void)
{
    struct timespec now;
    CHECK(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) == 0);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Sessions come and go for months: the matcher may be held 1 ms at most by a command
 * (roles.md, Threads and budgets), however many keys there have been. */
static void test_many_keys(void)
{
    enum { CAPACITY = 4000, LIVE = 100, PARTS = 8, PART_KEYS = 50000 };
    struct keyring *keyring;
    uint64_t sequence = 0, first_ns = 0, least_ns = UINT64_MAX;
    CHECK(keyring_init(&keyring, CAPACITY, hash_key) == 0);
    for (unsigned part = 0; part < PARTS; part++) {
        uint64_t began_ns = cpu_ns();
        for (uint32_t i = 0; i < PART_KEYS; i++) {
            uint32_t number = part * PART_KEYS + i;
            struct keyring_row entry = entry_of(KEYRING_SESSION, 7, number, ++sequence);
            CHECK(keyring_add(keyring, &entry) == 0);
            if (number < LIVE)
                continue;
            struct keyring_row old = entry_of(KEYRING_SESSION, 7, number - LIVE, 0);
            CHECK(keyring_end(keyring, &old.key, ++sequence));
            CHECK(keyring_retire(keyring, sequence, 0) == 1);
        }
        uint64_t took_ns = cpu_ns() - began_ns;
        if (part == 0)
            first_ns = took_ns;
        else if (took_ns < least_ns)
            least_ns = took_ns;
    }
    /* A table that fills with remains slows every later part; a busy machine slows some. */
    CHECK(least_ns < 10 * first_ns);
    CHECK(keyring_count(keyring) == LIVE);
    keyring_free(keyring);
}

enum { SHARED_KEYS = 64, SHARED_ROUNDS = 20000 };

static struct keyring *shared;
static atomic_bool stop;
static _Atomic uint64_t finds;

/* Reads all keys over and over. Half of them are never ended: they are always there. Whatever is
 * found is whole: all its members come from one keyring_add or keyring_end. */
static void *read_shared(void *argument)
{
    while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
        uint64_t found_count = 0;
        for (uint32_t i = 0; i < SHARED_KEYS; i++) {
            struct keyring_row want = entry_of(KEYRING_SESSION, 7, i, 0);
            struct keyring_row found;
            if (!keyring_find(shared, &want.key, &found)) {
                CHECK(i % 2 == 1);
                continue;
            }
            CHECK(memcmp(&found.key, &want.key, sizeof found.key) == 0);
            CHECK((uint32_t)found.subaccount_pin == i);
            uint64_t made = cc_load64(found.credential_id.bytes);
            CHECK(found.expires_at_ns == made * 1000);
            CHECK(found.sequence == made + (found.state == KEYRING_TOMBSTONE));
            found_count++;
        }
        atomic_fetch_add(&finds, found_count);
    }
    return argument;
}

static void test_threads(void)
{
    CHECK(keyring_init(&shared, SHARED_KEYS, hash_key) == 0);
    for (uint32_t i = 0; i < SHARED_KEYS; i++) {
        struct keyring_row entry = entry_of(KEYRING_SESSION, 7, i, 1);
        CHECK(keyring_add(shared, &entry) == 0);
    }
    pthread_t readers[2];
    for (unsigned i = 0; i < 2; i++)
        CHECK(pthread_create(&readers[i], NULL, read_shared, NULL) == 0);
    uint64_t sequence = 10;
    /* Until a reader has had a turn, which a busy machine may give it late. */
    for (unsigned round = 0; round < SHARED_ROUNDS || atomic_load(&finds) == 0; round++) {
        uint32_t number = (round * 2 + 1) % SHARED_KEYS;
        struct keyring_row odd = entry_of(KEYRING_SESSION, 7, number, 0);
        struct keyring_row known;
        if (keyring_find(shared, &odd.key, &known) && known.state == KEYRING_LIVE) {
            CHECK(keyring_end(shared, &odd.key, known.sequence + 1));
            if (round % 3 == 0)
                keyring_retire(shared, UINT64_MAX, 0);
        } else {
            odd = entry_of(KEYRING_SESSION, 7, number, ++sequence);
            CHECK(keyring_add(shared, &odd) == 0);
        }
        struct keyring_row even = entry_of(KEYRING_SESSION, 7, number - 1, ++sequence);
        CHECK(keyring_add(shared, &even) == 0); /* replaced in its place */
    }
    atomic_store(&stop, true);
    for (unsigned i = 0; i < 2; i++)
        CHECK(pthread_join(readers[i], NULL) == 0);
    keyring_free(shared);
}

/* A walk meets what is live, each once: not what was ended, nor what was given back. */
static void test_walk(void)
{
    enum { ADDED = 20 };
    struct keyring *keyring;
    struct keyring_row entry, found;
    uint32_t cursor = 0, met = 0;
    CHECK(keyring_init(&keyring, 64, hash_key) == 0);
    CHECK(!keyring_walk(keyring, &cursor, &found));
    for (uint32_t i = 0; i < ADDED; i++) {
        entry = entry_of(KEYRING_SESSION, 7, i, i + 1);
        CHECK(keyring_add(keyring, &entry) == 0);
    }
    /* 3 is given back, 5 a tombstone, 6 one that came to life again, 4 was added twice. */
    entry = entry_of(KEYRING_SESSION, 7, 3, 0);
    CHECK(keyring_end(keyring, &entry.key, 100) && keyring_retire(keyring, 100, 0) == 1);
    entry = entry_of(KEYRING_SESSION, 7, 5, 0);
    CHECK(keyring_end(keyring, &entry.key, 101));
    entry = entry_of(KEYRING_SESSION, 7, 6, 0);
    CHECK(keyring_end(keyring, &entry.key, 102) && keyring_add(keyring, &entry) == 0);
    entry = entry_of(KEYRING_SESSION, 7, 4, 103);
    CHECK(keyring_add(keyring, &entry) == 0);
    uint32_t seen = 0;
    while (keyring_walk(keyring, &cursor, &found)) {
        uint32_t number = (uint32_t)found.subaccount_pin;
        CHECK(number < ADDED && (seen & 1u << number) == 0);
        seen |= 1u << number;
        met++;
    }
    CHECK(met == ADDED - 2 && (seen & (1u << 3 | 1u << 5)) == 0);
    CHECK(!keyring_walk(keyring, &cursor, &found));
    keyring_free(keyring);
}

int main(void)
{
    test_walk();
    test_one();
    test_again();
    test_churn();
    test_many_keys();
    test_threads();
    return 0;
}
