/* key_map.h - numbers by 32-byte key: one writer, lock-free readers, numbers freed by epochs.
 *
 *   writer (background)                        readers (net threads)
 *   fill the object of the number
 *   key_map_put(number, key)   -- slots --->   key_map_find(key): the number, and by it
 *   key_map_remove(key)                        the object
 *   key_map_reclaim()          <-- quiet ---   key_map_quiet(): all found before is unused
 *
 * A slot is one word: 32 bits of the key's hash and the number. A key is in one of two buckets of 8
 * slots, a cache line each, chosen by its hash. A look-up reads one or two of these lines and the
 * key itself, whatever the history of the table. Clients choose the keys, so the hash is keyed.
 *
 * Order. The writer stores a slot with release after the object is complete; a reader loads the
 *        slot with acquire, so it sees a complete object (pairs: key_map_put, key_map_find). To
 *        remove, the writer clears the slot, then raises the epoch with release. A reader that
 *        loads the new epoch with acquire no longer finds the key. It stores that epoch with
 *        release in key_map_quiet, after its last use of what it found before. key_map_reclaim
 *        loads these with acquire and returns a number when every reader has reported an epoch at
 *        least as new as the removal: only then may the object's memory be written again.
 * Wait.  Nothing blocks or retries. A reader that sleeps only delays key_map_reclaim.
 * Owner. key_map_quiet: the thread of that reader. key_map_find: a reader, after its first
 *        key_map_quiet, and the writer. The rest: the writer.
 * Bound. key_map_init allocates all memory. There are four times as many slots as numbers. A key
 *        whose two buckets are both full is refused. */
#ifndef BASE_KEY_MAP_H
#define BASE_KEY_MAP_H

#include "base/mix.h"

enum { KEY_MAP_KEY_BYTES = 32, KEY_MAP_NONE = 0 };

struct key_map;

/* Allocates a map for numbers 1 to `numbers` and readers 0 to `readers` - 1. Returns 0 or
 * -ENOMEM. */
CC_MUST_USE int key_map_init(struct key_map **map, uint32_t numbers, uint32_t readers,
                             struct mix_key hash_key);
void key_map_free(struct key_map *map);

/* Returns the number of the 32-byte key, or KEY_MAP_NONE. The number keeps its object until the
 * reader's next key_map_quiet, even if the writer removes the key meanwhile. */
CC_MUST_USE uint32_t key_map_find(const struct key_map *map, const uint8_t *key);

/* Reports that `reader` no longer uses any number that it found. */
void key_map_quiet(struct key_map *map, uint32_t reader);

/* Maps the key, which must be absent, to a number that no key has. Returns 0, or -ENOSPC when both
 * buckets are full; then nothing has changed. */
CC_MUST_USE int key_map_put(struct key_map *map, uint32_t number, const uint8_t *key);

/* Unmaps the key. Returns its number, which key_map_reclaim returns once no reader can use it; or
 * KEY_MAP_NONE when the key is absent. */
uint32_t key_map_remove(struct key_map *map, const uint8_t *key);

/* Returns the number that was removed first among those that no reader can use any more;
 * KEY_MAP_NONE if there is none at present. */
CC_MUST_USE uint32_t key_map_reclaim(struct key_map *map);

/* Returns the key of a number that is mapped. It lives until the number is put again. */
const uint8_t *key_map_key(const struct key_map *map, uint32_t number);

#endif
