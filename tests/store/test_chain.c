/* Frames in order over archive and journal (journal.md, Archive and Recovery): from every frame,
 * through every state of retirement, beside a writer, and what is refused.
 *
 * A sample takes one seed in N of the lawful losses. */
#include <errno.h>

#include "check.h"
#include "sample.h"
#include "store/chain.h"
#include "store_run.h"
#include "support/sim/disk_sim.h"

enum { SEGMENT = 32768, FRAMES = 60, IN_SEGMENT = 11 /* of 5 blocks in 56 */ };

static struct exchange_file exchange;
static struct store_model model;
static struct test_sample sample;
static uint8_t hashes[FRAMES + 1][HASH_BYTES]; /* of each frame, by its number */

/* A directory of FRAMES frames over six segments, a record in each; the process has died. */
static struct disk *disk_of_frames(void)
{
    struct disk_sim_config config = { .seed = 5, .block_bytes = 512, .latency_max = 2 };
    struct store_options options = store_run_options();
    struct disk *disk = disk_sim_create(&config);
    struct store_run run;

    CHECK(disk);
    memset(&model, 0, sizeof model);
    CHECK(store_run_begin(&run, disk, &model, &options) == REFUSAL_none);
    CHECK(segment_pool_fill(run.pool, 0) >= 0);
    for (int i = 0; i < FRAMES; i++)
        CHECK(store_run_publish(&run, 2000) && store_run_settle(&run, 100) == 0);
    exchange = run.exchange;
    disk_sim_crash(disk, 5);
    store_run_end(&run);
    return disk;
}

static struct chain_config config_of(struct disk *disk)
{
    return (struct chain_config){
        .disk = disk, .exchange = &exchange, .segment_bytes = SEGMENT, .last_segment = UINT64_MAX
    };
}

/* Reads to the end: the last frame's number, and what chain_next said there. */
static uint64_t read_all(const struct chain_config *config, struct refusal *refusal, int *end,
                         uint64_t *archived)
{
    uint64_t number = config->after_frame;
    struct chain_frame frame;
    struct chain *chain;

    *archived = 0;
    *end = -1;
    if (chain_open(&chain, config, refusal) != REFUSAL_none)
        return number;
    while ((*end = chain_next(chain, &frame)) > 0) {
        CHECK(frame.header.number == ++number && frame.header.first_sequence == number);
        CHECK(frame.segment == (number - 1) / IN_SEGMENT);
        CHECK(frame.offset == 4096 + (number - 1) % IN_SEGMENT * 5 * 512);
        hash_blake2b256(hashes[number], frame.bytes, frame.header.length);
        CHECK(cc_load64(frame.bytes + FRAME_HEADER_BYTES + RECORD_HEADER_BYTES) ==
              model.words[number]);
        CHECK(chain_position(chain).tail.number == number);
        *archived += frame.archived;
    }
    CHECK(*end < 0 || chain_next(chain, &frame) == 0); /* and again */
    chain_close(chain);
    return number;
}

/* Archives the segments below `count` and takes them from the journal. */
static void retire(struct disk *disk, uint64_t count)
{
    struct archive archive;
    struct refusal refusal;

    CHECK(archive_open(&archive, disk, &exchange, &refusal) == REFUSAL_none);
    while (archive.count < count) {
        uint64_t segment = archive.count;
        char path[DISK_PATH_BYTES];

        CHECK(archive_store(&archive, disk, &exchange, segment, SEGMENT) == 0);
        segment_path(path, segment, true);
        CHECK(disk_remove(disk, path) == 0);
    }
    archive_close(&archive);
}

