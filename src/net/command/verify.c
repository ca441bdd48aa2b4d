#include "net/command/verify.h"

#include "base/rule.h"
#include "crypto/secp256k1.h"
#include "net/json/ack.h"
#include "net/request/key_lookup.h"

void verify_init(struct verifier *verifier, struct staging *staging)
{
    struct context *context = staging->pipeline->context;
    const struct net_config *config = context->config;
    *verifier = (struct verifier){
        .context = context,
        .staging = staging,
        .audit = { .ring = config->audits,
                   .rejects = config->audits_rejects,
                   .skipped = &context->metrics.counters.shadows_skipped },
    };
    eip712_init(&verifier->eip712, config->exchange_id);
}

/* R11 step 11 for a request whose signature is good: STATUS_request_completed to go on. */
static enum status check_key(struct verifier *verifier, const struct job *job,
                             const struct command *command)
{
    const struct request *request = job->request;
    if (!verifier->context->config->source.ready(verifier->context->config->source.context))
        return STEP_STATUS(not_ready);
    /* R11, code 14: a session revokes on /logout only. */
    if (request->code == REQUEST_revoke_session && command->bytes[1] == SIGNATURE_ED25519)
        return STEP_STATUS(revoked_by_session);
    if (request->signer == SIGNER_NEW_SECP256K1) /* exempt */
        return STATUS_request_completed;
    /* Looked up again: a key may have been added while the signature waited. */
    if (job->known || key_lookup_is_known(verifier->context->config, request, command))
        return STATUS_request_completed;
    verifier->context->metrics.counters.unknown_keys++;
    return ack_unauthorized(request->code);
}

/* A verdict on a signature: refuses, or queues the command to be pushed. */
static void take_verdict(struct verifier *verifier, uint32_t number, bool slow, bool good)
{
    struct job *job = &verifier->staging->jobs[number];
    struct command *command = job_command(job);
    struct conn *conn = context_conn(verifier->context, staging_pending(verifier->staging, job));
    if (conn != NULL) {
        conn->last_signature_bad =
            !good || (conn->last_signature_bad && !slow); /* not slow: sent before that was known */
        conn->last_signature_good = !conn->last_signature_bad && job->known;
    }
    if (!good) {
        staging_refuse_signature(verifier->staging, job, "the signature does not verify");
        staging_free(verifier->staging, number);
        return;
    }
    verifier->context->metrics.counters.signatures_good++;
    command->verified_ticks = job_delta_ticks(command->received_ticks);
    enum status status = check_key(verifier, job, command);
    if (status != STATUS_request_completed) {
        staging_refuse(verifier->staging, job, status);
        staging_free(verifier->staging, number);
        return;
    }
    job_queue_push(&verifier->staging->good, number);
}

/* What was taken in this turn and is not slow, its signatures in one batch. */
static uint32_t verify_fresh(struct verifier *verifier)
{
    struct staging *staging = verifier->staging;
    struct ed25519_job batch[NET_TURN_REQUESTS];
    uint32_t numbers[NET_TURN_REQUESTS];
    unsigned count = 0, signed_count = 0;
    while (count < NET_TURN_REQUESTS && job_queue_count(&staging->fresh) > 0) {
        uint32_t number = job_queue_pop(&staging->fresh);
        const struct command *command = job_command(&staging->jobs[number]);
        numbers[count++] = number;
        if (staging->jobs[number].plain)
            continue;
        batch[signed_count++] = (struct ed25519_job){
            .key = command_key(command),
            .signature = command_signature(command),
            .message = command_payload(command),
            .message_bytes = command->payload_bytes,
            .table = staging->jobs[number].table,
        };
        verifier->context->metrics.counters.tables_missing += staging->jobs[number].table == NULL;
    }
    enum ed25519_path path = ed25519_path_in_use();
    uint64_t good = signed_count > 0 ? ed25519_verify(batch, signed_count) : 0;
    for (unsigned i = 0; i < count; i++) {
        if (staging->jobs[numbers[i]].plain) {
            struct command *command = job_command(&staging->jobs[numbers[i]]);
            command->verified_ticks = job_delta_ticks(command->received_ticks);
            job_queue_push(&staging->good, numbers[i]);
            continue;
        }
        verdict_audit_report(&verifier->audit, job_command(&staging->jobs[numbers[i]]), good & 1,
                             path);
        take_verdict(verifier, numbers[i], false, good & 1);
        good >>= 1;
    }
    return count;
}

