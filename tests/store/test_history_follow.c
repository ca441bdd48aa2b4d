/* A commit of the history's file whose pages cannot be read again at once, at any of them: reads go
 * on with the commit before it, and the next write learns it first. And what a cursor views is not
 * written over. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"
#include "store/history_cursor.h"

enum { ROWS = 3000, ROW_BYTES = 900, WRITES = 1000, KEY = 1, SAMPLES = 200 };

static char folder[] = "/tmp/perpd-history-XXXXXX";
static const uint8_t exchange_id[HISTORY_ID_BYTES] = { 7 };
static uint64_t seed = 1;
static struct history_file *file;
static uint32_t rows[ROWS], before[ROWS]; /* what the row of a sequence says */
static int64_t reads_left = -1;           /* until one fails; below 0: none does */

/* In the place of libc's. */
ssize_t pread(int fd, void *bytes, size_t count, off_t offset)
{
    if (reads_left == 0) {
        errno = ENOMEM;
        return -1;
    }
    reads_left -= reads_left > 0;
    return syscall(SYS_pread64, fd, bytes, count, offset);
}

static uint64_t below(uint64_t bound)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (seed >> 33) % bound;
}

static void put(uint64_t sequence)
{
    struct history_location place = { .table = HISTORY_FILLS, .key = KEY, .sequence = sequence };
    uint8_t row[ROW_BYTES] = { 0 };

    cc_store32(row, ++rows[sequence]);
    CHECK(history_file_put(file, &place, row, sizeof row) == 0);
}

static void write_some(void)
{
    for (int i = 0; i < WRITES; i++)
        put(below(ROWS));
}

static void check_row(struct history_cursor *cursor, uint64_t sequence, const uint32_t *want)
{
    struct history_location place = {
        .table = HISTORY_FILLS, .key = KEY, .sequence = sequence, .index = 1
    };
    uint8_t row[HISTORY_ROW_BYTES_MAX];
    size_t bytes = 0;

    CHECK(history_cursor_below(cursor, &place, row, &bytes) == 1 && place.sequence == sequence);
    CHECK(bytes == ROW_BYTES && cc_load32(row) == want[sequence]);
}

static void check_rows(const uint32_t *want, uint64_t step)
{
    struct history_cursor *cursor = history_cursor_create(file);

    CHECK(cursor != NULL);
    for (uint64_t sequence = below(step); sequence < ROWS; sequence += step)
        check_row(cursor, sequence, want);
    history_cursor_destroy(cursor);
}

/* A commit that is broken off at a read, and sometimes the next attempt too. False: it had no more
 * reads than that. */
static bool check_broken_off(int64_t reads, uint64_t applied)
{
    CHECK(history_file_begin(file) == 0);
    memcpy(before, rows, sizeof before);
    write_some();
    reads_left = reads;
    int failed = history_file_commit(file, applied);
    reads_left = -1;
    CHECK(failed == 0 || failed == -ENOMEM);
    CHECK(history_file_applied(file) == (failed == 0 ? applied : applied - 1));
    check_rows(failed == 0 ? rows : before, failed == 0 ? 1 : ROWS / SAMPLES);
    if (failed == 0)
        return false;
    reads_left = (int64_t)below(3) * reads / 2; /* the next attempt comes less far, or farther */
    failed = history_file_begin(file);
    reads_left = -1;
    if (failed != 0) {
        CHECK(failed == -ENOMEM);
        check_rows(history_file_applied(file) == applied ? rows : before, ROWS / SAMPLES);
        CHECK(history_file_begin(file) == 0);
    }
    CHECK(history_file_applied(file) == applied);
    check_rows(rows, 1);
    history_file_cancel(file);
    return true;
}

/* What a cursor views stays: two writes come, and the third only when the view has ended. */
static void check_viewed(uint64_t applied)
{
    struct history_cursor *cursor = history_cursor_create(file);

    CHECK(cursor != NULL);
    for (int i = 0; i < 20; i++) {
        memcpy(before, rows, sizeof before);
        check_row(cursor, below(ROWS), before);
        for (int write = 0; write < 2; write++) {
            CHECK(history_file_begin(file) == 0);
            write_some();
            CHECK(history_file_commit(file, applied) == 0);
        }
        CHECK(history_file_begin(file) == -EAGAIN);
        for (uint64_t sequence = 0; sequence < ROWS; sequence++)
            check_row(cursor, sequence, before);
        history_cursor_end(cursor);
    }
    history_cursor_destroy(cursor);
}

int main(void)
{
    uint64_t applied = ROWS;
    int64_t reads = 0;

    CHECK(mkdtemp(folder) != NULL);
    CHECK(history_file_open(&file, folder, exchange_id) == 0);
    CHECK(history_file_begin(file) == 0);
    for (uint64_t sequence = 0; sequence < ROWS; sequence++)
        put(sequence);
    CHECK(history_file_commit(file, applied) == 0);
    while (check_broken_off(reads, ++applied))
        reads += 1 + reads / 8;
    CHECK(reads > 300); /* with a list of free pages that has pages of its own */
    check_viewed(applied);
    history_file_close(file);
    CHECK(history_file_open(&file, folder, exchange_id) == 0);
    CHECK(history_file_applied(file) == applied);
    check_rows(rows, 1);
    history_file_close(file);
    CHECK(chdir(folder) == 0 && unlink("data.mdb") == 0);
    CHECK(rmdir(folder) == 0);
    return 0;
}
