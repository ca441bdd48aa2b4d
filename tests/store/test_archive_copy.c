/* The second place of the archive (journal.md, Second place of the archive): it follows the list,
 * and each place is mended from the other, but only with bytes that have the hash of the list. */
#include <errno.h>
#include <stdlib.h>

#include "archive_run.h"
#include "check.h"
#include "store/scrub.h"
#include "support/sim/disk_sim.h"

enum { SEALED = ARCHIVE_RUN_SEALED, STEPS = 1000 };

static struct store_model model;
static struct exchange_file exchange;
static uint32_t segment_bytes;

/* Two disks: an archive of SEALED segments, and an empty folder. */
static struct rig {
    struct disk *data, *second;
    struct archive archive;
    struct archive_copy copy;
    struct scrub scrub;
} rig;

static void make(uint64_t seed)
{
    memset(&rig, 0, sizeof rig);
    rig.data = archive_run_disk(seed, &model, &exchange, &segment_bytes);
    const struct disk_sim_config second = { .seed = seed, .block_bytes = 512, .latency_max = 1 };
    rig.second = disk_sim_create(&second);
    CHECK(rig.second != NULL && disk_make_folder(rig.second, "") == 0);
    CHECK(disk_make_folder(rig.second, "archive") == 0);
    CHECK(archive_run_open(&rig.archive, rig.data, &exchange) == REFUSAL_none);
    archive_run_store(&rig.archive, rig.data, &exchange, SEALED, segment_bytes);
    rig.copy = (struct archive_copy){ .data = rig.data, .disk = rig.second, .exchange = &exchange };
}

static void end(void)
{
    archive_close(&rig.archive);
    archive_close(&rig.copy.list);
    disk_sim_destroy(rig.data);
    disk_sim_destroy(rig.second);
}

/* Steps until the copy has what the list has; the number of steps that did something. */
static uint32_t settle(void)
{
    uint32_t steps = 0;
    int work;

    while ((work = archive_copy_step(&rig.copy, &rig.archive)) > 0)
        steps++;
    CHECK(work == 0 && published_get(&rig.copy.fails) == 0);
    return steps;
}

/* Reads all files of both places once. */
static void scrub_round(struct published *faults, struct published *mended)
{
    CHECK(scrub_init(&rig.scrub, rig.data, &exchange, &rig.copy, UINT64_MAX) == 0);
    for (int i = 0; i < STEPS && published_get(&rig.scrub.counters.rounds) == 0; i++)
        (void)scrub_step(&rig.scrub, 1);
    CHECK(published_get(&rig.scrub.counters.rounds) == 1);
    *faults = rig.scrub.counters.faults;
    *mended = rig.scrub.counters.mended;
    scrub_free(&rig.scrub);
}

static void damage(struct disk *disk, const char *path)
{
    uint8_t byte;

    disk_sim_peek(disk, path, 60, &byte, 1);
    byte ^= 0x20;
    disk_sim_poke(disk, path, 60, &byte, 1);
}

/* Both places say the same, and each file is what the journal's segment was. */
static void check_equal(void)
{
    struct archive other;

    CHECK(archive_run_open(&other, rig.second, &exchange) == REFUSAL_none);
    archive_run_equal(&rig.archive, &other);
    archive_close(&other);
    struct disk *const disks[] = { rig.data, rig.second };
    uint8_t *bytes = malloc(segment_bytes);
    struct refusal refusal;
    CHECK(bytes != NULL);
    for (size_t k = 0; k < CC_COUNT(disks); k++)
        for (uint64_t i = 0; i < rig.archive.count; i++)
            CHECK(archive_load(&rig.archive, disks[k], &exchange, rig.archive.rows[i].segment,
                               segment_bytes, bytes, &refusal) == REFUSAL_none);
    free(bytes);
}

