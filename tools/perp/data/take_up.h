/* take_up.h - lets an exchange go on after a chain whose later frames are given up: under a new
 * journal id and the next epoch, so that nobody takes it for the one that was given up.
 *
 *   snapshot, origin, recovered, heads set aside, rest zeroed ──> exchange ──> witness
 *        count for nothing without the next one              the new id    a start is possible
 *
 * A crash before `exchange` leaves the directory as it was, but for its heads, which have another
 * name then; one after it a directory that a start refuses until the same end is taken up again.
 *
 * Owner. The command's thread, with the directory's lock if it is one that a start could take. */
#ifndef PERP_DATA_TAKE_UP_H
#define PERP_DATA_TAKE_UP_H

#include "perp/data/data_directory.h"
#include "store/era.h"
#include "store/journal.h"
#include "store/witness.h"

struct take_up {
    struct context *context;
    struct disk *disk;
    const char *path;
    uint32_t segment_bytes;
    struct exchange_file *exchange; /* gets the new id and epoch */
    struct journal_position end;    /* where the chain ends */
    struct witness named;           /* of `witness`, for the file `recovered`; frame 0: none */
    const char *reason;             /* take_up_reason_is_fit */
    uint64_t wall_ns;
    bool keeps_heads; /* none of them names a later frame */
};

/* 1 to 64 printable ASCII characters. */
CC_MUST_USE bool take_up_reason_is_fit(const char *reason);

/* Takes up the end. False after a printed error. */
CC_MUST_USE bool take_up_run(struct take_up *take);

#endif
