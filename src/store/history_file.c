#include "store/history_file.h"

#include <errno.h>
#include <lmdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "store/history_check.h"
#include "store/history_folder.h"
#include "store/history_trees.h"

/* A row's key, its numbers most significant byte first:
 *   key u64[0] sequence u64[8] index u32[16]; of a table by id the id comes first:
 *   id[0] key u64[16] sequence u64[24] index u32[32]
 * and its value: the bytes of the row, then their CRC.
 * The table `head` has one value under the key "head", struct history_head. */
enum {
    KEY_BYTES_MAX = HISTORY_KEY_BYTES_MAX,
    PLACE_BYTES = 12, /* of sequence and index */
    CRC_BYTES = HISTORY_CRC_BYTES,
    FORMAT = 9,
    READERS = 16,
    LIMIT_PARTS = 10,
};

#define GAP_INDEX UINT32_MAX /* of a gap, whose row is `after` u64 */

/* Of addresses; the file grows as rows come. A limit of the process gives it a tenth. */
#define MAP_BYTES (UINT64_C(256) << 30)

struct history_file {
    MDB_env *environment;
    MDB_txn *write; /* NULL: none */
    MDB_dbi tables[HISTORY_TABLES];
    MDB_dbi head_table;
    struct history_head head; /* as committed */
    struct history_head next; /* of the write */
    struct history_sums sums;
    struct history_trees trees;
    bool is_unknown; /* a commit was not followed: there is no other */
};

/* LMDB alone knows which pages a commit may write into: `read` keeps it from those that the roots
 * reach. Of the commit that it names they are, or of the one before, whose pages it keeps too. */
struct history_cursor {
    const struct history_file *file;
    MDB_txn *read; /* NULL before the first view; reset while not `active` */
    bool active;
    struct history_roots roots;
    struct history_cache cache;
};

/* LMDB's own numbers mean a damaged file, but for those that name a lack of room. */
static int error_of(int code)
{
    if (code >= 0)
        return -code;
    return code == MDB_MAP_FULL || code == MDB_TXN_FULL || code == MDB_READERS_FULL ? -ENOSPC
                                                                                    : -EBADMSG;
}

static void store_big64(uint8_t *bytes, uint64_t value)
{
    cc_store64(bytes, __builtin_bswap64(value));
}

static uint64_t load_big64(const uint8_t *bytes)
{
    return __builtin_bswap64(cc_load64(bytes));
}

/* Returns the key's bytes. */
static size_t key_of(const struct history_location *location, uint8_t key[KEY_BYTES_MAX])
{
    size_t bytes = history_check_key_bytes(location->table);
    uint8_t *at = key;

    if (location->table >= HISTORY_LISTS) {
        memcpy(at, location->id, sizeof location->id);
        at += sizeof location->id;
    }
    store_big64(at, location->key);
    store_big64(key + bytes - PLACE_BYTES, location->sequence);
    cc_store32(key + bytes - 4, __builtin_bswap32(location->index));
    return bytes;
}

static uint64_t sequence_of(const MDB_val *key)
{
    return load_big64((const uint8_t *)key->mv_data + key->mv_size - PLACE_BYTES);
}

/* ---- open and close -------------------------------------------------------------------------- */

static int open_tables(struct history_file *file)
{
    int code = mdb_txn_begin(file->environment, NULL, 0, &file->write);

    for (int i = 0; i < HISTORY_TABLES && code == 0; i++)
        code = mdb_dbi_open(file->write, history_page_table_names[i], MDB_CREATE, &file->tables[i]);
    if (code == 0)
        code = mdb_dbi_open(file->write, "head", MDB_CREATE, &file->head_table);
    return error_of(code);
}

static int load_head(struct history_file *file, const uint8_t *exchange_id)
{
    char name[] = "head";
    MDB_val key = { .mv_size = sizeof name - 1, .mv_data = name }, value;
    int code = mdb_get(file->write, file->head_table, &key, &value);

    if (code == MDB_NOTFOUND) {
        file->head.format = FORMAT;
        file->head.from = 1;
        memcpy(file->head.exchange_id, exchange_id, HISTORY_ID_BYTES);
        file->next = file->head;
        return 0;
    }
    if (code != 0)
        return error_of(code);
    if (value.mv_size != sizeof file->head)
        return -EBADMSG;
    memcpy(&file->head, value.mv_data, sizeof file->head);
    file->next = file->head;
    bool is_ours = file->head.format == FORMAT &&
                   memcmp(file->head.exchange_id, exchange_id, HISTORY_ID_BYTES) == 0;
    return is_ours ? 0 : -EBADMSG;
}

