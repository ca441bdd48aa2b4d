#include "net/command/staging.h"

#include <errno.h>
#include <stdlib.h>

#include "net/json/ack.h"
#include "net/request/admission.h"
#include "net/request/envelope.h"
#include "net/request/key_lookup.h"

int staging_create(struct staging **staging, struct pipeline *pipeline)
{
    const struct net_config *config = pipeline->context->config;
    struct staging *made = calloc(1, sizeof *made);
    const uint32_t rates[RATE_LIMIT_KINDS] = {
        [RATE_LIMIT_UNKNOWN_KEY] = config->rate_limits ? config->unknown_key_rate : 0,
        [RATE_LIMIT_BAD_SIGNATURE] = config->rate_limits ? config->bad_signature_rate : 0,
    };
    *staging = made;
    if (made == NULL)
        return -ENOMEM;
    int failed = rate_limit_create(&made->limits, rates, config->port_threads, config->hash_key);
    if (failed != 0) {
        staging_destroy(made);
        *staging = NULL;
        return failed;
    }
    made->context = pipeline->context;
    made->pipeline = pipeline;
    made->free_count = STAGING_JOBS;
    for (uint32_t i = 0; i < STAGING_JOBS; i++)
        made->free[i] = (uint16_t)(STAGING_JOBS - 1 - i);
    return 0;
}

void staging_destroy(struct staging *staging)
{
    if (staging == NULL)
        return;
    rate_limit_destroy(staging->limits);
    free(staging);
}

static struct job *take_job(struct staging *staging, uint32_t *number)
{
    INVARIANT(staging->free_count > 0);
    *number = staging->free[--staging->free_count];
    return &staging->jobs[*number];
}

void staging_free(struct staging *staging, uint32_t number)
{
    struct context *context = staging->context;
    INVARIANT(number < STAGING_JOBS && staging->free_count < STAGING_JOBS);
    staging->free[staging->free_count++] = (uint16_t)number;
    while (conn_queue_count(&context->conns, CONN_STALLED) > 0) {
        struct conn *conn = conn_queue_pop(&context->conns, CONN_STALLED);
        if (conn->open)
            pipeline_resume(staging->pipeline, conn);
    }
}

void staging_refuse(struct staging *staging, struct job *job, enum status status)
{
    struct pending *pending = staging_pending(staging, job);
    pending->answer = (struct answer){
        .code = job->request->code,
        .status = (uint8_t)status,
        .processed_at_ns = staging->context->unix_ns,
        .verified_ticks = job_command(job)->verified_ticks,
    };
    pipeline_finish(staging->pipeline, pending);
}

void staging_refuse_signature(struct staging *staging, struct job *job, const char *detail)
{
    struct context *context = staging->context;
    struct pending *pending = staging_pending(staging, job);
    pending->kind = PENDING_PROBLEM;
    if (!job->passkey && job->known)
        context->metrics.counters.rate_limited += key_lookup_charge_bad(
            context->config, staging->limits, job->address, context->now_ns, &pending->problem);
    else
        (void)problem_detail_set(&pending->problem, PROBLEM_invalid_signature, NULL, "%s", detail);
    context->metrics.counters.signatures_bad++;
    pipeline_finish(staging->pipeline, pending);
}

/* How the request wants to be answered; parser.c let no other headers through. */
static enum ack_form ack_form_of(const struct http_head *head)
{
    if (head->accepts_octets || head->ack == HTTP_ACK_BINARY)
        return ACK_BINARY;
    return head->ack == HTTP_ACK_FULL ? ACK_FULL : ACK_BRIEF;
}

/* Is the type one that the node has put off. */
static bool is_off(const struct staging *staging, const struct request *request,
                   struct problem_detail *problem)
{
    for (uint32_t i = 0; i < staging->context->config->codes_off_count; i++)
        if (staging->context->config->codes_off[i] == request->code)
            return !problem_detail_set(
                problem, PROBLEM_not_ready, NULL,
                "requests of type %s are put off after repeated faults, until the "
                "operator lets them in again",
                request->name);
    return false;
}

