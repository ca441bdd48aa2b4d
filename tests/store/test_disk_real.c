/* The store on real files: io_uring, three threads, a full turn of stop and start.
 *
 * With a folder as argument the journal is left there, for test_journal_format.py to read. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "store/disk_real.h"
#include "store/follow.h"
#include "store/journal.h"
#include "store/recovery.h"

enum { SEGMENT = 1 << 20, RECORDS = 12000, PAYLOAD_MAX = 400 };

struct life {
    struct disk *disk;
    struct exchange_file exchange;
    struct recovery_result recovered;
    struct segment_pool *pool;
    struct journal *journal;
    int wake_file;
    uint64_t first; /* sequence of its first record */
    uint64_t applied;
};

/* What stands in a record follows from its sequence alone. */
static uint32_t payload_of(uint64_t sequence, uint8_t *out)
{
    uint32_t count = RECORD_REQUEST_MIN + (uint32_t)(sequence * 2654435761U % PAYLOAD_MAX);

    for (uint32_t i = 0; i < count; i++)
        out[i] = (uint8_t)(sequence * 31 + i);
    return count;
}

static void record_check(const struct record_view *record, uint64_t sequence)
{
    uint8_t payload[RECORD_REQUEST_MIN + PAYLOAD_MAX];
    uint32_t count = payload_of(sequence, payload);

    CHECK(record->kind == RECORD_SIGNED && record->code == 7 && record->t_ns == sequence);
    CHECK(record->payload_bytes == count && memcmp(record->payload, payload, count) == 0);
    CHECK(record->key_bytes == 32 + sequence % 2 && record->key[0] == (uint8_t)sequence);
    CHECK(record->signature[63] == (uint8_t)sequence);
    CHECK(record->extra_bytes == (sequence % 3 == 0 ? 32 : 0));
}

static int apply(void *context, uint64_t sequence, uint64_t frame, const struct record_view *record)
{
    struct life *life = context;

    (void)frame;
    CHECK(sequence == ++life->applied);
    record_check(record, sequence);
    return 0;
}

static void life_begin(struct life *life, const char *path, enum journal_durability durability)
{
    struct refusal refusal;
    bool ring_refused;
    bool is_new;
    int error;

    memset(life, 0, sizeof *life);
    life->disk = disk_real_open(path, &error, &ring_refused);
    CHECK(life->disk && error == 0 && !ring_refused);
    CHECK(life->disk->block_bytes == 512 || life->disk->block_bytes == 4096);
    CHECK(exchange_file_open(life->disk, NULL, &life->exchange, &is_new, &refusal) == REFUSAL_none);
    struct recovery_config recovery = {
        .disk = life->disk,
        .exchange = &life->exchange,
        .segment_bytes = SEGMENT,
        .apply = apply,
        .context = life,
    };

    CHECK(recovery_run(&recovery, &life->recovered, &refusal) == REFUSAL_none);
    struct segment_pool_config pool = {
        .disk = life->disk,
        .exchange = &life->exchange,
        .boot = life->recovered.boot,
        .first = life->recovered.position.segment,
        .existing_end = life->recovered.segment_end,
        .segment_bytes = SEGMENT,
        .ahead = 2,
    };

    life->pool = segment_pool_create(&pool);
    CHECK(life->pool && segment_pool_fill(life->pool, 0) >= 0);
    CHECK(segment_pool_ready(life->pool) == 2);
    struct journal_config journal = {
        .disk = life->disk,
        .exchange = &life->exchange,
        .pool = life->pool,
        .position = life->recovered.position,
        .witness = life->recovered.witness_slots,
        .durability = durability,
        .boot = life->recovered.boot,
        .buffer_bytes = 1 << 20,
        .segment_bytes = SEGMENT,
        .frames_in_flight = 4,
        .group_bytes = JOURNAL_GROUP_BYTES_DEFAULT,
    };

    life->journal = journal_create(&journal);
    CHECK(life->journal);
    life->first = life->applied + 1;
    life->wake_file = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    CHECK(life->wake_file >= 0);
}

static void life_end(struct life *life)
{
    journal_destroy(life->journal);
    segment_pool_destroy(life->pool);
    close(life->wake_file);
    disk_real_close(life->disk);
}

