#include "archive_run.h"

#include "check.h"
#include "support/sim/disk_sim.h"
#include "support/sim/sim_image.h"

struct disk *archive_run_disk(uint64_t seed, struct store_model *model,
                              struct exchange_file *exchange, uint32_t *segment_bytes)
{
    struct disk_sim_config config = { .seed = seed, .block_bytes = 512, .latency_max = 1 };
    struct store_options options = store_run_options();
    struct disk *disk = disk_sim_create(&config);

    CHECK(disk);
    memset(model, 0, sizeof *model);
    model->random = seed;
    *segment_bytes = options.segment_bytes;
    archive_run_write(disk, model, &options, ARCHIVE_RUN_SEALED, exchange);
    CHECK(exchange->boot >= 2);
    return disk;
}

enum refusal_kind archive_run_open(struct archive *archive, struct disk *disk,
                                   const struct exchange_file *exchange)
{
    struct refusal refusal;

    refusal_clear(&refusal);
    enum refusal_kind kind = archive_open(archive, disk, exchange, &refusal);

    CHECK(kind == refusal.kind);
    CHECK((kind == REFUSAL_none) == (refusal.text[0] == '\0'));
    return kind;
}

void archive_run_equal(const struct archive *a, const struct archive *b)
{
    CHECK(a->count == b->count);
    for (uint64_t i = 0; i < a->count; i++) /* no padding: numbers of 8 bytes, hashes of 32 */
        CHECK(memcmp(&a->rows[i], &b->rows[i], sizeof a->rows[i]) == 0);
}

void archive_run_write(struct disk *disk, struct store_model *model,
                       const struct store_options *options, uint64_t segments,
                       struct exchange_file *exchange)
{
    struct store_run run;
    bool is_full = false;

    for (uint64_t life = 1; !is_full; life++) {
        CHECK(store_run_begin(&run, disk, model, options) == REFUSAL_none);
        for (int i = 0; i < 40; i++) {
            CHECK(store_run_publish(&run, 8 + (uint32_t)(sim_image_random(&model->random) % 900)));
            CHECK(store_run_settle(&run, 100) == 0);
        }
        /* journal_counters counts the one that a life goes on with: it was sealed by none. */
        is_full =
            run.recovered.position.segment + journal_counters(run.journal).segments - 1 >= segments;
        *exchange = run.exchange;
        disk_sim_kill(disk, life);
        store_run_end(&run);
    }
}

void archive_run_store(struct archive *archive, struct disk *disk,
                       const struct exchange_file *exchange, uint64_t end, uint32_t segment_bytes)
{
    while (archive->count < end)
        CHECK(archive_store(archive, disk, exchange, archive->count, segment_bytes) == 0);
}

void archive_run_check(const struct archive *archive, struct disk *disk, const struct disk *before,
                       const struct exchange_file *exchange, uint32_t segment_bytes)
{
    uint8_t *want = malloc(segment_bytes);
    uint8_t *got = malloc(segment_bytes);
    struct refusal refusal;

    CHECK(want && got);
    for (uint64_t i = 0; i < archive->count; i++) {
        uint64_t number = archive->rows[i].segment;
        char path[DISK_PATH_BYTES];

        segment_path(path, number, true);
        disk_sim_peek(before, path, 0, want, segment_bytes);
        memset(got, 0xA5, segment_bytes);
        refusal_clear(&refusal);
        CHECK(archive_load(archive, disk, exchange, number, segment_bytes, got, &refusal) ==
              REFUSAL_none);
        CHECK(memcmp(want, got, segment_bytes) == 0);
    }
    free(want);
    free(got);
}
