/* replay_run.h - a replay with checks on the way: the snapshots' images when their sequence passes,
 * the money invariants at each 2015 and at the end, signatures. Effects hashes are compared by the
 * fold itself.
 *
 * What is found wrong goes to standard error, the first FINDINGS_MAX of it, and the context's exit
 * code becomes 1; a check that fails does not end the replay.
 *
 * Owner. The command's thread. */
#ifndef PERP_DATA_REPLAY_RUN_H
#define PERP_DATA_REPLAY_RUN_H

#include "node/recover/fold.h"
#include "perp/data/data_directory.h"
#include "perp/data/signature_check.h"

enum { REPLAY_RUN_FINDINGS_MAX = 20, REPLAY_RUN_SNAPSHOTS_MAX = 1024 };

struct replay_run {
    struct context *context; /* in, down to last_sequence */
    const struct data_directory *directory;
    enum fold_start start;
    uint64_t start_sequence;         /* with FOLD_SNAPSHOT */
    uint64_t last_sequence;          /* UINT64_MAX: to the end */
    const struct eip712 *signatures; /* NULL: not checked */
    bool snapshots, invariants;
    struct fold fold; /* out: the state reached; free it */
    uint64_t snapshots_equal, audits, signatures_good, unsigned_records, findings;
    uint64_t last_hash_sequence; /* of the last 2015 that was equal */
    uint64_t listed[REPLAY_RUN_SNAPSHOTS_MAX];
    int listed_count, next_snapshot; /* in `listed`, which descends; -1: none is left */
    uint64_t seen;                   /* the last sequence checked */
};

/* The start of --from-snapshot: `fallback` without the flag, genesis for 0. */
CC_MUST_USE bool replay_run_start(struct context *context, enum fold_start fallback,
                                  struct replay_run *run);

/* Replays. False when that could not be done, or not to last_sequence; it said why, and there is
 * nothing to free. */
CC_MUST_USE bool replay_run(struct replay_run *run);

/* The fold that a run is, without checks. */
struct fold_config replay_run_config(const struct replay_run *run);

/* Compares the image of `engine` with a snapshot; says where they differ. */
CC_MUST_USE bool replay_run_equals(struct context *context, const struct data_directory *directory,
                                   struct engine *engine, uint64_t sequence);

#endif
