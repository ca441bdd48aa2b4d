/* Pages of the history that are damaged under a running perpd (journal.md, History): each read
 * answers as before or is refused, no commit takes the damage along, and one that meets it is the
 * last of its run. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/account_id.h"
#include "base/crc32c.h"
#include "check.h"
#include "engine/view/read.h"
#include "exchange_random.h"
#include "store/history_check.h"
#include "store/history_cursor.h"

enum { ACCOUNTS = 3, CAPACITY = 1024, COMMANDS = 20, PAGE_BYTES = 4096, ROWS = 1 << 14 };
enum { FLIPS = 3, PAGES_MAX = 120 };

struct seen {
    struct history_location place;
    uint32_t crc;
};

static struct exchange exchange;
static struct history_file *file;
static struct history_keep *keep;
static char folder[] = "/dev/shm/perpd-damage-XXXXXX", path[64]; /* commits wait for no disk */
static struct seen rows[ROWS];
static uint32_t row_count;
static uint64_t seed = 7;
static int64_t reads_left = -1; /* until one fails; below 0: none does */

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

static uint32_t below(uint32_t bound)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((seed >> 33) % bound);
}

static void open_all(void)
{
    static const uint8_t id[HISTORY_ID_BYTES] = { 1 };

    CHECK(mkdtemp(folder) != NULL && history_file_open(&file, folder, id) == 0);
    snprintf(path, sizeof path, "%s/data.mdb", folder);
    exchange_open(&exchange, CAPACITY, ACCOUNTS);
    exchange.seed = 43;
    exchange.rich = true;
    history_destroy(exchange.sink.history);
    exchange.sink.history = history_create(CAPACITY, ACCOUNTS + 2, exchange.host.key);
    CHECK(exchange.sink.history != NULL && history_attach(exchange.sink.history, file) == 0);
    keep = &exchange.sink.history->keep;
}

static void close_all(void)
{
    char name[64];

    exchange_close(&exchange);
    history_file_close(file);
    snprintf(name, sizeof name, "%s/data.mdb", folder);
    CHECK(unlink(name) == 0);
    CHECK(rmdir(folder) == 0);
}

static void publish_more(uint32_t commands)
{
    exchange_random_run(&exchange, commands);
    exchange_publish(&exchange);
}

/* ---- what reads show ------------------------------------------------------------------------- */

/* Every key that rows may have, once: an asset id's, 0, an account's. */
static bool key_at(uint32_t i, uint64_t *key)
{
    enum { ASSETS = 16 };

    *key = i;
    if (i < ASSETS)
        return true;
    bool is_there = read_account_at(exchange.host.engine, i - ASSETS, key);
    if (is_there && *key < ASSETS)
        *key = UINT64_MAX - *key; /* it was */
    return is_there;
}

static void note_row(const struct history_location *place, uint32_t crc)
{
    CHECK(row_count < ROWS);
    rows[row_count++] = (struct seen){ .place = *place, .crc = crc };
}

static bool is_equal(const struct seen *seen, const struct history_location *place, uint32_t crc)
{
    return seen->place.table == place->table && seen->place.key == place->key &&
           seen->place.sequence == place->sequence && seen->place.index == place->index &&
           seen->crc == crc;
}

/* Reads every list from its end by a cursor that has read nothing yet. With is_first it notes what
 * is there; else each read shows the same or is refused, and a list goes on below the row that was
 * refused. Returns the refusals. */
