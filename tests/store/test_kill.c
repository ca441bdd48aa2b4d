/* kill -9 inside the in-flight window, on real files: what was acknowledged before is there after,
 * and the next life writes on (journal.md, the last of the tests). */
#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "store/disk_real.h"
#include "store/journal.h"
#include "store/recovery.h"

enum { SEGMENT = 1 << 20, CYCLES = 12, CYCLES_MAX = 200, BURST = 40 };

/* In memory that outlives the child. */
struct shared {
    _Atomic uint64_t acknowledged;
    _Atomic uint64_t published;
    _Atomic uint32_t in_flight; /* when it was last looked at */
    _Atomic uint32_t running;
};

static struct shared *shared;
static uint64_t applied;

/* A record is a function of its sequence and of the boot that wrote it. */
static int apply(void *context, uint64_t sequence, uint64_t frame, const struct record_view *record)
{
    (void)context;
    (void)frame;
    CHECK(sequence == applied + 1);
    CHECK(record->t_ns == sequence);
    for (uint32_t i = 8; i < record->payload_bytes; i++)
        CHECK(record->payload[i] == (uint8_t)(cc_load64(record->payload) + i));
    applied = sequence;
    return 0;
}

static void publish(struct journal *journal, uint64_t sequence, uint64_t boot)
{
    uint8_t payload[1024];
    struct record_view record = {
        .t_ns = sequence,
        .code = 2000,
        .payload_bytes = (uint16_t)(8 + sequence * 97 % 1000),
        .payload = payload,
    };
    uint64_t word = sequence * 1000003 + boot;
    uint8_t *out;

    cc_store64(payload, word);
    for (uint32_t i = 8; i < record.payload_bytes; i++)
        payload[i] = (uint8_t)(word + i);
    out = journal_reserve(journal, record_length(RECORD_UNSIGNED, record.payload_bytes, 0, 0));
    CHECK(out); /* the window below is far smaller than the buffer */
    (void)record_encode(out, &record);
    atomic_store(&shared->published, sequence);
    journal_publish(journal);
}

/* Recovers, checks, and writes until it is killed; the last one only recovers. */
static void child(const char *path, bool last)
{
    struct exchange_file exchange;
    struct recovery_result recovered;
    struct refusal refusal;
    bool ring_refused;
    bool is_new;
    int error;
    struct disk *disk = disk_real_open(path, &error, &ring_refused);

    CHECK(disk);
    CHECK(exchange_file_open(disk, NULL, &exchange, &is_new, &refusal) == REFUSAL_none);
    struct recovery_config recovery = {
        .disk = disk,
        .exchange = &exchange,
        .segment_bytes = SEGMENT,
        .apply = apply,
    };

    CHECK(recovery_run(&recovery, &recovered, &refusal) == REFUSAL_none);
    CHECK(applied >= atomic_load(&shared->acknowledged));
    CHECK(applied <= atomic_load(&shared->published));
    if (last)
        exit(0);
    struct segment_pool_config pool_config = {
        .disk = disk,
        .exchange = &exchange,
        .boot = recovered.boot,
        .first = recovered.position.segment,
        .existing_end = recovered.segment_end,
        .segment_bytes = SEGMENT,
        .ahead = 2,
    };
    struct segment_pool *pool = segment_pool_create(&pool_config);
    struct journal_config config = {
        .disk = disk,
        .exchange = &exchange,
        .pool = pool,
        .position = recovered.position,
        .witness = recovered.witness_slots,
        .durability = JOURNAL_LOCAL,
        .boot = recovered.boot,
        .buffer_bytes = 1 << 20,
        .segment_bytes = SEGMENT,
        .frames_in_flight = 4,
        .group_bytes = 2048,
    };
    struct journal *journal = journal_create(&config);

    CHECK(pool && journal);
    for (uint64_t sequence = applied;;) {
        for (int i = 0; i < BURST && sequence - journal_durable_seq(journal) < 4 * BURST; i++)
            publish(journal, ++sequence, recovered.boot);
        CHECK(segment_pool_fill(pool, 0) >= 0);
        int work = journal_step(journal);

        CHECK(work >= 0);
        atomic_store(&shared->acknowledged, journal_durable_seq(journal));
        atomic_store(&shared->in_flight, journal_counters(journal).in_flight);
        atomic_store(&shared->running, 1);
        if (work == 0)
            (void)!disk_wait(disk, -1, 1000000);
    }
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *walk)
{
    (void)status;
    (void)type;
    (void)walk;
    return remove(path);
}

/* One life of the writer that ends in SIGKILL; the frames that were in flight then. */
static uint32_t killed_life(const char *path, int cycle)
{
    int status = 0;
    atomic_store(&shared->running, 0);
    pid_t process = fork();
    CHECK(process >= 0);
    if (process == 0)
        child(path, false);
    while (atomic_load(&shared->running) == 0 && waitpid(process, &status, WNOHANG) == 0)
        usleep(1000);
    usleep(3000 + (unsigned)(cycle * 7919 % 20000));
    CHECK(kill(process, SIGKILL) == 0);
    CHECK(waitpid(process, &status, 0) == process);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    return atomic_load(&shared->in_flight);
}

/* The last life checks everything and stops cleanly. */
static void clean_life(const char *path)
{
    int status = 0;
    atomic_store(&shared->running, 0);
    pid_t process = fork();
    CHECK(process >= 0);
    if (process == 0)
        child(path, true);
    CHECK(waitpid(process, &status, 0) == process);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void)
{
    char made[] = "/tmp/test_kill.XXXXXX";
    const char *path = mkdtemp(made);
    uint32_t in_flight_max = 0;

    CHECK(path);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED);
    /* On a slow machine a kill may find one frame in flight only: more kills then, not a
     * failure. */
    for (int cycle = 0; cycle < CYCLES || (in_flight_max < 2 && cycle < CYCLES_MAX); cycle++) {
        uint32_t in_flight = killed_life(path, cycle);
        if (in_flight > in_flight_max)
            in_flight_max = in_flight;
    }
    clean_life(path);
    CHECK(atomic_load(&shared->acknowledged) > 100);
    CHECK(in_flight_max >= 2);
    CHECK(nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS) == 0);
    return 0;
}
