/* slot_file.h - a file of the data directory of 4 slots, which are written in place in turn.
 *
 *   | slot 0 | slot 1 | slot 2 | slot 3 |     4,096 bytes each, complete with head and checksum
 *      c-3      c-2      c-1      c           the slot with the highest counter counts
 *
 * Order.  A write replaces the slot after the newest one and is synced: a crash that tears it
 *         leaves the newest one. It needs no space on the disk.
 * Wait.   Blocking.
 * Limits. As small_file.h for `name`. */
#ifndef STORE_SLOT_FILE_H
#define STORE_SLOT_FILE_H

#include "store/disk.h"
#include "store/file_head.h"

enum {
    SLOT_COUNT = 4,
    SLOT_BYTES = 4096,
    SLOT_FILE_BYTES = SLOT_COUNT * SLOT_BYTES,
    SLOT_COUNTER_OFFSET = 120 /* u64, the same in every kind of file */
};

/* What was found in a file, or was written last. */
struct slot_location {
    uint64_t counter; /* of the newest whole slot; 0: none is whole */
    uint32_t at;      /* that slot */
    uint32_t damaged; /* bit i: slot i is not whole */
};

/* Reads the newest whole slot of `kind` into `bytes` and says what was found. Returns 0; -ENOENT
 * without the file; -EBADMSG when no slot is whole; or -errno. `bytes` is undefined after those. */
CC_MUST_USE int slot_file_read(struct disk *disk, const char *name, const struct file_kind *kind,
                               uint8_t bytes[SLOT_BYTES], struct slot_location *location);

/* Reads one slot of `kind`, newest or not. Returns 0; -ENOENT without the file; -EBADMSG when it
 * is not whole; or -errno. */
CC_MUST_USE int slot_file_read_slot(struct disk *disk, const char *name,
                                    const struct file_kind *kind, uint32_t slot,
                                    uint8_t bytes[SLOT_BYTES]);

/* Sets the counter that follows `location` in `bytes` and seals them as `kind`. Returns the slot
 * that they belong to. */
uint32_t slot_file_seal(uint8_t bytes[SLOT_BYTES], const struct file_kind *kind,
                        const struct slot_location *location);

/* Writes `bytes` to the slot after the newest one, and then to each damaged slot. Durable when it
 * returns 0, and `location` says so; on -errno the newest slot of before or the new one counts. */
CC_MUST_USE int slot_file_write(struct disk *disk, const char *name, const struct file_kind *kind,
                                uint8_t bytes[SLOT_BYTES], struct slot_location *location);

/* Makes the file or replaces it whole, with `bytes` in each slot; otherwise like
 * small_file_replace and slot_file_write. */
CC_MUST_USE int slot_file_replace(struct disk *disk, const char *name, const struct file_kind *kind,
                                  uint8_t bytes[SLOT_BYTES], struct slot_location *location);

#endif