static uint32_t read_all(bool is_first)
{
    struct history_cursor *cursor = history_cursor_create(file);
    uint8_t row[HISTORY_ROW_BYTES_MAX];
    uint32_t refused = 0, at = 0;
    uint64_t key;

    CHECK(cursor != NULL);
    if (is_first)
        row_count = 0;
    for (int table = 0; table < HISTORY_LISTS; table++)
        for (uint32_t i = 0; key_at(i, &key); i++) {
            struct history_location place = { .table = (enum history_table)table,
                                              .key = key,
                                              .sequence = UINT64_MAX };
            for (;;) {
                size_t bytes = 0;
                int got = history_cursor_below(cursor, &place, row, &bytes);
                bool is_known = at < row_count && (int)rows[at].place.table == table &&
                                rows[at].place.key == key;
                CHECK(got == 1 || got == 0 || (got == -EBADMSG && !is_first));
                refused += got < 0;
                if (got < 0 && is_known)
                    place = rows[at++].place;
                else if (got == 1 && is_first)
                    note_row(&place, crc32c(row, bytes)), at++;
                else if (got == 1)
                    CHECK(is_known && is_equal(&rows[at++], &place, crc32c(row, bytes)));
                else
                    break;
            }
            CHECK(at == row_count || (int)rows[at].place.table != table ||
                  rows[at].place.key != key);
        }
    history_cursor_destroy(cursor);
    return refused;
}

/* ---- a changed bit --------------------------------------------------------------------------- */

static void page_io(bool is_write, uint32_t number, uint8_t page[PAGE_BYTES])
{
    int disk = open(path, is_write ? O_WRONLY : O_RDONLY);
    off_t at = (off_t)number * PAGE_BYTES;

    CHECK(disk >= 0);
    CHECK((is_write ? pwrite(disk, page, PAGE_BYTES, at) : pread(disk, page, PAGE_BYTES, at)) ==
          PAGE_BYTES);
    CHECK(close(disk) == 0);
}

static uint32_t page_count(void)
{
    struct stat status;

    CHECK(stat(path, &status) == 0);
    return (uint32_t)(status.st_size / PAGE_BYTES);
}

struct flips {
    uint32_t refused_reads, refused_commits, commits;
};

/* One bit of a page: of its head, of the places of its nodes, or any. */
static void flip_once(uint32_t number, uint32_t where, struct flips *flips)
{
    uint8_t before[PAGE_BYTES], damaged[PAGE_BYTES], after[PAGE_BYTES];
    uint32_t at = where == 0 ? below(16) : where == 1 ? 16 + below(64) : below(PAGE_BYTES);

    page_io(false, number, before);
    memcpy(damaged, before, sizeof damaged);
    damaged[at] ^= (uint8_t)(1 << below(8));
    page_io(true, number, damaged);
    uint32_t refused = read_all(false);
    flips->refused_reads += refused != 0;
    publish_more(2);
    int written = history_keep_flush(keep, false);
    CHECK(written >= 0 || written == -EBADMSG);
    CHECK(history_keep_is_written(keep) == (written >= 0));
    flips->refused_commits += written < 0;
    flips->commits += written >= 0;
    atomic_store(&keep->is_stopped, false);
    page_io(false, number, after);
    if (memcmp(after, damaged, sizeof after) == 0)
        page_io(true, number, before);
    else
        CHECK(written >= 0); /* a free page, which the commit took */
    CHECK(history_keep_flush(keep, false) >= 0);
    CHECK(read_all(true) == 0);
}

/* Each page in turn, while rows are read and written. What was damaged is in no commit: the file is
 * whole when the pages are. */
static void every_page(void)
{
    struct flips flips = { 0 };
    struct history_totals totals;

    CHECK(read_all(true) == 0 && row_count > 100);
    for (uint32_t number = 0; number < page_count() && number < PAGES_MAX; number++)
        for (uint32_t where = 0; where < FLIPS; where++)
            flip_once(number, where, &flips);
    CHECK(flips.refused_reads > 30 && flips.refused_commits > 30 && flips.commits > 30);
    CHECK(history_check(path, &totals, NULL) == 0);
    CHECK(totals.head.applied == engine_sequence(exchange.host.engine));
}

