#include "store/history_cursor.h"

#include <stdlib.h>

#include "store/history_path.h"
#include "store/history_state.h"

struct history_cursor {
    const struct history_file *file;
    _Atomic uint64_t *view; /* of the file's; NULL: it has none */
    bool active;
    struct history_roots roots;
    struct history_cache cache;
    struct history_path path; /* of this view: to the row that was found last */
    uint8_t key[HISTORY_KEY_BYTES_MAX];
    enum history_table table; /* of that row; HISTORY_TABLES: there is none */
};

/* Takes a view that no cursor has. */
static bool claim_view(struct history_cursor *cursor, struct history_file *file)
{
    for (int i = 0; i < HISTORY_CURSORS_MAX; i++) {
        uint64_t expected = HISTORY_VIEW_FREE;
        if (!atomic_compare_exchange_strong(&file->views[i], &expected, HISTORY_VIEW_NONE))
            continue;
        cursor->view = &file->views[i];
        return true;
    }
    return false;
}

struct history_cursor *history_cursor_create(struct history_file *file)
{
    struct history_cursor *cursor = calloc(1, sizeof *cursor);

    if (cursor == NULL)
        return NULL;
    cursor->file = file;
    if (history_cache_init(&cursor->cache, &file->sums) == 0 && claim_view(cursor, file))
        return cursor;
    history_cursor_destroy(cursor);
    return NULL;
}

/* Release: the pages of the view have been read (pairs: history_file.c, is_viewed). */
static void set_view(const struct history_cursor *cursor, uint64_t view)
{
    atomic_store_explicit(cursor->view, view, memory_order_release);
}

void history_cursor_destroy(struct history_cursor *cursor)
{
    if (cursor == NULL)
        return;
    if (cursor->view != NULL)
        set_view(cursor, HISTORY_VIEW_FREE);
    history_cache_free(&cursor->cache);
    free(cursor);
}

void history_cursor_end(struct history_cursor *cursor)
{
    if (!cursor->active)
        return;
    set_view(cursor, HISTORY_VIEW_NONE);
    cursor->active = false;
}

/* Begins the view of one commit, unless it has begun: of one that is still the newest when the
 * writer can see the view. Every later write sees it before it begins. */
static void view(struct history_cursor *cursor)
{
    const struct history_trees *trees = &cursor->file->trees;
    uint64_t version;

    if (cursor->active)
        return;
    do {
        version = history_trees_roots(trees, &cursor->roots);
        atomic_store_explicit(cursor->view, cursor->roots.transaction, memory_order_seq_cst);
    } while (!history_trees_is_newest(trees, version));
    cursor->active = true;
    cursor->table = HISTORY_TABLES;
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
    view(cursor);
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
