/* history.c - what the file of the history does while it is written and read at once.
 *
 * `perf-history [--rows N] [--accounts N] [--page N] [--folder PATH]`
 *
 * It writes N (2,000,000) rows of fills of N (1,000) accounts into a new file in a new folder below
 * PATH (.), 65,536 a commit as the history's thread does, each commit with its sync. Beside it a
 * second thread reads pages of N (100) rows: the newest rows of an account chosen at random, or
 * those below a row chosen at random. Then it reads alone for as many pages. It checks each row
 * that it reads, and prints one JSON object: rows/s; the longest commit; pages/s and the time of a
 * page, beside the writer and alone, without the check; bytes of the file a row. */
#include <getopt.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/histogram.h"
#include "base/version.h"
#include "store/history_cursor.h"
#include "store/history_folder.h"

enum {
    COMMIT_ROWS = 65536,
    ROW_BYTES = 88,
    PATH_BYTES = 4096,
    PAGES_MIN = 1000,
    NUMBER_MAX = 1000000000
};

static struct {
    uint64_t rows, accounts, page;
    const char *within;
    char folder[PATH_BYTES];
    struct history_file *file;
    _Atomic uint64_t written; /* rows committed */
    _Atomic bool is_over;
} run = { .rows = 2000000, .accounts = 1000, .page = 100, .within = "." };

/* What a page has shown, which is checked when its time is taken. */
struct shown {
    uint64_t key, sequence;
    size_t bytes;
    uint8_t row[HISTORY_ROW_BYTES_MAX];
};

struct reads {
    struct histogram times; /* ns of a page */
    struct shown *page;     /* [run.page] */
    uint64_t pages, rows, ns;
};

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void must(bool is_good, const char *what)
{
    if (is_good)
        return;
    fprintf(stderr, "perf-history: %s\n", what);
    exit(1);
}

