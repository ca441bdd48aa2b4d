/* verify.h - verifies signatures: known Ed25519 keys in one batch a turn, slow jobs one a turn.
 * Good ones continue in command_send.h.
 *
 * Owner. The net thread.
 * Bound. NET_TURN_REQUESTS + NET_TURN_SLOW signatures a turn. The batch has what arrived in the
 *        turn, however few; it never waits for more. While the thread has other work, slow jobs
 *        have one part in VERIFY_SLOW_SHARE of its time. */
#ifndef NET_COMMAND_VERIFY_H
#define NET_COMMAND_VERIFY_H

#include "crypto/operator_message.h"
#include "net/command/job.h"
#include "net/request/passkey_verdict.h"
#include "net/request/verdict_audit.h"

enum { VERIFY_SLOW_SHARE = 7 };

struct verifier {
    struct context *context;
    struct job_table *jobs;
    struct verdict_audit audit;
    struct p256_cache passkeys;
    uint64_t slow_ns; /* no slow job before, while there is other work */
    uint8_t operator_message[OPERATOR_MESSAGE_MAX];
};

void verify_init(struct verifier *verifier, struct job_table *jobs);

/* Begins a turn: key tables found in the last turn may be freed. */
void verify_begin(struct verifier *verifier);

/* Verifies the jobs of the turn, in which the thread has had other work or not. Returns the work
 * done. */
uint32_t verify_run(struct verifier *verifier, bool is_busy);

/* Whether jobs wait for verification. */
CC_MUST_USE static inline bool verify_has_work(const struct verifier *verifier)
{
    return job_queue_count(&verifier->jobs->fresh) > 0 ||
           job_queue_count(&verifier->jobs->slow) > 0;
}

#endif
