/* Where recovery begins (journal.md, Recovery, step 2): behind any frame, in the journal or in the
 * archive; what must be there, and what is refused. */
#include <errno.h>

#include "check.h"
#include "store/archive.h"
#include "store/recovery.h"
#include "store/snapshot.h"
#include "store_run.h"
#include "support/sim/disk_sim.h"

enum { SEGMENT = 32768, FRAMES = 60, IN_SEGMENT = 11 /* of 5 blocks in 56 */, SEGMENTS = 6 };

static struct store_model model;
static uint8_t hashes[FRAMES + 1][HASH_BYTES]; /* of each frame, by its number */

static struct disk *disk_new(void)
{
    struct disk_sim_config config = { .seed = 5, .block_bytes = 512, .latency_max = 2 };
    struct disk *disk = disk_sim_create(&config);

    CHECK(disk);
    memset(&model, 0, sizeof model);
    return disk;
}

static uint64_t offset_of(uint64_t number)
{
    return 4096 + (number - 1) % IN_SEGMENT * 5 * 512;
}

static void path_of_frame(char path[DISK_PATH_BYTES], uint64_t number)
{
    segment_path(path, (number - 1) / IN_SEGMENT, true);
}

/* FRAMES frames of 5 blocks with a record each; the process has died. */
static struct disk *disk_of_frames(void)
{
    struct store_options options = store_run_options();
    struct disk *disk = disk_new();
    struct store_run run;

    CHECK(store_run_begin(&run, disk, &model, &options) == REFUSAL_none);
    CHECK(segment_pool_fill(run.pool, 0) >= 0);
    for (int i = 0; i < FRAMES; i++)
        CHECK(store_run_publish(&run, 2000) && store_run_settle(&run, 100) == 0);
    disk_sim_crash(disk, 5);
    store_run_end(&run);
    for (uint64_t n = 1; n <= FRAMES; n++) {
        uint8_t bytes[5 * 512];
        char path[DISK_PATH_BYTES];

        path_of_frame(path, n);
        disk_sim_peek(disk, path, offset_of(n), bytes, sizeof bytes);
        hash_blake2b256(hashes[n], bytes, sizeof bytes);
    }
    return disk;
}

/* One start on a copy of a disk. */
struct start {
    struct exchange_file exchange;
    struct recovery_result result;
    struct refusal refusal;
    uint64_t applied; /* the last sequence */
    bool wrong;
};

static int apply(void *context, uint64_t sequence, uint64_t frame, const struct record_view *record)
{
    struct start *start = context;

    start->wrong |= sequence != start->applied + 1 || frame != sequence ||
                    cc_load64(record->payload) != model.words[sequence];
    start->applied = sequence;
    return 0;
}

/* Starts on the disk itself, behind a frame that the sequence of the same number ends. */
static enum refusal_kind start_on(struct disk *disk, uint64_t after, struct start *start)
{
    struct recovery_config config = {
        .disk = disk, .segment_bytes = SEGMENT, .apply = apply, .after_frame = after
    };
    enum refusal_kind kind;
    bool is_new;

    *start = (struct start){ .applied = after };
    config.exchange = &start->exchange;
    config.context = start;
    if (after > 0 && after <= FRAMES)
        memcpy(config.after_hash, hashes[after], HASH_BYTES);
    kind = exchange_file_open(disk, NULL, &start->exchange, &is_new, &start->refusal);
    if (kind == REFUSAL_none)
        kind = recovery_run(&config, &start->result, &start->refusal);
    CHECK(!start->wrong);
    return kind;
}

/* On a copy: and what was refused wrote nothing. */
static enum refusal_kind start_copy(const struct disk *disk, uint64_t after, struct start *start)
{
    struct disk *copy = disk_sim_copy(disk);
    uint64_t digest = disk_sim_digest(copy);
    enum refusal_kind kind = start_on(copy, after, start);

    CHECK(kind == REFUSAL_none || disk_sim_digest(copy) == digest);
    CHECK(kind == REFUSAL_none || refusal_exit_code(kind) == 3);
    disk_sim_destroy(copy);
    return kind;
}

