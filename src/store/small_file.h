/* small_file.h - a small file of the data directory, which is read whole and replaced whole.
 *
 *   NAME.next: write ──> sync ──> rename to NAME ──> sync of the directory
 *
 * Order.  A crash leaves the old file or the new one; after a return of 0 the new one. It may also
 *         leave NAME.next, which no start reads.
 * Wait.   Both block.
 * Limits. `name` is in the data directory itself and is shorter than SMALL_FILE_NAME_MAX. */
#ifndef STORE_SMALL_FILE_H
#define STORE_SMALL_FILE_H

#include "store/disk.h"

enum { SMALL_FILE_NAME_MAX = 32 };

/* Replaces the file. Returns 0, or -errno; then the old or the new one is there. */
CC_MUST_USE int small_file_replace(struct disk *disk, const char *name, const void *bytes,
                                   size_t count);

/* Reads at most `capacity` bytes of the file. Returns their count, -ENOENT without the file, or
 * -errno. Ask for one byte more than the longest lawful file to notice one that is too long. */
CC_MUST_USE int64_t small_file_read(struct disk *disk, const char *name, void *bytes,
                                    size_t capacity);

#endif
