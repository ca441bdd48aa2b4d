/* The archive (journal.md, Archive): what was stored comes back byte for byte, what was damaged is
 * refused, and a crash or a fault at any call leaves a list whose every line is true.
 *
 * With a folder as argument a directory with journal and archive is left there, for
 * test_archive_format.py to read. */
#include <errno.h>

#include "archive_run.h"
#include "base/crc32c.h"
#include "check.h"
#include "store/archive_file.h"
#include "store/archive_index.h"
#include "store/disk_real.h"
#include "support/sim/disk_sim.h"
#include "support/sim/sim_image.h"

enum { SEALED = ARCHIVE_RUN_SEALED };

static struct store_model model;
static struct exchange_file exchange;
static uint32_t segment_bytes;

static struct disk *disk_new(uint64_t seed)
{
    return archive_run_disk(seed, &model, &exchange, &segment_bytes);
}

static enum refusal_kind open_kind(struct archive *archive, struct disk *disk)
{
    return archive_run_open(archive, disk, &exchange);
}

static enum refusal_kind load_kind(const struct archive *archive, struct disk *disk,
                                   uint64_t segment)
{
    uint8_t *bytes = malloc(segment_bytes);
    struct refusal refusal;
    enum refusal_kind kind;

    CHECK(bytes);
    refusal_clear(&refusal);
    kind = archive_load(archive, disk, &exchange, segment, segment_bytes, bytes, &refusal);
    CHECK(kind == refusal.kind);
    free(bytes);
    return kind;
}

/* Everything comes back; the list says the same when it is read again; the order is kept. */
static void stored_and_loaded(void)
{
    struct disk *disk = disk_new(1);
    struct disk *before = disk_sim_copy(disk);
    struct archive archive;
    struct archive again;
    uint64_t packed = 0;

    CHECK(open_kind(&archive, disk) == REFUSAL_none);
    CHECK(archive.count == 0 && !archive_find(&archive, 0));
    CHECK(load_kind(&archive, disk, 0) == REFUSAL_segment_missing);
    CHECK(archive_store(&archive, disk, &exchange, 1, segment_bytes) == -EBADMSG);
    archive_run_store(&archive, disk, &exchange, 3, segment_bytes);
    CHECK(archive_store(&archive, disk, &exchange, 2, segment_bytes) == -EBADMSG);
    CHECK(archive_store(&archive, disk, &exchange, 4, segment_bytes) == -EBADMSG);
    archive_run_store(&archive, disk, &exchange, SEALED, segment_bytes);
    CHECK(archive.rows[0].first_frame == 1 && archive.rows[0].first_sequence == 1);
    for (uint64_t i = 0; i < SEALED; i++) {
        const struct archive_row *row = archive_find(&archive, i);

        CHECK(row == &archive.rows[i] && row->segment == i);
        CHECK(row->last_t_ns == row->last_sequence); /* store_run publishes so */
        packed += row->bytes;
    }
    CHECK(!archive_find(&archive, SEALED));
    CHECK(packed < (uint64_t)SEALED * segment_bytes);
    CHECK(!disk_sim_exists(disk, "archive/0000000000.seg.zst.part"));
    CHECK(!disk_sim_exists(disk, "archive/index.next"));
    CHECK(open_kind(&again, disk) == REFUSAL_none);
    archive_run_equal(&archive, &again);
    archive_run_check(&again, disk, before, &exchange, segment_bytes);
    archive_close(&again);
    archive_close(&archive);
    disk_sim_destroy(before);
    disk_sim_destroy(disk);
}

