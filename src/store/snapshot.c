#include "store/snapshot.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/crc32c.h"
#include "store/file_head.h"
#include "store/frame.h"
#include "store/segment.h"

/* The header as it is in the file. */
struct header_image {
    struct file_head head;
    uint8_t journal_id[16];
    uint8_t exchange_id[32];
    uint8_t hash_key[16];
    uint64_t sequence;
    uint64_t frame;
    uint64_t t_ns;
    uint64_t boot;
    uint32_t rules_version;
    uint32_t section_count;
    uint64_t image_bytes;
    uint8_t effects_hash[HASH_BYTES];
    uint8_t image_hash[HASH_BYTES];
    uint8_t frame_hash[HASH_BYTES];
    uint8_t zero[32];
};

static_assert(sizeof(struct header_image) == SNAPSHOT_HEADER_BYTES, "journal.md, Snapshot");
static_assert(offsetof(struct header_image, journal_id) == 16, "journal.md, Snapshot");
static_assert(offsetof(struct header_image, exchange_id) == 32, "journal.md, Snapshot");
static_assert(offsetof(struct header_image, hash_key) == 64, "journal.md, Snapshot");
static_assert(offsetof(struct header_image, sequence) == 80, "journal.md, Snapshot");
static_assert(offsetof(struct header_image, frame) == 88, "journal.md, Snapshot");
static_assert(offsetof(struct header_image, t_ns) == 96, "journal.md, Snapshot");
static_assert(offsetof(struct header_image, boot) == 104, "journal.md, Snapshot");
static_assert(offsetof(struct header_image, rules_version) == 112, "journal.md, Snapshot");
static_assert(offsetof(struct header_image, section_count) == 116, "journal.md, Snapshot");
static_assert(offsetof(struct header_image, image_bytes) == 120, "journal.md, Snapshot");
static_assert(offsetof(struct header_image, effects_hash) == 128, "journal.md, Snapshot");
static_assert(offsetof(struct header_image, image_hash) == 160, "journal.md, Snapshot");
static_assert(offsetof(struct header_image, frame_hash) == 192, "journal.md, Snapshot");
static_assert(offsetof(struct header_image, zero) == 224, "journal.md, Snapshot");

/* One row of the section table. */
struct section_image {
    uint32_t code;
    uint32_t version;
    uint64_t offset;
    uint64_t bytes;
    uint32_t crc;
    uint8_t pad4[4];
};

static_assert(sizeof(struct section_image) == SNAPSHOT_SECTION_BYTES, "journal.md, Snapshot");
static_assert(offsetof(struct section_image, version) == 4, "journal.md, Snapshot");
static_assert(offsetof(struct section_image, offset) == 8, "journal.md, Snapshot");
static_assert(offsetof(struct section_image, bytes) == 16, "journal.md, Snapshot");
static_assert(offsetof(struct section_image, crc) == 24, "journal.md, Snapshot");
static_assert(offsetof(struct section_image, pad4) == 28, "journal.md, Snapshot");

enum { BUFFER_BYTES = 1 << 20, HEAD_BYTES = SNAPSHOT_IMAGE_OFFSET };

static_assert(SNAPSHOT_HEADER_BYTES + SNAPSHOT_SECTIONS_MAX * SNAPSHOT_SECTION_BYTES <= HEAD_BYTES,
              "the table ends before the image begins");
static_assert(HEAD_BYTES % DISK_ALIGNMENT == 0, "the image is read past the page cache");

static const struct file_kind head_kind = {
    .magic = { 'p', 'e', 'r', 'p', 'd', 'S', 'N', 'P' },
    .format_version = SNAPSHOT_VERSION,
    .header_bytes = SNAPSHOT_HEADER_BYTES,
};

/* ---- names ----------------------------------------------------------------------------------- */

static void path_of(char out[DISK_PATH_BYTES], uint64_t sequence, const char *end)
{
    int used = snprintf(out, DISK_PATH_BYTES, "snapshot/%" PRIu64 ".%s", sequence, end);

    INVARIANT(used > 0 && used < DISK_PATH_BYTES);
}

/* The sequence of a name "SEQUENCE<end>", written as path_of writes it; 0 for every other name. */
static uint64_t sequence_of(const char *name, const char *end)
{
    uint64_t value = 0;
    const char *at = name;

    if (*at == '0')
        return 0;
    for (; *at >= '0' && *at <= '9'; at++) {
        uint64_t digit = (uint64_t)(*at - '0');

        if (value > (UINT64_MAX - digit) / 10)
            return 0;
        value = value * 10 + digit;
    }
    return strcmp(at, end) == 0 ? value : 0;
}

