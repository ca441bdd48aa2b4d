#include "node/recover/snapshot_child.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/hex.h"
#include "base/log.h"
#include "base/node_exit.h"
#include "base/region.h"
#include "node/recover/fold.h"
#include "store/disk_real.h"
#include "store/segment.h"

enum {
    ARGUMENTS = 7, /* perpd, the flag, and five */
    NICE = 19,
    IOPRIO_WHO_PROCESS = 1,
    IOPRIO_IDLE = 3 << 13, /* class 3 (ioprio_set(2)) */
    WANTED_BYTES = 256,
};

#define WANTED_PATH "snapshot_wanted"
#define OOM_FIRST   "1000" /* proc(5), oom_score_adj */

/* ---- snapshot_wanted ------------------------------------------------------------------------- */

int snapshot_child_want(struct disk *disk, const struct exchange_file *exchange, pid_t pid)
{
    char id[2 * EXCHANGE_FILE_ID_BYTES + 1], text[WANTED_BYTES];
    struct segment_range range;
    int failed = segment_range_of(disk, &range);

    if (failed != 0)
        return failed;
    hex_encode(id, exchange->exchange_id, sizeof exchange->exchange_id);
    id[sizeof id - 1] = '\0';
    int bytes = snprintf(text, sizeof text, "exchange %s pid %d segment %" PRIu64 "\n", id,
                         (int)pid, range.min);
    int file = disk_open(disk, WANTED_PATH, DISK_CREATE);
    if (file < 0)
        return file;
    failed = disk_write(disk, file, 0, text, (size_t)bytes);
    disk_close(disk, file);
    if (failed != 0) /* half a file would claim every segment */
        snapshot_child_unwant(disk);
    return failed;
}

/* What cannot be read is being written: everything is wanted. */
bool snapshot_child_wanted(struct disk *disk, const struct exchange_file *exchange, uint64_t *first)
{
    char id[2 * EXCHANGE_FILE_ID_BYTES + 1], text[WANTED_BYTES] = "", said[WANTED_BYTES];
    int file = disk_open(disk, WANTED_PATH, 0);
    int pid = 0;

    if (file < 0)
        return false;
    int64_t bytes = disk_read(disk, file, 0, text, sizeof text - 1);
    disk_close(disk, file);
    *first = 0;
    if (bytes <= 0 || sscanf(text, "exchange %64s pid %d segment %" SCNu64, said, &pid, first) != 3)
        return true;
    hex_encode(id, exchange->exchange_id, sizeof exchange->exchange_id);
    id[sizeof id - 1] = '\0';
    return strcmp(id, said) == 0 && pid > 0 && (kill((pid_t)pid, 0) == 0 || errno == EPERM);
}

void snapshot_child_unwant(struct disk *disk)
{
    int failed = disk_remove(disk, WANTED_PATH);
    (void)failed; /* one that stays names a dead process */
}

/* ---- the parent ------------------------------------------------------------------------------ */

static int spawn(struct snapshot_child *child, char **arguments)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t all, none;
    int failed = posix_spawn_file_actions_init(&files);

    if (failed != 0)
        return -failed;
    failed = posix_spawnattr_init(&attributes);
    if (failed == 0) {
        sigfillset(&all);
        sigemptyset(&none);
        posix_spawnattr_setsigdefault(&attributes, &all);
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
        failed = posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
        if (failed == 0)
            failed =
                posix_spawn(&child->pid, "/proc/self/exe", &files, &attributes, arguments, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&files);
    if (failed != 0)
        child->pid = 0;
    return -failed;
}

static int host_begin(void *context, uint64_t last_segment, bool is_forced)
{
    struct snapshot_child *child = context;
    char last[24], bytes[16], parent[16], program[] = "perpd", flag[] = SNAPSHOT_CHILD_FLAG;
    char idle[] = "idle", forced[] = "forced";
    char *data = strdup(child->data);
    char *arguments[] = {
        program, flag, data, last, bytes, parent, is_forced ? forced : idle, NULL
    };

    INVARIANT(child->pid == 0);
    if (data == NULL)
        return -ENOMEM;
    snprintf(last, sizeof last, "%" PRIu64, last_segment);
    snprintf(bytes, sizeof bytes, "%" PRIu32, child->segment_bytes);
    snprintf(parent, sizeof parent, "%d", (int)getpid());
    int failed = spawn(child, arguments);
    free(data);
    return failed;
}

/* Its process number may be reused soon; its file would then keep claiming segments. */
static void gone(struct snapshot_child *child)
{
    child->pid = 0;
    snapshot_child_unwant(child->disk);
}

static int host_poll(void *context)
{
    struct snapshot_child *child = context;
    int status = 0;
    pid_t ended = waitpid(child->pid, &status, WNOHANG);

    if (ended == 0)
        return 0;
    gone(child);
    if (ended > 0 && WIFEXITED(status) && WEXITSTATUS(status) == NODE_EXIT_CLEAN)
        return 1;
    if (ended > 0 && WIFSIGNALED(status)) {
        log_line(LOG_ERROR, "snapshot", "the child was ended by signal %d", WTERMSIG(status));
        return SNAPSHOTTER_KILLED;
    }
    log_line(LOG_ERROR, "snapshot", "the child ended with exit code %d",
             ended > 0 ? WEXITSTATUS(status) : -1);
    return -1;
}

