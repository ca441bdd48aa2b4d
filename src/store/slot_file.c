#include "store/slot_file.h"

#include <errno.h>

#include "store/small_file.h"

static bool slot_is_whole(const uint8_t bytes[SLOT_BYTES], const struct file_kind *kind)
{
    return file_head_is(bytes, kind) && file_head_is_intact(bytes, SLOT_BYTES) &&
           cc_load64(bytes + SLOT_COUNTER_OFFSET) > 0;
}

int slot_file_read(struct disk *disk, const char *name, const struct file_kind *kind,
                   uint8_t bytes[SLOT_BYTES], struct slot_location *location)
{
    uint8_t slot[SLOT_BYTES];
    int64_t count = 0;
    int file = disk_open(disk, name, 0);

    *location = (struct slot_location){ 0 };
    if (file < 0)
        return file;
    int64_t size = disk_size(disk, file);
    for (uint32_t i = 0; i < SLOT_COUNT && count >= 0 && size >= 0; i++) {
        count = disk_read(disk, file, (uint64_t)i * SLOT_BYTES, slot, sizeof slot);
        if (count >= 0 && count < SLOT_BYTES && size >= (int64_t)(i + 1) * SLOT_BYTES)
            count = -EIO; /* a read that failed is no damage */
        if (count != SLOT_BYTES || !slot_is_whole(slot, kind)) {
            location->damaged |= 1U << i;
            continue;
        }
        uint64_t counter = cc_load64(slot + SLOT_COUNTER_OFFSET);
        if (counter <= location->counter)
            continue;
        location->counter = counter;
        location->at = i;
        memcpy(bytes, slot, sizeof slot);
    }
    explicit_bzero(slot, sizeof slot); /* it may hold a key */
    disk_close(disk, file);
    if (count < 0 || size < 0)
        return (int)(count < 0 ? count : size);
    return location->counter > 0 ? 0 : -EBADMSG;
}

int slot_file_read_slot(struct disk *disk, const char *name, const struct file_kind *kind,
                        uint32_t slot, uint8_t bytes[SLOT_BYTES])
{
    int file = disk_open(disk, name, 0);

    if (file < 0)
        return file;
    int64_t count = disk_read(disk, file, (uint64_t)slot * SLOT_BYTES, bytes, SLOT_BYTES);
    disk_close(disk, file);
    if (count < 0)
        return (int)count;
    return count == SLOT_BYTES && slot_is_whole(bytes, kind) ? 0 : -EBADMSG;
}

uint32_t slot_file_seal(uint8_t bytes[SLOT_BYTES], const struct file_kind *kind,
                        const struct slot_location *location)
{
    cc_store64(bytes + SLOT_COUNTER_OFFSET, location->counter + 1);
    file_head_seal(bytes, SLOT_BYTES, kind);
    return location->counter == 0 ? 0 : (location->at + 1) % SLOT_COUNT;
}

/* Writes one slot and syncs it. */
static int slot_write(struct disk *disk, int file, uint32_t at, const uint8_t bytes[SLOT_BYTES])
{
    int error = disk_write(disk, file, (uint64_t)at * SLOT_BYTES, bytes, SLOT_BYTES);

    return error == 0 ? disk_sync(disk, file) : error;
}

int slot_file_write(struct disk *disk, const char *name, const struct file_kind *kind,
                    uint8_t bytes[SLOT_BYTES], struct slot_location *location)
{
    uint32_t at = slot_file_seal(bytes, kind, location);
    uint32_t damaged = location->damaged & ~(1U << at);
    int file = disk_open(disk, name, DISK_WRITE);

    if (file < 0)
        return file;
    int error = slot_write(disk, file, at, bytes);
    for (uint32_t i = 0; error == 0 && i < SLOT_COUNT; i++)
        if ((damaged & 1U << i) != 0)
            error = slot_write(disk, file, i, bytes);
    disk_close(disk, file);
    if (error == 0)
        *location = (struct slot_location){ .counter = location->counter + 1, .at = at };
    return error;
}

int slot_file_replace(struct disk *disk, const char *name, const struct file_kind *kind,
                      uint8_t bytes[SLOT_BYTES], struct slot_location *location)
{
    uint8_t all[SLOT_FILE_BYTES];

    (void)slot_file_seal(bytes, kind, location);
    for (uint32_t i = 0; i < SLOT_COUNT; i++)
        memcpy(all + i * SLOT_BYTES, bytes, SLOT_BYTES);
    int error = small_file_replace(disk, name, all, sizeof all);
    explicit_bzero(all, sizeof all); /* they may hold a key */
    if (error == 0)
        *location = (struct slot_location){ .counter = location->counter + 1 };
    return error;
}