static void *matcher_main(void *context)
{
    struct life *life = context;
    uint64_t one = 1;

    for (uint64_t sequence = life->first; sequence < life->first + RECORDS; sequence++) {
        uint8_t payload[RECORD_REQUEST_MIN + PAYLOAD_MAX];
        uint8_t parts[64];
        struct record_view record = {
            .t_ns = sequence,
            .code = 7,
            .kind = RECORD_SIGNED,
            .payload_bytes = (uint16_t)payload_of(sequence, payload),
            .key_bytes = (uint16_t)(32 + sequence % 2),
            .extra_bytes = sequence % 3 == 0 ? 32 : 0,
            .payload = payload,
            .key = parts,
            .signature = parts,
            .extra = parts,
        };
        uint8_t *out;

        memset(parts, (int)(sequence & 0xFF), sizeof parts);
        do {
            out =
                journal_reserve(life->journal, record_length(record.kind, record.payload_bytes,
                                                             record.key_bytes, record.extra_bytes));
        } while (!out && usleep(50) == 0);
        (void)record_encode(out, &record);
        journal_publish(life->journal);
        if (sequence % 64 == 0)
            CHECK(write(life->wake_file, &one, sizeof one) == sizeof one);
    }
    journal_stop(life->journal);
    CHECK(write(life->wake_file, &one, sizeof one) == sizeof one);
    return NULL;
}

static void *journal_main(void *context)
{
    struct life *life = context;
    uint64_t ignored;

    while (!journal_stopped(life->journal)) {
        int work = journal_step(life->journal);

        CHECK(work >= 0);
        if (work > 0)
            continue;
        CHECK(disk_wait(life->disk, life->wake_file, 2000000) == 0);
        if (read(life->wake_file, &ignored, sizeof ignored) < 0)
            CHECK(errno == EAGAIN);
    }
    return NULL;
}

static void *background_main(void *context)
{
    struct life *life = context;

    while (!journal_stopped(life->journal)) {
        CHECK(segment_pool_step(life->pool, 0) >= 0);
        if (segment_pool_due_ns(life->pool) == UINT64_MAX)
            usleep(500);
    }
    return NULL;
}

static void run_life(const char *path, enum journal_durability durability, uint64_t already)
{
    pthread_t matcher;
    pthread_t writer;
    pthread_t background;
    struct follow *follow;
    struct life life;

    life_begin(&life, path, durability);
    CHECK(life.applied == already);
    follow = follow_create(life.journal);
    CHECK(follow);
    CHECK(pthread_create(&matcher, NULL, matcher_main, &life) == 0);
    CHECK(pthread_create(&writer, NULL, journal_main, &life) == 0);
    CHECK(pthread_create(&background, NULL, background_main, &life) == 0);
    while (follow_sequence(follow) < already + RECORDS) {
        struct record_view record;
        uint64_t sequence = 0;
        int found = follow_next(follow, &record, &sequence);

        CHECK(found >= 0);
        if (found > 0) {
            record_check(&record, sequence);
            CHECK(sequence <= journal_durable_seq(life.journal));
        } else {
            usleep(20);
        }
        /* What is left is more than the buffer holds: it is overtaken. */
        while (sequence == already + RECORDS / 2 &&
               journal_durable_seq(life.journal) < already + RECORDS)
            usleep(500);
    }
    CHECK(pthread_join(matcher, NULL) == 0);
    CHECK(pthread_join(writer, NULL) == 0);
    CHECK(pthread_join(background, NULL) == 0);
    CHECK(journal_durable_seq(life.journal) == already + RECORDS);
    CHECK(journal_counters(life.journal).records == RECORDS);
    CHECK(journal_counters(life.journal).segments >= 3);
    CHECK(follow_overruns(follow) > 0);
    follow_destroy(follow);
    life_end(&life);
}

/* One process at a time. */
static void second_refused(const char *path)
{
    struct exchange_file exchange;
    struct refusal refusal;
    struct disk *second;
    bool ring_refused;
    struct life life;
    bool is_new;
    int error;

    life_begin(&life, path, JOURNAL_LOCAL);
    CHECK(life.recovered.clean_stop);
    CHECK(life.applied == UINT64_C(2) * RECORDS);
    second = disk_real_open(path, &error, &ring_refused);
    CHECK(second);
    CHECK(exchange_file_open(second, NULL, &exchange, &is_new, &refusal) == REFUSAL_locked);
    disk_real_close(second);
    life_end(&life);
}