/* Archives the segments below `count` and takes them from the journal. */
static void retire(struct disk *disk, uint64_t count)
{
    struct exchange_file exchange;
    struct archive archive;
    struct refusal refusal;
    bool is_new;

    CHECK(exchange_file_open(disk, NULL, &exchange, &is_new, &refusal) == REFUSAL_none);
    CHECK(archive_open(&archive, disk, &exchange, &refusal) == REFUSAL_none);
    while (archive.count < count) {
        uint64_t segment = archive.count;
        char path[DISK_PATH_BYTES];

        CHECK(archive_store(&archive, disk, &exchange, segment, SEGMENT) == 0);
        segment_path(path, segment, true);
        CHECK(disk_remove(disk, path) == 0 && disk_sync_folder(disk, "journal") == 0);
    }
    archive_close(&archive);
    disk_sim_kill(disk, 1); /* the lock */
}

/* Behind every frame, with 0 to 5 segments retired: the same end, and just what is missing of it
 * applied. A frame that is nowhere is refused: never another, older state. */
static void every_start(void)
{
    struct disk *disk = disk_of_frames();
    struct start start;

    for (uint64_t retired = 0; retired < SEGMENTS; retired++) {
        uint64_t archived = retired * IN_SEGMENT;

        retire(disk, retired);
        for (uint64_t after = 0; after <= FRAMES; after++) {
            CHECK(start_copy(disk, after, &start) == REFUSAL_none);
            CHECK(start.applied == FRAMES && start.result.records == FRAMES - after);
            CHECK(start.result.frames == FRAMES - after);
            CHECK(start.result.archived_frames == (after < archived ? archived - after : 0));
            CHECK(start.result.position.tail.number == FRAMES);
            CHECK(memcmp(start.result.position.tail.hash, hashes[FRAMES], HASH_BYTES) == 0);
            CHECK(start.result.position.segment == SEGMENTS - 1);
            CHECK(start.result.position.offset == offset_of(FRAMES) + 5 * 512);
            CHECK(start.result.boot == 2);
        }
        CHECK(start_copy(disk, FRAMES + 1, &start) == REFUSAL_snapshot_ahead);
        for (uint64_t after = 3; after <= FRAMES; after += 8) {
            hashes[after][0] ^= 1; /* the frame of another history */
            CHECK(start_copy(disk, after, &start) == REFUSAL_snapshot_ahead);
            hashes[after][0] ^= 1;
        }
    }
    disk_sim_destroy(disk);
}

/* A start behind a snapshot's frame cuts and refuses what follows as a start from the beginning
 * does; of what is before, only the frame itself must be there. */
static void damage(void)
{
    struct disk *disk = disk_of_frames();
    struct start whole;
    int cut = 0;

    for (uint64_t number = 1; number <= FRAMES; number++) {
        static const uint64_t places[] = { 0, 20, 33 /* ends its segment */, 59 };
        struct disk *copy = disk_sim_copy(disk);
        char path[DISK_PATH_BYTES];
        enum refusal_kind kind;
        uint8_t byte;

        path_of_frame(path, number);
        disk_sim_peek(copy, path, offset_of(number) + 700, &byte, 1);
        byte ^= 0x10;
        disk_sim_poke(copy, path, offset_of(number) + 700, &byte, 1);
        kind = start_copy(copy, 0, &whole);
        CHECK(kind == (number < FRAMES ? REFUSAL_frame_damaged : REFUSAL_none));
        cut += kind == REFUSAL_none && whole.result.cut_bytes > 0;
        for (size_t i = 1; i < CC_COUNT(places); i++) {
            enum refusal_kind want = number == places[i]  ? REFUSAL_snapshot_ahead
                                     : number < places[i] ? REFUSAL_none
                                                          : kind;
            struct start start;

            CHECK(start_copy(copy, places[i], &start) == want);
            if (want == REFUSAL_none)
                CHECK(start.applied == (number < places[i] ? FRAMES : number - 1));
            if (want == REFUSAL_frame_damaged)
                CHECK(start.refusal.segment == (number - 1) / IN_SEGMENT ||
                      (start.refusal.segment + 1) * IN_SEGMENT == number - 1);
        }
        disk_sim_destroy(copy);
    }
    CHECK(cut == 1); /* the last frame: nothing names it durable */
    disk_sim_destroy(disk);
}

/* Snapshots at frames 25 and 47 as a node chooses among them: the newest that is whole, the other,
 * none; each leads to the same end. */
static uint64_t newest_whole(struct disk *disk, const struct exchange_file *exchange)
{
    uint64_t sequences[SNAPSHOT_KEPT];
    int count = snapshot_list(disk, sequences, SNAPSHOT_KEPT);

    for (int i = 0; i < count; i++) {
        struct snapshot snapshot;
        int error = snapshot_read(disk, exchange, sequences[i], &snapshot, NULL);

        CHECK(error == 0 || error == -EBADMSG);
        if (error == 0) {
            uint64_t frame = snapshot.head.frame;

            CHECK(memcmp(snapshot.head.frame_hash, hashes[frame], HASH_BYTES) == 0);
            snapshot_close(&snapshot);
            return frame;
        }
    }
    return 0;
}

