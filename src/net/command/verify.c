#include "net/command/verify.h"

#include "base/rule.h"
#include "crypto/second_path.h"
#include "net/json/ack.h"
#include "net/request/admission.h"
#include "net/request/charge.h"
#include "net/request/key_lookup.h"
#include "net/request/leadership.h"

enum {
    EXTRA_A_TOKEN = 512,   /* bytes of a record's extra */
    SLOW_MAX_NS = 5000000, /* a verification that took longer was interrupted */
};

void verify_init(struct verifier *verifier, struct job_table *jobs)
{
    struct context *context = jobs->pipeline->context;
    const struct net_config *config = context->config;
    *verifier = (struct verifier){
        .context = context,
        .jobs = jobs,
        .audit = { .ring = config->audits,
                   .rejects = config->audits_rejects,
                   .skipped = &context->metrics.counters.shadows_skipped },
    };
    if (config->audits != NULL)
        verdict_audit_seed(&verifier->audit);
}

/* R11 step 11 for a request with a good signature. STATUS_request_completed: it may be pushed. */
static enum status check_key(struct verifier *verifier, const struct job *job,
                             const struct command *command)
{
    const struct request *request = job->request;
    const struct net_config *config = verifier->context->config;
    struct problem_detail moved; /* since the request was read */
    if (!config->source.ready(config->source.context) || !leadership_write(config, &moved))
        return STEP_STATUS(not_ready);
    /* R11, code 14: a session revokes on /logout only. */
    if (request->code == REQUEST_revoke_session && command->bytes[1] == SIGNATURE_ED25519 &&
        !job_pending(verifier->jobs, job)->is_logout)
        return STEP_STATUS(revoked_by_session);
    if (request->signer == SIGNER_NEW_SECP256K1 || request->signer == SIGNER_NEW_PASSKEY)
        /* exempt */
        return STATUS_request_completed;
    /* Looked up again: the key may have been added while the job waited. */
    if (job->known || key_lookup_is_known(verifier->context->config, request, command))
        return STATUS_request_completed;
    verifier->context->metrics.counters.unknown_keys++;
    return ack_unauthorized(request->code);
}

/* The bucket that the request is charged to (W8). */
static enum account_rate_kind bucket_of(const struct request *request)
{
    switch (request->code) {
    case REQUEST_order_reduction:
    case REQUEST_order_cancel:
    case REQUEST_cancel_all_orders:
    case REQUEST_conditional_order_cancel:
        return ACCOUNT_RATE_CANCEL;
    default:
        return ACCOUNT_RATE_WRITE;
    }
}

/* What the account pays, in tokens: a journal keeps a passkey's assertion, of which the client
 * chooses the length, for ever. */
static uint32_t cost_of(const struct job *job, const struct command *command, bool has_receipt)
{
    uint32_t items = admission_cost(job->request, command_payload(command));
    return items + has_receipt + command->extra_bytes / EXTRA_A_TOKEN;
}

static uint64_t charge_account(struct context *context, uint64_t account_id,
                               enum account_rate_kind kind, uint32_t cost)
{
    struct account_rate *rates = context->config->account_rates;
    uint64_t wait_ms = account_rate_take(rates, account_id, kind, cost, context->now_ns);
    if (CC_UNLIKELY(wait_ms != 0) && context_catch_up(context))
        wait_ms = account_rate_take(rates, account_id, kind, cost, context->now_ns);
    return wait_ms;
}

/* The ms until the account of an admitted request, or the address of an account creation, may have
 * it executed; 0: it is charged. Operator codes have neither. */
static uint64_t wait_of(struct verifier *verifier, struct job *job)
{
    struct context *context = verifier->context;
    struct pending *pending = job_pending(verifier->jobs, job);
    const struct command *command = job_command(job);
    const uint8_t *payload = command_payload(command);
    if (job->request->code == REQUEST_cancel_on_disconnect)
        return 0; /* nobody has asked for it now */
    if (job->plain)
        return charge_account(context, pending->plain.account_id, ACCOUNT_RATE_WRITE, 1);
    uint64_t account_id = admission_account(job->request, payload + REQUEST_BODY_AT);
    if (account_id != 0) {
        pending->account_id = account_id;
        pending->places = admission_places(job->request, payload);
        bool has_receipt = pending->ack_form == ACK_RECEIPT; /* it is read for and signed */
        return charge_account(context, account_id, bucket_of(job->request),
                              cost_of(job, command, has_receipt));
    }
    if (job->request->signer != SIGNER_NEW_SECP256K1 && job->request->signer != SIGNER_NEW_PASSKEY)
        return 0;
    return charge_creation(context, context_conn(context, pending), job->address);
}

/* R11 step 12: charges an admitted request. False: the bucket is used up, and the request is
 * answered. */
