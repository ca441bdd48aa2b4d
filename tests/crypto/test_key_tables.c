/* key_tables: the life of a key's table (signatures.md, Key tables). The bytes are those of
 * ed25519_table_build, whenever they are built; a full store leaves the key uncached; keys are
 * revoked while other threads verify with their tables. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "check.h"
#include "crypto/ed25519.h"
#include "crypto/key_tables.h"
#include "crypto/signer.h"

enum { MESSAGE_BYTES = 72 };

static const struct mix_key hash_key = { 0x0123456789abcdef, 0xfedcba9876543211 };

/* A signature by the key of a seed that begins with `number`. */
struct signed_message {
    struct signer_ed25519 signer;
    uint8_t message[MESSAGE_BYTES];
    uint8_t signature[ED25519_SIGNATURE_BYTES];
};

static void sign(struct signed_message *made, uint32_t number)
{
    uint8_t seed[32] = { 0 };
    cc_store32(seed, number);
    signer_ed25519(&made->signer, seed);
    memset(made->message, (int)(number & 0xff), sizeof made->message);
    signer_ed25519_sign(&made->signer, made->message, sizeof made->message, made->signature);
}

static struct ed25519_job job_of(const struct signed_message *made,
                                 const struct ed25519_table *table)
{
    return (struct ed25519_job){ .key = made->signer.key,
                                 .signature = made->signature,
                                 .message = made->message,
                                 .message_bytes = sizeof made->message,
                                 .table = table };
}

static struct key_tables *make(uint32_t large, uint32_t small, uint32_t readers)
{
    struct key_tables *tables;
    const struct key_tables_config config = { large, small, readers, hash_key };
    CHECK(key_tables_create(&tables, &config) == 0);
    return tables;
}

static uint64_t counted(const struct published *counter)
{
    return published_get(counter);
}

/* The first tables are large, the later small; both are the bytes that the key alone determines, so
 * that a start builds again what was there before it. */
static void same_bytes(void)
{
    enum { LARGE = 3, SMALL = 3 };
    static alignas(
        64) struct ed25519_multiple wanted[ED25519_TABLE_POSITIONS * ED25519_TABLE_MULTIPLES];
    struct signed_message made[LARGE + SMALL];
    struct key_tables *first = make(LARGE, SMALL, 0), *second = make(LARGE, SMALL, 0);
    for (uint32_t i = 0; i < LARGE + SMALL; i++) {
        sign(&made[i], i);
        CHECK(key_tables_find(first, made[i].signer.key) == NULL);
        CHECK(key_tables_add(first, made[i].signer.key) > 0);
    }
    for (uint32_t i = 0; i < LARGE + SMALL; i++)
        CHECK(key_tables_add(second, made[i].signer.key) > 0);
    for (uint32_t i = 0; i < LARGE + SMALL; i++) {
        const struct ed25519_table *table = key_tables_find(first, made[i].signer.key);
        const struct ed25519_table *again = key_tables_find(second, made[i].signer.key);
        CHECK(table != NULL && again != NULL && table != again);
        uint32_t positions = i < LARGE ? ED25519_TABLE_POSITIONS : ED25519_TABLE_POSITIONS_SMALL;
        size_t bytes = ed25519_table_bytes(positions);
        CHECK(table->positions == positions && again->positions == positions);
        CHECK(memcmp(table->key, made[i].signer.key, 32) == 0);
        CHECK((uintptr_t)table->multiples % ED25519_TABLE_ALIGN == 0);
        CHECK(ed25519_table_build(wanted, positions, made[i].signer.key) == 0);
        CHECK(memcmp(table->multiples, wanted, bytes) == 0);
        CHECK(memcmp(again->multiples, wanted, bytes) == 0);
        struct ed25519_job job = job_of(&made[i], table);
        CHECK(ed25519_verify(&job, 1) == 1);
        made[i].signature[3] ^= 1;
        CHECK(ed25519_verify(&job, 1) == 0);
    }
    key_tables_destroy(first);
    key_tables_destroy(second);
}

