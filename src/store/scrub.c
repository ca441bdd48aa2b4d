#include "store/scrub.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/archive_folder.h"
#include "store/segment.h"

enum { ROUND_PAUSE_S = 1, SNAPSHOTS_MAX = 64, LENGTH_AT = 80, SECTIONS_AT = 4096 };

#define NS_PER_S UINT64_C(1000000000)

int scrub_init(struct scrub *scrub, struct disk *disk, const struct exchange_file *exchange,
               const struct archive_copy *copy, uint64_t rate)
{
    *scrub = (struct scrub){
        .disk = disk, .exchange = exchange, .copy = copy, .rate = rate, .file = -1
    };
    scrub->targets = malloc(SCRUB_FILES_MAX * sizeof *scrub->targets);
    scrub->room = aligned_alloc(DISK_ALIGNMENT, SCRUB_ROOM_BYTES);
    if (scrub->targets != NULL && scrub->room != NULL)
        return 0;
    scrub_free(scrub);
    return -ENOMEM;
}

static void close_file(struct scrub *scrub)
{
    if (scrub->file >= 0)
        disk_close(scrub->file_disk, scrub->file);
    scrub->file = -1;
}

static void end_round(struct scrub *scrub)
{
    if (scrub->is_listed)
        archive_close(&scrub->archive);
    scrub->is_listed = false;
}

void scrub_free(struct scrub *scrub)
{
    close_file(scrub);
    end_round(scrub);
    free(scrub->targets);
    free(scrub->room);
    scrub->targets = NULL;
    scrub->room = NULL;
}

/* ---- a round --------------------------------------------------------------------------------- */

static void add(struct scrub *scrub, enum scrub_kind kind, uint64_t number)
{
    if (scrub->count < SCRUB_FILES_MAX)
        scrub->targets[scrub->count++] = (struct scrub_target){ number, kind };
}

static void path_of(const struct scrub_target *target, char path[DISK_PATH_BYTES])
{
    if (target->kind == SCRUB_SEGMENT)
        segment_path(path, target->number, true);
    else if (target->kind != SCRUB_SNAPSHOT)
        archive_folder_path(path, target->number, false);
    else
        (void)snprintf(path, DISK_PATH_BYTES, "snapshot/%" PRIu64 ".snap", target->number);
}

static struct disk *disk_of(const struct scrub *scrub, const struct scrub_target *target)
{
    return target->kind == SCRUB_COPIED ? scrub->copy->disk : scrub->disk;
}

/* Takes an archived file from its other place. */
static bool is_mended(struct scrub *scrub, const struct scrub_target *target)
{
    if (scrub->copy == NULL || target->kind > SCRUB_COPIED)
        return false;
    struct disk *from = target->kind == SCRUB_COPIED ? scrub->disk : scrub->copy->disk;
    const struct archive_row *row = archive_find(&scrub->archive, target->number);
    if (archive_copy_bring(from, disk_of(scrub, target), row, ".mend") != 0)
        return false;
    published_add(&scrub->counters.mended, 1);
    return true;
}

/* Opens the list with all its files in archive/ itself. */
static enum refusal_kind open_own_archive(struct scrub *scrub, struct refusal *refusal)
{
    uint64_t missing;
    enum refusal_kind kind = archive_open(&scrub->archive, scrub->disk, scrub->exchange, refusal);

    if (kind != REFUSAL_none ||
        archive_folder_check(&scrub->archive, scrub->disk, false, &missing) == 0)
        return kind;
    archive_close(&scrub->archive);
    return refusal_set(refusal, REFUSAL_archive_damaged,
                       "the file of segment %" PRIu64 " is missing or of another size", missing);
}

/* The list is read twice before it counts as wrong: a file of it may just have been pruned. What it
 * lacks is taken from the other place. */
static void open_archive(struct scrub *scrub)
{
    struct refusal refusal, unheard;
    enum refusal_kind kind = REFUSAL_machine;
    uint64_t brought = 0;

    for (int i = 0; i < 2 && kind != REFUSAL_none; i++)
        kind = open_own_archive(scrub, &refusal);
    if (kind == REFUSAL_none)
        return;
    published_add(&scrub->counters.faults, 1);
    memset(&scrub->archive, 0, sizeof scrub->archive);
    if (scrub->copy != NULL)
        (void)!archive_copy_mend(scrub->copy, &brought, &unheard);
    published_add(&scrub->counters.mended, brought);
    if (brought != 0)
        kind = archive_open(&scrub->archive, scrub->disk, scrub->exchange, &unheard);
    (void)snprintf(scrub->finding, sizeof scrub->finding,
                   "file=archive/index: %s; %" PRIu64 " taken from store.archive_copy",
                   refusal.text, brought);
    if (kind != REFUSAL_none)
        memset(&scrub->archive, 0, sizeof scrub->archive);
}

/* The archive's files, then the sealed segments, then the snapshots. Of frames in flight a later
 * one may be in the next segment before an earlier one is in its own, so what is on disk does not
 * say which segment is sealed. */
