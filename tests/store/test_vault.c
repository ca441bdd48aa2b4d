/* The vault (replication.md, Vault): a sealed segment goes in whole or not at all, comes out byte
 * for byte, and what was damaged there is refused. */
#include <errno.h>

#include "archive_run.h"
#include "check.h"
#include "store/segment.h"
#include "store/vault_snapshot.h"
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

/* ---- snapshots ------------------------------------------------------------------------------- */

/* A snapshot of the journal's directory that says it ends with the last frame of `row`. */
static void make_snapshot(const struct archive_row *row, uint64_t sequence, bool is_of_frame)
{
    static uint8_t image[(1 << 20) + 77]; /* more than a piece */
    struct snapshot_head head = { .sequence = sequence,
                                  .frame = row->last_frame,
                                  .t_ns = row->last_t_ns,
                                  .boot = 1,
                                  .rules_version = 7 };
    memset(image, (int)(sequence % 251), sizeof image);
    memcpy(head.frame_hash, row->last_frame_hash, HASH_BYTES);
    head.frame_hash[0] ^= is_of_frame ? 0 : 1;
    CHECK(disk_make_folder(journal, "snapshot") == 0);
    struct snapshot_writer *writer = snapshot_begin(journal, &exchange, sequence);
    CHECK(writer != NULL);
    snapshot_section_begin(writer, 1, 1);
    snapshot_bytes(writer, image, sizeof image);
    CHECK(snapshot_end(writer, &head) == 0);
}

static int upload(const struct vault_snapshot *found, struct vault_snapshot *put)
{
    struct vault_upload upload;
    int done = vault_snapshot_upload_begin(&upload, &vault, journal, found);
    while (done == 0)
        done = vault_snapshot_upload_step(&upload);
    CHECK(upload.state == VAULT_UPLOAD_IDLE);
    *put = upload.snapshot;
    return done;
}

static const char *path_of_snapshot(const struct vault_snapshot *snapshot)
{
    static char path[DISK_PATH_BYTES];
    snprintf(path, sizeof path, "snapshot/%lu-%016lx.snap", snapshot->sequence,
             cc_load64(snapshot->file_hash));
    return path;
}

/* Another node's empty directory gets it whole, or not at all. */
static int fetch(const struct vault_snapshot *snapshot)
{
    const struct disk_sim_config config = { .seed = 7, .block_bytes = 512, .latency_max = 1 };
    struct disk *to = disk_sim_create(&config);
    struct snapshot whole;
    CHECK(to != NULL && disk_make_folder(to, "") == 0 && disk_make_folder(to, "snapshot") == 0);
    int error = vault_snapshot_fetch(&vault, snapshot, to);
    int read = snapshot_read(to, &exchange, snapshot->sequence, &whole, NULL);
    CHECK(read == (error == 0 ? 0 : -ENOENT));
    if (read == 0) {
        CHECK(whole.head.frame == snapshot->frame && whole.sections[0].bytes[99] != 0);
        snapshot_close(&whole);
    }
    uint64_t sequence;
    CHECK(error == 0 || snapshot_list(to, &sequence, 1) == 0);
    disk_sim_destroy(to);
    return error;
}

static void rows_of(struct archive_row rows[SEALED])
{
    uint64_t log_bytes;
    for (uint64_t n = 0; n < SEALED; n++)
        CHECK(vault_put(&vault, journal, n, all, &rows[n], &log_bytes) == 1);
}

