#include "store/era.h"

#include <errno.h>
#include <string.h>

#include "store/file_head.h"
#include "store/small_file.h"

static const char name[] = "origin";

struct row_image {
    struct file_head head;
    uint64_t frame;
    uint64_t sequence;
    uint64_t next_segment;
    uint64_t wall_ns;
    uint8_t frame_hash[HASH_BYTES];
    uint8_t former_id[16];
    uint8_t journal_id[16];
    char reason[ERA_REASON_BYTES];
    uint8_t zero[16];
};

static_assert(sizeof(struct row_image) == ERA_ROW_BYTES, "journal.md, Origin");
static_assert(offsetof(struct row_image, frame) == 16, "journal.md, Origin");
static_assert(offsetof(struct row_image, next_segment) == 32, "journal.md, Origin");
static_assert(offsetof(struct row_image, frame_hash) == 48, "journal.md, Origin");
static_assert(offsetof(struct row_image, former_id) == 80, "journal.md, Origin");
static_assert(offsetof(struct row_image, journal_id) == 96, "journal.md, Origin");
static_assert(offsetof(struct row_image, reason) == 112, "journal.md, Origin");

static const struct file_kind row_kind = {
    .magic = { 'p', 'e', 'r', 'p', 'd', 'O', 'R', 'G' },
    .format_version = 1,
    .header_bytes = ERA_ROW_BYTES,
};

/* The rows of the file as bytes; their count, -EBADMSG or -errno. No file: no rows. */
static int64_t read_rows(struct disk *disk,
                         uint8_t bytes[EXCHANGE_FILE_ERAS_MAX + 1][ERA_ROW_BYTES])
{
    const size_t room = (EXCHANGE_FILE_ERAS_MAX + 1) * (size_t)ERA_ROW_BYTES;
    int64_t count = small_file_read(disk, name, bytes, room);

    if (count == -ENOENT)
        return 0;
    if (count < 0)
        return count;
    return count % ERA_ROW_BYTES == 0 ? count / ERA_ROW_BYTES : -EBADMSG;
}

static bool row_decode(struct era_row *out, const uint8_t bytes[ERA_ROW_BYTES])
{
    struct row_image image;

    memcpy(&image, bytes, sizeof image);
    if (!file_head_is(bytes, &row_kind) || !file_head_is_intact(bytes, ERA_ROW_BYTES) ||
        !cc_is_zero(image.zero, sizeof image.zero))
        return false;
    *out = (struct era_row){ .frame = image.frame,
                             .sequence = image.sequence,
                             .next_segment = image.next_segment,
                             .wall_ns = image.wall_ns };
    memcpy(out->frame_hash, image.frame_hash, sizeof out->frame_hash);
    memcpy(out->former_id, image.former_id, sizeof out->former_id);
    memcpy(out->journal_id, image.journal_id, sizeof out->journal_id);
    memcpy(out->reason, image.reason, sizeof out->reason);
    return true;
}

static bool follows(const struct era_row *before, const struct era_row *row)
{
    return memcmp(before->journal_id, row->former_id, sizeof row->former_id) == 0 &&
           row->frame >= before->frame && row->next_segment >= before->next_segment;
}

int era_read(struct disk *disk, struct exchange_file *exchange, struct era_row *last)
{
    uint8_t bytes[EXCHANGE_FILE_ERAS_MAX + 1][ERA_ROW_BYTES];
    struct era_row row, before = { 0 };
    int64_t count = read_rows(disk, bytes);
    bool is_reached = count == 0;

    exchange->era_count = 0;
    if (count < 0)
        return (int)count;
    for (int64_t i = 0; i < count; i++) {
        bool is_good = row_decode(&row, bytes[i]) && (i == 0 || follows(&before, &row));
        if (!is_good && i == count - 1 && is_reached)
            break; /* it was never accepted */
        if (!is_good)
            return -EBADMSG;
        if (memcmp(row.former_id, exchange->journal_id, sizeof row.former_id) == 0) {
            exchange->era_count = (uint32_t)i;
            return i == count - 1 ? 0 : -EBADMSG; /* not accepted yet */
        }
        if (i == EXCHANGE_FILE_ERAS_MAX)
            return -EBADMSG;
        struct exchange_era *era = &exchange->eras[i];
        memcpy(era->journal_id, row.former_id, sizeof era->journal_id);
        era->end_segment = row.next_segment;
        era->frame = row.frame;
        era->sequence = row.sequence;
        is_reached = memcmp(row.journal_id, exchange->journal_id, sizeof row.journal_id) == 0;
        if (is_reached)
            exchange->era_count = (uint32_t)i + 1;
        if (is_reached && last != NULL)
            *last = row;
        before = row;
    }
    return is_reached ? 0 : -EBADMSG;
}

int era_add(struct disk *disk, const struct exchange_file *exchange, const struct era_row *row)
{
    uint8_t bytes[EXCHANGE_FILE_ERAS_MAX + 1][ERA_ROW_BYTES];
    struct row_image image = { .frame = row->frame,
                               .sequence = row->sequence,
                               .next_segment = row->next_segment,
                               .wall_ns = row->wall_ns };
    int64_t count = read_rows(disk, bytes);

    if (count < 0)
        return (int)count;
    if (exchange->era_count >= EXCHANGE_FILE_ERAS_MAX)
        return -EFBIG;
    memcpy(image.frame_hash, row->frame_hash, sizeof image.frame_hash);
    memcpy(image.former_id, row->former_id, sizeof image.former_id);
    memcpy(image.journal_id, row->journal_id, sizeof image.journal_id);
    memcpy(image.reason, row->reason, sizeof image.reason);
    memcpy(bytes[exchange->era_count], &image, sizeof image);
    file_head_seal(bytes[exchange->era_count], ERA_ROW_BYTES, &row_kind);
    return small_file_replace(disk, name, bytes, (exchange->era_count + 1) * (size_t)ERA_ROW_BYTES);
}