/* The addresses that the file may take: fewer where the process may have few (ulimit -v). */
static size_t map_bytes(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur / LIMIT_PARTS >= MAP_BYTES)
        return MAP_BYTES;
    return limit.rlim_cur / LIMIT_PARTS & ~(size_t)((1 << 20) - 1);
}

/* The sums of the pages, of as many as the map or the file has. */
static int check_pages(struct history_file *file, const char *path)
{
    struct stat status;
    uint64_t bytes = map_bytes();

    if (stat(path, &status) == 0 && (uint64_t)status.st_size > bytes)
        bytes = (uint64_t)status.st_size;
    int failed = history_sums_init(&file->sums, bytes / HISTORY_PAGE_BYTES);
    if (failed == 0)
        failed = history_trees_init(&file->trees, &file->sums);
    return failed != 0 ? failed : history_check(path, NULL, &file->sums);
}

static int open_in(struct history_file *file, const char *folder, const uint8_t *exchange_id)
{
    char path[HISTORY_PATH_BYTES];
    int stale = 0;

    if (!history_folder_path(path, folder, "data.mdb"))
        return -ENAMETOOLONG;
    if (mkdir(folder, 0700) != 0 && errno != EEXIST)
        return -errno;
    int failed = check_pages(file, path);
    if (failed != 0)
        return failed;
    int code = mdb_env_create(&file->environment);
    if (code != 0)
        return error_of(code);
    mdb_env_set_mapsize(file->environment, map_bytes());
    mdb_env_set_maxdbs(file->environment, HISTORY_TABLES + 1);
    mdb_env_set_maxreaders(file->environment, READERS);
    code =
        mdb_env_open(file->environment, folder, MDB_NOMETASYNC | MDB_NOTLS | MDB_NORDAHEAD, 0600);
    if (code != 0)
        return error_of(code);
    mdb_reader_check(file->environment, &stale); /* those of a process that was killed */
    failed = history_sums_open(&file->sums, path);
    if (failed == 0)
        failed = open_tables(file);
    if (failed == 0)
        failed = load_head(file, exchange_id);
    if (failed == 0)
        failed = history_file_commit(file, file->head.applied);
    return failed;
}

int history_file_open(struct history_file **file, const char *folder, const uint8_t *exchange_id)
{
    struct history_file *made = calloc(1, sizeof *made);

    *file = NULL;
    if (made == NULL)
        return -ENOMEM;
    int failed = open_in(made, folder, exchange_id);
    if (failed != 0)
        history_file_close(made);
    else
        *file = made;
    return failed;
}

void history_file_close(struct history_file *file)
{
    if (file == NULL)
        return;
    history_file_cancel(file);
    if (file->environment != NULL)
        mdb_env_close(file->environment);
    history_trees_free(&file->trees);
    history_sums_free(&file->sums);
    free(file);
}

uint64_t history_file_applied(const struct history_file *file)
{
    return file->head.applied;
}

uint64_t history_file_from(const struct history_file *file)
{
    return file->head.from;
}

uint64_t history_file_gap_ms(const struct history_file *file)
{
    return file->head.gap_ms;
}

uint64_t history_file_gap_accounts(const struct history_file *file)
{
    return file->head.gap_accounts;
}

/* ---- writes ---------------------------------------------------------------------------------- */

int history_file_begin(struct history_file *file)
{
    INVARIANT(file->write == NULL);
    int failed = file->is_unknown ? -EBADMSG : history_trees_begin(&file->trees);
    if (failed != 0)
        return failed;
    file->next = file->head;
    return error_of(mdb_txn_begin(file->environment, NULL, 0, &file->write));
}

void history_file_cancel(struct history_file *file)
{
    if (file->write != NULL)
        mdb_txn_abort(file->write);
    file->write = NULL;
}