static void list(struct scrub *scrub)
{
    uint64_t sequences[SNAPSHOTS_MAX];
    struct segment_range range;

    scrub->count = scrub->next = 0;
    open_archive(scrub);
    scrub->is_listed = true;
    for (uint64_t i = 0; i < scrub->archive.count; i++) {
        add(scrub, SCRUB_ARCHIVED, scrub->archive.rows[i].segment);
        if (scrub->copy != NULL)
            add(scrub, SCRUB_COPIED, scrub->archive.rows[i].segment);
    }
    if (segment_range_of(scrub->disk, &range) == 0 && range.count > 0)
        for (uint64_t n = range.min; n < range.max && n < scrub->open_segment; n++)
            add(scrub, SCRUB_SEGMENT, n);
    int snapshots = snapshot_list(scrub->disk, sequences, SNAPSHOTS_MAX);
    for (int i = 0; i < snapshots; i++)
        add(scrub, SCRUB_SNAPSHOT, sequences[i]);
}

void scrub_alone(struct scrub *scrub, enum scrub_kind kind, uint64_t number)
{
    scrub->count = scrub->next = 0;
    scrub->is_listed = true; /* of no archive */
    add(scrub, kind, number);
}

/* ---- one file -------------------------------------------------------------------------------- */

static bool is_there(struct scrub *scrub, const struct scrub_target *target)
{
    char path[DISK_PATH_BYTES];

    path_of(target, path);
    int file = disk_open(disk_of(scrub, target), path, 0);
    if (file >= 0)
        disk_close(disk_of(scrub, target), file);
    return file != -ENOENT;
}

/* The file is done with. `why`: what is wrong with the bytes from `from` to `to`; NULL: nothing. */
static void end(struct scrub *scrub, const char *why, uint64_t from, uint64_t to)
{
    const struct scrub_target *target = &scrub->targets[scrub->next++];
    char path[DISK_PATH_BYTES];

    close_file(scrub);
    if (why == NULL) {
        published_add(&scrub->counters.files, 1);
        return;
    }
    if (!is_there(scrub, target))
        return;
    path_of(target, path);
    published_add(&scrub->counters.faults, 1);
    bool is_right_again = is_mended(scrub, target);
    (void)snprintf(scrub->finding, sizeof scrub->finding,
                   "file=%s%s bytes=%" PRIu64 "..%" PRIu64 ": %s%s",
                   target->kind == SCRUB_COPIED ? "store.archive_copy:" : "", path, from, to, why,
                   is_right_again ? "; taken from the other place" : "");
}

/* What the file must be, as its list or its own head says. False: it is done with. */
static bool prepare(struct scrub *scrub, const struct scrub_target *target)
{
    if (target->kind <= SCRUB_COPIED) {
        const struct archive_row *row = archive_find(&scrub->archive, target->number);
        memcpy(scrub->wanted, row->file_hash, sizeof scrub->wanted);
    }
    if (target->kind != SCRUB_SNAPSHOT)
        return true;
    if (snapshot_read_head(scrub->disk, scrub->exchange, target->number, &scrub->head, NULL) != 0) {
        end(scrub, "its header is damaged", 0, SECTIONS_AT);
        return false;
    }
    memcpy(scrub->wanted, scrub->head.image_hash, sizeof scrub->wanted);
    return true;
}

static bool open_next(struct scrub *scrub)
{
    const struct scrub_target *target = &scrub->targets[scrub->next];
    char path[DISK_PATH_BYTES];

    if (!prepare(scrub, target))
        return false;
    path_of(target, path);
    scrub->file_disk = disk_of(scrub, target);
    scrub->file = disk_open(scrub->file_disk, path, DISK_DIRECT);
    int64_t size = scrub->file < 0 ? scrub->file : disk_size(scrub->file_disk, scrub->file);
    if (size < 0) {
        if (size == -ENOENT && target->kind == SCRUB_COPIED)
            (void)is_mended(scrub, target);
        if (size == -ENOENT)
            scrub->next++;
        else
            end(scrub, strerror((int)-size), 0, 0);
        return false;
    }
    scrub->size = (uint64_t)size;
    scrub->at = scrub->room_at = scrub->held = scrub->parsed = 0;
    scrub->has_ended = false;
    scrub->block_bytes = 0;
    memset(&scrub->tail, 0, sizeof scrub->tail);
    hash_begin(&scrub->hash);
    return true;
}

/* The bytes of the sections are all that the image hash covers; the archive's hash covers all. */
static void hash_piece(struct scrub *scrub, const uint8_t *bytes, uint64_t count)
{
    const struct scrub_target *target = &scrub->targets[scrub->next];
    uint64_t from = target->kind == SCRUB_SNAPSHOT ? SECTIONS_AT : 0;
    uint64_t to = target->kind == SCRUB_SNAPSHOT ? from + scrub->head.image_bytes : scrub->size;
    uint64_t begin = scrub->at < from ? from : scrub->at;
    uint64_t stop = scrub->at + count < to ? scrub->at + count : to;
    uint8_t hash[HASH_BYTES];

    if (begin < stop)
        hash_add(&scrub->hash, bytes + (begin - scrub->at), stop - begin);
    if (scrub->at + count < scrub->size)
        return;
    hash_end(&scrub->hash, hash);
    bool is_equal = memcmp(hash, scrub->wanted, sizeof hash) == 0;
    end(scrub, is_equal ? NULL : "its hash is another one", from, to);
}

