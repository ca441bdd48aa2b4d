/* The list of the archive (journal.md, Archive): what no perpd wrote is refused, and a lost list is
 * made again of the files. */
#include <errno.h>

#include "archive_run.h"
#include "check.h"
#include "store/archive_index.h"
#include "support/sim/disk_sim.h"

static struct store_model model;
static struct exchange_file exchange;
static uint32_t segment_bytes;

/* Lists that no perpd wrote: a right hash, and lines that cannot be. */
static void wrong_lists(void)
{
    static const struct {
        int line;
        const char *name;
        struct archive_row listed[2];
        int want;
    } rows[] = {
#define E(s, f, l, fs, ls, b) \
    { .segment = (s),         \
      .first_frame = (f),     \
      .last_frame = (l),      \
      .first_sequence = (fs), \
      .last_sequence = (ls),  \
      .bytes = (b) }
        { __LINE__, "right", { E(0, 1, 4, 1, 9, 5), E(1, 5, 5, 10, 9, 5) }, 0 },
        { __LINE__, "right, pruned", { E(7, 9, 9, 2, 2, 5), E(8, 10, 10, 3, 3, 5) }, 0 },
        { __LINE__, "a gap", { E(0, 1, 4, 1, 9, 5), E(2, 5, 5, 10, 9, 5) }, -EBADMSG },
        { __LINE__, "twice", { E(0, 1, 4, 1, 9, 5), E(0, 1, 4, 1, 9, 5) }, -EBADMSG },
        { __LINE__, "frames leap", { E(0, 1, 4, 1, 9, 5), E(1, 6, 6, 10, 9, 5) }, -EBADMSG },
        { __LINE__, "sequences leap", { E(0, 1, 4, 1, 9, 5), E(1, 5, 5, 11, 11, 5) }, -EBADMSG },
        { __LINE__, "no frame", { E(0, 1, 0, 1, 9, 5), E(1, 1, 1, 10, 10, 5) }, -EBADMSG },
        { __LINE__, "begins late", { E(0, 2, 4, 1, 9, 5), E(1, 5, 5, 10, 10, 5) }, -EBADMSG },
        { __LINE__, "no byte", { E(0, 1, 4, 1, 9, 0), E(1, 5, 5, 10, 10, 5) }, -EBADMSG },
#undef E
    };

    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        struct archive archive = { .rows = (struct archive_row *)rows[i].listed, .count = 2 };
        struct archive out;
        uint64_t line;
        size_t bytes;
        char *text;

        CHECK(archive_index_encode(&text, &bytes, &archive, &exchange) == 0);
        CHECK_ROW(&rows[i],
                  archive_index_decode(&out, text, bytes, &exchange, &line) == rows[i].want);
        if (rows[i].want == 0)
            archive_run_equal(&out, &archive);
        else
            CHECK_ROW(&rows[i], !out.rows && (line == 2 || line == 3));
        archive_close(&out);
        for (size_t less = 0; less < bytes; less++)
            CHECK_ROW(&rows[i], archive_index_decode(&out, text, less, &exchange, &line) < 0);
        free(text);
    }
}

/* A start whose journal begins above every segment that is archived. */
static enum refusal_kind remake_kind(struct archive *archive, struct disk *disk)
{
    struct refusal refusal;

    refusal_clear(&refusal);
    uint64_t relisted;
    enum refusal_kind kind = archive_mend(archive, disk, &exchange, segment_bytes,
                                          ARCHIVE_RUN_SEALED, &relisted, &refusal);
    CHECK(kind == refusal.kind && relisted == archive->count);
    CHECK(kind == REFUSAL_none || archive->count == 0);
    return kind;
}

/* Of its files the list is made again as it was; of a wrong one nothing is made. */
static void list_remade(struct disk *disk)
{
    struct archive archive = { 0 };
    struct archive again;
    const char *file = "archive/0000000002.seg.zst";

    CHECK(remake_kind(&again, disk) == REFUSAL_none && again.count == 0);
    CHECK(!disk_sim_exists(disk, "archive/index"));
    archive_run_store(&archive, disk, &exchange, 4, segment_bytes);
    disk_sim_remove(disk, "archive/index");
    for (uint64_t at = 0; at < disk_sim_file_bytes(disk, file); at += 7) {
        uint8_t byte, good;

        disk_sim_peek(disk, file, at, &good, 1);
        byte = good ^ (uint8_t)(1U << at % 8);
        disk_sim_poke(disk, file, at, &byte, 1);
        enum refusal_kind kind = remake_kind(&again, disk);
        disk_sim_poke(disk, file, at, &good, 1);
        if (kind == REFUSAL_none) { /* a bit of zstd's head that means nothing */
            CHECK(again.count == 4 && at < 8);
            disk_sim_remove(disk, "archive/index");
            archive_close(&again);
        }
        CHECK(kind == REFUSAL_none || kind == REFUSAL_archive_damaged);
        CHECK(!disk_sim_exists(disk, "archive/index"));
    }
    CHECK(remake_kind(&again, disk) == REFUSAL_none);
    archive_run_equal(&archive, &again);
    archive_close(&again);
    CHECK(archive_run_open(&again, disk, &exchange) == REFUSAL_none);
    archive_run_equal(&archive, &again);
    archive_close(&again);
    disk_sim_remove(disk, "archive/index");
    disk_sim_remove(disk, "archive/0000000001.seg.zst"); /* a removal that a crash cut short */
    CHECK(remake_kind(&again, disk) == REFUSAL_none);
    CHECK(again.count == 2 && again.rows[0].segment == 2);
    archive_close(&again);
    archive_close(&archive);
}

int main(void)
{
    struct disk *disk = archive_run_disk(11, &model, &exchange, &segment_bytes);

    wrong_lists();
    list_remade(disk);
    disk_sim_destroy(disk);
    return 0;
}