/* Genesis, then each frame as the one that is known, with 0 to 5 segments in the archive. */
static void every_place(void)
{
    struct disk *disk = disk_of_frames();
    struct chain_config config = config_of(disk);
    struct refusal refusal;
    uint64_t archived;
    int end;

    for (uint64_t retired = 0; retired <= 5; retired++) {
        retire(disk, retired);
        config.after_frame = 0;
        CHECK(read_all(&config, &refusal, &end, &archived) == FRAMES && end == 0);
        CHECK(archived == retired * IN_SEGMENT);
        for (uint64_t after = 1; after <= FRAMES; after++) {
            config.after_frame = after;
            memcpy(config.after_hash, hashes[after], HASH_BYTES);
            CHECK(read_all(&config, &refusal, &end, &archived) == FRAMES && end == 0);
            CHECK(archived == (after < retired * IN_SEGMENT ? retired * IN_SEGMENT - after : 0));
        }
        /* A frame that is not there, and one with another hash: a state that is no prefix. */
        config.after_frame = FRAMES + 1;
        CHECK(read_all(&config, &refusal, &end, &archived) == FRAMES + 1 && end < 0);
        CHECK(refusal.kind == REFUSAL_snapshot_ahead);
        for (uint64_t after = 1; after <= FRAMES; after += 7) {
            config.after_frame = after;
            memcpy(config.after_hash, hashes[after], HASH_BYTES);
            config.after_hash[31] ^= 1;
            CHECK(read_all(&config, &refusal, &end, &archived) == after && end < 0);
            CHECK(refusal.kind == REFUSAL_snapshot_ahead);
        }
    }
    disk_sim_destroy(disk);
}

/* last_segment bounds what is read; the position behind is the end of that segment. */
static void bounded(void)
{
    struct disk *disk = disk_of_frames();
    struct chain_config config = config_of(disk);
    struct refusal refusal;
    uint64_t archived;
    int end;

    for (uint64_t retired = 0; retired <= 4; retired += 2) {
        retire(disk, retired);
        for (config.last_segment = 0; config.last_segment < 5; config.last_segment++)
            CHECK(read_all(&config, &refusal, &end, &archived) ==
                      (config.last_segment + 1) * IN_SEGMENT &&
                  end == 0);
    }
    disk_sim_destroy(disk);
}

/* What recovery says of the same directory: the verdict, and how many frames are in the chain. */
static enum refusal_kind recovered(const struct disk *disk, uint64_t *frames)
{
    struct disk *copy = disk_sim_copy(disk);
    struct store_options options = store_run_options();
    static struct store_model unknown;
    struct store_run run;
    enum refusal_kind kind;

    unknown = model;
    unknown.acknowledged = 0;
    kind = store_run_begin(&run, copy, &unknown, &options);
    *frames = run.recovered.frames;
    if (kind == REFUSAL_none)
        store_run_end(&run);
    disk_sim_destroy(copy);
    return kind;
}

/* Each frame damaged, at its head, in its middle, or lost: the chain gives all before it, and
 * refuses exactly where recovery does (steps 4 and 5). */
static void damage(void)
{
    struct disk *disk = disk_of_frames();
    struct chain_config config = config_of(disk);
    static const uint8_t nothing[5 * 512];
    int lawful_ends = 0;

    for (uint64_t number = 1; number <= FRAMES; number++) {
        for (int how = 0; how < 3; how++) {
            struct disk *copy = disk_sim_copy(disk);
            uint64_t offset = 4096 + (number - 1) % IN_SEGMENT * 5 * 512;
            char path[DISK_PATH_BYTES];
            struct refusal refusal;
            uint64_t archived;
            uint64_t frames;
            uint8_t byte;
            int end;

            segment_path(path, (number - 1) / IN_SEGMENT, true);
            disk_sim_peek(copy, path, offset + (how == 0 ? 3 : 1200), &byte, 1);
            byte ^= 4;
            if (how == 2)
                disk_sim_poke(copy, path, offset, nothing, sizeof nothing);
            else
                disk_sim_poke(copy, path, offset + (how == 0 ? 3 : 1200), &byte, 1);
            config.disk = copy;
            CHECK(read_all(&config, &refusal, &end, &archived) == number - 1);
            if (end < 0) {
                CHECK(refusal.kind == REFUSAL_frame_damaged);
                CHECK(refusal.segment == (number - 1) / IN_SEGMENT ||
                      (refusal.segment + 1) * IN_SEGMENT == number - 1);
            }
            CHECK(recovered(copy, &frames) == (end < 0 ? REFUSAL_frame_damaged : REFUSAL_none));
            CHECK(end < 0 || frames == number - 1);
            lawful_ends += end == 0;
            disk_sim_destroy(copy);
        }
    }
    CHECK(lawful_ends == 3); /* the last frame was not yet named durable */
    disk_sim_destroy(disk);
}