static uint64_t mixed(uint64_t value)
{
    value = (value ^ (value >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    value = (value ^ (value >> 27)) * UINT64_C(0x94D049BB133111EB);
    return value ^ (value >> 31);
}

/* Row n (from 1) is of the command n, of an account that n tells. */
static uint64_t account_of(uint64_t n)
{
    return 1 + mixed(n) % run.accounts;
}

static void fill_row(uint64_t n, uint8_t row[ROW_BYTES])
{
    for (size_t i = 0; i < ROW_BYTES; i += sizeof n) {
        uint64_t word = mixed(n * ROW_BYTES + i);
        memcpy(row + i, &word, sizeof word);
    }
}

/* ---- the writer ------------------------------------------------------------------------------ */

/* Returns the time of the longest commit. */
static uint64_t write_all(void)
{
    uint64_t longest_ns = 0;

    for (uint64_t n = 1; n <= run.rows;) {
        uint64_t end = n + COMMIT_ROWS <= run.rows ? n + COMMIT_ROWS : run.rows + 1;
        uint64_t begun_ns = now_ns();
        uint8_t row[ROW_BYTES];

        must(history_file_begin(run.file) == 0, "a write cannot begin");
        for (; n < end; n++) {
            struct history_location location = { .table = HISTORY_FILLS,
                                                 .key = account_of(n),
                                                 .sequence = n };
            fill_row(n, row);
            must(history_file_put(run.file, &location, row, ROW_BYTES) == 0, "a row is refused");
        }
        must(history_file_commit(run.file, n - 1) == 0, "a commit has failed");
        atomic_store_explicit(&run.written, n - 1, memory_order_release);
        uint64_t took_ns = now_ns() - begun_ns;
        longest_ns = took_ns > longest_ns ? took_ns : longest_ns;
    }
    return longest_ns;
}

/* ---- the reader ------------------------------------------------------------------------------ */

static void check_row(const struct shown *shown)
{
    uint8_t want[ROW_BYTES];

    fill_row(shown->sequence, want);
    must(shown->bytes == ROW_BYTES && memcmp(shown->row, want, ROW_BYTES) == 0 &&
             account_of(shown->sequence) == shown->key,
         "a row differs");
}

static void read_page(struct history_cursor *cursor, struct reads *reads, uint64_t *random)
{
    uint64_t written = atomic_load_explicit(&run.written, memory_order_acquire), rows = 0;
    uint64_t begun_ns = now_ns();

    *random = mixed(*random + UINT64_C(0x9E3779B97F4A7C15));
    struct history_location location = {
        .table = HISTORY_FILLS,
        .key = 1 + *random % run.accounts,
        .sequence = *random % 2 == 0 ? UINT64_MAX : 1 + *random % (written + 1),
    };
    for (; rows < run.page; rows++) {
        struct shown *shown = &reads->page[rows];
        int got = history_cursor_below(cursor, &location, shown->row, &shown->bytes);
        must(got >= 0, "a row cannot be read");
        if (got == 0)
            break;
        shown->key = location.key;
        shown->sequence = location.sequence;
    }
    history_cursor_end(cursor);
    uint64_t took_ns = now_ns() - begun_ns;
    for (uint64_t i = 0; i < rows; i++)
        check_row(&reads->page[i]);
    reads->rows += rows;
    histogram_add(&reads->times, took_ns);
    reads->ns += took_ns;
    reads->pages++;
}

static void *read_beside(void *context)
{
    struct history_cursor *cursor = history_cursor_create(run.file);
    struct reads *reads = context;
    uint64_t random = 7;

    must(cursor != NULL, "no cursor");
    while (!atomic_load_explicit(&run.is_over, memory_order_relaxed))
        if (atomic_load_explicit(&run.written, memory_order_relaxed) != 0)
            read_page(cursor, reads, &random);
    history_cursor_destroy(cursor);
    return NULL;
}

static void read_alone(struct reads *reads, uint64_t pages)
{
    struct history_cursor *cursor = history_cursor_create(run.file);
    uint64_t random = 8;

    must(cursor != NULL, "no cursor");
    while (reads->pages < pages)
        read_page(cursor, reads, &random);
    history_cursor_destroy(cursor);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void print_reads(const char *name, const struct reads *reads)
{
    printf(",\"%s\":{\"pages\":%" PRIu64 ",\"rows\":%" PRIu64 ",\"pages_per_s\":%.0f,"
           "\"p50_us\":%.1f,\"p99_us\":%.1f,\"p999_us\":%.1f}",
           name, reads->pages, reads->rows, (double)reads->pages / (double)reads->ns * 1e9,
           (double)histogram_quantile(&reads->times, 500000) / 1e3,
           (double)histogram_quantile(&reads->times, 990000) / 1e3,
           (double)histogram_quantile(&reads->times, 999000) / 1e3);
}

static uint64_t file_bytes(void)
{
    char path[PATH_BYTES + 16];
    struct stat status;

    snprintf(path, sizeof path, "%s/data.mdb", run.folder);
    must(stat(path, &status) == 0, "the file is not there");
    return (uint64_t)status.st_size;
}

static void refuse(const char *what, const char *word)
{
    fprintf(stderr, "perf-history: %s %.60s\n", what, word);
    exit(2);
}

static uint64_t number_of(const char *text)
{
    char *end;
    uint64_t number = strtoull(text, &end, 10);

    if (*text < '0' || *text > '9' || *end != '\0' || number == 0 || number > NUMBER_MAX)
        refuse("a number is 1 to 1000000000, not", text);
    return number;
}

static void read_options(int count, char **words)
{
    static const struct option names[] = {
        { "rows", required_argument, NULL, 'r' }, { "accounts", required_argument, NULL, 'a' },
        { "page", required_argument, NULL, 'p' }, { "folder", required_argument, NULL, 'f' },
        { "version", no_argument, NULL, 'v' },    { NULL, 0, NULL, 0 },
    };

    for (int name; (name = getopt_long(count, words, "", names, NULL)) != -1;) {
        if (name == 'r')
            run.rows = number_of(optarg);
        else if (name == 'a')
            run.accounts = number_of(optarg);
        else if (name == 'p')
            run.page = number_of(optarg);
        else if (name == 'f')
            run.within = optarg;
        else if (name == 'v')
            exit(printf("perf-history %s\n", version_text) < 0);
        else
            exit(2);
    }
    if (optind < count)
        refuse("one word too many:", words[optind]);
    int bytes = snprintf(run.folder, sizeof run.folder, "%s/perf-history-XXXXXX", run.within);
    if (bytes < 0 || (size_t)bytes >= sizeof run.folder)
        refuse("too long:", run.within);
}

int main(int count, char **words)
{
    static const uint8_t id[HISTORY_ID_BYTES] = { 1 };
    static struct reads beside, alone;
    pthread_t reader;

    read_options(count, words);
    beside.page = calloc(run.page, sizeof *beside.page);
    alone.page = calloc(run.page, sizeof *alone.page);
    must(beside.page != NULL && alone.page != NULL, "no memory for a page");
    must(mkdtemp(run.folder) != NULL, "no folder can be made there");
    must(history_file_open(&run.file, run.folder, id) == 0, "the file cannot be made");
    must(pthread_create(&reader, NULL, read_beside, &beside) == 0, "no thread");
    uint64_t begun_ns = now_ns();
    uint64_t longest_ns = write_all();
    uint64_t took_ns = now_ns() - begun_ns;
    atomic_store_explicit(&run.is_over, true, memory_order_relaxed);
    must(pthread_join(reader, NULL) == 0, "the reader is lost");
    read_alone(&alone, beside.pages > PAGES_MIN ? beside.pages : PAGES_MIN);
    printf("{\"rows\":%" PRIu64 ",\"accounts\":%" PRIu64 ",\"page\":%" PRIu64
           ",\"rows_per_s\":%.0f,\"longest_commit_ms\":%.0f,\"bytes_a_row\":%.0f",
           run.rows, run.accounts, run.page, (double)run.rows / (double)took_ns * 1e9,
           (double)longest_ns / 1e6, (double)file_bytes() / (double)run.rows);
    print_reads("beside", &beside);
    print_reads("alone", &alone);
    printf("}\n");
    history_file_close(run.file);
    must(history_folder_remove(run.folder) == 0, "the file cannot be removed");
    free(beside.page);
    free(alone.page);
    return 0;
}