/* The newest that ends a sealed segment goes in, and comes out byte for byte. */
static void snapshots(void)
{
    struct archive_row rows[SEALED], within;
    struct vault_snapshot found, put;
    uint64_t segment;
    open_world(5);
    rows_of(rows);
    CHECK(vault_snapshot_find(&vault, journal, &found) == 0);
    make_snapshot(&rows[1], rows[1].last_sequence, true);
    make_snapshot(&rows[2], rows[2].last_sequence, true);
    within = rows[3]; /* of a frame within segment 3: a start's, or a stop's */
    within.last_frame--;
    make_snapshot(&within, rows[3].last_sequence - 1, true);
    CHECK(vault_snapshot_find(&vault, journal, &found) == 1);
    CHECK(found.sequence == rows[2].last_sequence && found.frame == rows[2].last_frame);
    CHECK(found.segment == 2 && found.rules_version == 7 && found.t_ns == rows[2].last_t_ns);
    CHECK(found.bytes == SNAPSHOT_IMAGE_OFFSET + (1 << 20) + 77);
    CHECK(vault_ends_with(&vault, journal, 0, rows[2].last_frame_hash, &segment) == 0);
    CHECK(upload(&found, &put) == 1);
    CHECK(put.bytes == SNAPSHOT_IMAGE_OFFSET + (1 << 20) + 77);
    CHECK(disk_sim_exists(vault.disk, path_of_snapshot(&put)));
    CHECK(!disk_sim_exists(vault.disk, "snapshot/part-n1"));
    CHECK(fetch(&put) == 0);
    /* Those below a sequence go. */
    CHECK(vault_snapshot_prune(&vault, put.sequence) == 0);
    CHECK(disk_sim_exists(vault.disk, path_of_snapshot(&put)));
    CHECK(vault_snapshot_prune(&vault, put.sequence + 1) == 0);
    CHECK(!disk_sim_exists(vault.disk, path_of_snapshot(&put)));
    CHECK(fetch(&put) == -ENOENT);
    /* One that names another frame of that number is none to be put. */
    make_snapshot(&rows[3], rows[3].last_sequence, false);
    CHECK(vault_snapshot_find(&vault, journal, &found) == -EBADMSG);
    close_world();
}

/* Damage of the node's own file, of the vault's, and pointers to another one. */
static void damaged_snapshots(void)
{
    struct archive_row rows[SEALED];
    struct vault_snapshot found, put, other;
    char own[DISK_PATH_BYTES];
    uint8_t byte;
    open_world(6);
    rows_of(rows);
    make_snapshot(&rows[0], rows[0].last_sequence, true);
    CHECK(vault_snapshot_find(&vault, journal, &found) == 1 && found.segment == 0);
    CHECK(upload(&found, &put) == 1);
    static const uint64_t places[] = { 0, 17, 90, 200, 257, 4096, 1 << 20, (1 << 20) + 4172 };
    for (size_t i = 0; i < CC_COUNT(places); i++) {
        disk_sim_peek(vault.disk, path_of_snapshot(&put), places[i], &byte, 1);
        byte ^= 1;
        disk_sim_poke(vault.disk, path_of_snapshot(&put), places[i], &byte, 1);
        CHECK(fetch(&put) == -EBADMSG);
        byte ^= 1;
        disk_sim_poke(vault.disk, path_of_snapshot(&put), places[i], &byte, 1);
    }
    CHECK(fetch(&put) == 0);
    for (int i = 0; i < 6; i++) { /* a pointer that is not its */
        other = put;
        other.bytes += i == 0;
        other.bytes -= i == 1;
        other.frame += i == 2;
        other.image_hash[31] ^= i == 3;
        other.frame_hash[31] ^= i == 4;
        other.file_hash[31] ^= i == 5;
        CHECK(fetch(&other) == -EBADMSG);
    }
    exchange.exchange_id[3] ^= 1;
    CHECK(fetch(&put) == -EXDEV);
    exchange.exchange_id[3] ^= 1;
    /* A node whose own file has rotted puts nothing. */
    snprintf(own, sizeof own, "snapshot/%lu.snap", found.sequence);
    disk_sim_peek(journal, own, 5000, &byte, 1);
    byte ^= 1;
    disk_sim_poke(journal, own, 5000, &byte, 1);
    CHECK(vault_snapshot_prune(&vault, UINT64_MAX) == 0);
    CHECK(upload(&found, &put) == -EBADMSG);
    CHECK(fetch(&put) == -ENOENT);
    close_world();
}

int main(void)
{
    in_and_out();
    former_journal();
    not_written_yet();
    retired();
    damaged();
    snapshots();
    damaged_snapshots();
    return 0;
}