static bool charge(struct verifier *verifier, uint32_t number)
{
    struct context *context = verifier->context;
    struct job *job = &verifier->jobs->items[number];
    uint64_t wait_ms = wait_of(verifier, job);
    if (CC_LIKELY(wait_ms == 0))
        return true;
    context->metrics.counters.rate_limited++;
    job_finish(verifier->jobs, job,
               (struct answer){ .status = STEP_STATUS(account_rate), .retry_after_ms = wait_ms });
    job_free(verifier->jobs, number);
    return false;
}

/* Code 36 with a good signature: it is answered here, and nothing is executed (R11). */
static struct answer answer_owner(const struct verifier *verifier, struct job *job)
{
    const struct net_config *config = verifier->context->config;
    struct keyring_row row;
    if (!key_lookup_owner(config, job->request, job_command(job),
                          config->source.durable(config->source.context), &row))
        return (struct answer){ .status = STEP_STATUS(key_absent) };
    enum ack_key kind = row.admin == 1   ? ACK_KEY_ADMIN
                        : row.scope == 0 ? ACK_KEY_FULL_ACCESS
                                         : ACK_KEY_TRADING_ONLY;
    return (struct answer){
        .status = STATUS_request_completed,
        .members = ANSWER_HAS_ACCOUNT,
        .account_id = row.account_id,
        .subaccount_index = (uint32_t)row.subaccount_pin,
        .portfolio_index = kind,
    };
}

/* The parts of a signature of Ed25519, without a table; valid until the next one. */
static struct ed25519_job ed25519_job_of(struct verifier *verifier, const struct command *command)
{
    const struct operator_message message =
        operator_message_of(verifier->operator_message, verifier->context->config->exchange_id,
                            command_payload(command), command->payload_bytes);
    return (struct ed25519_job){
        .key = command_key(command),
        .signature = command_signature(command),
        .message = message.bytes,
        .message_bytes = message.count,
    };
}

/* The verdict of the second path on a signature that the first one called good. */
static bool is_good_twice(struct verifier *verifier, const struct command *command)
{
    struct eip712_hashes hashes;
    struct assertion assertion;
    uint8_t digest[P256_DIGEST_BYTES];
    if (command->kind == COMMAND_PASSKEY) {
        bool is_whole = assertion_read(&assertion, command_extra(command), command->extra_bytes);
        INVARIANT(is_whole && command->key_bytes == P256_KEY_BYTES);
        passkey_digest(&assertion, digest);
        return second_path_p256(command_key(command), digest, command_signature(command));
    }
    if (command->bytes[1] == SIGNATURE_SECP256K1)
        return eip712_hash(&verifier->context->eip712, command_payload(command),
                           command->payload_bytes, &hashes) == 0 &&
               second_path_secp256k1(command_key(command), hashes.digest,
                                     command_signature(command));
    const struct ed25519_job job = ed25519_job_of(verifier, command);
    enum ed25519_path path = ed25519_path_in_use();
    if (second_path_ed25519(path, &job))
        return true;
    verdict_audit_dispute(&verifier->audit, &job, true, path);
    return false;
}

/* Verifies by a second path what is worth more than an order: all codes but those that only
 * sessions sign. False: the paths differ, or no second one can judge, and the request is answered
 * not_ready. */
static bool confirm(struct verifier *verifier, uint32_t number)
{
    struct net_counters *counters = &verifier->context->metrics.counters;
    struct job *job = &verifier->jobs->items[number];
    if (!key_lookup_is_judged_twice(job->request))
        return true;
    counters->second_verdicts++;
    if (CC_LIKELY(is_good_twice(verifier, job_command(job))))
        return true;
    counters->second_differences++;
    job_refuse(verifier->jobs, job, STEP_STATUS(not_ready));
    job_free(verifier->jobs, number);
    return false;
}

/* The verdict on a signature that is no passkey's. */
static struct passkey_verdict verdict_of(bool good)
{
    return good ? (struct passkey_verdict){ PROBLEM_none, "" }
                : (struct passkey_verdict){ PROBLEM_invalid_signature,
                                            "the signature does not verify" };
}