/* The newest sequences of a listing, in falling order. */
struct listing {
    const char *end; /* of the names that are meant */
    uint64_t *sequences;
    int count;
    int max;
};

static void listing_visit(void *context, const char *name, uint64_t bytes)
{
    struct listing *listing = context;
    uint64_t sequence = sequence_of(name, listing->end);
    int at = listing->count;

    (void)bytes;
    if (sequence == 0)
        return;
    if (listing->count < listing->max)
        listing->count++;
    else if (at == 0 || listing->sequences[at - 1] >= sequence)
        return;
    else
        at--;
    for (; at > 0 && listing->sequences[at - 1] < sequence; at--)
        listing->sequences[at] = listing->sequences[at - 1];
    listing->sequences[at] = sequence;
}

static int list_of(struct disk *disk, const char *end, uint64_t *sequences, int sequences_max)
{
    struct listing listing = { .end = end, .sequences = sequences, .max = sequences_max };
    int error = disk_list(disk, "snapshot", listing_visit, &listing);

    return error < 0 ? error : listing.count;
}

int snapshot_list(struct disk *disk, uint64_t *sequences, int sequences_max)
{
    return list_of(disk, ".snap", sequences, sequences_max);
}

static int remove_of(struct disk *disk, uint64_t sequence, const char *end)
{
    char path[DISK_PATH_BYTES];

    path_of(path, sequence, end);
    return disk_remove(disk, path);
}

int snapshot_remove(struct disk *disk, uint64_t sequence)
{
    return remove_of(disk, sequence, "snap");
}

int snapshot_remove_part(struct disk *disk, uint64_t sequence)
{
    return remove_of(disk, sequence, "snap.part");
}

int snapshot_remove_parts(struct disk *disk)
{
    uint64_t sequence;
    int found;

    while ((found = list_of(disk, ".snap.part", &sequence, 1)) > 0) {
        int error = snapshot_remove_part(disk, sequence);

        if (error < 0)
            return error;
    }
    return found;
}

/* ---- writing --------------------------------------------------------------------------------- */

struct snapshot_writer {
    struct disk *disk;
    const struct exchange_file *exchange;
    uint64_t sequence;
    int file;
    int error;             /* the first; from then on nothing is written */
    uint64_t offset;       /* in the file, of `buffer` */
    uint64_t settled;      /* the file is synced below it */
    size_t used;           /* of the buffer */
    uint32_t sections;     /* begun; the last of them is open */
    struct hash_state all; /* of the image so far */
    struct section_image table[SNAPSHOT_SECTIONS_MAX];
    alignas(DISK_ALIGNMENT) uint8_t buffer[BUFFER_BYTES];
};

struct snapshot_writer *snapshot_begin(struct disk *disk, const struct exchange_file *exchange,
                                       uint64_t sequence)
{
    struct snapshot_writer *writer = aligned_alloc(alignof(struct snapshot_writer), sizeof *writer);
    char path[DISK_PATH_BYTES];

    INVARIANT(sequence > 0);
    if (!writer)
        return NULL;
    memset(writer, 0, offsetof(struct snapshot_writer, buffer));
    writer->disk = disk;
    writer->exchange = exchange;
    writer->sequence = sequence;
    writer->offset = SNAPSHOT_IMAGE_OFFSET;
    hash_begin(&writer->all);
    path_of(path, sequence, "snap.part");
    writer->file = disk_open(disk, path, DISK_CREATE);
    writer->error = writer->file < 0 ? writer->file : 0;
    return writer;
}

static void flush(struct snapshot_writer *writer)
{
    if (writer->error == 0 && writer->used > 0)
        writer->error =
            disk_write(writer->disk, writer->file, writer->offset, writer->buffer, writer->used);
    writer->offset += writer->used;
    writer->used = 0;
}

void snapshot_section_begin(struct snapshot_writer *writer, uint32_t code, uint32_t version)
{
    struct section_image *section = &writer->table[writer->sections];

    INVARIANT(writer->sections < SNAPSHOT_SECTIONS_MAX);
    INVARIANT(writer->sections == 0 || code > section[-1].code);
    section->code = code;
    section->version = version;
    section->offset = writer->offset + writer->used;
    writer->sections++;
}