/* Envelope and R11 steps 5 to 9 into the job. */
static bool decode(const struct staging *staging, struct conn *conn, struct job *job,
                   const char *body, size_t count, struct problem_detail *problem)
{
    const struct context *context = staging->context;
    struct command *command = job_command(job);
    struct envelope envelope;
    const struct admission_window window = {
        .now_ms = context->unix_ns / 1000000,
        .past_ms = context->config->options->values[OPTION_exchange_clock_past_ms],
        .future_ms = context->config->options->values[OPTION_exchange_clock_future_ms],
    };
    bool read =
        conn->head.media == HTTP_MEDIA_OCTETS
            ? envelope_frame(&envelope, (const uint8_t *)body, count, command->bytes, problem)
            : envelope_json(&envelope, body, count, command->bytes, problem);
    if (!read)
        return false;
    job->request = admission_check(&envelope, conn->route.path, &window, problem);
    if (job->request == NULL || is_off(staging, job->request, problem))
        return false;
    job->passkey = envelope.passkey;
    job->plain = false;
    *command = (struct command){
        .code = job->request->code,
        .kind = COMMAND_SIGNED,
        .payload_bytes = (uint16_t)envelope.payload_bytes,
        .key_bytes = (uint16_t)envelope.key_bytes,
        .received_ticks = conn->received_ticks,
    };
    if (ack_form_of(&conn->head) != ACK_BRIEF && ack_has_evidence(command->code))
        command->flags = COMMAND_WANTS_EVIDENCE;
    return true;
}

/* What is known of the request's key before its signature is verified. True: it is a slow one. */
static bool judge_key(const struct staging *staging, const struct conn *conn, struct job *job)
{
    const struct command *command = job_command(job);
    job->known = key_lookup_is_known(staging->context->config, job->request, command);
    job->address = conn->address;
    job->table = NULL;
    if (command->bytes[1] == SIGNATURE_SECP256K1 ||
        key_lookup_is_slow(staging->limits, conn, job->request, job->known,
                           staging->context->now_ns))
        return true;
    job->table = key_tables_find(staging->context->config->key_tables, command_key(command));
    return false;
}

bool staging_take(struct staging *staging, struct conn *conn, const char *body, size_t count)
{
    struct context *context = staging->context;
    uint32_t number;
    struct job *job = take_job(staging, &number);
    struct problem_detail problem;
    bool slow = false;
    bool decoded = decode(staging, conn, job, body, count, &problem);
    if (decoded && !job->passkey) {
        slow = judge_key(staging, conn, job);
        if (slow && job_queue_count(&staging->slow) >= STAGING_SLOW_MAX) {
            staging->free_count++; /* as if it had not been taken */
            conn_queue_push(&context->conns, CONN_SLOW, conn);
            return false;
        }
    }
    struct pending *pending = pending_add(&context->pendings, conn, PENDING_WRITE, PENDING_STAGED);
    context->metrics.counters.signed_requests++;
    job->pending = pending_index(&context->pendings, pending);
    job->deadline_ns = 0;
    if (decoded) {
        pending->ack_form = (uint8_t)ack_form_of(&conn->head);
        memcpy(pending->request_id, command_request_id(job_command(job)), REQUEST_ID_BYTES);
    }
    if (!decoded) {
        pending->kind = PENDING_PROBLEM;
        pending->problem = problem;
        staging_free(staging, number);
        pipeline_finish(staging->pipeline, pending);
    } else if (job->passkey) {
        /* W4: this binary makes no passkey account, so no credential id is known. */
        staging_refuse_signature(staging, job, "the credential id is unknown");
        staging_free(staging, number);
    } else if (slow) {
        conn->slow_job = true;
        job_queue_push(&staging->slow, number);
    } else {
        job_queue_push(&staging->fresh, number);
    }
    return true;
}

struct pending *staging_take_plain(struct staging *staging, struct conn *conn, uint16_t code,
                                   const uint8_t *body, uint16_t body_bytes)
{
    struct pending_pool *pendings = &staging->context->pendings;
    uint32_t number;
    struct job *job = take_job(staging, &number);
    struct command *command = job_command(job);
    INVARIANT(body_bytes % 8 == 0);
    struct pending *pending = pending_add(pendings, conn, PENDING_WRITE, PENDING_STAGED);
    *command = (struct command){
        .code = code,
        .kind = COMMAND_UNSIGNED,
        .payload_bytes = body_bytes,
        .received_ticks = conn->received_ticks,
    };
    memcpy(command->bytes, body, body_bytes);
    job->request = request_find(code);
    job->pending = pending_index(pendings, pending);
    job->deadline_ns = 0;
    job->passkey = false;
    job->plain = true;
    pending->ack_form = ACK_BRIEF;
    job_queue_push(&staging->fresh, number);
    return pending;
}