/* Applies the verdict on a signature: refuses the request, or queues its command for the ring. */
static void apply_verdict(struct verifier *verifier, uint32_t number, bool slow,
                          struct passkey_verdict verdict)
{
    bool good = verdict.problem == PROBLEM_none;
    struct job *job = &verifier->jobs->items[number];
    struct command *command = job_command(job);
    struct conn *conn = context_conn(verifier->context, job_pending(verifier->jobs, job));
    if (conn != NULL) {
        conn->last_signature_bad =
            !good || (conn->last_signature_bad &&
                      !slow); /* a job that is not slow was sent before the bad one was known */
        conn->last_signature_good = !conn->last_signature_bad && job->known;
        if (good && job->known)
            context_prove(verifier->context, conn);
    }
    if (!good) {
        job_refuse_signature(verifier->jobs, job, verdict.problem, verdict.detail);
        job_free(verifier->jobs, number);
        return;
    }
    verifier->context->metrics.counters.signatures_good++;
    command->verified_ticks = clock_ticks_since(command->received_ticks);
    enum status status = check_key(verifier, job, command);
    if (status != STATUS_request_completed) {
        job_refuse(verifier->jobs, job, status);
        job_free(verifier->jobs, number);
        return;
    }
    if (job->request->code == REQUEST_find_account) {
        job_finish(verifier->jobs, job, answer_owner(verifier, job));
        job_free(verifier->jobs, number);
        return;
    }
    if (charge(verifier, number) && confirm(verifier, number))
        job_queue_push(&verifier->jobs->good, number);
}

/* The verdict on a signature of Ed25519, by itself. */
static bool verify_ed25519(struct verifier *verifier, const struct command *command)
{
    struct ed25519_job one = ed25519_job_of(verifier, command);
    /* Looked up now: a table found when the request was accepted may be freed. */
    one.table = key_tables_find(verifier->context->config->key_tables, one.key);
    enum ed25519_path path = ed25519_path_in_use();
    bool good = ed25519_verify(&one, 1) == 1;
    verdict_audit_report(&verifier->audit, &one, good, path);
    return good;
}

static bool verify_one(struct verifier *verifier, const struct command *command)
{
    struct eip712_hashes hashes;
    if (command->bytes[1] == SIGNATURE_ED25519)
        return verify_ed25519(verifier, command);
    return eip712_hash(&verifier->context->eip712, command_payload(command), command->payload_bytes,
                       &hashes) == 0 &&
           secp256k1_verify(command_key(command), hashes.digest, command_signature(command));
}

/* A fresh job that is not of the batch: one without a signature, or one of an operator, whose
 * message is built for it. False: it is of the batch. */
static bool verify_apart(struct verifier *verifier, uint32_t number)
{
    struct job *job = &verifier->jobs->items[number];
    struct command *command = job_command(job);
    if (job->plain) {
        command->verified_ticks = clock_ticks_since(command->received_ticks);
        if (charge(verifier, number))
            job_queue_push(&verifier->jobs->good, number);
        return true;
    }
    if (job->request->signer != SIGNER_OPERATOR)
        return false;
    apply_verdict(verifier, number, false, verdict_of(verify_ed25519(verifier, command)));
    return true;
}

/* Verifies all jobs of the turn that are not slow, those of sessions in one batch. */
static uint32_t verify_fresh(struct verifier *verifier)
{
    struct job_table *jobs = verifier->jobs;
    struct ed25519_job batch[NET_TURN_REQUESTS];
    uint32_t numbers[NET_TURN_REQUESTS];
    unsigned count = 0, signed_count = 0;
    while (count < NET_TURN_REQUESTS && job_queue_count(&jobs->fresh) > 0) {
        uint32_t number = job_queue_pop(&jobs->fresh);
        const struct command *command = job_command(&jobs->items[number]);
        numbers[count++] = number;
        if (jobs->items[number].plain || jobs->items[number].request->signer == SIGNER_OPERATOR)
            continue;
        batch[signed_count++] = (struct ed25519_job){
            .key = command_key(command),
            .signature = command_signature(command),
            .message = command_payload(command),
            .message_bytes = command->payload_bytes,
            .table = jobs->items[number].table,
        };
        verifier->context->metrics.counters.tables_missing += jobs->items[number].table == NULL;
    }
    enum ed25519_path path = ed25519_path_in_use();
    uint64_t good = signed_count > 0 ? ed25519_verify(batch, signed_count) : 0;
    for (unsigned i = 0, next = 0; i < count; i++) {
        if (verify_apart(verifier, numbers[i]))
            continue;
        verdict_audit_report(&verifier->audit, &batch[next++], good & 1, path);
        apply_verdict(verifier, numbers[i], false, verdict_of(good & 1));
        good >>= 1;
    }
    return count;
}

/* Resumes as many connections as there is room for slow jobs. Some use none (they have closed, or
 * their key is known by now), so the loop counts room, not verified signatures; no connection is
 * forgotten. */
static void resume_slow(struct verifier *verifier)
{
    uint32_t room = JOBS_SLOW_MAX - job_queue_count(&verifier->jobs->slow);
    while (room > 0 && conn_queue_count(&verifier->context->conns, CONN_SLOW) > 0) {
        struct conn *conn = conn_queue_pop(&verifier->context->conns, CONN_SLOW);
        if (conn->open)
            pipeline_resume(verifier->jobs->pipeline, conn);
        room -= conn->open && conn->blocked;
    }
}