/* A segment that is not whole to its end, of another exchange, or behind another one. */
static void unfit_segments(void)
{
    static const struct {
        int line;
        const char *name;
        uint64_t offset; /* of the byte that is changed in segment 1 */
    } rows[] = {
        { __LINE__, "its magic", 0 },
        { __LINE__, "its exchange id", 32 },
        { __LINE__, "its number", 80 },
        { __LINE__, "the zeros of its header", 4000 },
        { __LINE__, "its first frame", SEGMENT_FRAMES_OFFSET + 200 },
        { __LINE__, "its chain to the one before", SEGMENT_FRAMES_OFFSET + 96 },
        { __LINE__, "its last block", 32768 - 512 },
    };

    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        struct disk *disk = disk_new(2);
        struct archive archive = { 0 };
        uint8_t byte;

        archive_run_store(&archive, disk, &exchange, 1, segment_bytes);
        disk_sim_peek(disk, "journal/0000000001.seg", rows[i].offset, &byte, 1);
        byte ^= 4;
        disk_sim_poke(disk, "journal/0000000001.seg", rows[i].offset, &byte, 1);
        CHECK_ROW(&rows[i], archive_store(&archive, disk, &exchange, 1, segment_bytes) == -EBADMSG);
        CHECK_ROW(&rows[i], archive.count == 1);
        CHECK_ROW(&rows[i], !disk_sim_exists(disk, "archive/0000000001.seg.zst"));
        archive_close(&archive);
        disk_sim_destroy(disk);
    }
}

/* Frames that are whole and follow something else: of another chain, or out of the middle. */
static void unchained_segments(void)
{
    static const uint64_t offsets[] = { 96, 48, 32 }; /* previous_hash, frame number, boot */

    for (size_t i = 0; i < CC_COUNT(offsets); i++) {
        struct disk *disk = disk_new(2);
        uint8_t *segment = malloc(segment_bytes);
        struct archive archive = { 0 };
        uint8_t *frame = segment + SEGMENT_FRAMES_OFFSET;
        uint32_t length;

        CHECK(segment);
        archive_run_store(&archive, disk, &exchange, 1, segment_bytes);
        disk_sim_peek(disk, "journal/0000000001.seg", 0, segment, segment_bytes);
        length = cc_load32(frame + 80);
        if (offsets[i] == 32) /* a boot below that of the frame in front of it */
            frame += length;
        length = cc_load32(frame + 80);
        frame[offsets[i]] ^= offsets[i] == 32 ? frame[offsets[i]] : 4;
        cc_store32(frame + 12, crc32c(frame + 16, length - 16));
        disk_sim_poke(disk, "journal/0000000001.seg", 0, segment, segment_bytes);
        CHECK(archive_store(&archive, disk, &exchange, 1, segment_bytes) == -EBADMSG);
        CHECK(archive.count == 1);
        free(segment);
        archive_close(&archive);
        disk_sim_destroy(disk);
    }
}

/* A prepared segment holds no frame; a missing one cannot be read. */
static void absent_segments(void)
{
    struct disk *disk = disk_new(3);
    struct segment_header header = segment_header_of(&exchange, 2, 1, 512);
    uint8_t *blank = calloc(1, segment_bytes);
    struct archive archive = { 0 };

    CHECK(blank);
    segment_encode(blank, &header);
    archive_run_store(&archive, disk, &exchange, 2, segment_bytes);
    disk_sim_poke(disk, "journal/0000000002.seg", 0, blank, segment_bytes);
    CHECK(archive_store(&archive, disk, &exchange, 2, segment_bytes) == -EBADMSG);
    disk_sim_remove(disk, "journal/0000000002.seg");
    CHECK(archive_store(&archive, disk, &exchange, 2, segment_bytes) == -ENOENT);
    CHECK(archive.count == 2);
    free(blank);
    archive_close(&archive);
    disk_sim_destroy(disk);
}

