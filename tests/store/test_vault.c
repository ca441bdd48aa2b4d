/* The vault (replication.md, Vault): a sealed segment goes in whole or not at all, comes out byte
 * for byte, and what was damaged there is refused. */
#include <errno.h>

#include "archive_run.h"
#include "check.h"
#include "store/segment.h"
#include "store/vault.h"
#include "support/sim/disk_sim.h"

enum { SEALED = ARCHIVE_RUN_SEALED };

static struct store_model model;
static struct exchange_file exchange;
static uint32_t segment_bytes;
static struct disk *journal;
static struct vault vault;
static const uint64_t all = UINT64_MAX; /* every sequence is released */

static void open_world(uint64_t seed)
{
    const struct disk_sim_config config = { .seed = seed, .block_bytes = 512, .latency_max = 1 };
    journal = archive_run_disk(seed, &model, &exchange, &segment_bytes);
    vault = (struct vault){ disk_sim_create(&config), &exchange, "n1", segment_bytes };
    CHECK(vault.disk != NULL && vault_begin(&vault) == 0);
}

static void close_world(void)
{
    disk_sim_destroy(journal);
    disk_sim_destroy(vault.disk);
}

/* Its name in the vault. */
static const char *path_of(const struct archive_row *row)
{
    static char path[DISK_PATH_BYTES];
    snprintf(path, sizeof path, "segment/%010lu-%016lx.zst", row->segment,
             cc_load64(row->file_hash));
    return path;
}

/* What comes out is what stands in the journal, frame for frame. */
static void check_out(const struct archive_row *row, const uint8_t *want, uint64_t log_bytes)
{
    uint8_t *out = malloc(segment_bytes);
    struct frame_header header;
    uint32_t offset = 0;
    uint64_t number = row->first_frame, total = 0;
    const uint8_t *frame;
    CHECK(out != NULL);
    CHECK(vault_load(&vault, row->segment, row->bytes, row->file_hash, out) == 0);
    CHECK(memcmp(out, want, segment_bytes) == 0);
    while ((frame = vault_next(&vault, row->segment, out, &offset, &header)) != NULL) {
        CHECK(header.number == number++ && frame == out + offset - header.length);
        total += FRAME_HEADER_BYTES + header.record_bytes;
    }
    CHECK(number == row->last_frame + 1 && total == log_bytes);
    free(out);
}

static void in_and_out(void)
{
    uint8_t *want = NULL;
    uint64_t log_bytes = 0, before = 0, segment;
    struct archive_row row;
    char path[DISK_PATH_BYTES];
    struct segment_range range;
    open_world(1);
    want = malloc(segment_bytes);
    CHECK(want != NULL);
    for (uint64_t n = 0; n < SEALED; n++) {
        CHECK(vault_put(&vault, journal, n, all, &row, &log_bytes) == 1);
        CHECK(row.segment == n && row.first_frame == before + 1);
        segment_path(path, n, true);
        disk_sim_peek(journal, path, 0, want, segment_bytes);
        check_out(&row, want, log_bytes);
        CHECK(disk_sim_exists(vault.disk, path_of(&row)));
        before = row.last_frame;
    }
    CHECK(!disk_sim_exists(vault.disk, "segment/part-n1"));
    CHECK(vault_first(&vault, journal, &segment) == 0 && segment == 0);
    /* The open segment is not sealed; nor is one whose next frame does not count yet. */
    CHECK(segment_range_of(journal, &range) == 0 && range.max >= SEALED);
    struct archive_row none;
    CHECK(vault_put(&vault, journal, range.max, all, &none, &log_bytes) == 0);
    CHECK(vault_put(&vault, journal, SEALED - 1, row.last_sequence, &none, &log_bytes) == 0);
    /* Once more, as another leader does. */
    CHECK(vault_put(&vault, journal, 0, all, &row, &log_bytes) == 1);
    CHECK(disk_remove(journal, "journal/0000000000.seg") == 0); /* which no archive has */
    CHECK(vault_first(&vault, journal, &segment) == 0 && segment == 1);
    close_world();
    free(want);
}