static struct passkey_verdict verify_slow_job(struct verifier *verifier, struct job *job)
{
    struct command *command = job_command(job);
    if (command->kind == COMMAND_PASSKEY)
        return passkey_verdict(verifier->context->config, &verifier->passkeys, job->request,
                               command, job->key_sent);
    return verdict_of(verify_one(verifier, command));
}

/* Refuses a passkey that the keyring does not have yet: only its row has the key to verify with. */
static bool refuse_unready(struct verifier *verifier, uint32_t number)
{
    const struct net_config *config = verifier->context->config;
    struct job *job = &verifier->jobs->items[number];
    if (config->source.ready(config->source.context) || job_command(job)->kind != COMMAND_PASSKEY ||
        job->request->signer == SIGNER_NEW_PASSKEY ||
        key_lookup_is_known(config, job->request, job_command(job)))
        return false;
    job_refuse(verifier->jobs, job, STEP_STATUS(not_ready));
    job_free(verifier->jobs, number);
    return true;
}

/* Refuses a job whose address is over its limit. This counts as the slow job of the turn, so that a
 * flood gets no more refusals than verdicts. */
static bool refuse_unverified(struct verifier *verifier, uint32_t number, bool last_signature_bad)
{
    struct job *job = &verifier->jobs->items[number];
    struct pending *pending = job_pending(verifier->jobs, job);
    if (!key_lookup_refuses(verifier->context->config, verifier->jobs->limits, job->address,
                            job->known, last_signature_bad, verifier->context->now_ns,
                            &pending->problem))
        return false;
    verifier->context->metrics.counters.rate_limited++;
    pending->kind = PENDING_PROBLEM;
    job_free(verifier->jobs, number);
    pipeline_finish(verifier->jobs->pipeline, pending);
    return true;
}

/* Drops a request of a stream that has gone: the 2011 of its arms may be in the ring already
 * (wire.md W9), and an order behind that would stay. */
static bool drop_orphan(struct job_table *jobs, uint32_t number, const struct conn *conn)
{
    struct job *job = &jobs->items[number];
    if (conn != NULL || !job_pending(jobs, job)->is_op)
        return false;
    jobs->context->metrics.counters.commands_dropped++;
    job_refuse(jobs, job, STATUS_request_dropped);
    job_free(jobs, number);
    return true;
}

static uint32_t verify_slow(struct verifier *verifier)
{
    struct job_table *jobs = verifier->jobs;
    uint32_t done = 0;
    while (done < NET_TURN_SLOW && job_queue_count(&jobs->slow) > 0) {
        uint32_t number = job_pop_slow(jobs);
        struct job *job = &jobs->items[number];
        struct conn *conn = context_conn(verifier->context, job_pending(verifier->jobs, job));
        if (conn != NULL)
            conn->slow_job = false;
        if (!drop_orphan(jobs, number, conn) && !refuse_unready(verifier, number) &&
            !refuse_unverified(verifier, number, conn == NULL || conn->last_signature_bad)) {
            if (key_lookup_is_charged(verifier->context->config, job->known))
                rate_limit_charge(jobs->limits, job->address, RATE_LIMIT_UNKNOWN_KEY,
                                  verifier->context->now_ns);
            apply_verdict(verifier, number, true, verify_slow_job(verifier, job));
        }
        resume_slow(verifier); /* who waits for a place comes before the connection of this job */
        if (conn != NULL && conn->open)
            pipeline_resume(verifier->jobs->pipeline, conn);
        done++;
    }
    return done;
}

void verify_begin(struct verifier *verifier)
{
    const struct net_config *config = verifier->context->config;
    /* Jobs of the last turn would hold tables that may be freed now. */
    INVARIANT(job_queue_count(&verifier->jobs->fresh) == 0);
    key_tables_quiet(config->key_tables, config->number);
}

uint32_t verify_run(struct verifier *verifier, bool is_busy)
{
    uint32_t done = 0;
    while (job_queue_count(&verifier->jobs->fresh) > 0)
        done += verify_fresh(verifier);
    if (job_queue_count(&verifier->jobs->slow) == 0) {
        resume_slow(verifier);
        return done;
    }
    const struct clock *clock = verifier->context->config->clock;
    uint64_t begun_ns = clock_monotonic_ns(clock);
    if ((is_busy || done > 0) && begun_ns < verifier->slow_ns)
        return done;
    done += verify_slow(verifier);
    uint64_t now_ns = clock_monotonic_ns(clock);
    uint64_t took_ns = now_ns - begun_ns < SLOW_MAX_NS ? now_ns - begun_ns : SLOW_MAX_NS;
    verifier->slow_ns = now_ns + (VERIFY_SLOW_SHARE - 1) * took_ns;
    return done;
}