/* It is written with the archive, taken up where it was, and pruned with it. */
static void follows(void)
{
    make(1);
    CHECK(settle() == SEALED && published_get(&rig.copy.segments) == SEALED);
    check_equal();
    rig.copy.is_known = false; /* another start */
    CHECK(settle() == 0);
    CHECK(archive_prune(&rig.archive, rig.data, &exchange, UINT64_MAX, 2) == 2);
    CHECK(settle() == 0);
    CHECK(archive_copy_prune(&rig.copy, UINT64_MAX, 2) == 2);
    CHECK(published_get(&rig.copy.segments) == SEALED - 2);
    check_equal();
    CHECK(!disk_sim_exists(rig.second, "archive/0000000001.seg.zst"));
    CHECK(disk_sim_exists(rig.second, "archive/0000000002.seg.zst"));
    /* A list that is damaged, and one that ends early: what is missing is written again. */
    damage(rig.second, "archive/index");
    rig.copy.is_known = false;
    CHECK(settle() == SEALED - 2);
    check_equal();
    end();
}

static void hurt(struct disk *disk, bool is_gone)
{
    if (is_gone)
        CHECK(disk_remove(disk, "archive/0000000003.seg.zst") == 0);
    else
        damage(disk, "archive/0000000003.seg.zst");
}

/* A flipped bit, and a file that is gone, in either place. */
static void mends(void)
{
    static const struct {
        int line;
        const char *name;
        bool in_data, in_second, is_gone;
        uint64_t faults, mended;
    } rows[] = {
        { __LINE__, "nothing", false, false, false, 0, 0 },
        { __LINE__, "a bit of the archive", true, false, false, 1, 1 },
        { __LINE__, "a bit of the copy", false, true, false, 1, 1 },
        { __LINE__, "a file of the archive", true, false, true, 1, 1 },
        { __LINE__, "a file of the copy", false, true, true, 0, 1 },
        { __LINE__, "both: neither is taken", true, true, false, 2, 0 },
    };

    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        struct published faults, mended;
        make(2);
        CHECK(settle() == SEALED);
        if (rows[i].in_data)
            hurt(rig.data, rows[i].is_gone);
        if (rows[i].in_second)
            hurt(rig.second, rows[i].is_gone);
        rig.data->archive_copy = rig.second; /* as in perpd: it hides nothing from the scrub */
        scrub_round(&faults, &mended);
        rig.data->archive_copy = NULL;
        CHECK_ROW(&rows[i], published_get(&faults) == rows[i].faults);
        CHECK_ROW(&rows[i], published_get(&mended) == rows[i].mended);
        if (rows[i].mended == rows[i].faults || rows[i].is_gone)
            check_equal();
        end();
    }
}

/* A start that finds the folder empty, or a file gone, has it all from the copy. */
static void starts(void)
{
    struct archive again;
    struct refusal refusal;
    uint64_t brought, relisted;

    make(3);
    CHECK(settle() == SEALED);
    for (int i = 0; i < SEALED; i++) {
        char path[DISK_PATH_BYTES];
        snprintf(path, sizeof path, "archive/%010d.seg.zst", i);
        CHECK(disk_remove(rig.data, path) == 0);
    }
    CHECK(disk_remove(rig.data, "archive/index") == 0);
    CHECK(archive_mend(&again, rig.data, &exchange, segment_bytes, SEALED, &relisted, &refusal) ==
              REFUSAL_none &&
          again.count == 0); /* without the copy nothing of it is left */
    CHECK(archive_copy_mend(&rig.copy, &brought, &refusal) == REFUSAL_none && brought == SEALED);
    CHECK(archive_mend(&again, rig.data, &exchange, segment_bytes, SEALED, &relisted, &refusal) ==
          REFUSAL_none);
    CHECK(relisted == SEALED);
    archive_run_equal(&rig.archive, &again);
    archive_close(&again);
    check_equal();
    CHECK(disk_remove(rig.data, "archive/0000000001.seg.zst") == 0);
    CHECK(archive_run_open(&again, rig.data, &exchange) == REFUSAL_archive_damaged);
    CHECK(archive_copy_mend(&rig.copy, &brought, &refusal) == REFUSAL_none && brought == 1);
    check_equal();
    CHECK(archive_copy_mend(&rig.copy, &brought, &refusal) == REFUSAL_none && brought == 0);
    struct exchange_file stranger = exchange;
    stranger.exchange_id[0] ^= 1;
    rig.copy.exchange = &stranger;
    CHECK(archive_copy_mend(&rig.copy, &brought, &refusal) == REFUSAL_archive_foreign);
    end();
}

