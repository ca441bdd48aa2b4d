/* copy.h - files of one data directory written into another, synced, and the parts that backup and
 * restore have in common.
 *
 * A function that returns false has printed an error and set the context's exit code.
 *
 * Owner. The command's thread. */
#ifndef PERP_DATA_COPY_H
#define PERP_DATA_COPY_H

#include "perp/data/data_directory.h"
#include "store/archive.h"
#include "store/frame.h"

struct copy {
    struct context *context;
    struct disk *from, *to;
    const char *from_path, *to_path;
};

/* Before copy_make_directory: makes the folder `path` for its owner alone. One that is there must
 * be empty, no link, and the caller's alone (mode 0700); else nothing in it is changed. */
CC_MUST_USE bool copy_claim(struct context *context, const char *path);

/* Makes the directory `path`, which must not be there or hold nothing, with the folders of a data
 * directory. NULL after a printed error. */
CC_MUST_USE struct disk *copy_make_directory(struct context *context, const char *path);

/* Copies a file, which must be no link and have at most `most` bytes. *found is whether it is
 * there; NULL: it must be. */
CC_MUST_USE bool copy_file(const struct copy *copy, const char *path, uint64_t most, bool *found);

enum { COPY_SMALL_MAX = 1 << 20 }; /* bytes of `exchange`, `origin`, `signing.key`, `recovered` */

/* Copies the files of the rows [first, archive->count) and lists all rows in the index of `to`. */
CC_MUST_USE bool copy_archive(const struct copy *copy, const struct archive *archive,
                              const struct exchange_file *exchange, uint64_t first);

struct attest_head;

/* Copies the signed heads of frames up to `last`; *kept is the newest of them (frame 0: none), and
 * *beyond whether there are some of later frames. */
CC_MUST_USE bool copy_heads(const struct copy *copy, uint64_t last, struct attest_head *kept,
                            bool *beyond);

/* Prints an error of a file of the directory at `path`; always false. */
bool copy_failed(struct context *context, const char *path, const char *what, int error);

#endif
