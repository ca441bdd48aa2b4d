/* The file of the history: what is found below a place equals a model over random writes; a killed
 * writer leaves whole commits; a file that is cut short, another's or damaged is refused. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "store/history_check.h"
#include "store/history_cursor.h"
#include "store/history_folder.h"

enum { KEYS = 3, SEQUENCES = 400, KILLS = 6, ROWS_A_COMMIT = 20, COMMITS = 30, ACCEPTED_MAX = 400 };

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { READ_STEP = 10 }; /* one accepted flip in so many is read: that costs the file twice */
#else
enum { READ_STEP = 1 };
#endif

static char folder[32] = "/dev/shm/perpd-history-XXXXXX"; /* commits wait for no disk */
static char path[64];
static const uint8_t exchange_id[HISTORY_ID_BYTES] = { 7 };
static uint64_t seed = 1;

static uint64_t below(uint64_t bound)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (seed >> 33) % bound;
}

static void empty(void)
{
    char name[80];
    static const char *const names[] = { "data.mdb", "data.mdb.damaged" };
    for (size_t i = 0; i < CC_COUNT(names); i++) {
        snprintf(name, sizeof name, "%s/%s", folder, names[i]);
        CHECK(unlink(name) == 0 || errno == ENOENT);
    }
}

static struct history_file *open_it(void)
{
    struct history_file *file;
    CHECK(history_file_open(&file, folder, exchange_id) == 0);
    return file;
}

/* ---- a model --------------------------------------------------------------------------------- */

/* Row of (table, key, sequence): 0 none, 1 gap, else the number of its bytes. A gap begins after
 * the sequence that gap_after says. */
static uint16_t model[HISTORY_TABLES][KEYS][SEQUENCES];
static uint16_t gap_after[HISTORY_TABLES][KEYS][SEQUENCES];

/* Keys of a table by id have ids that differ in one bit: in the first byte or in the last. */
static struct history_location place_of(uint64_t table, uint64_t key, uint64_t sequence,
                                        uint64_t index)
{
    struct history_location place = { .table = (enum history_table)table,
                                      .key = key,
                                      .sequence = sequence,
                                      .index = (uint32_t)index };

    if (table >= HISTORY_LISTS) {
        place.key = key / 2;
        place.id[key == 2 ? 0 : 15] = key != 0;
    }
    return place;
}

/* The key that it was made of. */
static uint64_t key_of(const struct history_location *place)
{
    return place->table < HISTORY_LISTS ? place->key : place->id[0] != 0 ? 2 : place->id[15];
}

/* Rows that begin with the sequence of their command: of orders, pieces of candles and private
 * events. */
static bool has_sequence(uint64_t table)
{
    return table == HISTORY_ORDERS || table == HISTORY_WITHDRAWALS || table == HISTORY_PRIVATE ||
           table == HISTORY_MINUTES || table == HISTORY_HOURS;
}

/* The sequence of the command that made the row: of those a later one than the place names. */
static uint64_t made_by(uint64_t table, uint64_t key, uint64_t sequence)
{
    if (!has_sequence(table))
        return sequence;
    return sequence + (sequence * 7 + key * 31) % (SEQUENCES - sequence);
}

static void row_of(const struct history_location *place, uint8_t *row, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        row[i] = (uint8_t)(place->table * 31 + key_of(place) * 7 + place->sequence * 13 + i);
    if (has_sequence(place->table) && bytes >= 8)
        cc_store64(row, made_by(place->table, key_of(place), place->sequence));
}

/* Whether a row was found, which *from is then. */
static bool check_below(struct history_cursor *cursor, struct history_location *from)
{
    struct history_location place = *from;
    uint8_t row[HISTORY_ROW_BYTES_MAX], want[HISTORY_ROW_BYTES_MAX];
    size_t bytes = 0;
    uint64_t at = place.sequence < SEQUENCES ? place.sequence : SEQUENCES, next = at;
    uint64_t key = key_of(&place);
    const uint16_t *rows = model[place.table][key];

    while (at > 0 && rows[at - 1] == 0)
        at--;
    while (next < SEQUENCES && rows[next] == 0)
        next++;
    if (next < SEQUENCES && rows[next] == 1 &&
        place.sequence + (place.index != 0) > gap_after[place.table][key][next] + 1u)
        at = next + 1; /* it begins inside a gap */
    int got = history_cursor_below(cursor, &place, row, &bytes);
    CHECK(got == (at > 0));
    if (got == 0)
        return false;
    CHECK(place.sequence == at - 1 && place.index == (rows[at - 1] == 1 ? place.index : 5));
    CHECK(bytes == (rows[at - 1] == 1 ? 0u : rows[at - 1]));
    row_of(&place, want, bytes);
    CHECK(rows[at - 1] == 1 || memcmp(row, want, bytes) == 0);
    *from = place;
    return bytes != 0;
}

