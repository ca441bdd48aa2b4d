/* key_tables.h - the tables of the keys that sign, by key: one writer, lock-free readers.
 *
 *   writer (node/match/key_keeper.h)            net threads
 *   key_tables_add(key)      -- key_map.h -->   key_tables_find(key): its table, or NULL
 *   key_tables_remove(key)   <-- quiet ------   key_tables_quiet(): once a turn
 *
 * A table only makes verification faster: a key without one is verified too, more slowly. So every
 * failure here (no memory, too many keys, a key that is added late) is counted and otherwise
 * ignored.
 *
 * Order. As in key_map.h: a table that is found is complete, and stays until the finder's next
 *        key_tables_quiet.
 * Wait.  key_tables_add computes for about 150 us and sometimes maps 2 MB. Readers never wait.
 * Owner. Any reader calls key_tables_find, key_tables_quiet and key_tables_counters, the writer the
 *        rest.
 * Bound. KEY_TABLES_LARGE tables of 24,576 bytes for the first keys, then KEY_TABLES_SMALL of 6,144
 *        bytes: with thousands of keys in use, which compete for the cache, small tables are as
 *        fast (ed25519_table.h). 96 + 360 MB of address space, mapped at the start; memory backs it
 *        (2 MB pages where the machine has them) as keys are added. */
#ifndef CRYPTO_KEY_TABLES_H
#define CRYPTO_KEY_TABLES_H

#include "base/mix.h"
#include "base/published.h"
#include "crypto/ed25519_table.h"

enum { KEY_TABLES_LARGE = 4096, KEY_TABLES_SMALL = 61440 };

struct key_tables_config {
    uint32_t large, small;   /* most tables of either size */
    uint32_t readers;        /* net threads */
    struct mix_key hash_key; /* of the data directory: clients choose their keys */
};

/* Totals since the start; `present` is the current number. */
#define KEY_TABLES_COUNTER_LIST(X) X(present) X(built) X(removed) X(refused) X(full)
struct key_tables_counters {
#define X(name) struct published name;
    KEY_TABLES_COUNTER_LIST(X)
#undef X
};

struct key_tables;

/* Allocates the tables. Returns 0, or -ENOMEM; *tables is then NULL, and key_tables_find returns
 * NULL for it. */
CC_MUST_USE int key_tables_create(struct key_tables **tables,
                                  const struct key_tables_config *config);
void key_tables_destroy(struct key_tables *tables);

/* Returns the table of the key, for ed25519_job; NULL if it has none. It stays until the reader's
 * next key_tables_quiet. `tables` may be NULL. */
CC_MUST_USE const struct ed25519_table *key_tables_find(const struct key_tables *tables,
                                                        const uint8_t *key);

/* Reports that the reader no longer uses any table that it found. `tables` may be NULL. */
void key_tables_quiet(struct key_tables *tables, uint32_t reader);

/* Returns the number of the key's table, 1 to key_tables_capacity; 0 if it has none. Writer
 * only. */
CC_MUST_USE uint32_t key_tables_number(const struct key_tables *tables, const uint8_t *key);
uint32_t key_tables_capacity(const struct key_tables *tables);

/* Returns the key of a table that is present. */
const uint8_t *key_tables_key(const struct key_tables *tables, uint32_t number);

/* Builds the table of a key that has none. Returns its number, -EINVAL for a key that can never
 * sign, or -ENOMEM when there is no room at present: a removed table frees its room once no reader
 * can use it. */
CC_MUST_USE int key_tables_add(struct key_tables *tables, const uint8_t *key);

/* Removes the key's table, if it has one. A later key_tables_add may reuse its number. */
void key_tables_remove(struct key_tables *tables, const uint8_t *key);

const struct key_tables_counters *key_tables_counters(const struct key_tables *tables);

#endif