/* Full, refused, removed, taken again; NULL is a store without a table. */
static void bounds(void)
{
    static const uint8_t small_order[32] = { 1 };
    struct signed_message made[4];
    struct key_tables *tables = make(1, 1, 1);
    const struct key_tables_counters *counters = key_tables_counters(tables);
    for (uint32_t i = 0; i < 4; i++)
        sign(&made[i], 100 + i);
    key_tables_quiet(tables, 0);
    CHECK(key_tables_capacity(tables) == 2);
    CHECK(key_tables_add(tables, small_order) == -EINVAL);
    CHECK(key_tables_find(tables, small_order) == NULL && counted(&counters->refused) == 1);
    CHECK(key_tables_add(tables, made[0].signer.key) == 1);
    CHECK(key_tables_add(tables, made[1].signer.key) == 2);
    CHECK(key_tables_add(tables, made[2].signer.key) == -ENOMEM && counted(&counters->full) == 1);
    CHECK(key_tables_find(tables, made[2].signer.key) == NULL);
    struct ed25519_job job = job_of(&made[2], NULL);
    CHECK(ed25519_verify(&job, 1) == 1); /* slower, and as good */
    CHECK(key_tables_number(tables, made[0].signer.key) == 1);
    CHECK(memcmp(key_tables_key(tables, 2), made[1].signer.key, 32) == 0);

    /* The table of a removed key is whole until the reader is quiet, and nobody else's. */
    const struct ed25519_table *held = key_tables_find(tables, made[0].signer.key);
    key_tables_remove(tables, made[0].signer.key);
    CHECK(key_tables_find(tables, made[0].signer.key) == NULL);
    CHECK(key_tables_add(tables, made[2].signer.key) == -ENOMEM);
    job = job_of(&made[0], held);
    CHECK(ed25519_verify(&job, 1) == 1);
    key_tables_quiet(tables, 0);
    CHECK(key_tables_add(tables, made[2].signer.key) == 1); /* the large one again */
    job = job_of(&made[2], key_tables_find(tables, made[2].signer.key));
    CHECK(job.table != NULL && ed25519_verify(&job, 1) == 1);
    key_tables_remove(tables, made[3].signer.key); /* has none */
    CHECK(counted(&counters->built) == 3 && counted(&counters->removed) == 1);
    CHECK(counted(&counters->present) == 2);
    key_tables_destroy(tables);
    CHECK(key_tables_find(NULL, made[0].signer.key) == NULL);
    key_tables_quiet(NULL, 0);
    key_tables_destroy(NULL);
}

/* A machine that gives no address space: no store, and whoever looks into it finds nothing. */
static void no_memory(void)
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* they need all of it */
    struct rlimit before, none;
    struct key_tables *tables;
    const struct key_tables_config config = { KEY_TABLES_LARGE, KEY_TABLES_SMALL, 1, hash_key };
    CHECK(getrlimit(RLIMIT_AS, &before) == 0);
    none = before;
    none.rlim_cur = 64 << 20;
    CHECK(setrlimit(RLIMIT_AS, &none) == 0);
    CHECK(key_tables_create(&tables, &config) == -ENOMEM && tables == NULL);
    CHECK(setrlimit(RLIMIT_AS, &before) == 0);
#endif
}

/* ---- keys that come and go while others verify with their tables ----------------------------- */

enum { KEYS = 24, ROOMS = 8, READERS = 2, CHANGES = 400, BATCH = 8, SEEN_LEAST = 200 };

static struct signed_message shared[KEYS];
static struct key_tables *shared_tables;
static _Atomic bool over;
static _Atomic uint64_t verified_by_table;

static void *verify(void *context)
{
    uint32_t reader = (uint32_t)(uintptr_t)context;
    for (uint32_t turn = reader; !atomic_load(&over); turn++) {
        struct ed25519_job jobs[BATCH];
        uint64_t with_table = 0;
        key_tables_quiet(shared_tables, reader);
        for (uint32_t i = 0; i < BATCH; i++) {
            const struct signed_message *made = &shared[(turn * 5 + i * 7) % KEYS];
            jobs[i] = job_of(made, key_tables_find(shared_tables, made->signer.key));
            with_table += jobs[i].table != NULL;
        }
        CHECK(ed25519_verify(jobs, BATCH) == (UINT64_C(1) << BATCH) - 1);
        atomic_fetch_add(&verified_by_table, with_table);
    }
    return NULL;
}

static void revoked_while_verifying(void)
{
    pthread_t threads[READERS];
    shared_tables = make(ROOMS, ROOMS, READERS);
    for (uint32_t i = 0; i < KEYS; i++)
        sign(&shared[i], 200 + i);
    for (uintptr_t i = 0; i < READERS; i++)
        CHECK(pthread_create(&threads[i], NULL, verify, (void *)i) == 0);
    for (uint32_t i = 0; i < CHANGES || atomic_load(&verified_by_table) < SEEN_LEAST; i++) {
        const uint8_t *key = shared[(i * 11 + i / KEYS) % KEYS].signer.key;
        if (key_tables_find(shared_tables, key) != NULL)
            key_tables_remove(shared_tables, key);
        else
            (void)!key_tables_add(shared_tables, key); /* full: while readers are not quiet */
    }
    atomic_store(&over, true);
    for (unsigned i = 0; i < READERS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    key_tables_destroy(shared_tables);
}

int main(void)
{
    CHECK(ed25519_init(ED25519_LANES) == 0 && signer_init() == 0);
    same_bytes();
    bounds();
    no_memory();
    revoked_while_verifying();
    return 0;
}
