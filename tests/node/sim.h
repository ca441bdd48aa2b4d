/* sim.h - one seeded run of a whole exchange in one thread: virtual clock, a disk that completes
 * out of order and loses what was not synced, clients on two net links, a scheduler that picks the
 * next step, crashes, recovery.
 *
 * After each recovery the state is compared with what was acknowledged before:
 *   every acknowledged command lies at or below the recovered sequence; sent again it answers
 *   duplicate_request_id with its original outcome; the effects hash equals the one that the
 *   primary had at that sequence. While it runs: a read shows what was acknowledged before it was
 *   asked, the follower has the primary's hash at every sequence both are known at. At the end:
 *   equal images of primary and follower, of the state before a clean stop and the one recovered
 *   after it, and R2's invariants.
 *
 * Everything that happens is a function of the seed. */
#ifndef TESTS_NODE_SIM_H
#define TESTS_NODE_SIM_H

#include "base/cc.h"

enum { SIM_FAILURE_BYTES = 256 };

struct sim_outcome {
    bool failed;
    char failure[SIM_FAILURE_BYTES]; /* what was wrong, when it failed */
    uint32_t crashes;
    uint32_t crashes_in_flight; /* with two or more frames in flight */
    uint32_t restarts_clean;
    uint64_t steps;
    uint64_t acknowledged;
    uint64_t completed; /* of them with request_completed */
    uint64_t checked_duplicates;
    uint64_t checked_hashes; /* recovered or follower hash compared with the primary's */
    uint64_t checked_reads;
    uint64_t checked_fills; /* reads of orders that had traded */
    uint64_t digest;        /* of everything acknowledged: equal seeds, equal digests */
};

/* Runs one seed of about `steps` steps. */
void sim_run(uint64_t seed, uint64_t steps, struct sim_outcome *outcome);

#endif
