#include "store/history_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "store/history_folder.h"
#include "store/history_state.h"

enum {
    FORMAT = 10,
    LIMIT_PARTS = 10,
};

/* Of addresses; the file grows as rows come. A limit of the process gives it a tenth. */
#define MAP_BYTES (UINT64_C(256) << 30)

static uint64_t sequence_of(const MDB_val *key)
{
    return history_state_sequence(key->mv_data, key->mv_size);
}

/* ---- open and close -------------------------------------------------------------------------- */

static int open_tables(struct history_file *file)
{
    int code = mdb_txn_begin(file->environment, NULL, 0, &file->write);

    for (int i = 0; i < HISTORY_TABLES && code == 0; i++)
        code = mdb_dbi_open(file->write, history_page_table_names[i], MDB_CREATE, &file->tables[i]);
    if (code == 0)
        code = mdb_dbi_open(file->write, "head", MDB_CREATE, &file->head_table);
    return history_state_error(code);
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
        return history_state_error(code);
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

    if (!history_folder_path(path, folder, "data.mdb"))
        return -ENAMETOOLONG;
    if (mkdir(folder, 0700) != 0 && errno != EEXIST)
        return -errno;
    int failed = check_pages(file, path);
    if (failed != 0)
        return failed;
    int code = mdb_env_create(&file->environment);
    if (code != 0)
        return history_state_error(code);
    mdb_env_set_mapsize(file->environment, map_bytes());
    mdb_env_set_maxdbs(file->environment, HISTORY_TABLES + 1);
    /* The directory's lock keeps other processes away, and this one counts its readers itself: a
     * lock.mdb that is cut short would be its end. */
    code =
        mdb_env_open(file->environment, folder, MDB_NOMETASYNC | MDB_NOLOCK | MDB_NORDAHEAD, 0600);
    if (code != 0)
        return history_state_error(code);
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
    for (int i = 0; i < HISTORY_CURSORS_MAX; i++)
        atomic_init(&made->views[i], HISTORY_VIEW_FREE);
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

/* Learns a commit. Until that succeeds there is no other, and the head is that of the one before
 * it. */
static int follow(struct history_file *file, uint64_t transaction)
{
    file->unfollowed = transaction;
    int failed = history_trees_follow(&file->trees, transaction);
    if (failed != 0)
        return failed;
    file->unfollowed = 0;
    file->head = file->next;
    return 0;
}

/* Whether a cursor views a commit whose pages the next write may take: those that the second write
 * before it, or an older one, has freed. LMDB keeps the others. */
static bool is_viewed(struct history_file *file)
{
    uint64_t next = file->trees.transaction + 1;

    for (int i = 0; i < HISTORY_CURSORS_MAX; i++)
        /* In one order with what is published (pairs: history_cursor.c, view). */
        if (atomic_load_explicit(&file->views[i], memory_order_seq_cst) < next - 2)
            return true;
    return false;
}

int history_file_begin(struct history_file *file)
{
    INVARIANT(file->write == NULL);
    int failed = file->unfollowed == 0 ? 0 : follow(file, file->unfollowed);
    if (failed == 0 && is_viewed(file))
        failed = -EAGAIN;
    if (failed == 0)
        failed = history_trees_begin(&file->trees);
    if (failed != 0)
        return failed;
    file->next = file->head;
    return history_state_error(mdb_txn_begin(file->environment, NULL, 0, &file->write));
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

    return cc_load32(end - 4) == HISTORY_GAP_INDEX; /* in either order */
}

/* A row that leaves the file. */
static void uncount(struct history_file *file, enum history_table table, const MDB_val *value)
{
    const uint8_t *bytes = value->mv_data;
    file->next.rows[table]--;
    file->next.sums[table] -= cc_load32(bytes + value->mv_size - HISTORY_CRC_BYTES);
}

static int put(struct history_file *file, const struct history_location *location, const void *row,
               size_t bytes)
{
    uint8_t key_bytes[HISTORY_KEY_BYTES_MAX],
        value_bytes[HISTORY_ROW_BYTES_MAX + HISTORY_CRC_BYTES];

    INVARIANT(bytes <= HISTORY_ROW_BYTES_MAX && location->table < HISTORY_TABLES);
    size_t key_size = history_state_key(location, key_bytes);
    int failed = history_trees_touch(&file->trees, location->table, key_bytes, key_size);
    if (failed != 0)
        return failed;
    memcpy(value_bytes, row, bytes);
    uint32_t crc = history_check_row_crc(location->table, key_bytes, value_bytes, bytes);
    cc_store32(value_bytes + bytes, crc);
    MDB_val key = { .mv_size = key_size, .mv_data = key_bytes };
    MDB_val value = { .mv_size = bytes + HISTORY_CRC_BYTES, .mv_data = value_bytes }, found = value;
    MDB_dbi table = file->tables[location->table];
    int code = mdb_put(file->write, table, &key, &found, MDB_NOOVERWRITE);
    if (code == MDB_KEYEXIST) { /* and `found` is the row that is there */
        uncount(file, location->table, &found);
        code = mdb_put(file->write, table, &key, &value, 0);
    }
    file->next.rows[location->table]++;
    file->next.sums[location->table] += crc;
    return history_state_error(code);
}

/* Whether a gap ends with the minute or hour of the location: 1 or 0, or -errno. A row there would
 * hide the gap from those who look for rows below it. */
static int ends_gap(struct history_file *file, const struct history_location *location)
{
    struct history_location gap = *location;
    uint8_t key_bytes[HISTORY_KEY_BYTES_MAX];
    MDB_val key, value;

    gap.index = HISTORY_GAP_INDEX;
    key.mv_size = history_state_key(&gap, key_bytes);
    key.mv_data = key_bytes;
    int failed = history_trees_touch(&file->trees, location->table, key_bytes, key.mv_size);
    if (failed != 0)
        return failed;
    int code = mdb_get(file->write, file->tables[location->table], &key, &value);
    if (code == MDB_NOTFOUND)
        return 0;
    return code == 0 ? 1 : history_state_error(code);
}

int history_file_put(struct history_file *file, const struct history_location *location,
                     const void *row, size_t bytes)
{
    INVARIANT(bytes != 0 && location->index != HISTORY_GAP_INDEX);
    INVARIANT(!history_check_has_sequence(location->table) || bytes >= sizeof(uint64_t));
    int is_lost = history_check_is_timed(location->table) ? ends_gap(file, location) : 0;
    return is_lost == 0 ? put(file, location, row, bytes) : is_lost < 0 ? is_lost : 0;
}

int history_file_put_gap(struct history_file *file, enum history_table table, uint64_t key,
                         uint64_t sequence, uint64_t after)
{
    struct history_location location = {
        .table = table, .key = key, .sequence = sequence, .index = HISTORY_GAP_INDEX
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

/* Whether a cut takes the row: by the sequence of the command that made it. It leaves a gap of
 * candles, unless it takes all. */
static bool is_above(enum history_table table, const MDB_val *key, const MDB_val *value,
                     uint64_t sequence)
{
    if (sequence == 0)
        return true;
    if (history_check_is_timed(table) && is_gap(key))
        return false;
    uint64_t made =
        history_check_has_sequence(table) ? cc_load64(value->mv_data) : sequence_of(key);
    return made > sequence;
}

/* Removes what the cursor is at. A gap goes on below `sequence`. */
static int cut_row(struct history_file *file, enum history_table table, MDB_cursor *cursor,
                   const MDB_val *key, const MDB_val *value, uint64_t sequence)
{
    uint64_t id = history_state_load64(key->mv_data), after = sequence;

    if (is_gap(key))
        after = cc_load64(value->mv_data);

    uncount(file, table, value);
    int code = mdb_cursor_del(cursor, 0);
    if (code != 0)
        return history_state_error(code);
    return after < sequence ? history_file_put_gap(file, table, id, sequence, after) : 0;
}

int history_file_drop(struct history_file *file, enum history_table table, uint64_t key,
                      uint64_t sequence, uint32_t most)
{
    const struct history_location oldest = { .table = table, .key = key };
    uint8_t wanted[HISTORY_KEY_BYTES_MAX];
    MDB_cursor *cursor;

    INVARIANT(table < HISTORY_LISTS);
    size_t key_bytes = history_state_key(&oldest, wanted);
    MDB_val at = { .mv_size = key_bytes, .mv_data = wanted }, value;
    int failed = history_trees_touch_wide(&file->trees, table, wanted, key_bytes);
    if (failed != 0)
        return failed;
    int code = mdb_cursor_open(file->write, file->tables[table], &cursor);
    if (code != 0)
        return history_state_error(code);
    code = mdb_cursor_get(cursor, &at, &value, MDB_SET_RANGE);
    while (code == 0 && most-- != 0 && history_state_load64(at.mv_data) == key &&
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
    return failed != 0 ? failed : code == MDB_NOTFOUND ? 0 : history_state_error(code);
}

static int cut_table(struct history_file *file, enum history_table table, uint64_t sequence)
{
    MDB_cursor *cursor;
    MDB_val key, value;
    int code = mdb_cursor_open(file->write, file->tables[table], &cursor);
    int failed = 0;

    if (code != 0)
        return history_state_error(code);
    while (failed == 0 && (code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)) == 0)
        if (is_above(table, &key, &value, sequence))
            failed = cut_row(file, table, cursor, &key, &value, sequence);
    mdb_cursor_close(cursor);
    if (failed != 0)
        return failed;
    return code == MDB_NOTFOUND ? 0 : history_state_error(code);
}

/* Removes every row above `sequence`; at 0 also gaps. A gap above goes on below it. */
static int cut(struct history_file *file, uint64_t sequence)
{
    int damaged = history_trees_touch_all(&file->trees);

    if (damaged != 0)
        return damaged;
    if (file->next.from > sequence + 1)
        file->next.from = sequence + 1;
    for (int i = 0; i < HISTORY_TABLES; i++) {
        int failed = cut_table(file, (enum history_table)i, sequence);
        if (failed != 0)
            return failed;
    }
    return 0;
}

int history_file_go_back(struct history_file *file, uint64_t sequence)
{
    struct hash_point known = { 0 };
    int failed = history_file_begin(file);

    if (failed != 0)
        return failed;
    for (int i = 0; i < HISTORY_MARKS; i++) {
        struct hash_point *mark = &file->next.marks[i];
        if (mark->sequence > sequence)
            mark->sequence = 0;
        if (mark->sequence > known.sequence)
            known = *mark;
    }
    failed = cut(file, known.sequence);
    if (failed != 0) {
        history_file_cancel(file);
        return failed;
    }
    if (known.sequence == 0)
        file->next.gap_ms = file->next.gap_accounts = 0;
    file->next.mark = known;
    return history_file_commit(file, known.sequence);
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

    const struct hash_point *former = &file->head.mark;

    file->next.applied = applied;
    if (file->next.mark.sequence != applied)
        file->next.mark.sequence = 0;
    if (former->sequence != 0 && former->sequence < applied) {
        int place = __builtin_ctzll(++file->next.marked);
        file->next.marks[place < HISTORY_MARKS ? place : HISTORY_MARKS - 1] = *former;
    }
    file->next.crc = history_check_head_crc(&file->next);
    int code = mdb_put(file->write, file->head_table, &key, &value, 0);
    if (code != 0) {
        history_file_cancel(file);
        return history_state_error(code);
    }
    uint64_t transaction = mdb_txn_id(file->write);
    code = mdb_txn_commit(file->write); /* frees it, whatever comes */
    file->write = NULL;
    if (code != 0)
        return history_state_error(code);
    return follow(file, transaction);
}

int history_file_sync(struct history_file *file)
{
    return history_state_error(mdb_env_sync(file->environment, 1));
}