static void two_snapshots(void)
{
    static const uint64_t kept[] = { 25, 47, 25, 0 }; /* after so many damaged, newest first */
    struct disk *disk = disk_of_frames();
    struct exchange_file exchange;
    struct refusal refusal;
    struct start start;
    bool is_new;

    CHECK(exchange_file_open(disk, NULL, &exchange, &is_new, &refusal) == REFUSAL_none);
    for (int i = 0; i < 2; i++) {
        struct snapshot_writer *writer = snapshot_begin(disk, &exchange, kept[i]);
        struct snapshot_head head = { .sequence = kept[i], .frame = kept[i], .boot = 1 };

        CHECK(writer);
        snapshot_section_begin(writer, 1, 1);
        snapshot_bytes(writer, "state", 5);
        memcpy(head.frame_hash, hashes[kept[i]], HASH_BYTES);
        CHECK(snapshot_end(writer, &head) == 0);
    }
    disk_sim_crash(disk, 3);
    retire(disk, 2); /* wholly below the older */
    for (int damaged = 0; damaged <= 2; damaged++) {
        uint64_t after = newest_whole(disk, &exchange);
        uint8_t byte = 0xFF;

        CHECK(after == kept[damaged + 1]);
        CHECK(start_copy(disk, after, &start) == REFUSAL_none);
        CHECK(start.applied == FRAMES && start.result.frames == FRAMES - after);
        CHECK(start.result.archived_frames == (damaged == 2 ? 22 : 0));
        if (damaged < 2)
            disk_sim_poke(disk, damaged == 0 ? "snapshot/47.snap" : "snapshot/25.snap", 4096, &byte,
                          1);
    }
    disk_sim_destroy(disk);
}

/* What must be there; a directory that lacks it has lost something and is not used. */
static void lacking(void)
{
    static const struct {
        int line;
        const char *name;
        uint64_t retired;
        uint64_t after;
        uint64_t removed_from, removed_to; /* segments of journal/ */
        const char *removed;
        enum refusal_kind want;
    } rows[] = {
        { __LINE__, "nothing", 2, 0, 9, 0, NULL, REFUSAL_none },
        { __LINE__, "a segment between archive and journal", 2, 0, 2, 2, NULL,
          REFUSAL_segment_missing },
        { __LINE__, "the same, with a snapshot above", 2, 40, 2, 2, NULL, REFUSAL_segment_missing },
        { __LINE__, "the segments behind the archive", 4, 0, 4, 99, NULL, REFUSAL_segment_missing },
        { __LINE__, "the journal, not its archive", 2, 0, 0, 99, NULL, REFUSAL_segment_missing },
        { __LINE__, "the journal, not a snapshot", 0, 60, 0, 99, NULL, REFUSAL_segment_missing },
        { __LINE__, "all of it", 0, 0, 0, 99, NULL, REFUSAL_segment_missing },
        { __LINE__, "the archive's list", 2, 0, 9, 0, "archive/index", REFUSAL_none },
        { __LINE__, "the same, below a snapshot", 2, 40, 9, 0, "archive/index", REFUSAL_none },
        { __LINE__, "an archived file", 2, 0, 9, 0, "archive/0000000001.seg.zst",
          REFUSAL_archive_damaged },
        { __LINE__, "an archived file, below a snapshot", 2, 40, 9, 0, "archive/0000000001.seg.zst",
          REFUSAL_archive_damaged },
        { __LINE__, "the first segments, without an archive", 0, 0, 0, 1, NULL,
          REFUSAL_segment_missing },
        { __LINE__, "the last frame's segment", 0, 0, 5, 5, NULL, REFUSAL_segment_missing },
    };

    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        struct disk *disk = disk_of_frames();
        char path[DISK_PATH_BYTES];
        struct start start;

        retire(disk, rows[i].retired);
        for (uint64_t n = rows[i].removed_from; n <= rows[i].removed_to; n++) {
            segment_path(path, n, true);
            if (disk_sim_exists(disk, path))
                disk_sim_remove(disk, path);
        }
        if (rows[i].removed)
            disk_sim_remove(disk, rows[i].removed);
        enum refusal_kind kind = start_copy(disk, rows[i].after, &start);

        CHECK_ROW(&rows[i], kind == rows[i].want);
        bool is_list = rows[i].removed && strcmp(rows[i].removed, "archive/index") == 0;
        CHECK_ROW(&rows[i],
                  kind != REFUSAL_none || start.result.archive_relisted == (is_list ? 2 : 0));
        disk_sim_destroy(disk);
    }
}

