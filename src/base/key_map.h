/* key_map.h - numbers by 32-byte key: one writer, lock-free readers, numbers freed by epochs.
 *
 *   writer (background)                        readers (net threads)
 *   fill what the number stands for
 *   key_map_put(number, key)   -- places -->   key_map_find(key): the number, and through it
 *   key_map_remove(key)                        whatever it stands for
 *   key_map_reclaim()          <-- quiet ---   key_map_quiet(): nothing found before is used
 *
 * A place is one word: 32 bits of the key's hash and the number. A key is in one of two buckets
 * of 8 places, a cache line each, chosen by its hash: a look takes one line or two and the key
 * itself, whatever was put and removed before. Keys are chosen by clients, so the hash is keyed.
 *
 * Order. A place is stored with release when what it names is whole, and loaded with acquire
 *        (pairs: key_map_put, key_map_find). Removing empties the place, then raises the epoch with
 *        release; a reader that loads that epoch with acquire and tells so with release
 *        (key_map_quiet) can no longer find the key, and is done with what it found before. A
 *        number is given back when every reader has told an epoch as new as its removal
 *        (key_map_reclaim loads them with acquire): only then may its memory be written again.
 * Wait.  Nothing blocks, nothing is tried twice. A reader that sleeps only delays key_map_reclaim.
 * Owner. key_map_quiet: the thread of that reader. key_map_find: a reader, after its first
 *        key_map_quiet, and the writer. The rest: the writer.
 * Bound. Memory is taken by key_map_init. Four times as many places as numbers; should both buckets
 *        of a key be full all the same, it is refused. */
#ifndef BASE_KEY_MAP_H
#define BASE_KEY_MAP_H

#include "base/mix.h"

enum { KEY_MAP_KEY_BYTES = 32, KEY_MAP_NONE = 0 };

struct key_map;

/* Numbers are 1 to `numbers`, readers 0 to `readers` - 1. 0 or -ENOMEM. */
CC_MUST_USE int key_map_init(struct key_map **map, uint32_t numbers, uint32_t readers,
                             struct mix_key hash_key);
void key_map_free(struct key_map *map);

/* The number of the key, or KEY_MAP_NONE. It stands for the same until the reader's next
 * key_map_quiet, whatever the writer removes meanwhile. */
CC_MUST_USE uint32_t key_map_find(const struct key_map *map, const uint8_t *key);

/* The reader uses nothing any more that it has found. */
void key_map_quiet(struct key_map *map, uint32_t reader);

/* The key, which is in no place, is found from now on under a number that no key has. -ENOSPC when
 * its places are taken: nothing changed. */
CC_MUST_USE int key_map_put(struct key_map *map, uint32_t number, const uint8_t *key);

/* The key is found no longer. Gives its number, which comes back through key_map_reclaim; or
 * KEY_MAP_NONE when it is not there. */
uint32_t key_map_remove(struct key_map *map, const uint8_t *key);

/* A removed number that no reader can reach any more, in the order of their removal; KEY_MAP_NONE:
 * none at present. */
CC_MUST_USE uint32_t key_map_reclaim(struct key_map *map);

/* The key of a number that was put and not removed. */
const uint8_t *key_map_key(const struct key_map *map, uint32_t number);

#endif