void snapshot_bytes(struct snapshot_writer *writer, const void *bytes, size_t count)
{
    struct section_image *section = &writer->table[writer->sections - 1];
    const uint8_t *from = bytes;

    INVARIANT(writer->sections > 0);
    hash_add(&writer->all, bytes, count);
    section->crc = crc32c_extend(section->crc, bytes, count);
    section->bytes += count;
    while (count > 0) {
        size_t room = BUFFER_BYTES - writer->used;
        size_t part = count < room ? count : room;

        memcpy(writer->buffer + writer->used, from, part);
        writer->used += part;
        from += part;
        count -= part;
        if (writer->used == BUFFER_BYTES)
            flush(writer);
    }
}

void snapshot_settle(struct snapshot_writer *writer)
{
    if (writer->error != 0 || writer->settled == writer->offset)
        return;
    writer->settled = writer->offset;
    writer->error = disk_sync(writer->disk, writer->file);
}

void snapshot_abandon(struct snapshot_writer *writer)
{
    if (writer->file >= 0) {
        disk_close(writer->disk, writer->file);
        (void)!snapshot_remove_part(writer->disk, writer->sequence); /* a start removes it, too */
    }
    free(writer);
}

static void head_encode(uint8_t out[HEAD_BYTES], const struct exchange_file *exchange,
                        const struct snapshot_head *head, const struct section_image *table)
{
    size_t table_bytes = head->section_count * sizeof table[0];
    struct header_image image = {
        .sequence = head->sequence,
        .frame = head->frame,
        .t_ns = head->t_ns,
        .boot = head->boot,
        .rules_version = head->rules_version,
        .section_count = head->section_count,
        .image_bytes = head->image_bytes,
    };

    memcpy(image.journal_id, exchange_file_journal_of(exchange, head->frame),
           sizeof image.journal_id);
    memcpy(image.exchange_id, exchange->exchange_id, sizeof image.exchange_id);
    memcpy(image.hash_key, exchange->hash_key, sizeof image.hash_key);
    memcpy(image.effects_hash, head->effects_hash, sizeof image.effects_hash);
    memcpy(image.image_hash, head->image_hash, sizeof image.image_hash);
    memcpy(image.frame_hash, head->frame_hash, sizeof image.frame_hash);
    memset(out, 0, HEAD_BYTES);
    memcpy(out, &image, sizeof image);
    memcpy(out + SNAPSHOT_HEADER_BYTES, table, table_bytes);
    file_head_seal(out, SNAPSHOT_HEADER_BYTES + table_bytes, &head_kind);
}

/* Syncs a segment if it begins at or below `frame`. */
static int segment_sync(struct disk *disk, uint64_t number, uint64_t frame)
{
    char path[DISK_PATH_BYTES];
    uint8_t bytes[FRAME_HEADER_BYTES];
    uint64_t first = 0;
    int64_t got;
    int error = 0;
    int file;

    segment_path(path, number, true);
    file = disk_open(disk, path, 0);
    if (file == -ENOENT)
        return 0; /* archived meanwhile */
    if (file < 0)
        return file;
    got = disk_read(disk, file, SEGMENT_FRAMES_OFFSET, bytes, sizeof bytes);
    if (got == (int64_t)sizeof bytes)
        first = frame_claimed_number(bytes);
    if (got < 0)
        error = (int)got;
    else if (first != 0 && first <= frame)
        error = disk_sync(disk, file);
    disk_close(disk, file);
    return error;
}

/* A snapshot is a promise that the frames up to its own are on the medium: without it a start would
 * look for a frame that a power loss took, when durability is `none`. */
static int journal_sync(struct disk *disk, uint64_t frame)
{
    struct segment_range range;
    int error = segment_range_of(disk, &range);

    for (uint64_t n = range.min; error == 0 && n <= range.max; n++)
        error = segment_sync(disk, n, frame);
    return error;
}

static int file_end(struct snapshot_writer *writer, const struct snapshot_head *head)
{
    struct disk *disk = writer->disk;
    char part[DISK_PATH_BYTES];
    char path[DISK_PATH_BYTES];
    int error;

    head_encode(writer->buffer, writer->exchange, head, writer->table);
    error = disk_write(disk, writer->file, 0, writer->buffer, HEAD_BYTES);
    if (error == 0)
        error = disk_sync(disk, writer->file);
    if (error == 0)
        error = journal_sync(disk, head->frame);
    path_of(part, writer->sequence, "snap.part");
    path_of(path, writer->sequence, "snap");
    if (error == 0)
        error = disk_rename(disk, part, path);
    return error == 0 ? disk_sync_folder(disk, "snapshot") : error;
}