/* As many connections as there is room for slow jobs may try again. Some take none (they are gone,
 * or their key is known by now): so room counts, not signatures done, and nobody is left behind. */
static void resume_slow(struct verifier *verifier)
{
    uint32_t room = STAGING_SLOW_MAX - job_queue_count(&verifier->staging->slow);
    while (room > 0 && conn_queue_count(&verifier->context->conns, CONN_SLOW) > 0) {
        struct conn *conn = conn_queue_pop(&verifier->context->conns, CONN_SLOW);
        if (conn->open)
            pipeline_resume(verifier->staging->pipeline, conn);
        room -= conn->open && conn->blocked;
    }
}

static bool verify_one(struct verifier *verifier, const struct command *command)
{
    struct eip712_hashes hashes;
    if (command->bytes[1] == SIGNATURE_ED25519) {
        const struct ed25519_job one = {
            .key = command_key(command),
            .signature = command_signature(command),
            .message = command_payload(command),
            .message_bytes = command->payload_bytes,
            /* Not what was found when it was taken: that may be turns ago. */
            .table = key_tables_find(verifier->context->config->key_tables, command_key(command)),
        };
        enum ed25519_path path = ed25519_path_in_use();
        bool good = ed25519_verify(&one, 1) == 1;
        verdict_audit_report(&verifier->audit, command, good, path);
        return good;
    }
    return eip712_hash(&verifier->eip712, command_payload(command), command->payload_bytes,
                       &hashes) == 0 &&
           secp256k1_verify(command_key(command), hashes.digest, command_signature(command));
}

/* Its address has asked for too much. Even this answer comes in its turn: whoever floods gets no
 * more of them than of verdicts. */
static bool refuse_unverified(struct verifier *verifier, uint32_t number, bool last_signature_bad)
{
    struct job *job = &verifier->staging->jobs[number];
    struct pending *pending = staging_pending(verifier->staging, job);
    if (!key_lookup_refuses(verifier->context->config, verifier->staging->limits, job->address,
                            job->known, last_signature_bad, verifier->context->now_ns,
                            &pending->problem))
        return false;
    verifier->context->metrics.counters.rate_limited++;
    pending->kind = PENDING_PROBLEM;
    staging_free(verifier->staging, number);
    pipeline_finish(verifier->staging->pipeline, pending);
    return true;
}

static uint32_t verify_slow(struct verifier *verifier)
{
    struct staging *staging = verifier->staging;
    uint32_t done = 0;
    while (done < NET_TURN_SLOW && job_queue_count(&staging->slow) > 0) {
        uint32_t number = job_queue_pop(&staging->slow);
        struct job *job = &staging->jobs[number];
        struct conn *conn =
            context_conn(verifier->context, staging_pending(verifier->staging, job));
        if (conn != NULL)
            conn->slow_job = false;
        if (!refuse_unverified(verifier, number, conn == NULL || conn->last_signature_bad)) {
            if (key_lookup_is_charged(verifier->context->config, job->known))
                rate_limit_charge(staging->limits, job->address, RATE_LIMIT_UNKNOWN_KEY,
                                  verifier->context->now_ns);
            take_verdict(verifier, number, true, verify_one(verifier, job_command(job)));
        }
        if (conn != NULL && conn->open)
            pipeline_resume(verifier->staging->pipeline, conn);
        done++;
    }
    resume_slow(verifier);
    return done;
}

void verify_begin(struct verifier *verifier)
{
    const struct net_config *config = verifier->context->config;
    /* The tables of their keys were of the last turn. */
    INVARIANT(job_queue_count(&verifier->staging->fresh) == 0);
    key_tables_quiet(config->key_tables, config->number);
}

uint32_t verify_run(struct verifier *verifier)
{
    uint32_t done = 0;
    while (job_queue_count(&verifier->staging->fresh) > 0)
        done += verify_fresh(verifier);
    return done + verify_slow(verifier);
}