static bool is_gap(const MDB_val *key)
{
    const uint8_t *end = (const uint8_t *)key->mv_data + key->mv_size;

    return cc_load32(end - 4) == GAP_INDEX; /* in either order */
}

/* A row that leaves the file. */
static void uncount(struct history_file *file, enum history_table table, const MDB_val *value)
{
    const uint8_t *bytes = value->mv_data;
    file->next.rows[table]--;
    file->next.sums[table] -= cc_load32(bytes + value->mv_size - CRC_BYTES);
}

static int put(struct history_file *file, const struct history_location *location, const void *row,
               size_t bytes)
{
    uint8_t key_bytes[KEY_BYTES_MAX], value_bytes[HISTORY_ROW_BYTES_MAX + CRC_BYTES];

    INVARIANT(bytes <= HISTORY_ROW_BYTES_MAX && location->table < HISTORY_TABLES);
    size_t key_size = key_of(location, key_bytes);
    int failed = history_trees_touch(&file->trees, location->table, key_bytes, key_size);
    if (failed != 0)
        return failed;
    memcpy(value_bytes, row, bytes);
    uint32_t crc = history_check_row_crc(location->table, key_bytes, value_bytes, bytes);
    cc_store32(value_bytes + bytes, crc);
    MDB_val key = { .mv_size = key_size, .mv_data = key_bytes };
    MDB_val value = { .mv_size = bytes + CRC_BYTES, .mv_data = value_bytes }, found = value;
    MDB_dbi table = file->tables[location->table];
    int code = mdb_put(file->write, table, &key, &found, MDB_NOOVERWRITE);
    if (code == MDB_KEYEXIST) { /* and `found` is the row that is there */
        uncount(file, location->table, &found);
        code = mdb_put(file->write, table, &key, &value, 0);
    }
    file->next.rows[location->table]++;
    file->next.sums[location->table] += crc;
    return error_of(code);
}

/* Whether a gap ends with the minute or hour of the location: 1 or 0, or -errno. A row there would
 * hide the gap from those who look for rows below it. */
static int ends_gap(struct history_file *file, const struct history_location *location)
{
    struct history_location gap = *location;
    uint8_t key_bytes[KEY_BYTES_MAX];
    MDB_val key, value;

    gap.index = GAP_INDEX;
    key.mv_size = key_of(&gap, key_bytes);
    key.mv_data = key_bytes;
    int failed = history_trees_touch(&file->trees, location->table, key_bytes, key.mv_size);
    if (failed != 0)
        return failed;
    int code = mdb_get(file->write, file->tables[location->table], &key, &value);
    if (code == MDB_NOTFOUND)
        return 0;
    return code == 0 ? 1 : error_of(code);
}

int history_file_put(struct history_file *file, const struct history_location *location,
                     const void *row, size_t bytes)
{
    INVARIANT(bytes != 0 && location->index != GAP_INDEX);
    INVARIANT(!history_check_has_sequence(location->table) || bytes >= sizeof(uint64_t));
    int is_lost = history_check_is_timed(location->table) ? ends_gap(file, location) : 0;
    return is_lost == 0 ? put(file, location, row, bytes) : is_lost < 0 ? is_lost : 0;
}

int history_file_put_gap(struct history_file *file, enum history_table table, uint64_t key,
                         uint64_t sequence, uint64_t after)
{
    struct history_location location = {
        .table = table, .key = key, .sequence = sequence, .index = GAP_INDEX
    };

    INVARIANT(table < HISTORY_LISTS && !history_check_is_placed(table));
    if (!history_check_is_timed(table) && file->next.from <= sequence)
        file->next.from = sequence + 1;
    return put(file, &location, &after, sizeof after);
}

void history_file_put_id_gap(struct history_file *file, uint64_t sequence, uint64_t newest_ms,
                             uint64_t accounts)
{
    if (file->next.from <= sequence)
        file->next.from = sequence + 1;
    if (file->next.gap_ms < newest_ms)
        file->next.gap_ms = newest_ms;
    if (file->next.gap_accounts < accounts)
        file->next.gap_accounts = accounts;
}