/* Half of the file is gone: nothing looks where it was mapped. */
static void cut_short(void)
{
    uint32_t pages = page_count();
    static uint8_t half[1 << 22];
    off_t at = (off_t)(pages / 2) * PAGE_BYTES;
    size_t bytes = (size_t)(pages - pages / 2) * PAGE_BYTES;
    int disk = open(path, O_RDWR);

    CHECK(disk >= 0 && bytes <= sizeof half);
    for (off_t end = at; end >= 0; end = end == 0 ? -1 : 0) {
        bytes = (size_t)((off_t)pages * PAGE_BYTES - end);
        CHECK(bytes <= sizeof half && pread(disk, half, bytes, end) == (ssize_t)bytes);
        CHECK(ftruncate(disk, end) == 0);
        CHECK(read_all(false) != 0);
        publish_more(2);
        CHECK(history_keep_flush(keep, false) == -EBADMSG);
        atomic_store(&keep->is_stopped, false);
        CHECK(pwrite(disk, half, bytes, end) == (ssize_t)bytes);
        CHECK(history_keep_flush(keep, false) >= 0 && read_all(true) == 0);
    }
    CHECK(close(disk) == 0);
}

/* ---- a commit that is learned later ---------------------------------------------------------- */

static bool flush_broken_off(int64_t reads)
{
    publish_more(2);
    reads_left = reads;
    int written = history_keep_flush(keep, false);
    reads_left = -1;
    CHECK(written >= 0 || written == -ENOMEM);
    return written < 0;
}

/* A commit is made and cannot be read again; the next one learns it, and is put off because of a
 * read. Who waits for what the file has need not wait for a third. */
static void learned_late(void)
{
    struct history_location place;
    uint8_t row[HISTORY_ROW_BYTES_MAX];
    uint32_t late = 0;
    size_t bytes;

    for (int64_t reads = 0;; reads += 1 + reads / 8) {
        struct history_cursor *cursor = history_cursor_create(file);
        place = (struct history_location){ .table = HISTORY_FEES, .sequence = UINT64_MAX };
        CHECK(cursor != NULL && history_cursor_below(cursor, &place, row, &bytes) == 1);
        CHECK(!flush_broken_off(-1));
        uint64_t before = history_file_applied(file), commits = published_get(&keep->commits);
        bool is_broken_off = flush_broken_off(reads);
        CHECK(!is_broken_off || history_file_applied(file) == before);
        CHECK(history_keep_flush(keep, false) >= 0);
        CHECK(history_keep_has(keep, history_file_applied(file)));
        late += history_file_applied(file) > before && published_get(&keep->commits) == commits;
        history_cursor_destroy(cursor);
        CHECK(history_keep_flush(keep, false) >= 0);
        if (!is_broken_off)
            break;
    }
    CHECK(late > 0);
}

/* ---- the end of a run ------------------------------------------------------------------------ */

/* Every page but the two heads becomes zeros: the next read is an alarm, and the next commit the
 * last. */
static void zeros(void)
{
    static uint8_t page[PAGE_BYTES];
    const struct history_link *row;
    uint64_t lost, applied = history_file_applied(file);

    CHECK(applied == engine_sequence(exchange.host.engine) && history_keep_is_written(keep));
    for (uint32_t number = 2; number < page_count(); number++)
        page_io(true, number, page);
    CHECK(!atomic_load(&keep->is_damaged));
    CHECK(history_keep_below(keep, HISTORY_FEES, 0, UINT64_MAX, 0, &row, &lost) ==
          HISTORY_OLDER_LOST);
    history_keep_end(keep);
    CHECK(atomic_load(&keep->is_damaged) && history_keep_is_written(keep));
    publish_more(COMMANDS);
    CHECK(engine_sequence(exchange.host.engine) > applied && !history_keep_is_full(keep));
    CHECK(history_keep_flush(keep, false) == -EBADMSG);
    CHECK(!history_keep_is_written(keep));
    CHECK(history_keep_flush(keep, false) == 0); /* nothing more is tried */
    CHECK(history_file_applied(file) == applied);
}

int main(void)
{
    open_all();
    for (int i = 0; i < 20; i++) {
        publish_more(COMMANDS);
        CHECK(history_keep_flush(keep, true) >= 0);
    }
    every_page();
    cut_short();
    learned_late();
    zeros();
    close_all();
    return 0;
}
