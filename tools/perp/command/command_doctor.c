/* command_doctor.c - says what of this machine would slow perpd down or keep it from starting, and
 * how to change it. It reads /proc and /sys, opens an io_uring and syncs a file of its own. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <liburing.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <time.h>
#include <unistd.h>

#include "base/config.h"
#include "base/cpu.h"
#include "engine/engine.h"
#include "perp/command/command.h"
#include "perp/command/memory_report.h"
#include "perp/data/data_directory.h"
#include "perp/print/report.h"
#include "perp/request/instant.h"

enum {
    TEXT_MAX = 256,
    PATH_BYTES = 512,
    SYNCS = 64,        /* p99 is then the slowest */
    SYNC_BYTES = 4096, /* a frame of few records */
    CLOCK_READS = 100000,
    DESCRIPTORS_MIN = 65536, /* of a public exchange; perpd raises the soft limit to the hard one */
    LOCKED_MIN = 8 << 20,
    CLOCK_NS_GOOD = 100,  /* a clock read by the vDSO takes 20 to 60 */
    SYNC_US_SLOW = 10000, /* a disk that spins */
};

enum state { STATE_ok, STATE_unknown, STATE_slow, STATE_broken };

static const char *const STATES[] = { "ok", "unknown", "slow", "broken" };

struct doctor {
    const char *root; /* what stands before /proc and /sys; "" is this machine */
    json_t *checks;
    enum state worst;
};

/* One finding. `advice` is NULL where nothing is to be changed. */
static void find(struct doctor *doctor, const char *name, enum state state, const char *found,
                 const char *advice)
{
    json_t *row = json_pack("{s:s, s:s, s:s, s:s}", "check", name, "state", STATES[state], "found",
                            found, "advice", advice == NULL ? "" : advice);

    INVARIANT(row != NULL);
    (void)json_array_append_new(doctor->checks, row);
    if (state > doctor->worst)
        doctor->worst = state;
}

/* A file below the root, to be read; NULL: there is none. */
static FILE *open_file(const struct doctor *doctor, const char *name)
{
    char path[PATH_BYTES];
    int length = snprintf(path, sizeof path, "%s%s", doctor->root, name);

    return length > 0 && (size_t)length < sizeof path ? fopen(path, "re") : NULL;
}

/* The first line of a file below the root, without its end. False if it cannot be read. */
static bool first_line(const struct doctor *doctor, const char *name, char text[TEXT_MAX])
{
    FILE *file = open_file(doctor, name);
    bool read = file != NULL && fgets(text, TEXT_MAX, file) != NULL;

    if (file != NULL)
        (void)fclose(file);
    if (read)
        text[strcspn(text, "\n")] = '\0';
    return read;
}

/* ---- processor ------------------------------------------------------------------------------- */

static void check_processor(struct doctor *doctor)
{
    char found[TEXT_MAX];

    if (cpu_has_lanes()) {
        find(doctor, "processor", STATE_ok, "AVX-512 IFMA: signatures are verified eight at a time",
             NULL);
        return;
    }
    snprintf(found, sizeof found, "%s, no AVX-512 IFMA", cpu_level_name(cpu_level()));
    find(doctor, "processor", STATE_slow, found,
         "portable code verifies signatures, some three times slower; a processor with AVX-512 "
         "IFMA (Ice Lake, Zen 4 or newer) does eight at a time");
}

