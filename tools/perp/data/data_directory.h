/* data_directory.h - a data directory opened read only and without its lock, so that it may be a
 * running primary's or a copy.
 *
 * A function that returns false has printed an error and set the context's exit code: 3 if it is no
 * readable data directory, 1 if something in it is wrong.
 *
 * Owner. The command's thread. */
#ifndef PERP_DATA_DATA_DIRECTORY_H
#define PERP_DATA_DATA_DIRECTORY_H

#include "perp/invocation/context.h"
#include "store/exchange_file.h"

struct data_directory {
    const char *path;
    struct disk *disk;
    struct disk *archive_copy; /* of --archive-copy; NULL: none */
    struct exchange_file exchange;
    uint32_t segment_bytes; /* of its first segment; the default without one */
};

/* The path of --data, else PERPD_STORE_DATA, else the default of store.data. */
const char *data_directory_path(const struct context *context);

/* Opens `path`; NULL: data_directory_path. */
CC_MUST_USE bool data_directory_open(struct context *context, const char *path,
                                     struct data_directory *directory);
void data_directory_close(struct data_directory *directory);

/* Prints a refusal; always false. */
bool data_directory_refused(struct context *context, const struct data_directory *directory,
                            const struct refusal *refusal);

#endif
