#include "store/history_cursor.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "store/history_path.h"
#include "store/history_state.h"

/* LMDB alone knows which pages a commit may write into: `read` keeps it from those that the roots
 * reach. Of the commit that it names they are, or of the one before, whose pages it keeps too. */
struct history_cursor {
    const struct history_file *file;
    MDB_txn *read; /* NULL before the first view; reset while not `active` */
    bool active;
    struct history_roots roots;
    struct history_cache cache;
    struct history_path path; /* of this view: to the row that was found last */
    uint8_t key[HISTORY_KEY_BYTES_MAX];
    enum history_table table; /* of that row; HISTORY_TABLES: there is none */
};

struct history_cursor *history_cursor_create(const struct history_file *file)
{
    struct history_cursor *cursor = calloc(1, sizeof *cursor);

    if (cursor == NULL)
        return NULL;
    cursor->file = file;
    if (history_cache_init(&cursor->cache, &file->sums) == 0)
        return cursor;
    history_cursor_destroy(cursor);
    return NULL;
}

void history_cursor_destroy(struct history_cursor *cursor)
{
    if (cursor == NULL)
        return;
    if (cursor->read != NULL)
        mdb_txn_abort(cursor->read);
    history_cache_free(&cursor->cache);
    free(cursor);
}

void history_cursor_end(struct history_cursor *cursor)
{
    if (!cursor->active)
        return;
    mdb_txn_reset(cursor->read);
    cursor->active = false;
}

/* Begins the view of one commit, unless it has begun. */
static int view(struct history_cursor *cursor)
{
    struct stat status;

    if (cursor->active)
        return 0;
    if (fstat(cursor->file->sums.file, &status) != 0)
        return -errno;
    if (status.st_size < HISTORY_META_PAGES * HISTORY_PAGE_BYTES)
        return -EBADMSG; /* LMDB looks at them where they are mapped */
    int code = cursor->read != NULL
                   ? mdb_txn_renew(cursor->read)
                   : mdb_txn_begin(cursor->file->environment, NULL, MDB_RDONLY, &cursor->read);
    if (code != 0)
        return history_state_error(code);
    history_trees_roots(&cursor->file->trees, &cursor->roots);
    cursor->active = true;
    cursor->table = HISTORY_TABLES;
    return 0;
}

static int decode_row(const struct history_node *node, struct history_location *location, void *row,
                      size_t *bytes)
{
    size_t key_bytes = history_check_key_bytes(location->table);

    if (node->flags != 0 || node->data_bytes < HISTORY_CRC_BYTES ||
        node->data_bytes > HISTORY_ROW_BYTES_MAX + HISTORY_CRC_BYTES)
        return -EBADMSG;
    *bytes = node->data_bytes - HISTORY_CRC_BYTES;
    if (history_check_row_crc(location->table, node->key, node->data, *bytes) !=
        cc_load32(node->data + *bytes))
        return -EBADMSG;
    memcpy(row, node->data, *bytes);
    location->sequence = history_state_sequence(node->key, key_bytes);
    location->index = __builtin_bswap32(cc_load32(node->key + key_bytes - 4));
    return 1;
}

/* Whether an entry is one of the table, key and id whose location `wanted` is. */
static bool is_of(const struct history_node *node, const uint8_t *wanted, size_t bytes)
{
    return node->key_bytes == bytes && memcmp(node->key, wanted, bytes - HISTORY_PLACE_BYTES) == 0;
}

/* Whether the entry at `wanted`, or the first above it, is a gap that has rows below `wanted`. */
static bool covers(const struct history_node *node, const uint8_t *wanted, size_t bytes,
                   const struct history_location *location)
{
    if (!is_of(node, wanted, bytes) || cc_load32(node->key + bytes - 4) != HISTORY_GAP_INDEX ||
        node->data_bytes < sizeof(uint64_t))
        return false;
    uint64_t first = cc_load64(node->data) + 1; /* sequence of a row that may be lost */
    return location->sequence > first || (location->sequence == first && location->index != 0);
}

/* The entry that tells what is below `wanted`: a gap at or above it, else the first below it. Who
 * reads on from the row that was found last is there, which is no gap. 1, and the cursor's path
 * leads to it if it is below; 0, there is none; or -errno. */
static int find(struct history_cursor *cursor, const struct history_location *location,
                const uint8_t *wanted, size_t key_bytes, struct history_node *node)
{
    struct history_path *path = &cursor->path;

    if (cursor->table != location->table || memcmp(cursor->key, wanted, key_bytes) != 0) {
        path->cache = &cursor->cache;
        int failed = history_path_find(path, cursor->roots.page[location->table],
                                       cursor->roots.depth[location->table], wanted, key_bytes);
        if (failed != 0)
            return failed;
        struct history_path above = *path;
        int got = history_path_entry(&above, node);
        if (got < 0 || (got > 0 && covers(node, wanted, key_bytes, location)))
            return got;
    }
    int got = history_path_back(path);
    return got > 0 ? history_path_entry(path, node) : got;
}

int history_cursor_below(struct history_cursor *cursor, struct history_location *location,
                         void *row, size_t *bytes)
{
    uint8_t wanted[HISTORY_KEY_BYTES_MAX];
    struct history_node node;

    INVARIANT(location->table < HISTORY_TABLES);
    int failed = view(cursor);
    if (failed != 0)
        return failed;
    size_t key_bytes = history_state_key(location, wanted);
    int got = find(cursor, location, wanted, key_bytes, &node);
    cursor->table = HISTORY_TABLES;
    if (got <= 0)
        return got;
    if (!is_of(&node, wanted, key_bytes))
        return 0;
    got = decode_row(&node, location, row, bytes);
    if (got <= 0)
        return got;
    if (location->index == HISTORY_GAP_INDEX) {
        *bytes = 0;
        return got;
    }
    cursor->table = location->table;
    memcpy(cursor->key, node.key, key_bytes);
    return got;
}
