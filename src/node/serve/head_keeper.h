/* head_keeper.h - signs heads, keeps them in the file `heads`, and shows the newest (journal.md,
 * Heads).
 *
 *   head_maker ── draft ──> sign ──> `heads`: appended ──> head_log ──> GET /heads
 *
 * Heads of the last 7 days are all kept, older ones one an hour, the last of each: the file is
 * written again when a start or a day finds some to leave out.
 *
 * Wait.   Every function blocks on the disk.
 * Owner.  One thread at a time: the start's, the history thread, then that of a clean stop. */
#ifndef NODE_SERVE_HEAD_KEEPER_H
#define NODE_SERVE_HEAD_KEEPER_H

#include "base/head_log.h"
#include "base/published.h"
#include "crypto/attest.h"
#include "node/serve/head_maker.h"
#include "store/exchange_file.h"

struct head_keeper {
    struct disk *disk;
    const struct exchange_file *exchange;
    const struct signer_ed25519 *signer;
    struct head_log log;
    uint64_t bytes;     /* of the file; what lies after them is not whole */
    uint64_t pruned_ns; /* clock_monotonic_ns; 0: never */
    uint64_t synced_ns; /* the same */
    bool is_unsynced;
    struct published kept; /* heads in the file */
};

/* Reads the file, if it is there, and shows its newest heads. 0 or -errno. */
CC_MUST_USE int head_keeper_open(struct head_keeper *keeper, struct disk *disk,
                                 const struct exchange_file *exchange,
                                 const struct signer_ed25519 *signer);
void head_keeper_close(struct head_keeper *keeper);

/* Signs, appends and shows one head. -errno: it was not kept, and is not shown. */
CC_MUST_USE int head_keeper_add(struct head_keeper *keeper, const struct head_draft *draft);

/* Adds the drafts that wait, syncs once a minute, and once a day leaves out what is older than a
 * week. Returns how many were added, or -errno. */
CC_MUST_USE int head_keeper_step(struct head_keeper *keeper, struct head_maker *maker,
                                 uint64_t now_ns);

/* Makes everything durable. 0 or -errno. */
CC_MUST_USE int head_keeper_sync(struct head_keeper *keeper);

#endif
