/* query_frames.h - the journal frame by frame, and the end of its open segment, for who copies a
 * running exchange (journal.md, Backup).
 *
 * Owner. The follower's thread, which reads the files: a step reads at most 1 MiB.
 * Bound. A seal a QUERY_FRAMES_SEAL_NS; a request that waits for one waits QUERY_FRAMES_WAIT_NS. */
#ifndef NODE_QUERY_QUERY_FRAMES_H
#define NODE_QUERY_QUERY_FRAMES_H

#include "crypto/signer.h"
#include "node/query/query_task.h"
#include "store/archive_reader.h"

#define QUERY_FRAMES_SEAL_NS UINT64_C(10000000000)
#define QUERY_FRAMES_WAIT_NS UINT64_C(2000000000)

struct query_frames {
    struct frame_reader reader;
    struct archive_reader archive; /* of receipts */
    struct journal *journal;
    const struct signer_ed25519 *signer; /* of receipts; NULL: none are made */
    uint64_t sealed_ns;                  /* when the last seal was asked for; 0: none was */
};

/* 0 or -ENOMEM. The struct must be all zeros before; a signer outlives it. */
CC_MUST_USE int query_frames_init(struct query_frames *frames, struct journal *journal,
                                  const struct signer_ed25519 *signer);
void query_frames_free(struct query_frames *frames);

void query_frames_begin(struct query_task *task, const struct query_sources *sources);

/* True: the task is done with. */
CC_MUST_USE bool query_frames_step(struct query_task *task, const struct query_sources *sources);

#endif