int snapshot_end(struct snapshot_writer *writer, struct snapshot_head *head)
{
    int error;

    INVARIANT(head->sequence == writer->sequence && writer->sections > 0);
    flush(writer);
    head->section_count = writer->sections;
    head->image_bytes = writer->offset - SNAPSHOT_IMAGE_OFFSET;
    hash_end(&writer->all, head->image_hash);
    error = writer->error == 0 ? file_end(writer, head) : writer->error;
    if (writer->file >= 0) {
        disk_close(writer->disk, writer->file);
        if (error < 0) /* its space may be what the disk lacks; gone already if it was renamed */
            (void)!snapshot_remove_part(writer->disk, writer->sequence);
    }
    free(writer);
    return error;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* A file that is being read. */
struct reading {
    struct disk *disk;
    const struct exchange_file *exchange;
    uint64_t sequence;
    struct refusal *why;
    int file;
    uint64_t file_bytes;
    alignas(DISK_ALIGNMENT) uint8_t bytes[HEAD_BYTES];
};

static int machine(struct reading *reading, const char *what, int error)
{
    (void)refusal_machine(reading->why, what, error);
    return error;
}

static int damaged(struct reading *reading, const char *what)
{
    (void)refusal_set(reading->why, REFUSAL_snapshot_damaged, "snapshot/%" PRIu64 ".snap: %s",
                      reading->sequence, what);
    return -EBADMSG;
}

/* What the header says of the image must be what the file has. */
static int image_check(struct reading *reading, const struct header_image *image)
{
    if (image->section_count == 0 || image->section_count > SNAPSHOT_SECTIONS_MAX)
        return damaged(reading, "its number of sections is out of bounds");
    size_t table_bytes = image->section_count * (size_t)SNAPSHOT_SECTION_BYTES;
    size_t end = SNAPSHOT_HEADER_BYTES + table_bytes;

    if (!file_head_is_intact(reading->bytes, end))
        return damaged(reading, "the checksum of header and table is wrong");
    if (!cc_is_zero(image->zero, sizeof image->zero) ||
        !cc_is_zero(reading->bytes + end, HEAD_BYTES - end))
        return damaged(reading, "a byte before the image that must be zero is not");
    if (image->sequence != reading->sequence || image->frame == 0)
        return damaged(reading, "it is of another sequence than its name says");
    if (image->image_bytes != reading->file_bytes - HEAD_BYTES)
        return damaged(reading, "it is longer or shorter than its header says");
    return 0;
}

static int belongs_check(struct reading *reading, const struct header_image *image)
{
    const struct exchange_file *exchange = reading->exchange;

    if (exchange_file_is(exchange, exchange_file_journal_of(exchange, image->frame),
                         image->journal_id, image->exchange_id, image->hash_key))
        return 0;
    (void)refusal_set(reading->why, REFUSAL_snapshot_foreign,
                      "snapshot/%" PRIu64 ".snap is not of this journal", reading->sequence);
    return -EXDEV;
}

static int head_decode(struct reading *reading, struct snapshot_head *out)
{
    struct header_image image;
    int error;

    memcpy(&image, reading->bytes, sizeof image);
    if (!file_head_is(reading->bytes, &head_kind))
        return damaged(reading, "it does not begin as a snapshot of version 1 does");
    error = image_check(reading, &image);
    if (error == 0)
        error = belongs_check(reading, &image);
    if (error < 0)
        return error;
    out->sequence = image.sequence;
    out->frame = image.frame;
    out->t_ns = image.t_ns;
    out->boot = image.boot;
    out->rules_version = image.rules_version;
    out->section_count = image.section_count;
    out->image_bytes = image.image_bytes;
    memcpy(out->effects_hash, image.effects_hash, sizeof out->effects_hash);
    memcpy(out->image_hash, image.image_hash, sizeof out->image_hash);
    memcpy(out->frame_hash, image.frame_hash, sizeof out->frame_hash);
    return 0;
}

/* Opens the file and reads what is before the image; on failure the file is closed. */
static int reading_begin(struct reading *reading, struct snapshot_head *out)
{
    char path[DISK_PATH_BYTES];
    int64_t got;
    int error;

    path_of(path, reading->sequence, "snap");
    reading->file = disk_open(reading->disk, path, DISK_DIRECT);
    if (reading->file < 0)
        return machine(reading, "opening a snapshot", reading->file);
    got = disk_size(reading->disk, reading->file);
    reading->file_bytes = got < 0 ? 0 : (uint64_t)got;
    if (got >= HEAD_BYTES)
        got = disk_read(reading->disk, reading->file, 0, reading->bytes, HEAD_BYTES);
    if (got < 0)
        error = machine(reading, "reading a snapshot", (int)got);
    else if (got != HEAD_BYTES)
        error = damaged(reading, "it is too short");
    else
        error = head_decode(reading, out);
    if (error < 0)
        disk_close(reading->disk, reading->file);
    return error;
}

static int sections_check(struct reading *reading, struct snapshot *out)
{
    uint64_t at = 0;
    uint8_t hash[HASH_BYTES];

    for (uint32_t i = 0; i < out->head.section_count; i++) {
        struct snapshot_section *section = &out->sections[i];
        struct section_image image;

        memcpy(&image, reading->bytes + SNAPSHOT_HEADER_BYTES + i * sizeof image, sizeof image);
        if (image.offset != SNAPSHOT_IMAGE_OFFSET + at ||
            image.bytes > out->head.image_bytes - at ||
            !cc_is_zero(image.pad4, sizeof image.pad4) || (i > 0 && image.code <= section[-1].code))
            return damaged(reading, "its sections are not one behind the other");
        section->code = image.code;
        section->version = image.version;
        section->bytes = out->memory + at;
        section->byte_count = image.bytes;
        if (crc32c(section->bytes, section->byte_count) != image.crc)
            return damaged(reading, "the checksum of a section is wrong");
        at += image.bytes;
    }
    if (at != out->head.image_bytes)
        return damaged(reading, "its sections end before the image does");
    hash_blake2b256(hash, out->memory, out->head.image_bytes);
    if (memcmp(hash, out->head.image_hash, sizeof hash) != 0)
        return damaged(reading, "the hash of its image is wrong");
    return 0;
}

static int image_read(struct reading *reading, struct snapshot *out)
{
    uint64_t bytes = out->head.image_bytes;
    /* Whole blocks, and one at least: the file is read past the page cache. */
    uint64_t room = (bytes / DISK_ALIGNMENT + 1) * DISK_ALIGNMENT;
    int64_t got;
    int error;

    out->memory = aligned_alloc(DISK_ALIGNMENT, room);
    if (!out->memory)
        return machine(reading, "memory for a snapshot", -ENOMEM);
    got = disk_read(reading->disk, reading->file, SNAPSHOT_IMAGE_OFFSET, out->memory, room);
    if (got < 0)
        error = machine(reading, "reading a snapshot", (int)got);
    else if ((uint64_t)got != bytes)
        error = damaged(reading, "it changed its size while it was read");
    else
        error = sections_check(reading, out);
    if (error < 0)
        free(out->memory);
    return error;
}

static int read_of(struct disk *disk, const struct exchange_file *exchange, uint64_t sequence,
                   struct snapshot *out, struct snapshot_head *head, struct refusal *why)
{
    struct refusal unheard;
    struct reading reading = {
        .disk = disk, .exchange = exchange, .sequence = sequence, .why = why ? why : &unheard
    };
    int error;

    refusal_clear(reading.why);
    error = reading_begin(&reading, head);
    if (error < 0)
        return error;
    if (out)
        error = image_read(&reading, out);
    disk_close(disk, reading.file);
    return error;
}

int snapshot_read(struct disk *disk, const struct exchange_file *exchange, uint64_t sequence,
                  struct snapshot *out, struct refusal *why)
{
    memset(out, 0, sizeof *out);
    return read_of(disk, exchange, sequence, out, &out->head, why);
}

int snapshot_read_head(struct disk *disk, const struct exchange_file *exchange, uint64_t sequence,
                       struct snapshot_head *out, struct refusal *why)
{
    return read_of(disk, exchange, sequence, NULL, out, why);
}

void snapshot_close(struct snapshot *snapshot)
{
    free(snapshot->memory);
    snapshot->memory = NULL;
}