/* A list that is damaged or gone is made again if the files allow it, else the start is refused. */
static void relisted(void)
{
    static const struct {
        int line;
        const char *name;
        uint64_t after;
        bool is_flipped; /* the list is damaged, not gone */
        const char *flipped;
        int removed; /* files of the archive, lowest first */
        enum refusal_kind want;
        uint64_t relisted;
    } rows[] = {
        { __LINE__, "damaged", 0, true, NULL, 0, REFUSAL_none, 3 },
        { __LINE__, "damaged, a file too", 0, true, "archive/0000000001.seg.zst", 0,
          REFUSAL_archive_damaged, 0 },
        { __LINE__, "gone, a file damaged below a snapshot", 60, false,
          "archive/0000000001.seg.zst", 0, REFUSAL_archive_damaged, 0 },
        { __LINE__, "gone, and the lowest file, below a snapshot", 60, false, NULL, 1, REFUSAL_none,
          2 },
        { __LINE__, "gone with all files, below a snapshot", 60, false, NULL, 3,
          REFUSAL_segment_missing, 0 },
    };

    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        struct disk *disk = disk_of_frames();
        uint8_t byte = 0xFF;
        struct start start;

        retire(disk, 3);
        if (rows[i].is_flipped)
            disk_sim_poke(disk, "archive/index", 100, &byte, 1);
        else
            disk_sim_remove(disk, "archive/index");
        if (rows[i].flipped)
            disk_sim_poke(disk, rows[i].flipped, 50, &byte, 1);
        for (int n = 0; n < rows[i].removed; n++) {
            char path[DISK_PATH_BYTES];

            snprintf(path, sizeof path, "archive/%010d.seg.zst", n);
            disk_sim_remove(disk, path);
        }
        CHECK_ROW(&rows[i], start_copy(disk, rows[i].after, &start) == rows[i].want);
        CHECK_ROW(&rows[i], start.result.archive_relisted == rows[i].relisted);
        CHECK_ROW(&rows[i], rows[i].want != REFUSAL_none || start.applied == FRAMES);
        disk_sim_destroy(disk);
    }
}

/* The very first start dies at any call, twice: the next one is never refused. */
static void first_start(void)
{
    uint64_t images = 0;

    for (uint64_t first = 1; first <= 40; first++) {
        for (uint64_t second = 1; second <= 40; second += 3) {
            struct disk *disk = disk_new();
            struct start start;

            disk_sim_stop_at(disk, first);
            (void)start_on(disk, 0, &start);
            disk_sim_crash(disk, first * 64 + second);
            disk_sim_stop_at(disk, second);
            CHECK(refusal_exit_code(start_on(disk, 0, &start)) < 3);
            disk_sim_crash(disk, second);
            CHECK(start_on(disk, 0, &start) == REFUSAL_none);
            CHECK(start.result.boot >= 1 && start.result.segment_end == 1);
            disk_sim_destroy(disk);
            images++;
        }
    }
    printf("first start: %llu deaths\n", (unsigned long long)images);
}

/* Two segments retired, and the last frame torn: it is cut by the next start. */
static struct disk *disk_to_cut(void)
{
    struct disk *disk = disk_of_frames();
    char path[DISK_PATH_BYTES];
    uint8_t byte = 0;

    retire(disk, 2);
    path_of_frame(path, FRAMES);
    disk_sim_poke(disk, path, offset_of(FRAMES), &byte, 1); /* its magic */
    return disk;
}

/* Death, and a fault, at every call of a start that cuts behind a snapshot's frame: the next start
 * comes to the same. */