/* Files that are missing, of another size, of another exchange. */
static void files_refused(void)
{
    static const struct {
        int line;
        const char *name;
        const char *removed;
        uint64_t frames;
        enum refusal_kind want;
    } rows[] = {
        { __LINE__, "a segment between", "journal/0000000003.seg", 0, REFUSAL_segment_missing },
        { __LINE__, "the one behind the archive", "journal/0000000002.seg", 22,
          REFUSAL_segment_missing },
        { __LINE__, "an archived file", "archive/0000000001.seg.zst", 0, REFUSAL_archive_damaged },
        { __LINE__, "the archive's list", "archive/index", 0, REFUSAL_segment_missing },
    };

    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        struct disk *disk = disk_of_frames();
        struct chain_config config = config_of(disk);
        struct refusal refusal;
        uint64_t archived;
        int end;

        retire(disk, 2);
        disk_sim_remove(disk, rows[i].removed);
        CHECK_ROW(&rows[i], read_all(&config, &refusal, &end, &archived) == rows[i].frames);
        CHECK_ROW(&rows[i], end < 0 && refusal.kind == rows[i].want);
        disk_sim_destroy(disk);
    }
}

static void headers_refused(void)
{
    for (int row = 0; row < 3; row++) {
        struct disk *disk = disk_of_frames();
        struct chain_config config = config_of(disk);
        struct exchange_file other = exchange;
        struct refusal refusal;
        uint64_t archived;
        uint8_t byte = 0xAA;
        int end;

        if (row == 0) /* a byte of a header */
            disk_sim_poke(disk, "journal/0000000002.seg", 81, &byte, 1);
        other.exchange_id[0] ^= row == 1;
        if (row == 1) /* another exchange's `exchange` */
            config.exchange = &other;
        if (row == 2) /* another size */
            config.segment_bytes = 2 * SEGMENT;
        CHECK(read_all(&config, &refusal, &end, &archived) == (row == 0 ? 22 : 0) && end < 0);
        CHECK(refusal.kind == (row == 2 ? REFUSAL_segment_size : REFUSAL_segment_header));
        if (row == 0) { /* and nothing but zeros after it: prepared and never used */
            static const uint8_t zeros[SEGMENT - SEGMENT_FRAMES_OFFSET];

            for (uint64_t n = 2; n < 8; n++) {
                char path[DISK_PATH_BYTES];

                segment_path(path, n, true);
                if (disk_sim_exists(disk, path))
                    disk_sim_poke(disk, path, SEGMENT_FRAMES_OFFSET, zeros, sizeof zeros);
            }
            CHECK(read_all(&config, &refusal, &end, &archived) == 22);
            CHECK(end == 0 || refusal.kind == REFUSAL_frame_damaged);
        }
        disk_sim_destroy(disk);
    }
}

/* A directory without anything: an empty chain. */
static void empty(void)
{
    struct disk_sim_config sim = { .seed = 5, .block_bytes = 512 };
    struct disk *disk = disk_sim_create(&sim);
    struct chain_config config = config_of(disk);
    struct chain_frame frame;
    struct refusal refusal;
    struct chain *chain;
    bool is_new;

    CHECK(exchange_file_open(disk, NULL, &exchange, &is_new, &refusal) == REFUSAL_none);
    CHECK(chain_open(&chain, &config, &refusal) == REFUSAL_none);
    CHECK(chain_next(chain, &frame) == 0 && chain_next(chain, &frame) == 0);
    CHECK(chain_position(chain).segment == 0 && chain_position(chain).offset == 4096);
    chain_close(chain);
    disk_sim_destroy(disk);
}

