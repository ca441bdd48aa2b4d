/* snapshot_wanted (roles.md, Snapshots and history): it counts while the process that it
 * names lives, and is believed of this exchange only; and whom `perpd --snapshot` obeys. */
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "check.h"
#include "node/recover/snapshot_child.h"
#include "node/run/node.h"
#include "store/segment.h"
#include "support/sim/disk_sim.h"

static struct disk *disk;
static struct exchange_file exchange = { .exchange_id = { 0xAB, 1, 2 } };

static void write_text(const char *text)
{
    int file = disk_open(disk, "snapshot_wanted", DISK_CREATE);
    CHECK(file >= 0 && disk_write(disk, file, 0, text, strlen(text)) == 0);
    disk_close(disk, file);
}

static void make_segment(uint64_t number)
{
    char path[DISK_PATH_BYTES];
    segment_path(path, number, true);
    int file = disk_open(disk, path, DISK_CREATE);
    CHECK(file >= 0);
    disk_close(disk, file);
}

/* A process that has ended and was waited for. */
static pid_t dead_process(void)
{
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    CHECK(pid > 0 && waitpid(pid, NULL, 0) == pid);
    return pid;
}

static void check_wanted(void)
{
    struct exchange_file other = exchange;
    uint64_t first = 99;

    CHECK(!snapshot_child_wanted(disk, &exchange, &first)); /* there is no file */
    make_segment(12);
    make_segment(7);
    CHECK(snapshot_child_want(disk, &exchange, getpid()) == 0);
    CHECK(snapshot_child_wanted(disk, &exchange, &first) && first == 7); /* the lowest there is */
    other.exchange_id[0] ^= 1;
    CHECK(!snapshot_child_wanted(disk, &other, &first));
    CHECK(snapshot_child_want(disk, &exchange, dead_process()) == 0);
    CHECK(!snapshot_child_wanted(disk, &exchange, &first));
    write_text("exchange ab"); /* being written: everything is wanted */
    first = 99;
    CHECK(snapshot_child_wanted(disk, &exchange, &first) && first == 0);
    snapshot_child_unwant(disk);
    CHECK(!snapshot_child_wanted(disk, &exchange, &first));
}

/* No place for the few bytes: nobody is kept waiting by what is left of them. */
static void check_full(void)
{
    uint64_t first;

    disk_sim_set_full(disk, true);
    CHECK(snapshot_child_want(disk, &exchange, getpid()) == -ENOSPC);
    CHECK(!snapshot_child_wanted(disk, &exchange, &first));
}

/* A child that was killed has left its file: its number may be another process's by now. */
static void check_left_behind(void)
{
    struct snapshot_child child = { .disk = disk, .exchange = &exchange, .data = "" };
    uint64_t first;

    struct snapshotter_host host = snapshot_child_host(&child);
    for (int ends = 0; ends < 2; ends++) {
        CHECK(snapshot_child_want(disk, &exchange, getpid()) == 0);
        CHECK(host.wanted(&child, &first));
        child.pid = fork();
        if (child.pid == 0)
            for (;;)
                pause();
        CHECK(child.pid > 0 && host.poll(&child) == 0);
        CHECK(host.wanted(&child, &first)); /* it is at work */
        if (ends) {
            host.end(&child);
        } else {
            CHECK(kill(child.pid, SIGKILL) == 0);
            while (host.poll(&child) == 0)
                continue;
        }
        CHECK(child.pid == 0 && !host.wanted(&child, &first));
    }
}

/* Of the engine only the pages that were touched count; of the machine, what it says itself. */
static void check_memory(void)
{
    enum { PAGE = 4096, PAGES = 3000, TOUCHED = 700 };
    uint8_t *memory = mmap(NULL, (size_t)PAGES * PAGE, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct recover_engines engines = { .memory = { NULL, memory },
                                       .memory_bytes = (size_t)PAGES * PAGE };
    struct snapshot_child child = { .disk = disk, .exchange = &exchange, .engines = &engines };
    struct snapshotter_host host = snapshot_child_host(&child);
    uint64_t free_bytes = 0, engine_bytes = 0;

    CHECK(memory != MAP_FAILED && madvise(memory, (size_t)PAGES * PAGE, MADV_NOHUGEPAGE) == 0);
    for (size_t page = 0; page < TOUCHED; page++)
        memory[page * PAGE] = 1;
    CHECK(host.memory(&child, &free_bytes, &engine_bytes));
    CHECK(engine_bytes == (uint64_t)TOUCHED * PAGE);
    CHECK(free_bytes > 0);
    CHECK(munmap(memory, (size_t)PAGES * PAGE) == 0);
}

/* The child's words are perpd's own; it works for the process that spawned it and no other. */
static void check_arguments(void)
{
    char other[16], folder[64];
    snprintf(other, sizeof other, "%d", (int)getpid());
    snprintf(folder, sizeof folder, "/tmp/perpd-child-%d", (int)getpid());
    const struct row {
        int line;
        const char *name, *last, *bytes, *parent;
        int count, want;
    } rows[] = {
        { __LINE__, "too few", "1", "65536", other, 6, NODE_EXIT_CONFIGURATION },
        { __LINE__, "no number", "x", "65536", other, 7, NODE_EXIT_CONFIGURATION },
        { __LINE__, "sign", "-1", "65536", other, 7, NODE_EXIT_CONFIGURATION },
        { __LINE__, "no size", "1", "65537", other, 7, NODE_EXIT_CONFIGURATION },
        { __LINE__, "small size", "1", "4096", other, 7, NODE_EXIT_CONFIGURATION },
        { __LINE__, "another's", "1", "65536", other, 7, NODE_EXIT_FAILED },
    };
    CHECK(freopen("/dev/null", "w", stderr) != NULL);
    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        const char *const arguments[] = { "perpd",       SNAPSHOT_CHILD_FLAG, folder, rows[i].last,
                                          rows[i].bytes, rows[i].parent,      "idle", NULL };
        if (snapshot_child_main(rows[i].count, arguments) != rows[i].want)
            _exit(10 + (int)i); /* nobody reads standard error any more */
        if (access(folder, F_OK) == 0)
            _exit(30 + (int)i); /* it went to work */
    }
}

int main(void)
{
    struct disk_sim_config config = { .seed = 1, .block_bytes = 512, .latency_max = 1 };

    disk = disk_sim_create(&config);
    CHECK(disk != NULL && disk_make_folder(disk, "") == 0 &&
          disk_make_folder(disk, "journal") == 0);
    check_wanted();
    check_left_behind();
    check_full();
    check_memory();
    disk_sim_destroy(disk);
    check_arguments();
    return 0;
}