static void dies_while_cutting(void)
{
    struct disk *disk = disk_to_cut();
    struct start start;
    uint64_t calls;
    struct disk *copy = disk_sim_copy(disk);

    disk_sim_fail(copy, 0, DISK_SIM_EIO, false);
    CHECK(start_on(copy, 40, &start) == REFUSAL_none);
    calls = disk_sim_calls(copy);
    CHECK(start.applied == FRAMES - 1 && start.result.cut_bytes == 5 * 512);
    disk_sim_destroy(copy);
    for (uint64_t call = 1; call <= calls; call++) {
        for (uint64_t seed = 0; seed < 8; seed++) {
            copy = disk_sim_copy(disk);
            if (seed < 4)
                disk_sim_stop_at(copy, call);
            else
                disk_sim_fail(copy, call, seed & 2 ? DISK_SIM_ENOSPC : DISK_SIM_EIO, seed & 1);
            CHECK(start_on(copy, 40, &start) == REFUSAL_machine);
            CHECK(refusal_exit_code(REFUSAL_machine) == 1 && start.refusal.error < 0);
            disk_sim_crash(copy, seed);
            CHECK(start_on(copy, seed & 1 ? 40 : 0, &start) == REFUSAL_none);
            CHECK(start.applied == FRAMES - 1);
            disk_sim_destroy(copy);
        }
    }
    disk_sim_destroy(disk);
}

static int64_t (*read_of_disk)(struct disk *, int, uint64_t, void *, size_t);
static uint64_t reads;
static uint64_t failing_read;
static bool read_short;

static int64_t read_failing(struct disk *disk, int file, uint64_t offset, void *bytes, size_t count)
{
    if (++reads != failing_read)
        return read_of_disk(disk, file, offset, bytes, count);
    return read_short ? read_of_disk(disk, file, offset, bytes, count / 2) : -EIO;
}

/* A read that fails or ends early, at every one of a start, is not taken for the end of the chain
 * nor for damage: the next start comes to what it should. */
static void reads_fail(void)
{
    struct disk *disk = disk_to_cut();
    struct disk_ops ops = *disk->ops;
    struct start start;
    uint64_t count;

    read_of_disk = ops.read;
    ops.read = read_failing;
    disk->ops = &ops;
    for (uint64_t after = 0; after <= 40; after += 20) {
        failing_read = 0;
        reads = 0;
        CHECK(start_copy(disk, after, &start) == REFUSAL_none);
        count = reads;
        CHECK(count > 20);
        for (uint64_t read = 1; read <= count; read++) {
            for (int how = 0; how < 2; how++) {
                struct disk *copy = disk_sim_copy(disk);
                enum refusal_kind kind;

                reads = 0;
                failing_read = read;
                read_short = how;
                kind = start_on(copy, after, &start);
                CHECK(kind != REFUSAL_none && kind != REFUSAL_frame_damaged);
                CHECK(how || kind == REFUSAL_machine);
                disk_sim_crash(copy, read);
                failing_read = 0;
                CHECK(start_on(copy, after, &start) == REFUSAL_none);
                CHECK(start.applied == FRAMES - 1);
                disk_sim_destroy(copy);
            }
        }
    }
    disk_sim_destroy(disk);
}

/* Step 6: what a start with `none` found in the page cache is on the medium when it has begun. Its
 * process was killed, the machine loses power after the next start. */
static void synced_by_the_start(void)
{
    static const uint64_t places[] = { 0, 11, 15, 24 };
    struct store_options options = store_run_options();
    struct disk *disk = disk_new();
    struct store_run run;
    struct start start;

    options.durability = JOURNAL_NONE;
    CHECK(store_run_begin(&run, disk, &model, &options) == REFUSAL_none);
    CHECK(segment_pool_fill(run.pool, 0) >= 0);
    for (int i = 0; i < 24; i++)
        CHECK(store_run_publish(&run, 2000) && store_run_settle(&run, 100) == 0);
    disk_sim_kill(disk, 1);
    store_run_end(&run);
    for (uint64_t n = 1; n <= 24; n++) {
        uint8_t bytes[5 * 512];
        char path[DISK_PATH_BYTES];

        path_of_frame(path, n);
        disk_sim_peek(disk, path, offset_of(n), bytes, sizeof bytes);
        hash_blake2b256(hashes[n], bytes, sizeof bytes);
    }
    for (size_t i = 0; i < CC_COUNT(places); i++) {
        for (uint64_t seed = 0; seed < 16; seed++) {
            struct disk *copy = disk_sim_copy(disk);

            CHECK(start_on(copy, places[i], &start) == REFUSAL_none && start.applied == 24);
            disk_sim_crash(copy, seed);
            CHECK(start_on(copy, places[i], &start) == REFUSAL_none && start.applied == 24);
            disk_sim_destroy(copy);
        }
    }
    disk_sim_destroy(disk);
}

int main(void)
{
    every_start();
    damage();
    two_snapshots();
    lacking();
    relisted();
    first_start();
    dies_while_cutting();
    reads_fail();
    synced_by_the_start();
    return 0;
}