/* Frames there are to read now, at most `max`; each follows the one before. */
static int read_some(struct chain *chain, int max, uint64_t *sequence, uint64_t *archived)
{
    struct chain_frame frame;
    int found = 1;
    int count = 0;

    while (count < max && (found = chain_next(chain, &frame)) > 0) {
        CHECK(frame.header.first_sequence == *sequence + 1);
        *sequence = frame.header.last_sequence;
        *archived += frame.archived;
        count++;
    }
    CHECK(found >= 0);
    return count;
}

/* Beside a writer: what is there later comes later, frames in flight are no damage, and a segment
 * that is archived and retired under the reader is read from the archive. */
static void beside_a_writer(void)
{
    struct disk_sim_config sim = { .seed = 5, .block_bytes = 512, .latency_max = 3 };
    struct store_options options = store_run_options();
    struct disk *disk = disk_sim_create(&sim);
    struct chain_config config = config_of(disk);
    uint64_t sequence = 0;
    uint64_t archived = 0;
    struct refusal refusal;
    struct store_run run;
    struct chain *chain;

    CHECK(disk);
    memset(&model, 0, sizeof model);
    CHECK(store_run_begin(&run, disk, &model, &options) == REFUSAL_none);
    exchange = run.exchange;
    CHECK(chain_open(&chain, &config, &refusal) == REFUSAL_none);
    for (int turn = 0; turn < 600; turn++) {
        if (model.published < 300)
            (void)store_run_publish(&run, 2000);
        CHECK(store_run_step(&run) >= 0); /* up to four in flight, in any order */
        (void)read_some(chain, turn % 2, &sequence, &archived);
        CHECK(sequence <= model.published);
        if (turn % 16 == 0 && turn > 80 && turn < 400) { /* those that are whole for sure */
            struct disk *copy = disk_sim_copy(disk);
            uint64_t behind = 0;
            uint64_t unused = 0;
            struct chain *ahead;

            config.disk = copy;
            CHECK(chain_open(&ahead, &config, &refusal) == REFUSAL_none);
            (void)read_some(ahead, 1000, &behind, &unused);
            uint64_t sealed = chain_position(ahead).segment;

            chain_close(ahead);
            disk_sim_destroy(copy);
            retire(disk, sealed);
        }
    }
    CHECK(store_run_settle(&run, 1000) == 0);
    (void)read_some(chain, 1000, &sequence, &archived);
    CHECK(sequence == model.published && sequence == 300 && archived > 20);
    chain_close(chain);
    disk_sim_crash(disk, 1);
    store_run_end(&run);
    disk_sim_destroy(disk);
}

/* A reader that is bounded to the segment which is being written sees each frame that arrives. */
static void polled(void)
{
    struct disk_sim_config sim = { .seed = 5, .block_bytes = 512, .latency_max = 2 };
    struct store_options options = store_run_options();
    struct disk *disk = disk_sim_create(&sim);
    struct chain_config config = config_of(disk);
    uint64_t sequence = 0;
    uint64_t archived = 0;
    struct refusal refusal;
    struct store_run run;
    struct chain *chain;

    CHECK(disk);
    memset(&model, 0, sizeof model);
    CHECK(store_run_begin(&run, disk, &model, &options) == REFUSAL_none);
    CHECK(segment_pool_fill(run.pool, 0) >= 0);
    exchange = run.exchange;
    config.last_segment = 0;
    CHECK(chain_open(&chain, &config, &refusal) == REFUSAL_none);
    for (uint64_t i = 1; i <= 2 * IN_SEGMENT; i++) {
        CHECK(store_run_publish(&run, 2000) && store_run_settle(&run, 100) == 0);
        (void)read_some(chain, 1000, &sequence, &archived);
        CHECK(sequence == (i < IN_SEGMENT ? i : IN_SEGMENT));
    }
    chain_close(chain);
    disk_sim_crash(disk, 1);
    store_run_end(&run);
    disk_sim_destroy(disk);
}