/* The sequence of the command that made a row; 0 of a gap that a cut leaves. */
static uint64_t made_by(enum history_table table, const MDB_val *key, const MDB_val *value)
{
    if (history_check_is_timed(table) && is_gap(key))
        return 0;
    return history_check_has_sequence(table) ? cc_load64(value->mv_data) : sequence_of(key);
}

/* Removes what the cursor is at. A gap goes on below `sequence`. */
static int cut_row(struct history_file *file, enum history_table table, MDB_cursor *cursor,
                   const MDB_val *key, const MDB_val *value, uint64_t sequence)
{
    uint64_t id = load_big64(key->mv_data), after = sequence;

    if (is_gap(key))
        after = cc_load64(value->mv_data);

    uncount(file, table, value);
    int code = mdb_cursor_del(cursor, 0);
    if (code != 0)
        return error_of(code);
    return after < sequence ? history_file_put_gap(file, table, id, sequence, after) : 0;
}

int history_file_drop(struct history_file *file, enum history_table table, uint64_t key,
                      uint64_t sequence, uint32_t most)
{
    const struct history_location oldest = { .table = table, .key = key };
    uint8_t wanted[KEY_BYTES_MAX];
    MDB_cursor *cursor;

    INVARIANT(table < HISTORY_LISTS);
    size_t key_bytes = key_of(&oldest, wanted);
    MDB_val at = { .mv_size = key_bytes, .mv_data = wanted }, value;
    int failed = history_trees_touch_wide(&file->trees, table, wanted, key_bytes);
    if (failed != 0)
        return failed;
    int code = mdb_cursor_open(file->write, file->tables[table], &cursor);
    if (code != 0)
        return error_of(code);
    code = mdb_cursor_get(cursor, &at, &value, MDB_SET_RANGE);
    while (code == 0 && most-- != 0 && load_big64(at.mv_data) == key &&
           sequence_of(&at) < sequence) {
        failed = history_trees_touch_wide(&file->trees, table, at.mv_data, at.mv_size);
        if (failed != 0)
            break;
        uncount(file, table, &value);
        code = mdb_cursor_del(cursor, 0);
        if (code == 0)
            code = mdb_cursor_get(cursor, &at, &value, MDB_NEXT);
    }
    mdb_cursor_close(cursor);
    return failed != 0 ? failed : code == MDB_NOTFOUND ? 0 : error_of(code);
}

static int cut_table(struct history_file *file, enum history_table table, uint64_t sequence)
{
    MDB_cursor *cursor;
    MDB_val key, value;
    int code = mdb_cursor_open(file->write, file->tables[table], &cursor);
    int failed = 0;

    if (code != 0)
        return error_of(code);
    while (failed == 0 && (code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)) == 0)
        if (made_by(table, &key, &value) > sequence)
            failed = cut_row(file, table, cursor, &key, &value, sequence);
    mdb_cursor_close(cursor);
    if (failed != 0)
        return failed;
    return code == MDB_NOTFOUND ? 0 : error_of(code);
}

int history_file_cut(struct history_file *file, uint64_t sequence)
{
    int damaged = history_trees_touch_all(&file->trees);

    if (damaged != 0)
        return damaged;
    if (file->next.from > sequence + 1)
        file->next.from = sequence + 1;
    if (file->next.mark.sequence > sequence)
        file->next.mark.sequence = 0;
    for (int i = 0; i < HISTORY_TABLES; i++) {
        int failed = cut_table(file, (enum history_table)i, sequence);
        if (failed != 0)
            return failed;
    }
    return 0;
}

struct hash_point *history_file_mark(struct history_file *file)
{
    return &file->next.mark;
}

int history_file_commit(struct history_file *file, uint64_t applied)
{
    char name[] = "head";
    MDB_val key = { .mv_size = sizeof name - 1, .mv_data = name };
    MDB_val value = { .mv_size = sizeof file->next, .mv_data = &file->next };

    file->next.applied = applied;
    file->next.crc = history_check_head_crc(&file->next);
    int code = mdb_put(file->write, file->head_table, &key, &value, 0);
    if (code != 0) {
        history_file_cancel(file);
        return error_of(code);
    }
    uint64_t transaction = mdb_txn_id(file->write);
    code = mdb_txn_commit(file->write); /* frees it, whatever comes */
    file->write = NULL;
    if (code != 0)
        return error_of(code);
    file->head = file->next;
    int failed = history_trees_follow(&file->trees, transaction);
    file->is_unknown = failed != 0;
    return failed;
}