/* Each byte of a listed file and of the list, and each shorter length of the list: refused. */
static void flips(void)
{
    struct disk *disk = disk_new(4);
    struct archive archive = { 0 };
    const char *file = "archive/0000000001.seg.zst";
    const char *index = "archive/index";
    uint64_t flips = 0;

    archive_run_store(&archive, disk, &exchange, 2, segment_bytes);
    for (uint64_t at = 0; at < disk_sim_file_bytes(disk, file); at++, flips++) {
        uint8_t byte;

        disk_sim_peek(disk, file, at, &byte, 1);
        byte ^= (uint8_t)(1U << at % 8);
        disk_sim_poke(disk, file, at, &byte, 1);
        CHECK(load_kind(&archive, disk, 1) == REFUSAL_archive_damaged);
        byte ^= (uint8_t)(1U << at % 8);
        disk_sim_poke(disk, file, at, &byte, 1);
    }
    CHECK(load_kind(&archive, disk, 1) == REFUSAL_none);
    for (uint64_t at = 0; at < disk_sim_file_bytes(disk, index); at++) {
        for (int bit = 0; bit < 8; bit++, flips++) {
            struct archive other;
            enum refusal_kind kind;
            uint8_t byte;

            disk_sim_peek(disk, index, at, &byte, 1);
            byte ^= (uint8_t)(1U << bit);
            disk_sim_poke(disk, index, at, &byte, 1);
            kind = open_kind(&other, disk);
            CHECK(kind == REFUSAL_archive_list);
            CHECK(refusal_exit_code(kind) == 3 && !other.rows);
            byte ^= (uint8_t)(1U << bit);
            disk_sim_poke(disk, index, at, &byte, 1);
        }
    }
    printf("archive: %llu flipped bits refused\n", (unsigned long long)flips);
    archive_close(&archive);
    disk_sim_destroy(disk);
}

/* Past the file's hash: what zstd and the survey let through is the same segment. */
static void flips_unpacked(void)
{
    struct disk *disk = disk_new(5);
    uint8_t *segment = malloc(segment_bytes);
    uint8_t *out = malloc(segment_bytes);
    struct archive_row row;
    struct archive_row found;
    size_t file_bytes;
    uint8_t *file;
    int same = 0;

    CHECK(segment && out);
    disk_sim_peek(disk, "journal/0000000000.seg", 0, segment, segment_bytes);
    CHECK(archive_file_survey(&row, segment, segment_bytes, &exchange, 0, NULL) == 0);
    CHECK(archive_file_pack(&file, &file_bytes, segment, segment_bytes) == 0);
    CHECK(file_bytes <= archive_file_bytes_max(segment_bytes));
    for (size_t at = 0; at < file_bytes; at++) {
        file[at] ^= (uint8_t)(1U << at % 8);
        if (archive_file_unpack(out, segment_bytes, file, file_bytes) == 0 &&
            archive_file_survey(&found, out, segment_bytes, &exchange, 0, NULL) == 0) {
            CHECK(memcmp(out, segment, segment_bytes) == 0);
            same++;
        }
        file[at] ^= (uint8_t)(1U << at % 8);
        CHECK(archive_file_unpack(out, segment_bytes, file, at) == -EBADMSG); /* cut short */
    }
    CHECK(same < 8); /* bits of zstd's own head that mean nothing */
    CHECK(archive_file_unpack(out, segment_bytes, file, file_bytes) == 0);
    CHECK(memcmp(out, segment, segment_bytes) == 0);
    CHECK(archive_file_unpack(out, SEGMENT_BYTES_MIN, file, file_bytes) == -EBADMSG);
    free(file);
    free(segment);
    free(out);
    disk_sim_destroy(disk);
}

