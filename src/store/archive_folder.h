/* archive_folder.h - the files of archive/ by their names: which segments have one.
 *
 * A file NNNNNNNNNN.seg.zst was renamed when it was whole; what it holds, archive_file.h reads.
 * Other names do not count.
 *
 * Wait. Blocking; background thread, start, tools. No state. */
#ifndef STORE_ARCHIVE_FOLDER_H
#define STORE_ARCHIVE_FOLDER_H

#include "store/archive.h"

/* "archive/NNNNNNNNNN.seg.zst", or with ".part" after it while it is being written. */
void archive_folder_path(char out[DISK_PATH_BYTES], uint64_t number, bool is_part);

/* 0 when each row of the list has a file of its size, here or, `by_copy`, in the archive's second
 * place; -ENOENT with *missing the first segment that has none; or -errno. */
CC_MUST_USE int archive_folder_check(const struct archive *archive, struct disk *disk, bool by_copy,
                                     uint64_t *missing);

/* The segments [*first, *end) have a file each; *end - 1 is the highest, *first - 1 has none.
 * Without files both are 0. 0 or -errno. */
CC_MUST_USE int archive_folder_range(struct disk *disk, uint64_t *first, uint64_t *end);

/* Removes the files of the segments below `first` and makes that durable. 0 or -errno; the call may
 * be repeated. */
CC_MUST_USE int archive_folder_sweep(struct disk *disk, uint64_t first);

#endif
