/* replay_run.h - a replay with checks: the snapshots' images at their sequences, the money
 * invariants at each 2015 and at the end, signers and signatures. The fold itself compares effects
 * hashes.
 *
 * The first FINDINGS_MAX findings go to standard error, and the context's exit code becomes 1. A
 * failed check does not end the replay.
 *
 * Owner. The command's thread. */
#ifndef PERP_DATA_REPLAY_RUN_H
#define PERP_DATA_REPLAY_RUN_H

#include "node/recover/fold.h"
#include "perp/data/chain_heads.h"
#include "perp/data/data_directory.h"
#include "perp/data/key_history.h"
#include "perp/data/signature_check.h"

enum { REPLAY_RUN_FINDINGS_MAX = 20, REPLAY_RUN_SNAPSHOTS_MAX = 1024 };

struct replay_run {
    struct context *context; /* in, down to last_sequence */
    const struct data_directory *directory;
    enum fold_start start;
    uint64_t start_sequence;         /* with FOLD_SNAPSHOT */
    uint64_t last_sequence;          /* UINT64_MAX: to the end */
    const struct eip712 *signatures; /* NULL: not checked */
    struct chain_heads *heads;       /* whose effects hashes are compared; NULL: none */
    struct key_history *keys; /* finds signers that were never let in; NULL: not looked for */
    bool snapshots, invariants;
    fold_apply *apply; /* NULL: engine_apply */
    void *apply_context;
    struct fold fold; /* out: the state reached; free it */
    uint64_t snapshots_equal, audits, signatures_good, unsigned_records, findings;
    uint64_t last_hash_sequence; /* of the last 2015 that was equal */
    uint64_t listed[REPLAY_RUN_SNAPSHOTS_MAX];
    int listed_count, next_snapshot; /* in `listed`, which descends; -1: none is left */
    uint64_t seen;                   /* the last sequence checked */
    uint32_t rules_version;          /* of the last 2014, this binary's before the first */
};

/* The start of --from-snapshot: `fallback` without the flag, genesis for 0. */
CC_MUST_USE bool replay_run_start(struct context *context, enum fold_start fallback,
                                  struct replay_run *run);

/* Replays. False, after a printed error and with nothing to free, if it failed or did not reach
 * last_sequence. */
CC_MUST_USE bool replay_run(struct replay_run *run);

/* The fold that a run is, without checks. */
struct fold_config replay_run_config(const struct replay_run *run);

/* Compares the image of `engine` with a snapshot and prints where they differ. */
CC_MUST_USE bool replay_run_equals(struct context *context, const struct data_directory *directory,
                                   struct engine *engine, uint64_t sequence);

#endif