/* What is archived was sealed: the frame behind it was durable, whatever else is lost. */
static void behind_the_archive(void)
{
    static const uint8_t nothing[SEGMENT - 4096];
    struct disk *disk = disk_of_frames();
    struct chain_config config = config_of(disk);
    struct refusal refusal;
    uint64_t archived;
    uint64_t frames;
    char path[DISK_PATH_BYTES];
    int end;

    retire(disk, 2);
    for (uint64_t n = 2; segment_path(path, n, true), disk_sim_exists(disk, path); n++)
        disk_sim_poke(disk, path, 4096, nothing, sizeof nothing);
    CHECK(read_all(&config, &refusal, &end, &archived) == 2 * IN_SEGMENT && end < 0);
    CHECK(refusal.kind == REFUSAL_frame_damaged);
    CHECK(recovered(disk, &frames) == REFUSAL_frame_damaged);
    disk_sim_destroy(disk);
}

/* Frames that chain, however long they are: their number and what was said at their end. */
static uint64_t frames_counted(struct disk *disk, int *end)
{
    struct chain_config config = config_of(disk);
    uint64_t count = 0;
    struct chain_frame frame;
    struct refusal refusal;
    struct chain *chain;

    CHECK(chain_open(&chain, &config, &refusal) == REFUSAL_none);
    while ((*end = chain_next(chain, &frame)) > 0)
        count++;
    CHECK(*end == 0 || refusal.kind == REFUSAL_frame_damaged);
    chain_close(chain);
    return count;
}

/* Losses of power and deaths with frames in flight, over starts that cut, with both durabilities
 * and on a device whose blocks grew: what a reader gives is what the next start takes. */
static void lawful_losses(void)
{
    struct store_options options = store_run_options();
    uint64_t images = 0;
    uint64_t shorter = 0;

    for (uint64_t seed = 0; seed < 24; seed++) {
        if (!sample_takes(&sample, seed))
            continue;
        struct disk_sim_config sim = { .seed = seed, .block_bytes = 512, .latency_max = 4 };
        struct disk *disk = disk_sim_create(&sim);

        CHECK(disk);
        memset(&model, 0, sizeof model);
        model.random = seed;
        for (int life = 0; life < 6; life++) {
            struct store_run run;

            options.durability = (seed + (uint64_t)life) % 3 == 0 ? JOURNAL_NONE : JOURNAL_LOCAL;
            if (life == 4)
                disk->block_bytes = 4096;
            CHECK(store_run_begin(&run, disk, &model, &options) == REFUSAL_none);
            exchange = run.exchange;
            for (int turn = 0; turn < 60; turn++) {
                (void)store_run_publish(&run, 100 + (uint32_t)((seed + (uint64_t)turn) % 7) * 300);
                CHECK(store_run_step(&run) >= 0);
            }
            for (uint64_t loss = 0; loss < 8; loss++, images++) {
                struct disk *copy = disk_sim_copy(disk);
                uint64_t started;
                uint64_t read;
                int end;

                if (loss & 1)
                    disk_sim_kill(copy, loss);
                else
                    disk_sim_crash(copy, loss);
                read = frames_counted(copy, &end);
                CHECK(recovered(copy, &started) == REFUSAL_none);
                CHECK(end == 0 && read == started);
                shorter += read < journal_counters(run.journal).frames;
                disk_sim_destroy(copy);
            }
            disk_sim_crash(disk, seed * 64 + (uint64_t)life);
            store_run_end(&run);
            if (options.durability == JOURNAL_NONE)
                model.acknowledged = 0; /* nothing was promised */
        }
        disk_sim_destroy(disk);
    }
    CHECK(shorter > 0);
    printf("chain: %llu images read as the next start does\n", (unsigned long long)images);
}

int main(void)
{
    sample = sample_read();
    every_place();
    bounded();
    damage();
    files_refused();
    headers_refused();
    empty();
    beside_a_writer();
    polled();
    behind_the_archive();
    lawful_losses();
    return 0;
}
