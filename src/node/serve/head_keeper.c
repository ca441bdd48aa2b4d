#include "node/serve/head_keeper.h"

#include <errno.h>
#include <stdlib.h>

#define FILE_NAME "heads"
#define PART_NAME "heads.part"
#define SYNC_NS   (60 * UINT64_C(1000000000))
#define HOUR_NS   (3600 * UINT64_C(1000000000))
#define DAY_NS    (24 * HOUR_NS)
#define WEEK_NS   (7 * DAY_NS)

enum { PIECE_HEADS = 1024, PIECE_BYTES = PIECE_HEADS * ATTEST_HEAD_BYTES };

static_assert((int)ATTEST_HEAD_BYTES == (int)HEAD_LOG_BYTES, "a head");

/* ---- the file -------------------------------------------------------------------------------- */

/* Heads are read piece by piece. */
struct reading {
    struct disk *disk;
    int file;
    uint64_t end, at; /* bytes */
    uint8_t *piece;
    uint64_t piece_at;
};

/* The next head; NULL at the end, or with *error when it cannot be read. */
static const uint8_t *next(struct reading *reading, int *error)
{
    if (reading->at + ATTEST_HEAD_BYTES > reading->end)
        return NULL;
    if (reading->at % PIECE_BYTES == 0) {
        int64_t count =
            disk_read(reading->disk, reading->file, reading->at, reading->piece, PIECE_BYTES);
        uint64_t left = reading->end - reading->at;
        if (count < 0 || (uint64_t)count < (left < PIECE_BYTES ? left : PIECE_BYTES)) {
            *error = count < 0 ? (int)count : -EIO;
            return NULL;
        }
    }
    const uint8_t *head = reading->piece + reading->at % PIECE_BYTES;
    reading->at += ATTEST_HEAD_BYTES;
    return head;
}

static int reading_begin(struct reading *reading, struct disk *disk)
{
    *reading = (struct reading){ .disk = disk, .file = disk_open(disk, FILE_NAME, 0) };
    if (reading->file < 0)
        return reading->file;
    int64_t size = disk_size(disk, reading->file);
    reading->piece = size < 0 ? NULL : malloc(PIECE_BYTES);
    if (reading->piece == NULL) {
        disk_close(disk, reading->file);
        return size < 0 ? (int)size : -ENOMEM;
    }
    reading->end = (uint64_t)size / ATTEST_HEAD_BYTES * ATTEST_HEAD_BYTES;
    return 0;
}

static void reading_end(struct reading *reading)
{
    free(reading->piece);
    disk_close(reading->disk, reading->file);
}

/* What is no head of this exchange is passed over: a crash may have torn the end. */
static bool is_head(const struct head_keeper *keeper, const uint8_t *bytes,
                    struct attest_head *head)
{
    return attest_head_read(head, bytes) &&
           memcmp(head->exchange_id, keeper->exchange->exchange_id, sizeof head->exchange_id) == 0;
}

int head_keeper_open(struct head_keeper *keeper, struct disk *disk,
                     const struct exchange_file *exchange, const struct signer_ed25519 *signer)
{
    struct reading reading;
    struct attest_head head;
    const uint8_t *bytes;
    int error = 0;

    *keeper = (struct head_keeper){ .disk = disk, .exchange = exchange, .signer = signer };
    if (head_log_init(&keeper->log) != 0)
        return -ENOMEM;
    error = reading_begin(&reading, disk);
    if (error != 0)
        return error == -ENOENT ? 0 : error;
    if (reading.end > HEAD_LOG_SLOTS * ATTEST_HEAD_BYTES) /* at the beginning of a piece */
        reading.at = (reading.end - HEAD_LOG_SLOTS * ATTEST_HEAD_BYTES) / PIECE_BYTES * PIECE_BYTES;
    while ((bytes = next(&reading, &error)) != NULL)
        if (is_head(keeper, bytes, &head))
            head_log_add(&keeper->log, bytes);
    keeper->bytes = reading.end;
    published_set(&keeper->kept, keeper->bytes / ATTEST_HEAD_BYTES);
    reading_end(&reading);
    return error;
}

void head_keeper_close(struct head_keeper *keeper)
{
    head_log_free(&keeper->log);
}

/* ---- adding ---------------------------------------------------------------------------------- */

static int append(struct head_keeper *keeper, const uint8_t head[ATTEST_HEAD_BYTES])
{
    int file = disk_open(keeper->disk, FILE_NAME, DISK_WRITE);
    if (file == -ENOENT)
        file = disk_open(keeper->disk, FILE_NAME, DISK_CREATE);
    if (file < 0)
        return file;
    int error = disk_write(keeper->disk, file, keeper->bytes, head, ATTEST_HEAD_BYTES);
    disk_close(keeper->disk, file);
    if (error != 0)
        return error;
    keeper->bytes += ATTEST_HEAD_BYTES;
    keeper->is_unsynced = true;
    published_set(&keeper->kept, keeper->bytes / ATTEST_HEAD_BYTES);
    return 0;
}

