/* data_directory.h - a data directory as the store's commands open it: read only, without its lock,
 * so that it may be a running primary's or a copy.
 *
 * Functions that give a bool say what went wrong on standard error and leave the exit code in the
 * context: 3 when the directory cannot be read as one, 1 when something in it is wrong.
 *
 * Owner. The command's thread. */
#ifndef PERP_DATA_DATA_DIRECTORY_H
#define PERP_DATA_DATA_DIRECTORY_H

#include "perp/invocation/context.h"
#include "store/exchange_file.h"

struct data_directory {
    const char *path;
    struct disk *disk;
    struct exchange_file exchange;
    uint32_t segment_bytes; /* of its first segment; the default without one */
};

/* Opens `path`; NULL: --data, else PERPD_STORE_DATA, else the default of store.data. */
CC_MUST_USE bool data_directory_open(struct context *context, const char *path,
                                     struct data_directory *directory);
void data_directory_close(struct data_directory *directory);

/* Says a refusal; always false. */
bool data_directory_refused(struct context *context, const struct data_directory *directory,
                            const struct refusal *refusal);

#endif