/* Another exchange's archive; a file that is gone; one that was exchanged for another. */
static void mixtures(void)
{
    struct disk *disk = disk_new(6);
    struct archive archive = { 0 };
    struct archive other;

    archive_run_store(&archive, disk, &exchange, 3, segment_bytes);
    exchange.exchange_id[0] ^= 1;
    CHECK(open_kind(&other, disk) == REFUSAL_archive_foreign);
    CHECK(load_kind(&archive, disk, 1) == REFUSAL_archive_damaged); /* its header says whose */
    exchange.exchange_id[0] ^= 1;
    CHECK(disk_rename(disk, "archive/0000000001.seg.zst", "archive/0000000002.seg.zst") == 0);
    CHECK(load_kind(&archive, disk, 2) != REFUSAL_none);
    CHECK(open_kind(&other, disk) == REFUSAL_archive_damaged);
    CHECK(refusal_exit_code(REFUSAL_archive_damaged) == 3);
    archive_close(&archive);
    disk_sim_destroy(disk);
}

/* The disk of a store that was cut short: each line of the list is true, and it goes on. */
static void after_store(struct disk *disk, struct disk *before, uint64_t count_min)
{
    struct archive archive;

    CHECK(open_kind(&archive, disk) == REFUSAL_none);
    CHECK(archive.count == count_min || archive.count == count_min + 1);
    archive_run_check(&archive, disk, before, &exchange, segment_bytes);
    archive_run_store(&archive, disk, &exchange, SEALED, segment_bytes);
    archive_run_check(&archive, disk, before, &exchange, segment_bytes);
    archive_close(&archive);
}

static void power_loss_while_storing(void)
{
    struct disk *disk = disk_new(7);
    struct archive archive = { 0 };
    bool is_done = false;
    int kept[2] = { 0 };

    archive_run_store(&archive, disk, &exchange, 1, segment_bytes);
    for (uint64_t call = 1; !is_done; call++) {
        for (uint64_t seed = 1; seed <= 12; seed++) {
            struct disk *copy = disk_sim_copy(disk);
            struct archive own;
            int error;

            CHECK(open_kind(&own, copy) == REFUSAL_none);
            disk_sim_stop_at(copy, call);
            error = archive_store(&own, copy, &exchange, 1, segment_bytes);
            is_done = error == 0;
            CHECK(is_done || error == -EIO);
            CHECK(own.count == 1U + is_done);
            archive_close(&own);
            if (seed % 3 == 0)
                disk_sim_kill(copy, seed);
            else
                disk_sim_crash(copy, seed);
            CHECK(open_kind(&own, copy) == REFUSAL_none);
            CHECK(!is_done || own.count == 2); /* what it said is kept */
            kept[own.count - 1]++;
            archive_close(&own);
            after_store(copy, disk, 1);
            disk_sim_destroy(copy);
        }
    }
    CHECK(kept[0] > 0 && kept[1] > 12); /* also of those that were cut short */
    archive_close(&archive);
    disk_sim_destroy(disk);
}

static void faults_while_storing(void)
{
    struct disk *disk = disk_new(8);
    struct archive archive = { 0 };
    int failed = 0;

    archive_run_store(&archive, disk, &exchange, 1, segment_bytes);
    for (int kind = 0; kind < 6; kind++) {
        bool is_done = false;

        for (uint64_t call = 1; !is_done; call++) {
            struct disk *copy = disk_sim_copy(disk);
            struct archive own;
            int error;

            CHECK(open_kind(&own, copy) == REFUSAL_none);
            disk_sim_fail(copy, call, (enum disk_sim_fault)(kind / 2), kind % 2 == 1);
            error = archive_store(&own, copy, &exchange, 1, segment_bytes);
            is_done = error == 0;
            failed += error < 0;
            CHECK(is_done || error == -EIO || error == -ENOSPC);
            CHECK(own.count == 1U + is_done);
            disk_sim_fail(copy, 0, DISK_SIM_EIO, false);
            if (!is_done) /* tried again by the same process, then by another */
                CHECK(archive_store(&own, copy, &exchange, 1, segment_bytes) == 0);
            archive_close(&own);
            disk_sim_crash(copy, call);
            CHECK(open_kind(&own, copy) == REFUSAL_none && own.count == 2);
            archive_close(&own);
            after_store(copy, disk, 2);
            disk_sim_destroy(copy);
        }
    }
    CHECK(failed >= 6 * 6);
    archive_close(&archive);
    disk_sim_destroy(disk);
}