/* What archive/ has wrong or not at all is read in the second place, by the list of archive/. */
static void reads_the_other(void)
{
    struct refusal refusal;
    uint8_t *bytes = malloc(segment_bytes), *whole = malloc(segment_bytes);

    CHECK(bytes != NULL && whole != NULL);
    for (int is_gone = 0; is_gone < 2; is_gone++) {
        make(6);
        CHECK(settle() == SEALED);
        CHECK(archive_load(&rig.archive, rig.data, &exchange, 3, segment_bytes, whole, &refusal) ==
              REFUSAL_none);
        hurt(rig.data, is_gone);
        for (int both = 0; both < 2; both++) {
            struct archive again;
            rig.data->archive_copy = NULL;
            CHECK(archive_run_open(&again, rig.data, &exchange) ==
                  (is_gone ? REFUSAL_archive_damaged : REFUSAL_none));
            archive_close(&again);
            CHECK(archive_load(&rig.archive, rig.data, &exchange, 3, segment_bytes, bytes,
                               &refusal) == REFUSAL_archive_damaged);
            rig.data->archive_copy = rig.second;
            CHECK(archive_run_open(&again, rig.data, &exchange) == REFUSAL_none);
            archive_close(&again);
            CHECK(archive_load(&rig.archive, rig.data, &exchange, 3, segment_bytes, bytes,
                               &refusal) == (both ? REFUSAL_archive_damaged : REFUSAL_none));
            CHECK(both || memcmp(bytes, whole, segment_bytes) == 0);
            if (!both)
                damage(rig.second, "archive/0000000003.seg.zst");
            refusal_clear(&refusal);
        }
        end();
    }
    free(bytes);
    free(whole);
}

static void lose_in_data(const char *path)
{
    struct refusal refusal;
    uint64_t relisted;

    CHECK(disk_remove(rig.data, path) == 0);
    CHECK(disk_remove(rig.data, "archive/index") == 0);
    archive_close(&rig.archive);
    CHECK(archive_mend(&rig.archive, rig.data, &exchange, segment_bytes, SEALED, &relisted,
                       &refusal) == REFUSAL_none);
}

/* A list that was made again above a lost file takes nothing from the copy, which gives all back
 * as soon as it can. */
static void keeps_what_the_list_lost(void)
{
    struct archive other;

    for (int again = 0; again < 2; again++) {
        make(4);
        CHECK(settle() == SEALED);
        lose_in_data("archive/0000000002.seg.zst");
        CHECK(rig.archive.rows[0].segment == 3);
        rig.copy.is_known = again == 0; /* the same run, and the next */
        CHECK(settle() == 0 && published_get(&rig.copy.segments) == SEALED);
        CHECK(archive_copy_prune(&rig.copy, 1, UINT64_MAX) == 0);
        damage(rig.second, "archive/0000000002.seg.zst");
        CHECK(archive_copy_lengthen(&rig.copy) == 0);     /* neither has 2, to which 1 would lead */
        damage(rig.second, "archive/0000000002.seg.zst"); /* the bit is right again */
        damage(rig.data, "archive/0000000001.seg.zst");
        CHECK(archive_copy_lengthen(&rig.copy) == 3);
        CHECK(archive_copy_lengthen(&rig.copy) == 0);
        archive_close(&rig.archive);
        CHECK(archive_run_open(&rig.archive, rig.data, &exchange) == REFUSAL_none);
        CHECK(rig.archive.count == SEALED);
        check_equal();
        end();
    }
    /* The copy was away while what it has next was removed for its age: it begins anew. */
    make(5);
    CHECK(archive_copy_step(&rig.copy, &rig.archive) == 1);
    CHECK(archive_prune(&rig.archive, rig.data, &exchange, UINT64_MAX, 3) == 3);
    CHECK(settle() == SEALED - 3);
    check_equal();
    CHECK(disk_sim_exists(rig.second, "archive/0000000000.seg.zst"));
    CHECK(archive_run_open(&other, rig.second, &exchange) == REFUSAL_none);
    CHECK(other.count == SEALED - 3 && archive_copy_lengthen(&rig.copy) == 0);
    archive_close(&other);
    end();
}

int main(void)
{
    follows();
    mends();
    starts();
    keeps_what_the_list_lost();
    reads_the_other();
    return 0;
}
