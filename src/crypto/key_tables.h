/* key_tables.h - the tables of the keys that sign, by key: one writer, lock-free readers.
 *
 *   writer (node/match/key_keeper.h)            net threads
 *   key_tables_add(key)      -- key_map.h -->   key_tables_find(key): its table, or NULL
 *   key_tables_remove(key)   <-- quiet ------   key_tables_quiet(): once a turn
 *
 * A table makes a verification fast and decides nothing: a key without one is verified all the
 * same, slower. So whatever goes wrong here (no memory, too many keys, a key reported too late)
 * is only counted.
 *
 * Order.  As key_map.h: a table that is found is whole, and stays until the finder's next
 *         key_tables_quiet.
 * Owner.  key_tables_find, key_tables_quiet and key_tables_counters: any of the readers; the rest
 *         the writer's.
 * Wait.   key_tables_add computes for about 150 us, and asks the kernel for 2 MB now and then.
 *         Readers never wait.
 * Bound.  KEY_TABLES_LARGE tables of 24,576 bytes for those that come first, then KEY_TABLES_SMALL
 *         of 6,144: thousands of keys in use compete for the cache, where the small are as fast
 *         (ed25519_table.h). 96 + 360 MB of address space, mapped at the beginning, backed by
 *         memory (2 MB pages where the machine has them) as far as there are keys. */
#ifndef CRYPTO_KEY_TABLES_H
#define CRYPTO_KEY_TABLES_H

#include "base/mix.h"
#include "base/published.h"
#include "crypto/ed25519_table.h"

enum { KEY_TABLES_LARGE = 4096, KEY_TABLES_SMALL = 61440 };

struct key_tables_config {
    uint32_t large, small;   /* tables of either kind, at most */
    uint32_t readers;        /* net threads */
    struct mix_key hash_key; /* of the data directory: clients choose their keys */
};

/* Totals since the beginning; `present` as of now. */
#define KEY_TABLES_COUNTER_LIST(X) X(present) X(built) X(removed) X(refused) X(full)
struct key_tables_counters {
#define X(name) struct published name;
    KEY_TABLES_COUNTER_LIST(X)
#undef X
};

struct key_tables;

/* 0 or -ENOMEM; then *tables is NULL and key_tables_find gives NULL for it. */
CC_MUST_USE int key_tables_create(struct key_tables **tables,
                                  const struct key_tables_config *config);
void key_tables_destroy(struct key_tables *tables);

/* The table of the key, for ed25519_job; NULL: it has none. Stays until the reader's next
 * key_tables_quiet. `tables` may be NULL. */
CC_MUST_USE const struct ed25519_table *key_tables_find(const struct key_tables *tables,
                                                        const uint8_t *key);

/* The reader uses no table any more that it has found. `tables` may be NULL. */
void key_tables_quiet(struct key_tables *tables, uint32_t reader);

/* The number of the key's table, 1 to key_tables_capacity; 0: it has none. The writer's. */
CC_MUST_USE uint32_t key_tables_number(const struct key_tables *tables, const uint8_t *key);
uint32_t key_tables_capacity(const struct key_tables *tables);

/* The key of a table that is there. */
const uint8_t *key_tables_key(const struct key_tables *tables, uint32_t number);

/* Builds the table of a key that has none. Its number; or -EINVAL for a key that can never sign,
 * -ENOMEM when there is no room (now: a removed table gives its room back once no reader can use
 * it). */
CC_MUST_USE int key_tables_add(struct key_tables *tables, const uint8_t *key);

/* The key is found without a table from now on; its number may be another's at the next
 * key_tables_add. */
void key_tables_remove(struct key_tables *tables, const uint8_t *key);

const struct key_tables_counters *key_tables_counters(const struct key_tables *tables);

#endif