static uint64_t monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* A wake-up ends one wait, not those after it: without a write in flight nobody reaps, and a thread
 * that parks would otherwise spin. A lower bound of the time waited cannot fail on a slow
 * machine. */
static void wake_ends_one_wait(const char *path)
{
    enum { WAIT_NS = 20 * 1000000 };
    bool ring_refused;
    int error;
    uint64_t one = 1;
    int wake_file = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    struct disk *disk = disk_real_open(path, &error, &ring_refused);

    CHECK(disk != NULL && wake_file >= 0);
    for (int round = 0; round < 3; round++) {
        CHECK(write(wake_file, &one, sizeof one) == sizeof one);
        CHECK(disk_wait(disk, wake_file, UINT64_C(10) * 1000000000) == 0);
        CHECK(read(wake_file, &one, sizeof one) == sizeof one);
        uint64_t begin_ns = monotonic_ns();
        CHECK(disk_wait(disk, wake_file, WAIT_NS) == 0);
        CHECK(monotonic_ns() - begin_ns >= WAIT_NS / 2);
    }
    disk_real_close(disk);
    close(wake_file);
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *walk)
{
    (void)status;
    (void)type;
    (void)walk;
    return remove(path);
}

/* A removed name is gone; who has the file open reads on. */
static void removed(const char *path)
{
    bool ring_refused;
    uint8_t byte = 7;
    int error;
    struct disk *disk = disk_real_open(path, &error, &ring_refused);
    int file;

    CHECK(disk);
    file = disk_open(disk, "gone", DISK_CREATE);
    CHECK(file >= 0 && disk_write(disk, file, 0, &byte, 1) == 0);
    CHECK(disk_remove(disk, "gone") == 0);
    CHECK(disk_remove(disk, "gone") == -ENOENT);
    CHECK(disk_open(disk, "gone", 0) == -ENOENT);
    byte = 0;
    CHECK(disk_read(disk, file, 0, &byte, 1) == 1 && byte == 7);
    CHECK(disk_sync_folder(disk, "") == 0);
    disk_close(disk, file);
    disk_real_close(disk);
}

/* What is no regular file is neither waited for nor read; a link to a file is a name of it, where
 * the caller does not forbid it. A file that is open is as the ring needs it. */
static void only_files(const char *path)
{
    static const unsigned modes[] = { 0, DISK_WRITE, DISK_CREATE, DISK_SECRET, DISK_DIRECT };
    bool ring_refused;
    int error;
    struct disk *disk = disk_real_open(path, &error, &ring_refused);
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int file;

    CHECK(disk && folder >= 0);
    CHECK(symlinkat("/dev/zero", folder, "odd-device") == 0);
    CHECK(mkfifoat(folder, "odd-pipe", 0600) == 0);
    CHECK(mkdirat(folder, "odd-folder", 0700) == 0);
    CHECK(symlinkat("exchange", folder, "odd-link") == 0);
    for (size_t i = 0; i < CC_COUNT(modes); i++) {
        CHECK(disk_open(disk, "odd-device", modes[i]) == -EMEDIUMTYPE);
        CHECK(disk_open(disk, "odd-pipe", modes[i]) == -EMEDIUMTYPE);
        CHECK(disk_open(disk, "odd-folder", modes[i]) == -EISDIR);
    }
    CHECK(disk_open(disk, "odd-link", DISK_NOFOLLOW) == -ELOOP);
    file = disk_open(disk, "odd-link", 0);
    CHECK(file >= 0 && (fcntl(file, F_GETFL) & O_NONBLOCK) == 0);
    disk_close(disk, file);
    for (const char *const *name =
             (const char *const[]){ "odd-device", "odd-pipe", "odd-folder", "odd-link", NULL };
         *name; name++)
        CHECK(unlinkat(folder, *name, strcmp(*name, "odd-folder") == 0 ? AT_REMOVEDIR : 0) == 0);
    close(folder);
    disk_real_close(disk);
}

int main(int argc, char **argv)
{
    char made[] = "/tmp/test_disk_real.XXXXXX";
    const char *path = argc > 1 ? argv[1] : mkdtemp(made);

    CHECK(path);
    run_life(path, JOURNAL_LOCAL, 0);
    run_life(path, JOURNAL_NONE, RECORDS);
    second_refused(path);
    wake_ends_one_wait(path);
    removed(path);
    only_files(path);
    if (argc < 2)
        CHECK(nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS) == 0);
    return 0;
}