/* Places at random, and on from what is found there; at first from where the call before ended,
 * which was before the newest commit. */
static void check_all(struct history_cursor *cursor)
{
    static struct history_location place;
    static bool is_row;

    for (int i = 0; i < 2000; i++) {
        while (is_row && below(9) != 0) {
            struct history_location again = place;
            is_row = check_below(cursor, &place);
            if (is_row && place.table < HISTORY_LISTS && below(4) == 0) { /* a list beside it */
                struct history_location beside = place;
                beside.table = (enum history_table)below(HISTORY_LISTS);
                (void)check_below(cursor, &beside);
            }
            if (!is_row)
                (void)check_below(cursor, &again);
        }
        place = place_of(below(HISTORY_TABLES), below(KEYS), below(SEQUENCES + 2), 0);
        if (below(20) == 0)
            place.sequence = UINT64_MAX;
        is_row = check_below(cursor, &place);
        if (below(9) == 0)
            history_cursor_end(cursor);
    }
    history_cursor_end(cursor);
}

static void put(struct history_file *file, struct history_location place, size_t bytes)
{
    uint8_t row[HISTORY_ROW_BYTES_MAX];
    uint64_t key = key_of(&place);
    uint16_t *is = &model[place.table][key][place.sequence];
    uint16_t after = (uint16_t)(place.sequence - below(place.sequence < 30 ? 1 : 30));

    if (*is != 0 && (*is == 1) != (bytes == 0))
        return; /* a gap and a row of one sequence have places of their own */
    if ((place.table >= HISTORY_LISTS || place.table == HISTORY_ORDERS ||
         place.table == HISTORY_WITHDRAWALS || place.table == HISTORY_PRIVATE) &&
        bytes == 0)
        return; /* those have no gaps */
    if (has_sequence(place.table) && bytes != 0 && bytes < 8)
        bytes = 8;
    *is = (uint16_t)(bytes == 0 ? 1 : bytes);
    if (bytes == 0) {
        gap_after[place.table][key][place.sequence] = after;
        CHECK(history_file_put_gap(file, place.table, key, place.sequence, after) == 0);
        return;
    }
    row_of(&place, row, bytes);
    CHECK(history_file_put(file, &place, row, bytes) == 0);
}

/* Drops the oldest rows of a key, or a few of them. */
static void drop(struct history_file *file, uint64_t key, uint64_t sequence, uint32_t most)
{
    uint16_t *rows = model[HISTORY_PRIVATE][key];

    CHECK(history_file_drop(file, HISTORY_PRIVATE, key, sequence, most) == 0);
    for (uint64_t i = 0; i < sequence && most != 0; i++) {
        most -= rows[i] != 0;
        rows[i] = 0;
    }
}