int head_keeper_add(struct head_keeper *keeper, const struct head_draft *draft)
{
    uint8_t bytes[ATTEST_HEAD_BYTES];
    struct attest_head head = {
        .boot = draft->frame.boot,
        .frame = draft->frame.number,
        .sequence = draft->frame.last_sequence,
        .wall_ns = draft->wall_ns,
    };

    memcpy(head.exchange_id, keeper->exchange->exchange_id, sizeof head.exchange_id);
    memcpy(head.journal_id, keeper->exchange->journal_id, sizeof head.journal_id);
    memcpy(head.frame_hash, draft->frame.hash, sizeof head.frame_hash);
    engine_lanes_hash(draft->lanes, head.effects_hash);
    attest_head_sign(&head, keeper->signer, bytes);
    int error = append(keeper, bytes);
    if (error == 0)
        head_log_add(&keeper->log, bytes);
    return error;
}

int head_keeper_sync(struct head_keeper *keeper)
{
    if (!keeper->is_unsynced)
        return 0;
    int file = disk_open(keeper->disk, FILE_NAME, DISK_WRITE);
    if (file < 0)
        return file;
    int error = disk_sync(keeper->disk, file);
    disk_close(keeper->disk, file);
    if (error == 0)
        error = disk_sync_folder(keeper->disk, "");
    keeper->is_unsynced = error != 0;
    return error;
}

/* ---- leaving out ----------------------------------------------------------------------------- */

/* A file that is being written again. */
struct pruning {
    int file;
    uint64_t bytes;
    uint64_t newest_ns;
    uint8_t held[ATTEST_HEAD_BYTES]; /* the last head of its hour, so far */
    uint64_t held_hour;              /* 0: none */
};

static int keep(struct head_keeper *keeper, struct pruning *pruning, const uint8_t *head)
{
    int error = disk_write(keeper->disk, pruning->file, pruning->bytes, head, ATTEST_HEAD_BYTES);
    pruning->bytes += ATTEST_HEAD_BYTES;
    return error;
}

/* Of heads older than a week the last of each hour, of others all. */
static int sort_out(struct head_keeper *keeper, struct pruning *pruning, const uint8_t *bytes)
{
    struct attest_head head;
    int error = 0;

    if (!is_head(keeper, bytes, &head))
        return 0;
    bool is_old = head.wall_ns + WEEK_NS < pruning->newest_ns;
    uint64_t hour = head.wall_ns / HOUR_NS;
    if (pruning->held_hour != 0 && (!is_old || hour != pruning->held_hour)) {
        error = keep(keeper, pruning, pruning->held);
        pruning->held_hour = 0;
    }
    if (error != 0)
        return error;
    if (!is_old)
        return keep(keeper, pruning, bytes);
    memcpy(pruning->held, bytes, sizeof pruning->held);
    pruning->held_hour = hour;
    return 0;
}

static int write_again(struct head_keeper *keeper, struct reading *reading, uint64_t newest_ns)
{
    struct pruning pruning = { .newest_ns = newest_ns };
    const uint8_t *bytes;
    int error = 0;

    pruning.file = disk_open(keeper->disk, PART_NAME, DISK_CREATE);
    if (pruning.file < 0)
        return pruning.file;
    reading->at = 0;
    while (error == 0 && (bytes = next(reading, &error)) != NULL)
        error = sort_out(keeper, &pruning, bytes);
    if (error == 0 && pruning.held_hour != 0)
        error = keep(keeper, &pruning, pruning.held);
    if (error == 0)
        error = disk_sync(keeper->disk, pruning.file);
    disk_close(keeper->disk, pruning.file);
    if (error == 0)
        error = disk_rename(keeper->disk, PART_NAME, FILE_NAME);
    if (error != 0)
        return error;
    keeper->bytes = pruning.bytes;
    published_set(&keeper->kept, keeper->bytes / ATTEST_HEAD_BYTES);
    return disk_sync_folder(keeper->disk, "");
}

/* Writes the file again if its first heads are of one hour, and older than a week and a day. */
static int prune(struct head_keeper *keeper, uint64_t newest_ns)
{
    struct reading reading;
    struct attest_head first = { 0 }, head;
    const uint8_t *bytes;
    bool is_dense = false;
    int error = reading_begin(&reading, keeper->disk);

    if (error != 0)
        return error == -ENOENT ? 0 : error;
    while (!is_dense && (bytes = next(&reading, &error)) != NULL) {
        if (!is_head(keeper, bytes, &head))
            continue;
        if (head.wall_ns + WEEK_NS + DAY_NS >= newest_ns)
            break;
        is_dense = first.frame != 0 && head.wall_ns / HOUR_NS == first.wall_ns / HOUR_NS;
        first = head;
    }
    if (error == 0 && is_dense)
        error = write_again(keeper, &reading, newest_ns);
    reading_end(&reading);
    return error;
}

int head_keeper_step(struct head_keeper *keeper, struct head_maker *maker, uint64_t now_ns)
{
    struct head_draft draft;
    int added = 0, error = 0;

    while (error == 0 && head_maker_next(maker, &draft)) {
        error = head_keeper_add(keeper, &draft);
        added++;
    }
    if (error == 0 && added != 0 &&
        (keeper->pruned_ns == 0 || now_ns - keeper->pruned_ns >= DAY_NS)) {
        keeper->pruned_ns = now_ns;
        error = prune(keeper, draft.wall_ns);
    }
    if (error == 0 && now_ns - keeper->synced_ns >= SYNC_NS) {
        keeper->synced_ns = now_ns;
        error = head_keeper_sync(keeper);
    }
    return error != 0 ? error : added;
}
