/* verify.h - the signatures of a turn: those of known Ed25519 keys in one batch, slow ones one a
 * turn. What is good goes on to command_send.h.
 *
 * Owner. The net thread.
 * Bound. A turn verifies at most NET_TURN_REQUESTS + NET_TURN_SLOW, the former in one call: what
 *        arrived, however few, never waiting for more. */
#ifndef NET_COMMAND_VERIFY_H
#define NET_COMMAND_VERIFY_H

#include "crypto/eip712.h"
#include "net/command/job.h"
#include "net/request/verdict_audit.h"

struct verifier {
    struct context *context;
    struct job_table *jobs;
    struct eip712 eip712;
    struct verdict_audit audit;
};

void verify_init(struct verifier *verifier, struct job_table *jobs);

/* Begins a turn: the tables of keys that the last one has found may be freed. */
void verify_begin(struct verifier *verifier);

/* Verifies what was taken. Gives the work done. */
uint32_t verify_run(struct verifier *verifier);

/* Jobs that a turn could go on with. */
CC_MUST_USE static inline bool verify_has_work(const struct verifier *verifier)
{
    return job_queue_count(&verifier->jobs->fresh) > 0 ||
           job_queue_count(&verifier->jobs->slow) > 0;
}

#endif