static void check_model(void)
{
    struct history_file *file = open_it();
    struct history_cursor *cursor = history_cursor_create(file);
    uint64_t applied = SEQUENCES;

    CHECK(cursor != NULL);
    CHECK(history_file_applied(file) == 0 && history_file_from(file) == 1);
    check_all(cursor);
    for (int round = 0; round < 40; round++) {
        CHECK(history_file_begin(file) == 0);
        bool is_kept = below(4) != 0;
        static uint16_t before[HISTORY_TABLES][KEYS][SEQUENCES];
        static uint16_t after[HISTORY_TABLES][KEYS][SEQUENCES];
        memcpy(before, model, sizeof model);
        memcpy(after, gap_after, sizeof after);
        for (uint64_t i = below(60); i > 0; i--)
            put(file, place_of(below(HISTORY_TABLES), below(KEYS), below(SEQUENCES), 5),
                below(8) == 0 ? 0 : 2 + below(below(16) == 0 ? HISTORY_ROW_BYTES_MAX - 1 : 255));
        if (below(3) == 0)
            drop(file, below(KEYS), below(SEQUENCES / 2), 1 + (uint32_t)below(8));
        if (is_kept) {
            CHECK(history_file_commit(file, applied += 10) == 0);
        } else {
            history_file_cancel(file);
            memcpy(model, before, sizeof model);
            memcpy(gap_after, after, sizeof after);
        }
        if (below(5) == 0) {
            history_cursor_destroy(cursor);
            history_file_close(file);
            file = open_it();
            cursor = history_cursor_create(file);
            CHECK(cursor != NULL);
        }
        CHECK(history_file_applied(file) == applied);
        check_all(cursor);
    }
    CHECK(history_file_mark(file)->sequence == 0); /* the commits had none */
    for (uint64_t sequence = 200; sequence <= 300; sequence += 100) {
        CHECK(history_file_begin(file) == 0);
        *history_file_mark(file) = (struct hash_point){ .sequence = sequence, .hash = { 7 } };
        CHECK(history_file_commit(file, sequence) == 0);
    }
    CHECK(history_file_go_back(file, 299) == 0); /* the journal ends there */
    CHECK(history_file_mark(file)->sequence == 200 && history_file_mark(file)->hash[0] == 7);
    for (int t = 0; t < HISTORY_TABLES; t++)
        for (int k = 0; k < KEYS; k++) {
            bool is_timed = t == HISTORY_MINUTES || t == HISTORY_HOURS; /* whose gaps stay */
            for (int i = 201; i < SEQUENCES; i++)
                if (!is_timed && model[t][k][i] == 1 && gap_after[t][k][i] < 200) {
                    model[t][k][200] = 1; /* a gap goes on below */
                    gap_after[t][k][200] = gap_after[t][k][i];
                }
            for (uint64_t i = 0; i < SEQUENCES; i++)
                if (!(is_timed && model[t][k][i] == 1) &&
                    made_by((uint64_t)t, (uint64_t)k, i) > 200)
                    model[t][k][i] = 0;
        }
    check_all(cursor);
    CHECK(history_file_applied(file) == 200);
    CHECK(history_file_go_back(file, 199) == 0); /* of which it knows nothing */
    memset(model, 0, sizeof model);
    check_all(cursor);
    CHECK(history_file_applied(file) == 0 && history_file_mark(file)->sequence == 0);
    CHECK(history_file_sync(file) == 0);
    history_cursor_destroy(cursor);
    history_file_close(file);
}

/* ---- a writer that is killed ----------------------------------------------------------------- */

/* Tells `told` of each commit by a byte. */
static void write_on(int told)
{
    struct history_file *file = open_it();
    uint8_t row[HISTORY_ROW_BYTES_MAX];

    for (uint64_t applied = history_file_applied(file) + 1;; applied++) {
        CHECK(history_file_begin(file) == 0);
        for (uint32_t i = 0; i < ROWS_A_COMMIT; i++) {
            struct history_location place = place_of(HISTORY_FILLS, i % KEYS, applied, i);
            row_of(&place, row, 100);
            CHECK(history_file_put(file, &place, row, 100) == 0);
        }
        CHECK(history_file_commit(file, applied) == 0);
        CHECK(write(told, "c", 1) == 1);
    }
}

/* Every commit up to `applied` is whole and nothing is above it. Returns `applied`. */
static uint64_t check_whole(void)
{
    struct history_file *file = open_it();
    struct history_cursor *cursor = history_cursor_create(file);
    uint64_t applied = history_file_applied(file), rows = 0;
    uint8_t row[HISTORY_ROW_BYTES_MAX], want[HISTORY_ROW_BYTES_MAX];
    size_t bytes;

    CHECK(cursor != NULL);
    for (uint64_t key = 0; key < KEYS; key++) {
        struct history_location place = place_of(HISTORY_FILLS, key, UINT64_MAX, 0);
        while (history_cursor_below(cursor, &place, row, &bytes) == 1) {
            CHECK(place.sequence <= applied && place.index % KEYS == key && bytes == 100);
            row_of(&place, want, bytes);
            CHECK(memcmp(row, want, bytes) == 0);
            rows++;
        }
    }
    CHECK(rows == applied * ROWS_A_COMMIT);
    history_cursor_destroy(cursor);
    history_file_close(file);
    return applied;
}

static void check_kill(void)
{
    uint64_t last = 0;

    empty();
    for (int i = 0; i < KILLS; i++) {
        int told[2];
        char byte;
        CHECK(pipe(told) == 0);
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            write_on(told[1]);
            _exit(1);
        }
        uint64_t commits = 1 + below(6);
        for (uint64_t n = 0; n < commits; n++)
            CHECK(read(told[0], &byte, 1) == 1);
        usleep((useconds_t)below(2000));
        CHECK(kill(child, SIGKILL) == 0);
        CHECK(waitpid(child, NULL, 0) == child);
        close(told[0]);
        close(told[1]);
        uint64_t applied = check_whole();
        CHECK(applied >= last + commits);
        last = applied;
    }
}

/* ---- files that are refused ------------------------------------------------------------------ */