/* A segment without its last frame, which is still on its way to the disk, is not sealed. */
static void not_written_yet(void)
{
    struct archive_row row;
    uint64_t log_bytes;
    static uint8_t zeros[1 << 20];
    struct frame_header header;
    uint32_t offset = 0, last = 0;
    open_world(2);
    uint8_t *bytes = malloc(segment_bytes);
    CHECK(bytes != NULL);
    disk_sim_peek(journal, "journal/0000000001.seg", 0, bytes, segment_bytes);
    while (vault_next(&vault, 1, bytes, &offset, &header) != NULL)
        last = offset - header.length;
    disk_sim_poke(journal, "journal/0000000001.seg", last, zeros, segment_bytes - last);
    CHECK(vault_put(&vault, journal, 1, all, &row, &log_bytes) == 0);
    disk_sim_poke(journal, "journal/0000000001.seg", last, bytes + last, segment_bytes - last);
    CHECK(vault_put(&vault, journal, 1, all, &row, &log_bytes) == 1);
    free(bytes);
    close_world();
}

/* A segment that was retired comes from the archive; without it the vault gets none. */
static void retired(void)
{
    struct archive_row row;
    struct archive archive = { 0 };
    uint64_t log_bytes, segment;
    open_world(3);
    archive_run_store(&archive, journal, &exchange, 2, segment_bytes);
    CHECK(disk_remove(journal, "journal/0000000000.seg") == 0);
    CHECK(disk_remove(journal, "journal/0000000001.seg") == 0);
    CHECK(vault_first(&vault, journal, &segment) == 0 && segment == 0);
    CHECK(vault_put(&vault, journal, 0, all, &row, &log_bytes) == 1);
    CHECK(row.last_frame == archive.rows[0].last_frame);
    CHECK(vault_put(&vault, journal, 1, all, &row, &log_bytes) == 1);
    CHECK(memcmp(row.last_frame_hash, archive.rows[1].last_frame_hash, HASH_BYTES) == 0);
    CHECK(disk_remove(journal, "journal/0000000002.seg") == 0);
    CHECK(vault_put(&vault, journal, 2, all, &row, &log_bytes) == -EBADMSG);
    archive_close(&archive);
    close_world();
}

static void damaged(void)
{
    struct archive_row row, other;
    uint64_t log_bytes;
    uint8_t byte;
    open_world(4);
    uint8_t *out = malloc(segment_bytes);
    CHECK(out != NULL);
    CHECK(vault_put(&vault, journal, 0, all, &row, &log_bytes) == 1);
    for (uint64_t at = 0; at < row.bytes; at += row.bytes / 7) {
        disk_sim_peek(vault.disk, path_of(&row), at, &byte, 1);
        byte ^= 1;
        disk_sim_poke(vault.disk, path_of(&row), at, &byte, 1);
        CHECK(vault_load(&vault, 0, row.bytes, row.file_hash, out) == -EBADMSG);
        byte ^= 1;
        disk_sim_poke(vault.disk, path_of(&row), at, &byte, 1);
    }
    CHECK(vault_load(&vault, 0, row.bytes + 1, row.file_hash, out) == -EBADMSG);
    CHECK(vault_load(&vault, 0, 0, row.file_hash, out) == -EBADMSG);
    CHECK(vault_load(&vault, 1, row.bytes, row.file_hash, out) == -ENOENT);
    CHECK(vault_load(&vault, 0, row.bytes, row.file_hash, out) == 0);
    /* A damaged segment of the journal goes nowhere. */
    disk_sim_peek(journal, "journal/0000000001.seg", SEGMENT_FRAMES_OFFSET + 200, &byte, 1);
    byte ^= 1;
    disk_sim_poke(journal, "journal/0000000001.seg", SEGMENT_FRAMES_OFFSET + 200, &byte, 1);
    CHECK(vault_put(&vault, journal, 1, all, &other, &log_bytes) == -EBADMSG);
    free(out);
    close_world();
}

/* A journal that took up another one: the segments of before bear the id of that. */
static void former_journal(void)
{
    struct archive_row row;
    uint64_t log_bytes;
    open_world(5);
    exchange.eras[0].end_segment = UINT64_MAX;
    memcpy(exchange.eras[0].journal_id, exchange.journal_id, sizeof exchange.journal_id);
    exchange.era_count = 1;
    exchange.journal_id[0] ^= 1;
    CHECK(vault_put(&vault, journal, 0, all, &row, &log_bytes) == 1);
    exchange.era_count = 0;
    exchange.journal_id[0] ^= 1;
    close_world();
}

int main(void)
{
    in_and_out();
    former_journal();
    not_written_yet();
    retired();
    damaged();
    return 0;
}