int history_file_sync(struct history_file *file)
{
    return error_of(mdb_env_sync(file->environment, 1));
}

/* ---- reads ----------------------------------------------------------------------------------- */

struct history_cursor *history_file_cursor_create(struct history_file *file)
{
    struct history_cursor *cursor = calloc(1, sizeof *cursor);

    if (cursor == NULL)
        return NULL;
    cursor->file = file;
    if (history_cache_init(&cursor->cache, &file->sums) == 0)
        return cursor;
    history_file_cursor_destroy(cursor);
    return NULL;
}

void history_file_cursor_destroy(struct history_cursor *cursor)
{
    if (cursor == NULL)
        return;
    if (cursor->read != NULL)
        mdb_txn_abort(cursor->read);
    history_cache_free(&cursor->cache);
    free(cursor);
}

void history_file_cursor_end(struct history_cursor *cursor)
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
        return error_of(code);
    history_trees_roots(&cursor->file->trees, &cursor->roots);
    cursor->active = true;
    return 0;
}

static int decode_row(const struct history_node *node, struct history_location *location, void *row,
                      size_t *bytes)
{
    size_t key_bytes = history_check_key_bytes(location->table);

    if (node->flags != 0 || node->data_bytes < CRC_BYTES ||
        node->data_bytes > HISTORY_ROW_BYTES_MAX + CRC_BYTES)
        return -EBADMSG;
    *bytes = node->data_bytes - CRC_BYTES;
    if (history_check_row_crc(location->table, node->key, node->data, *bytes) !=
        cc_load32(node->data + *bytes))
        return -EBADMSG;
    memcpy(row, node->data, *bytes);
    location->sequence = load_big64(node->key + key_bytes - PLACE_BYTES);
    location->index = __builtin_bswap32(cc_load32(node->key + key_bytes - 4));
    return 1;
}

/* Whether an entry is one of the table, key and id whose location `wanted` is. */
static bool is_of(const struct history_node *node, const uint8_t *wanted, size_t bytes)
{
    return node->key_bytes == bytes && memcmp(node->key, wanted, bytes - PLACE_BYTES) == 0;
}

/* Whether the entry at `wanted`, or the first above it, is a gap that has rows below `wanted`. */
static bool covers(const struct history_node *node, const uint8_t *wanted, size_t bytes,
                   const struct history_location *location)
{
    if (!is_of(node, wanted, bytes) || cc_load32(node->key + bytes - 4) != GAP_INDEX ||
        node->data_bytes < sizeof(uint64_t))
        return false;
    uint64_t first = cc_load64(node->data) + 1; /* sequence of a row that may be lost */
    return location->sequence > first || (location->sequence == first && location->index != 0);
}

int history_file_cursor_below(struct history_cursor *cursor, struct history_location *location,
                              void *row, size_t *bytes)
{
    struct history_path path = { .cache = &cursor->cache }, above;
    uint8_t wanted[KEY_BYTES_MAX];
    struct history_node node;

    INVARIANT(location->table < HISTORY_TABLES);
    int failed = view(cursor);
    if (failed != 0)
        return failed;
    size_t key_bytes = key_of(location, wanted);
    failed = history_path_find(&path, cursor->roots.page[location->table],
                               cursor->roots.depth[location->table], wanted, key_bytes);
    if (failed != 0)
        return failed;
    above = path;
    int got = history_path_entry(&above, &node);
    if (got == 0 || (got > 0 && !covers(&node, wanted, key_bytes, location))) {
        got = history_path_back(&path);
        if (got > 0)
            got = history_path_entry(&path, &node);
    }
    if (got <= 0)
        return got;
    if (!is_of(&node, wanted, key_bytes))
        return 0;
    got = decode_row(&node, location, row, bytes);
    if (got > 0 && location->index == GAP_INDEX)
        *bytes = 0;
    return got;
}