static void check_refused(const uint8_t *id)
{
    struct history_file *file = NULL;
    CHECK(history_file_open(&file, folder, id) == -EBADMSG && file == NULL);
}

static void check_damage(void)
{
    static const uint8_t other_id[HISTORY_ID_BYTES] = { 8 };
    struct stat status;
    uint8_t zeros[2 * 4096] = { 0 };

    check_refused(other_id);
    CHECK(stat(path, &status) == 0);
    CHECK(truncate(path, status.st_size / 2 / 4096 * 4096) == 0);
    check_refused(exchange_id);
    CHECK(history_folder_set_aside(folder) == 0);
    struct history_file *file = open_it(); /* another one begins */
    CHECK(history_file_applied(file) == 0);
    history_file_close(file);
    int fd = open(path, O_WRONLY);
    CHECK(fd >= 0 && pwrite(fd, zeros, sizeof zeros, 0) == (ssize_t)sizeof zeros);
    close(fd);
    check_refused(exchange_id);
    CHECK(history_folder_set_aside(folder) == 0);
    CHECK(history_folder_set_aside(folder) == -ENOENT);
}

/* ---- damaged pages --------------------------------------------------------------------------- */

static uint8_t *whole;
static size_t whole_bytes;

static void load_whole(void)
{
    struct stat status;
    int fd = open(path, O_RDONLY);

    CHECK(fd >= 0 && fstat(fd, &status) == 0);
    free(whole);
    whole_bytes = (size_t)status.st_size;
    whole = malloc(whole_bytes);
    CHECK(whole != NULL && pread(fd, whole, whole_bytes, 0) == (ssize_t)whole_bytes);
    close(fd);
}

/* The file has the first `bytes` of `whole`. */
static void store_whole(size_t bytes)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    CHECK(fd >= 0 && pwrite(fd, whole, bytes, 0) == (ssize_t)bytes);
    close(fd);
}

static void flip(size_t at, uint8_t bits)
{
    int fd = open(path, O_WRONLY);
    whole[at] ^= bits;
    CHECK(fd >= 0 && pwrite(fd, &whole[at], 1, (off_t)at) == 1);
    close(fd);
}

static void write_commits(uint64_t first, uint64_t last, uint32_t rows)
{
    struct history_file *file = open_it();
    uint8_t row[HISTORY_ROW_BYTES_MAX];

    for (uint64_t applied = first; applied <= last; applied++) {
        CHECK(history_file_begin(file) == 0);
        for (uint32_t i = 0; i < rows; i++) {
            struct history_location place = place_of(HISTORY_FILLS, i % KEYS, applied, i);
            row_of(&place, row, 100);
            CHECK(history_file_put(file, &place, row, 100) == 0);
        }
        history_file_mark(file)->sequence = applied;
        CHECK(history_file_commit(file, applied) == 0);
    }
    history_file_close(file);
}

/* Pages in use, free pages, and a list of free pages in pages of its own. */
static void make_whole(void)
{
    empty();
    write_commits(1, COMMITS, ROWS_A_COMMIT);
    write_commits(COMMITS + 1, COMMITS + 2, 12000);
    struct history_file *file = open_it();
    CHECK(history_file_go_back(file, COMMITS) == 0);
    history_file_close(file);
    file = open_it();
    history_file_close(file);
    CHECK(check_whole() == COMMITS);
    load_whole();
}

/* The file is refused, or its rows are those of a commit, and the next commit is added to them. */
static bool is_refused_or_right(void)
{
    int failed = history_check(path, NULL, NULL);

    CHECK(failed == 0 || failed == -EBADMSG);
    if (failed != 0)
        return true;
    uint64_t applied = check_whole();
    CHECK(applied == COMMITS || applied + 1 >= COMMITS);
    write_commits(applied + 1, applied + 1, ROWS_A_COMMIT);
    CHECK(check_whole() == applied + 1);
    return false;
}

/* Bytes of page head, places and nodes, and any others. */
static void check_flipped_pages(void)
{
    static const uint16_t places[] = { 0, 10, 12, 14, 16, 18, 24, 28, 40, 48, 64, 88 };
    uint64_t refused = 0, accepted = 0;

    make_whole();
    for (size_t page = 0; page * 4096 < whole_bytes; page++) {
        size_t head = page * 4096, last = head + 4096;
        for (size_t i = 0; i < CC_COUNT(places) + 6 && accepted < ACCEPTED_MAX; i++) {
            size_t at = i < CC_COUNT(places) ? head + places[i] : last - 1 - below(1000);
            uint8_t bits = (uint8_t)(1 << below(8));
            flip(at, bits);
            bool is_refused = history_check(path, NULL, NULL) == -EBADMSG;
            if (is_refused) {
                refused++;
                flip(at, bits);
                continue;
            }
            if (accepted++ % READ_STEP == 0) { /* what no read uses */
                CHECK(!is_refused_or_right());
                whole[at] ^= bits;
                store_whole(whole_bytes);
            } else {
                flip(at, bits);
            }
            if (page > 60)
                break; /* a free page is one of many */
        }
    }
    CHECK(refused > 200 && accepted > 20);
}