/* A medium that gives back other bytes than it took is found out before the list names the file. */
static const struct disk_ops *kind_ops;

static int write_wrong(struct disk *disk, int file, uint64_t offset, const void *bytes,
                       size_t count)
{
    uint8_t *wrong = malloc(count);
    int error;

    CHECK(wrong);
    memcpy(wrong, bytes, count);
    wrong[count / 2] ^= 1;
    error = kind_ops->write(disk, file, offset, wrong, count);
    free(wrong);
    return error;
}

static void read_back(void)
{
    struct disk *disk = disk_new(9);
    struct disk_ops wrong = *disk->ops;
    struct archive archive = { 0 };

    archive_run_store(&archive, disk, &exchange, 1, segment_bytes);
    kind_ops = disk->ops;
    wrong.write = write_wrong;
    disk->ops = &wrong;
    CHECK(archive_store(&archive, disk, &exchange, 1, segment_bytes) == -EBADMSG);
    disk->ops = kind_ops;
    CHECK(archive.count == 1);
    CHECK(!disk_sim_exists(disk, "archive/0000000001.seg.zst.part"));
    archive_close(&archive);
    CHECK(open_kind(&archive, disk) == REFUSAL_none && archive.count == 1);
    archive_close(&archive);
    disk_sim_destroy(disk);
}

/* Age and number both bound what goes; the last stays; a crash leaves no line without a file. */
static void pruned(void)
{
    struct disk *disk = disk_new(10);
    struct disk *before = disk_sim_copy(disk);
    struct archive archive = { 0 };
    uint64_t old[SEALED];
    bool is_done = false;

    archive_run_store(&archive, disk, &exchange, SEALED, segment_bytes);
    for (int i = 0; i < SEALED; i++)
        old[i] = archive.rows[i].last_t_ns;
    CHECK(archive_prune(&archive, disk, &exchange, 0, UINT64_MAX) == 0);
    CHECK(archive_prune(&archive, disk, &exchange, UINT64_MAX, 0) == 0);
    CHECK(archive_prune(&archive, disk, &exchange, old[0], UINT64_MAX) == 0); /* not older */
    for (uint64_t call = 1; !is_done; call++) {
        for (uint64_t seed = 1; seed <= 8; seed++) {
            struct disk *copy = disk_sim_copy(disk);
            struct archive own;
            int gone;

            CHECK(open_kind(&own, copy) == REFUSAL_none);
            disk_sim_stop_at(copy, call);
            gone = archive_prune(&own, copy, &exchange, UINT64_MAX, 2);
            is_done = gone == 2;
            CHECK(is_done || gone == -EIO);
            archive_close(&own);
            disk_sim_crash(copy, seed);
            CHECK(open_kind(&own, copy) == REFUSAL_none);
            CHECK(own.count == SEALED || own.count == SEALED - 2);
            archive_run_check(&own, copy, before, &exchange, segment_bytes);
            CHECK(archive_prune(&own, copy, &exchange, UINT64_MAX, 2) >= 0);
            CHECK(own.count == SEALED - 2 && own.rows[0].segment == 2);
            CHECK(archive_prune(&own, copy, &exchange, UINT64_MAX, 3) == 1);
            CHECK(!disk_sim_exists(copy, "archive/0000000000.seg.zst"));
            CHECK(!disk_sim_exists(copy, "archive/0000000001.seg.zst"));
            archive_run_check(&own, copy, before, &exchange, segment_bytes);
            archive_close(&own);
            disk_sim_destroy(copy);
        }
    }
    CHECK(archive_prune(&archive, disk, &exchange, old[0] + 1, UINT64_MAX) == 1);
    CHECK(archive_prune(&archive, disk, &exchange, UINT64_MAX, UINT64_MAX) == SEALED - 2);
    CHECK(archive.count == 1 && archive.rows[0].segment == SEALED - 1);
    archive_run_check(&archive, disk, before, &exchange, segment_bytes);
    archive_close(&archive);
    disk_sim_destroy(before);
    disk_sim_destroy(disk);
}

