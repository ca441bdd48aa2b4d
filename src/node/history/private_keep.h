/* private_keep.h - private events on their way into the history's file.
 *
 *   follower, recovery ── private_keep_add ──> pending events, in the order of their commands
 *   history thread     ── private_keep_write: what came since the last commit, gathered by account
 *                         into blocks (private_block.h) ──> table `private`
 *
 * An account's events of one commit lie together, so that a row of the file has many: a write a
 * row costs more than all else here. The newest `most` events of each account are kept, and up to
 * PRIVATE_KEEP_STEP and a block more.
 *
 * Owner. Add: the follower's thread, before it the one that recovers. Write: the history thread,
 *        before it the one that recovers; history_keep.h orders the two.
 * Bound. `capacity` events, 272 bytes each, touched as they come. */
#ifndef NODE_HISTORY_PRIVATE_KEEP_H
#define NODE_HISTORY_PRIVATE_KEEP_H

#include "node/history/private_block.h"
#include "store/history_file.h"

enum {
    PRIVATE_KEEP_STEP = 256,       /* of an account's events: then older ones leave the file */
    PRIVATE_KEEP_DROP_MAX = 65536, /* rows of an account that leave it at once */
};

struct private_keep {
    struct private_event *events; /* [mask + 1] */
    uint64_t mask;
    uint64_t added; /* the follower's */
    uint64_t most;  /* of an account in the file; 0: nothing is kept, and events are not added */
    uint32_t account_count;
    /* The history thread's. */
    uint32_t *first;            /* [account_count] by account slot: its first event of a write */
    uint32_t *next;             /* [mask + 1] the account's next event of the write */
    struct private_block block; /* being filled */
};

/* Allocates; all zeros before. `capacity` is a power of two, account slots are below account_count.
 * 0 or -ENOMEM. */
CC_MUST_USE int private_keep_init(struct private_keep *keep, uint32_t capacity,
                                  uint32_t account_count);
void private_keep_free(struct private_keep *keep);

void private_keep_add(struct private_keep *keep, const struct private_event *event);

/* Writes the events from position *at to `end` that are of commands up to `sequence` and that the
 * file does not have. Moves *at over them, and returns the rows written; or -errno, and *at is of
 * no meaning. */
CC_MUST_USE int private_keep_write(struct private_keep *keep, struct history_file *file,
                                   uint64_t sequence, uint64_t end, uint64_t *at);

#endif
