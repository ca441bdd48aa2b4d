#include "store/segment.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "store/file_head.h"

/* The first 128 bytes as they are in the file; zeros follow up to SEGMENT_FRAMES_OFFSET. */
struct segment_image {
    struct file_head head;
    uint8_t journal_id[16];
    uint8_t exchange_id[32];
    uint8_t hash_key[16];
    uint64_t number;
    uint64_t boot;
    uint32_t block_bytes;
    uint8_t zero[28];
};

static_assert(sizeof(struct segment_image) == SEGMENT_HEADER_BYTES, "journal.md, Segment");
static_assert(offsetof(struct segment_image, journal_id) == 16, "journal.md, Segment");
static_assert(offsetof(struct segment_image, exchange_id) == 32, "journal.md, Segment");
static_assert(offsetof(struct segment_image, hash_key) == 64, "journal.md, Segment");
static_assert(offsetof(struct segment_image, number) == 80, "journal.md, Segment");
static_assert(offsetof(struct segment_image, boot) == 88, "journal.md, Segment");
static_assert(offsetof(struct segment_image, block_bytes) == 96, "journal.md, Segment");
static_assert(offsetof(struct segment_image, zero) == 100, "journal.md, Segment");

enum { NAME_DIGITS = 10 };

static const struct file_kind head_kind = {
    .magic = { 'p', 'e', 'r', 'p', 'd', 'S', 'E', 'G' },
    .format_version = SEGMENT_VERSION,
    .header_bytes = SEGMENT_HEADER_BYTES,
};

uint8_t *segment_memory(uint64_t segment_bytes)
{
    uint8_t *memory = aligned_alloc(DISK_ALIGNMENT, segment_bytes);
    if (memory != NULL)
        arena_advise_huge(memory, segment_bytes);
    return memory;
}

void segment_encode(uint8_t out[SEGMENT_FRAMES_OFFSET], const struct segment_header *header)
{
    struct segment_image image = {
        .number = header->number,
        .boot = header->boot,
        .block_bytes = header->block_bytes,
    };

    memcpy(image.journal_id, header->journal_id, sizeof image.journal_id);
    memcpy(image.exchange_id, header->exchange_id, sizeof image.exchange_id);
    memcpy(image.hash_key, header->hash_key, sizeof image.hash_key);
    memset(out, 0, SEGMENT_FRAMES_OFFSET);
    memcpy(out, &image, sizeof image);
    file_head_seal(out, SEGMENT_HEADER_BYTES, &head_kind);
}

static bool zero_to_end(const uint8_t *bytes, size_t from, size_t end)
{
    uint8_t any = 0;

    for (size_t i = from; i < end; i++)
        any |= bytes[i];
    return any == 0;
}

int segment_decode(struct segment_header *out, const uint8_t bytes[SEGMENT_FRAMES_OFFSET])
{
    struct segment_image image;

    memcpy(&image, bytes, sizeof image);
    if (!file_head_is(bytes, &head_kind) || !file_head_is_intact(bytes, SEGMENT_HEADER_BYTES))
        return -EBADMSG;
    if (image.block_bytes < 512 || image.block_bytes > DISK_BLOCK_BYTES_MAX ||
        (image.block_bytes & (image.block_bytes - 1)) != 0)
        return -EBADMSG;
    if (!zero_to_end(bytes, offsetof(struct segment_image, zero), SEGMENT_FRAMES_OFFSET))
        return -EBADMSG;
    memcpy(out->journal_id, image.journal_id, sizeof out->journal_id);
    memcpy(out->exchange_id, image.exchange_id, sizeof out->exchange_id);
    memcpy(out->hash_key, image.hash_key, sizeof out->hash_key);
    out->number = image.number;
    out->boot = image.boot;
    out->block_bytes = image.block_bytes;
    return 0;
}

struct segment_header segment_header_of(const struct exchange_file *exchange, uint64_t number,
                                        uint64_t boot, uint32_t block_bytes)
{
    struct segment_header header = { .number = number, .boot = boot, .block_bytes = block_bytes };

    memcpy(header.journal_id, exchange_file_journal(exchange, number), sizeof header.journal_id);
    memcpy(header.exchange_id, exchange->exchange_id, sizeof header.exchange_id);
    memcpy(header.hash_key, exchange->hash_key, sizeof header.hash_key);
    return header;
}

bool segment_belongs(const struct segment_header *header, const struct exchange_file *exchange,
                     uint64_t number)
{
    return header->number == number &&
           exchange_file_is(exchange, exchange_file_journal(exchange, number), header->journal_id,
                            header->exchange_id, header->hash_key);
}

void segment_path(char out[DISK_PATH_BYTES], uint64_t number, bool prepared)
{
    int used = snprintf(out, DISK_PATH_BYTES, "journal/%0*" PRIu64 ".%s", NAME_DIGITS, number,
                        prepared ? "seg" : "next");

    INVARIANT(used > 0 && used < DISK_PATH_BYTES);
}

bool segment_number_of(const char *name, uint64_t *number)
{
    uint64_t value = 0;

    for (int i = 0; i < NAME_DIGITS; i++) {
        if (name[i] < '0' || name[i] > '9')
            return false;
        value = value * 10 + (uint64_t)(name[i] - '0');
    }
    if (strcmp(name + NAME_DIGITS, ".seg") != 0)
        return false;
    *number = value;
    return true;
}

/* Files come in no order. */
static void range_visit(void *context, const char *name, uint64_t bytes)
{
    struct segment_range *range = context;
    uint64_t number;

    (void)bytes;
    if (!segment_number_of(name, &number))
        return;
    range->min = number < range->min ? number : range->min;
    range->max = number > range->max ? number : range->max;
    range->count++;
}

int segment_range_of(struct disk *disk, struct segment_range *out)
{
    *out = (struct segment_range){ .min = UINT64_MAX };
    return disk_list(disk, "journal", range_visit, out);
}
