#include "store/witness.h"

#include <errno.h>

/* A slot as it is on the disk; zeros follow. */
struct witness_image {
    struct file_head head;
    uint8_t journal_id[16];
    uint8_t exchange_id[32];
    uint8_t frame_hash[32];
    uint64_t boot;
    uint64_t frame;
    uint64_t sequence;
    uint64_t counter;
    uint64_t wall_ns;
    uint64_t start;
};

static_assert(sizeof(struct witness_image) == 144, "journal.md, Witness");
static_assert(offsetof(struct witness_image, journal_id) == 16, "journal.md, Witness");
static_assert(offsetof(struct witness_image, exchange_id) == 32, "journal.md, Witness");
static_assert(offsetof(struct witness_image, frame_hash) == 64, "journal.md, Witness");
static_assert(offsetof(struct witness_image, boot) == 96, "journal.md, Witness");
static_assert(offsetof(struct witness_image, frame) == 104, "journal.md, Witness");
static_assert(offsetof(struct witness_image, sequence) == 112, "journal.md, Witness");
static_assert(offsetof(struct witness_image, counter) == SLOT_COUNTER_OFFSET,
              "journal.md, Witness");
static_assert(offsetof(struct witness_image, wall_ns) == 128, "journal.md, Witness");
static_assert(offsetof(struct witness_image, start) == 136, "journal.md, Witness");

static const struct file_kind slot_kind = {
    .magic = { 'p', 'e', 'r', 'p', 'd', 'W', 'I', 'T' },
    .format_version = WITNESS_VERSION,
    .header_bytes = SLOT_BYTES,
};

void witness_encode(uint8_t out[SLOT_BYTES], const struct exchange_file *exchange,
                    const struct witness *witness)
{
    struct witness_image image = {
        .boot = witness->boot,
        .frame = witness->frame,
        .sequence = witness->sequence,
        .wall_ns = witness->wall_ns,
        .start = exchange->boot,
    };

    memcpy(image.journal_id, exchange->journal_id, sizeof image.journal_id);
    memcpy(image.exchange_id, exchange->exchange_id, sizeof image.exchange_id);
    memcpy(image.frame_hash, witness->hash, sizeof image.frame_hash);
    memset(out, 0, SLOT_BYTES);
    memcpy(out, &image, sizeof image);
}

uint32_t witness_seal(uint8_t bytes[SLOT_BYTES], const struct slot_location *location)
{
    return slot_file_seal(bytes, &slot_kind, location);
}

/* Returns 0, or -EBADMSG for a slot of another journal or exchange. */
static int decode(const uint8_t bytes[SLOT_BYTES], const struct exchange_file *exchange,
                  struct witness *out)
{
    struct witness_image image;

    memcpy(&image, bytes, sizeof image);
    if (memcmp(image.journal_id, exchange->journal_id, sizeof image.journal_id) != 0 ||
        memcmp(image.exchange_id, exchange->exchange_id, sizeof image.exchange_id) != 0)
        return -EBADMSG;
    out->boot = image.boot;
    out->frame = image.frame;
    out->sequence = image.sequence;
    out->wall_ns = image.wall_ns;
    out->start = image.start;
    memcpy(out->hash, image.frame_hash, sizeof out->hash);
    return 0;
}

int witness_read(struct disk *disk, const struct exchange_file *exchange, struct witness *out,
                 struct slot_location *location)
{
    uint8_t bytes[SLOT_BYTES];
    int error = slot_file_read(disk, "witness", &slot_kind, bytes, location);

    memset(out, 0, sizeof *out);
    return error < 0 ? error : decode(bytes, exchange, out);
}

int witness_read_slot(struct disk *disk, const struct exchange_file *exchange, uint32_t slot,
                      struct witness *out)
{
    uint8_t bytes[SLOT_BYTES];
    int error = slot_file_read_slot(disk, "witness", &slot_kind, slot, bytes);

    memset(out, 0, sizeof *out);
    return error < 0 ? error : decode(bytes, exchange, out);
}

int witness_write(struct disk *disk, const struct exchange_file *exchange,
                  const struct witness *witness, struct slot_location *location)
{
    uint8_t bytes[SLOT_BYTES];

    witness_encode(bytes, exchange, witness);
    if (location->counter == 0)
        return slot_file_replace(disk, "witness", &slot_kind, bytes, location);
    return slot_file_write(disk, "witness", &slot_kind, bytes, location);
}