/* A page in the place of another. */
static void check_copied_pages(void)
{
    size_t pages = whole_bytes / 4096;

    for (int i = 0; i < 100; i++) {
        size_t from = below(60), to = below(60);
        int fd = open(path, O_WRONLY);
        CHECK(fd >= 0 && from < pages && to < pages);
        CHECK(pwrite(fd, whole + from * 4096, 4096, (off_t)(to * 4096)) == 4096);
        close(fd);
        (void)is_refused_or_right();
        store_whole(whole_bytes);
    }
}

static void check_short_files(void)
{
    size_t used = 0;

    for (size_t bytes = 4096; bytes < whole_bytes; bytes += bytes < 60 * 4096 ? 2048 : 128 * 4096) {
        store_whole(bytes);
        used += is_refused_or_right();
    }
    CHECK(used > 50);
    store_whole(0);
    struct history_file *file = open_it(); /* LMDB begins it again */
    CHECK(history_file_applied(file) == 0);
    history_file_close(file);
}

/* An older copy is right up to its own sequence. */
static void check_older_copy(void)
{
    empty();
    write_commits(1, 5, ROWS_A_COMMIT);
    load_whole();
    write_commits(6, 30, ROWS_A_COMMIT);
    store_whole(whole_bytes);
    CHECK(check_whole() == 5);
    write_commits(6, 9, ROWS_A_COMMIT);
    CHECK(check_whole() == 9);
    free(whole);
}

/* A file without one of its rows, or with a row of another table, differs from what it counts. */
static void check_lost_row(void)
{
    struct history_head head = { .format = 6 }, other;
    uint8_t key[HISTORY_KEY_BYTES_MAX] = { 1 };

    CHECK(history_check_row_crc(HISTORY_FUND, key, "row", 3) !=
          history_check_row_crc(HISTORY_FEES, key, "row", 3));
    other = head;
    other.rows[HISTORY_FEES] = 1;
    CHECK(history_check_head_crc(&head) != history_check_head_crc(&other));
    other = head;
    other.crc = 1;
    CHECK(history_check_head_crc(&head) == history_check_head_crc(&other));
}

/* The date of a gap's ids and the number of its accounts are of the commit, outlive a start, and
 * never go back. */
static void check_gap_date(void)
{
    struct history_file *file = open_it();

    CHECK(history_file_gap_ms(file) == 0);
    CHECK(history_file_begin(file) == 0);
    history_file_put_id_gap(file, 40, 1000, 10);
    history_file_cancel(file);
    CHECK(history_file_gap_ms(file) == 0 && history_file_from(file) == 1);
    CHECK(history_file_gap_accounts(file) == 0);
    for (uint64_t ms = 900; ms >= 800; ms -= 100) {
        CHECK(history_file_begin(file) == 0);
        history_file_put_id_gap(file, 40, ms, ms / 100);
        CHECK(history_file_commit(file, 40) == 0);
        history_file_close(file);
        file = open_it();
        CHECK(history_file_gap_ms(file) == 900 && history_file_from(file) == 41);
        CHECK(history_file_gap_accounts(file) == 9);
    }
    history_file_close(file);
}

int main(void)
{
    if (mkdtemp(folder) == NULL) {
        memcpy(folder, "/tmp/perpd-history-XXXXXX", sizeof "/tmp/perpd-history-XXXXXX");
        CHECK(mkdtemp(folder) != NULL);
    }
    snprintf(path, sizeof path, "%s/data.mdb", folder);
    check_model();
    check_kill();
    check_damage();
    check_flipped_pages();
    check_copied_pages();
    check_short_files();
    check_older_copy();
    check_lost_row();
    empty();
    check_gap_date();
    empty();
    snprintf(path, sizeof path, "%s/lock.mdb", folder);
    CHECK(mknod(path, S_IFREG | 0600, 0) == 0); /* of a binary that used LMDB's locks */
    CHECK(history_folder_remove(folder) == 0 && access(folder, F_OK) != 0);
    return 0;
}