static void host_end(void *context)
{
    struct snapshot_child *child = context;

    if (child->pid == 0)
        return;
    (void)kill(child->pid, SIGKILL); /* ours, and not waited for yet */
    while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR)
        continue; /* until it is gone nothing of it may be cleared away */
    gone(child);
}

static bool host_wanted(void *context, uint64_t *first)
{
    struct snapshot_child *child = context;
    return snapshot_child_wanted(child->disk, child->exchange, first);
}

static bool host_memory(void *context, uint64_t *free_bytes, uint64_t *engine_bytes)
{
    struct snapshot_child *child = context;
    char line[256];
    uint64_t kib = 0;
    FILE *file = fopen("/proc/meminfo", "re");

    if (file == NULL)
        return false;
    while (kib == 0 && fgets(line, sizeof line, file) != NULL)
        (void)sscanf(line, "MemAvailable: %" SCNu64 " kB", &kib);
    (void)fclose(file);
    *free_bytes = kib * 1024;
    *engine_bytes = region_resident_bytes(child->engines->memory[1], child->engines->memory_bytes);
    return kib != 0;
}

struct snapshotter_host snapshot_child_host(struct snapshot_child *child)
{
    INVARIANT(child->pid == 0);
    return (struct snapshotter_host){
        .context = child,
        .begin = host_begin,
        .poll = host_poll,
        .end = host_end,
        .wanted = host_wanted,
        .memory = host_memory,
    };
}

/* ---- the child ------------------------------------------------------------------------------- */

static int read_exchange(struct disk *disk, struct exchange_file *exchange)
{
    int failed = exchange_file_read(disk, exchange);

    explicit_bzero(exchange->secret_key, sizeof exchange->secret_key); /* of no use here */
    return failed;
}

/* When memory runs out it is this process that ends, not the exchange. */
static void offer_memory(void)
{
    int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

    if (file < 0)
        return;
    ssize_t wrote = write(file, OOM_FIRST, sizeof OOM_FIRST - 1);
    (void)wrote;
    close(file);
}

/* Lowers the priority of the child. If the machine refuses, the snapshot is made all the same. */
static void make_way(bool is_forced)
{
    struct sched_param none = { .sched_priority = 0 };

    offer_memory();
    (void)setpriority(PRIO_PROCESS, 0, NICE);
    if (is_forced)
        return;
    (void)sched_setscheduler(0, SCHED_IDLE, &none);
    (void)syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, IOPRIO_IDLE);
}

static bool parse(const char *text, uint64_t most, uint64_t *value)
{
    char *end = NULL;

    errno = 0;
    *value = strtoull(text, &end, 10);
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0 && *value <= most;
}

static int refused(const struct refusal *refusal)
{
    log_line(LOG_ERROR, "snapshotter", "%s", refusal->text);
    return refusal_exit_code(refusal->kind);
}

static int run(struct disk *disk, uint64_t last_segment, uint32_t segment_bytes)
{
    struct exchange_file exchange;
    struct refusal refusal;
    int failed = read_exchange(disk, &exchange);

    refusal_clear(&refusal);
    if (failed == 0)
        failed = snapshot_child_want(disk, &exchange, getpid());
    if (failed != 0) {
        (void)refusal_machine(&refusal, "reading exchange, or writing snapshot_wanted", failed);
        return refused(&refusal);
    }
    enum refusal_kind kind = fold_snapshot(disk, &exchange, segment_bytes, last_segment, &refusal);
    snapshot_child_unwant(disk);
    return kind == REFUSAL_none ? NODE_EXIT_CLEAN : refused(&refusal);
}

int snapshot_child_main(int argc, const char *const *argv)
{
    uint64_t last_segment, segment_bytes, parent;
    bool ring_refused;
    int error = 0;

    if (argc != ARGUMENTS || !parse(argv[3], UINT64_MAX - 1, &last_segment) ||
        !parse(argv[4], UINT32_C(1) << 30, &segment_bytes) || segment_bytes < SEGMENT_BYTES_MIN ||
        segment_bytes % SEGMENT_FRAMES_OFFSET != 0 || !parse(argv[5], INT32_MAX, &parent)) {
        fprintf(stderr, "perpd: " SNAPSHOT_CHILD_FLAG " is for perpd itself\n");
        return NODE_EXIT_CONFIGURATION;
    }
    umask(077);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != (pid_t)parent)
        return NODE_EXIT_FAILED; /* no parent would count the snapshot */
    make_way(strcmp(argv[6], "forced") == 0);
    struct disk *disk = disk_real_open(argv[2], &error, &ring_refused);
    if (disk == NULL) {
        log_line(LOG_ERROR, "snapshotter", "path=%s: %s", argv[2], strerror(-error));
        return NODE_EXIT_FAILED;
    }
    int code = run(disk, last_segment, (uint32_t)segment_bytes);
    disk_real_close(disk);
    return code;
}