static void check_governor(struct doctor *doctor)
{
    char text[TEXT_MAX];

    if (!first_line(doctor, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", text))
        find(doctor, "governor", STATE_unknown,
             "no cpufreq here, as in most virtual machines: the host decides", NULL);
    else if (strcmp(text, "performance") == 0)
        find(doctor, "governor", STATE_ok, text, NULL);
    else
        find(doctor, "governor", STATE_slow, text,
             "cpupower frequency-set -g performance: a core that slept takes time to get fast");
}

static void check_isolated(struct doctor *doctor)
{
    char text[TEXT_MAX] = "";

    if (first_line(doctor, "/sys/devices/system/cpu/isolated", text) && text[0] != '\0')
        find(doctor, "isolated_cpus", STATE_ok, text, NULL);
    else
        find(doctor, "isolated_cpus", STATE_slow, "none",
             "with node.topology=dedicated boot with isolcpus=N nohz_full=N rcu_nocbs=N and set "
             "engine.core=N: nothing else then runs on the matcher's core");
}

/* Time that the host gave to others, of all time since the boot. */
static void check_steal(struct doctor *doctor)
{
    char text[TEXT_MAX], found[TEXT_MAX];
    uint64_t ticks[8] = { 0 }, all = 0;

    if (!first_line(doctor, "/proc/stat", text) ||
        sscanf(text,
               "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
               " %" SCNu64 " %" SCNu64,
               &ticks[0], &ticks[1], &ticks[2], &ticks[3], &ticks[4], &ticks[5], &ticks[6],
               &ticks[7]) != 8) {
        find(doctor, "steal", STATE_unknown, "/proc/stat does not read", NULL);
        return;
    }
    for (size_t i = 0; i < CC_COUNT(ticks); i++)
        all += ticks[i];
    double ratio = all == 0 ? 0 : (double)ticks[7] / (double)all;
    snprintf(found, sizeof found, "%.2f %% since the boot", ratio * 100);
    find(doctor, "steal", ratio > 0.01 ? STATE_slow : STATE_ok, found,
         ratio > 0.01 ? "the host gives this machine's CPUs to others: rent dedicated ones" : NULL);
}

/* ---- clock ----------------------------------------------------------------------------------- */

static void check_clock(struct doctor *doctor)
{
    static const char *const GOOD[] = { "tsc", "kvm-clock", "hyperv_clocksource_tsc_page" };
    char text[TEXT_MAX], found[2 * TEXT_MAX];
    bool good = false;
    struct timespec now;

    if (!first_line(doctor, "/sys/devices/system/clocksource/clocksource0/current_clocksource",
                    text)) {
        find(doctor, "clock", STATE_unknown, "no clock source is named in /sys", NULL);
        return;
    }
    for (size_t i = 0; i < CC_COUNT(GOOD); i++)
        good |= strcmp(text, GOOD[i]) == 0;
    uint64_t begun_ns = instant_monotonic_ns();
    for (int i = 0; i < CLOCK_READS; i++)
        (void)clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t read_ns = (instant_monotonic_ns() - begun_ns) / CLOCK_READS;
    snprintf(found, sizeof found, "%s, %" PRIu64 " ns a read", text, read_ns);
    good |= read_ns <= CLOCK_NS_GOOD && doctor->root[0] == '\0';
    find(doctor, "clock", good ? STATE_ok : STATE_slow, found,
         good ? NULL
              : "boot with clocksource=tsc: each read of this clock is a system call, and perpd "
                "reads it several times a request");
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void check_huge_pages(struct doctor *doctor)
{
    char text[TEXT_MAX];

    if (!first_line(doctor, "/sys/kernel/mm/transparent_hugepage/enabled", text))
        find(doctor, "huge_pages", STATE_unknown, "the kernel has no transparent huge pages", NULL);
    else if (strstr(text, "[never]") == NULL)
        find(doctor, "huge_pages", STATE_ok, text, NULL);
    else
        find(doctor, "huge_pages", STATE_slow, text,
             "echo madvise >/sys/kernel/mm/transparent_hugepage/enabled: the engine's tables ask "
             "for them, and each look-up in a table misses the TLB without");
}

static uint64_t available_bytes(const struct doctor *doctor)
{
    char line[TEXT_MAX];
    uint64_t kib = 0;
    FILE *file = open_file(doctor, "/proc/meminfo");

    while (file != NULL && kib == 0 && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "MemAvailable: %" SCNu64 " kB", &kib) != 1)
            kib = 0;
    if (file != NULL)
        (void)fclose(file);
    return kib * 1024;
}

/* What a perpd with the options of this environment touches at its start: an engine for the matcher
 * and one for the follower. */
static void check_memory(struct doctor *doctor, const struct config *config)
{
    enum { MIB = 1 << 20 };
    char found[2 * TEXT_MAX];
    struct option_engine options = { 0 };

    for (int i = 0; i < OPTION_COUNT; i++)
        options.values[i] = config->values[i].number;
    uint64_t engine = engine_bytes_resident(&options);
    uint64_t output = config_number(config, OPTION_net_output_pool);
    uint64_t available = available_bytes(doctor), needed = 2 * engine + output;
    snprintf(found, sizeof found,
             "two engines of %" PRIu64 " MiB and %" PRIu64
             " MiB of output a network thread; %" PRIu64 " MiB are available",
             engine / MIB, output / MIB, available / MIB);
    if (available == 0)
        find(doctor, "memory", STATE_unknown, found, NULL);
    else if (available < needed)
        find(doctor, "memory", STATE_broken, found,
             "more memory, or smaller engine.accounts, engine.portfolios, engine.orders, "
             "engine.positions, engine.credentials, engine.deposits and limits.duplicate_slots");
    else
        find(doctor, "memory", STATE_ok, found, NULL);
}

static void check_overcommit(struct doctor *doctor)
{
    char text[TEXT_MAX];

    if (!first_line(doctor, "/proc/sys/vm/overcommit_memory", text))
        find(doctor, "overcommit", STATE_unknown, "vm.overcommit_memory does not read", NULL);
    else if (strcmp(text, "2") != 0)
        find(doctor, "overcommit", STATE_ok, text, NULL);
    else
        find(doctor, "overcommit", STATE_slow, text,
             "sysctl vm.overcommit_memory=0, or a vm.overcommit_ratio that covers the price "
             "ladders, which perpd reserves and hardly touches");
}

/* ---- limits and kernel ----------------------------------------------------------------------- */

static void check_limit(struct doctor *doctor, const char *name, int resource, uint64_t least,
                        const char *advice)
{
    struct rlimit limit = { 0 };
    char found[TEXT_MAX];

    if (getrlimit((__rlimit_resource_t)resource, &limit) != 0) {
        find(doctor, name, STATE_unknown, strerror(errno), NULL);
        return;
    }
    if (limit.rlim_max == RLIM_INFINITY)
        snprintf(found, sizeof found, "unlimited");
    else
        snprintf(found, sizeof found, "%" PRIu64, (uint64_t)limit.rlim_max);
    bool good = limit.rlim_max == RLIM_INFINITY || limit.rlim_max >= least;
    find(doctor, name, good ? STATE_ok : STATE_slow, found, good ? NULL : advice);
}

static void check_ring(struct doctor *doctor)
{
    char text[TEXT_MAX], found[2 * TEXT_MAX];
    struct io_uring ring;
    struct io_uring_params parameters = {
        .flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_SUBMIT_ALL,
    };

    if (first_line(doctor, "/proc/sys/kernel/io_uring_disabled", text) && strcmp(text, "0") != 0) {
        snprintf(found, sizeof found, "kernel.io_uring_disabled=%s", text);
        find(doctor, "io_uring", STATE_broken, found, "sysctl kernel.io_uring_disabled=0");
        return;
    }
    int error = io_uring_queue_init_params(8, &ring, &parameters);
    if (error == 0) {
        io_uring_queue_exit(&ring);
        find(doctor, "io_uring", STATE_ok, "a ring opens with what the network threads ask for",
             NULL);
        return;
    }
    snprintf(found, sizeof found, "a ring does not open: %s", strerror(-error));
    find(doctor, "io_uring", STATE_broken, found,
         "a kernel of 6.1 or newer, and no seccomp filter (a container's default) that forbids it");
}

/* ---- disk ------------------------------------------------------------------------------------ */

static int by_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* Overwrites and syncs one block again and again, as the journal does in a prepared segment. */
static int measure_syncs(int file, uint64_t took_us[SYNCS])
{
    static uint8_t block[SYNC_BYTES];

    if (posix_fallocate(file, 0, SYNC_BYTES) != 0 || fdatasync(file) != 0)
        return -errno;
    for (int i = 0; i < SYNCS; i++) {
        uint64_t begun_ns = instant_monotonic_ns();
        block[0] = (uint8_t)i;
        if (pwrite(file, block, sizeof block, 0) != (ssize_t)sizeof block || fdatasync(file) != 0)
            return -errno;
        took_us[i] = (instant_monotonic_ns() - begun_ns) / 1000;
    }
    qsort(took_us, SYNCS, sizeof *took_us, by_size);
    return 0;
}

/* The file has no name: it is gone with the process, whatever ends it. */
static void check_disk(struct doctor *doctor, const char *folder)
{
    char found[TEXT_MAX];
    struct statfs status;
    uint64_t took_us[SYNCS];
    int file = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    int error = file < 0 ? -errno : measure_syncs(file, took_us);

    if (error != 0) {
        snprintf(found, sizeof found, "%s", strerror(-error));
        find(doctor, "disk", STATE_unknown, found,
             "name an existing folder of the disk that shall hold the data: --data DIR");
    } else if (fstatfs(file, &status) == 0 &&
               (status.f_type == TMPFS_MAGIC || status.f_type == RAMFS_MAGIC)) {
        find(doctor, "disk", STATE_broken, "the folder lies in memory (tmpfs or ramfs)",
             "a folder on a disk: a power loss empties this one");
    } else {
        uint64_t median_us = took_us[SYNCS / 2];
        snprintf(found, sizeof found,
                 "write and sync of %d bytes: p50 %" PRIu64 " us, slowest of "
                 "%d %" PRIu64 " us",
                 SYNC_BYTES, median_us, SYNCS, took_us[SYNCS - 1]);
        find(doctor, "disk", median_us > SYNC_US_SLOW ? STATE_slow : STATE_ok, found,
             median_us > SYNC_US_SLOW ? "an NVMe disk with power-loss protection: no answer leaves "
                                        "before its record is synced"
                                      : NULL);
    }
    if (file >= 0)
        (void)close(file);
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* Prints words from column `indent` on, in lines of at most 80 columns; the cursor is there. */
static void print_wrapped(const char *text, int indent)
{
    enum { COLUMNS = 80 };
    int column = indent;

    while (*text != '\0') {
        int count = (int)strcspn(text, " ");
        if (column > indent && column + 1 + count > COLUMNS) {
            printf("\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            printf(" ");
            column++;
        }
        printf("%.*s", count, text);
        column += count;
        text += count;
        text += strspn(text, " ");
    }
    printf("\n");
}

static void show_lines(const struct doctor *doctor)
{
    enum { INDENT = 24 };

    for (size_t i = 0; i < json_array_size(doctor->checks); i++) {
        const json_t *row = json_array_get(doctor->checks, i);
        const char *advice = json_string_value(json_object_get(row, "advice"));
        printf("%-8s %-14s ", json_string_value(json_object_get(row, "state")),
               json_string_value(json_object_get(row, "check")));
        print_wrapped(json_string_value(json_object_get(row, "found")), INDENT);
        if (advice[0] != '\0') {
            printf("%*s", INDENT, "-> ");
            print_wrapped(advice, INDENT);
        }
    }
}

static void show_json(const struct doctor *doctor)
{
    json_t *object =
        json_pack("{s:s, s:O}", "worst", STATES[doctor->worst], "checks", doctor->checks);
    report_object(stdout, object, true);
}

int command_doctor(struct context *context)
{
    static const char *const NO_FLAGS[] = { "perp" };
    const char *root = context->arguments->values[FLAG_root];
    const char *folder = data_directory_path(context);
    struct config config;

    if (context->arguments->values[FLAG_memory] != NULL)
        return memory_report(context);
    if (context->arguments->values[FLAG_admin_url] != NULL)
        return context_fail(context, EXIT_CODE_usage, "--admin-url is for --memory"),
               EXIT_CODE_usage;
    if (folder == option_row(OPTION_store_data)->initial && access(folder, X_OK) != 0)
        folder = "."; /* perpd would make it here */

    if (config_load(&config, 1, NO_FLAGS, (const char *const *)environ) != CONFIG_RUN) {
        (void)context_fail(context, EXIT_CODE_usage, "%s", config.error);
        config_free(&config);
        return context->exit_code;
    }
    struct doctor doctor = { .root = root == NULL ? "" : root, .checks = json_array() };
    INVARIANT(doctor.checks != NULL);
    check_ring(&doctor);
    check_memory(&doctor, &config);
    check_overcommit(&doctor);
    check_disk(&doctor, folder);
    check_limit(&doctor, "descriptors", RLIMIT_NOFILE, DESCRIPTORS_MIN,
                "LimitNOFILE=65536 in the unit, or ulimit -Hn 65536: a connection takes one");
    check_limit(&doctor, "locked_memory", RLIMIT_MEMLOCK, LOCKED_MIN,
                "LimitMEMLOCK=8M in the unit, or ulimit -Hl 8192: a kernel may count the rings and "
                "the buffers registered with them");
    check_huge_pages(&doctor);
    check_clock(&doctor);
    check_processor(&doctor);
    check_governor(&doctor);
    check_isolated(&doctor);
    check_steal(&doctor);
    config_free(&config);
    if (context->arguments->json)
        show_json(&doctor);
    else
        show_lines(&doctor);
    json_decref(doctor.checks);
    return doctor.worst == STATE_broken ? EXIT_CODE_rejected : EXIT_CODE_accepted;
}