/* ---- segments -------------------------------------------------------------------------------- */

/* Passes the header of a segment. Returns what is wrong, or NULL. */
static const char *check_header(struct scrub *scrub, uint64_t number)
{
    struct segment_header header;

    if (segment_decode(&header, scrub->room) != 0 ||
        !segment_belongs(&header, scrub->exchange, number))
        return "its header is damaged";
    scrub->block_bytes = header.block_bytes;
    scrub->parsed = SEGMENT_FRAMES_OFFSET;
    return NULL;
}

/* Passes the frames that are whole in the room. Returns what is wrong, or NULL. */
static const char *check_frames(struct scrub *scrub, uint64_t number)
{
    while (scrub->parsed < scrub->room_at + scrub->held) {
        const uint8_t *bytes = scrub->room + (scrub->parsed - scrub->room_at);
        uint64_t there = scrub->room_at + scrub->held - scrub->parsed;
        struct frame_header header;

        if (scrub->has_ended || frame_claimed_number(bytes) == 0) {
            scrub->has_ended = true;
            if (!cc_is_zero(bytes, there))
                return "a frame is damaged, or what follows the last one is not zero";
            scrub->parsed += there;
            return NULL;
        }
        uint64_t length = cc_load32(bytes + LENGTH_AT);
        if (length > there && length <= FRAME_BYTES_MAX &&
            scrub->room_at + scrub->held < scrub->size)
            return NULL; /* with the next piece */
        if (frame_decode(&header, bytes, there, exchange_file_journal(scrub->exchange, number),
                         number, scrub->block_bytes) != 0)
            return "a frame is damaged";
        if (scrub->tail.number != 0 && !frame_chains(&scrub->tail, &header))
            return "a frame does not chain to the one before";
        frame_tail_advance(&scrub->tail, &header, bytes);
        scrub->parsed += header.length;
    }
    return NULL;
}

/* The piece was read after what the room holds. */
static void check_segment(struct scrub *scrub, uint64_t count)
{
    uint64_t number = scrub->targets[scrub->next].number;
    const char *why = NULL;

    scrub->held += count;
    if (scrub->parsed == 0)
        why = check_header(scrub, number);
    if (why == NULL)
        why = check_frames(scrub, number);
    if (why != NULL || scrub->at + count >= scrub->size) {
        end(scrub, why, scrub->parsed, scrub->at + count);
        return;
    }
    uint64_t done = (scrub->parsed - scrub->room_at) / DISK_ALIGNMENT * DISK_ALIGNMENT;
    memmove(scrub->room, scrub->room + done, scrub->held - done);
    scrub->room_at += done;
    scrub->held -= done;
}

/* ---- steps ----------------------------------------------------------------------------------- */

static uint64_t read_piece(struct scrub *scrub)
{
    bool is_segment = scrub->targets[scrub->next].kind == SCRUB_SEGMENT;
    uint8_t *into = scrub->room + (is_segment ? scrub->held : 0);
    uint64_t left = scrub->size - scrub->at;
    uint64_t wanted = left < SCRUB_PIECE_BYTES ? left : SCRUB_PIECE_BYTES;

    INVARIANT((is_segment ? scrub->held : 0) + SCRUB_PIECE_BYTES <= SCRUB_ROOM_BYTES);
    int64_t count = disk_read(scrub->file_disk, scrub->file, scrub->at, into, SCRUB_PIECE_BYTES);
    if (count < 0 || (uint64_t)count < wanted) {
        end(scrub, count < 0 ? strerror((int)-count) : "it became shorter", scrub->at,
            scrub->at + wanted);
        return wanted;
    }
    published_add(&scrub->counters.bytes, wanted);
    if (is_segment)
        check_segment(scrub, wanted);
    else
        hash_piece(scrub, into, wanted);
    scrub->at += wanted;
    return wanted;
}

uint64_t scrub_step(struct scrub *scrub, uint64_t now_ns)
{
    uint64_t count = 0;

    scrub->finding[0] = '\0';
    if (now_ns < scrub->due_ns)
        return 0;
    if (!scrub->is_listed)
        list(scrub);
    if (scrub->next == scrub->count) {
        published_add(&scrub->counters.rounds, 1);
        published_set(&scrub->counters.round_ns, now_ns);
        end_round(scrub);
        scrub->due_ns = now_ns + ROUND_PAUSE_S * NS_PER_S;
        return 0;
    }
    if (scrub->file < 0 && !open_next(scrub))
        return 1;
    count = read_piece(scrub);
    scrub->due_ns = now_ns + count * NS_PER_S / scrub->rate;
    return count + 1;
}