/* A list that was made again above a lost file names nothing below it: what lies there is the only
 * copy of its records, and goes when segments above it are removed for their age. */
static void pruned_above_a_hole(void)
{
    struct disk *disk = disk_new(11);
    struct archive archive = { 0 };
    struct refusal refusal;
    uint64_t relisted;

    archive_run_store(&archive, disk, &exchange, SEALED, segment_bytes);
    uint64_t first_t_ns = archive.rows[0].last_t_ns;
    archive_close(&archive);
    CHECK(disk_remove(disk, "archive/0000000002.seg.zst") == 0);
    CHECK(disk_remove(disk, "archive/index") == 0);
    CHECK(archive_mend(&archive, disk, &exchange, segment_bytes, SEALED, &relisted, &refusal) ==
              REFUSAL_none &&
          relisted == SEALED - 3);
    CHECK(archive_prune(&archive, disk, &exchange, first_t_ns + 1, UINT64_MAX) == 0);
    CHECK(archive_prune(&archive, disk, &exchange, UINT64_MAX, 3) == 0);
    CHECK(disk_sim_exists(disk, "archive/0000000000.seg.zst"));
    CHECK(disk_sim_exists(disk, "archive/0000000001.seg.zst"));
    CHECK(archive_prune(&archive, disk, &exchange, UINT64_MAX, 4) == 1);
    CHECK(!disk_sim_exists(disk, "archive/0000000000.seg.zst"));
    CHECK(!disk_sim_exists(disk, "archive/0000000001.seg.zst"));
    CHECK(!disk_sim_exists(disk, "archive/0000000003.seg.zst"));
    archive_close(&archive);
    disk_sim_destroy(disk);
}

/* On files, and left there. */
static void on_files(const char *path)
{
    struct store_options options = store_run_options();
    struct archive archive;
    bool ring_refused;
    int error;
    struct disk *disk = disk_real_open(path, &error, &ring_refused);
    struct store_run run;

    CHECK(disk);
    memset(&model, 0, sizeof model);
    segment_bytes = options.segment_bytes;
    CHECK(store_run_begin(&run, disk, &model, &options) == REFUSAL_none);
    exchange = run.exchange;
    while (journal_counters(run.journal).segments < SEALED + 1) {
        (void)store_run_publish(&run, 8 + (uint32_t)(sim_image_random(&model.random) % 900));
        CHECK(store_run_step(&run) >= 0);
        CHECK(disk_wait(disk, -1, 100000000) <= 0);
    }
    journal_stop(run.journal);
    while (!journal_stopped(run.journal)) { /* store_run_stop counts turns; a device takes time */
        CHECK(store_run_step(&run) >= 0);
        CHECK(disk_wait(disk, -1, 100000000) <= 0);
    }
    store_run_end(&run);
    CHECK(open_kind(&archive, disk) == REFUSAL_none);
    archive_run_store(&archive, disk, &exchange, SEALED, segment_bytes);
    archive_close(&archive);
    CHECK(open_kind(&archive, disk) == REFUSAL_none && archive.count == SEALED);
    for (uint64_t i = 0; i < SEALED; i++)
        CHECK(load_kind(&archive, disk, i) == REFUSAL_none);
    archive_close(&archive);
    disk_real_close(disk);
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        on_files(argv[1]);
        return 0;
    }
    stored_and_loaded();
    unfit_segments();
    unchained_segments();
    absent_segments();
    flips();
    flips_unpacked();
    mixtures();
    power_loss_while_storing();
    faults_while_storing();
    read_back();
    pruned();
    pruned_above_a_hole();
    return 0;
}
