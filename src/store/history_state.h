/* history_state.h - the parts of a history's file, for history_file.c and history_cursor.c only.
 *
 * A row's key, its numbers most significant byte first:
 *   key u64[0] sequence u64[8] index u32[16]; of a table by id the id comes first:
 *   id[0] key u64[16] sequence u64[24] index u32[32]
 * and its value: the bytes of the row, then their CRC. A gap's row is `after` u64.
 * The table `head` has one value under the key "head", struct history_head.
 *
 * Owner. As history_file.h: `trees` publish their roots, the rest is the writer's but for
 *        `sums` and `views`, which cursors use too. */
#ifndef STORE_HISTORY_STATE_H
#define STORE_HISTORY_STATE_H

#include <errno.h>
#include <lmdb.h>
#include <string.h>

#include "store/history_check.h"
#include "store/history_trees.h"

#define HISTORY_GAP_INDEX UINT32_MAX

enum {
    HISTORY_PLACE_BYTES = 12, /* of sequence and index */
    HISTORY_CURSORS_MAX = 4,
};

/* In the place of a commit that a cursor views. */
#define HISTORY_VIEW_NONE (UINT64_MAX - 1)
#define HISTORY_VIEW_FREE UINT64_MAX /* and of no cursor */

struct history_file {
    MDB_env *environment;
    MDB_txn *write; /* NULL: none */
    MDB_dbi tables[HISTORY_TABLES];
    MDB_dbi head_table;
    struct history_head head; /* as committed */
    struct history_head next; /* of the write */
    struct history_sums sums;
    struct history_trees trees;
    uint64_t unfollowed;                         /* a commit whose head is `next`; 0: none */
    _Atomic uint64_t views[HISTORY_CURSORS_MAX]; /* transactions; each the cursor's that has it */
};

/* LMDB's own numbers mean a damaged file, but for those that name a lack of room. */
static inline int history_state_error(int code)
{
    if (code >= 0)
        return -code;
    return code == MDB_MAP_FULL || code == MDB_TXN_FULL || code == MDB_READERS_FULL ? -ENOSPC
                                                                                    : -EBADMSG;
}

static inline uint64_t history_state_load64(const uint8_t *bytes)
{
    return __builtin_bswap64(cc_load64(bytes));
}

/* Returns the key's bytes. */
static inline size_t history_state_key(const struct history_location *location,
                                       uint8_t key[HISTORY_KEY_BYTES_MAX])
{
    size_t bytes = history_check_key_bytes(location->table);
    uint8_t *at = key;

    if (location->table >= HISTORY_LISTS) {
        memcpy(at, location->id, sizeof location->id);
        at += sizeof location->id;
    }
    cc_store64(at, __builtin_bswap64(location->key));
    cc_store64(key + bytes - HISTORY_PLACE_BYTES, __builtin_bswap64(location->sequence));
    cc_store32(key + bytes - 4, __builtin_bswap32(location->index));
    return bytes;
}

/* The sequence in a key. */
static inline uint64_t history_state_sequence(const uint8_t *key, size_t bytes)
{
    return history_state_load64(key + bytes - HISTORY_PLACE_BYTES);
}

#endif
