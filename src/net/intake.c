#include "net/intake.h"

#include <errno.h>
#include <stdlib.h>

#include "base/status.h"
#include "crypto/derive.h"
#include "crypto/ed25519.h"
#include "crypto/secp256k1.h"
#include "crypto/secret.h"
#include "net/ack.h"
#include "net/admission.h"
#include "net/allowance.h"
#include "net/plain_body.h"
#include "net/shadow.h"
#include "net/signer_key.h"

enum { MESSAGE_BYTES = sizeof(struct command) + ENVELOPE_SPACE + SECRET_HASH_BYTES };

/* One staged request. `message` is the command as it will stand in the ring. */
struct job {
    alignas(8) uint8_t message[(MESSAGE_BYTES + 7) / 8 * 8];
    const struct request *request;
    const struct ed25519_table *table; /* of its key, found in this turn; or NULL */
    uint64_t address;                  /* of its client (allowance.h) */
    uint64_t deadline_ns;              /* 0: it has not waited for a credit yet */
    uint32_t pending;
    bool passkey;
    bool known; /* its key was known when it was taken */
    bool plain; /* no client signs it */
};

/* A queue of job numbers; holds every job there is. */
struct job_queue {
    uint16_t items[INTAKE_JOBS];
    uint32_t head, tail;
};

struct intake {
    struct job jobs[INTAKE_JOBS];
    uint16_t free[INTAKE_JOBS];
    uint32_t free_count;
    struct job_queue fresh; /* known Ed25519 keys, not verified, and what needs no signature */
    struct job_queue slow;  /* Secp256k1 and unknown keys, not verified */
    struct job_queue good;  /* verified, to be pushed */
    struct allowance *allowance;
};

static void queue_push(struct job_queue *queue, uint32_t job)
{
    INVARIANT(queue->tail - queue->head < INTAKE_JOBS);
    queue->items[queue->tail++ % INTAKE_JOBS] = (uint16_t)job;
}

static bool queue_is_empty(const struct job_queue *queue)
{
    return queue->head == queue->tail;
}

static struct command *job_command(struct job *job)
{
    return (void *)job->message;
}

int intake_create(struct intake **intake, const struct net_config *config)
{
    struct intake *made = calloc(1, sizeof *made);
    const uint32_t rates[ALLOWANCE_KINDS] = {
        [ALLOWANCE_UNKNOWN_KEY] = config->rate_limits ? config->unknown_key_rate : 0,
        [ALLOWANCE_BAD_SIGNATURE] = config->rate_limits ? config->bad_signature_rate : 0,
    };
    *intake = made;
    if (made == NULL)
        return -ENOMEM;
    int failed = allowance_create(&made->allowance, rates, config->port_threads, config->hash_key);
    if (failed != 0) {
        intake_destroy(made);
        *intake = NULL;
        return failed;
    }
    made->free_count = INTAKE_JOBS;
    for (uint32_t i = 0; i < INTAKE_JOBS; i++)
        made->free[i] = (uint16_t)(INTAKE_JOBS - 1 - i);
    return 0;
}

void intake_destroy(struct intake *intake)
{
    if (intake == NULL)
        return;
    allowance_destroy(intake->allowance);
    free(intake);
}

bool intake_has_room(const struct intake *intake)
{
    return intake->free_count > 0;
}

static void free_job(struct gate *gate, uint32_t number)
{
    struct intake *intake = gate->intake;
    intake->free[intake->free_count++] = (uint16_t)number;
    while (conn_queue_count(&gate->context.conns, CONN_STALLED) > 0) {
        struct conn *conn = conn_queue_pop(&gate->context.conns, CONN_STALLED);
        if (conn->open)
            pipeline_resume(&gate->pipeline, conn);
    }
}

static void refuse(struct gate *gate, struct job *job, enum status status)
{
    struct pending *pending = &gate->context.pendings.items[job->pending];
    pending->answer = (struct answer){
        .code = job->request->code,
        .status = (uint8_t)status,
        .processed_at_ns = gate->context.unix_ns,
        .verified_ticks = job_command(job)->verified_ticks,
    };
    pipeline_finish(&gate->pipeline, pending);
}

static void refuse_signature(struct gate *gate, struct job *job, const char *detail)
{
    struct pending *pending = &gate->context.pendings.items[job->pending];
    pending->kind = PENDING_MISTAKE;
    if (!job->passkey && job->known)
        gate->context.metrics.counters.rate_limited +=
            signer_key_was_wrong(&gate->config, gate->intake->allowance, job->address,
                                 gate->context.now_ns, &pending->mistake);
    else
        (void)mistake_set(&pending->mistake, PROBLEM_invalid_signature, NULL, "%s", detail);
    gate->context.metrics.counters.signatures_bad++;
    pipeline_finish(&gate->pipeline, pending);
}

static uint32_t delta_ticks(uint64_t since)
{
    uint64_t delta = clock_ticks() - since;
    return delta > UINT32_MAX ? UINT32_MAX : (uint32_t)delta;
}

/* How the request wants to be answered; inbound.c let no other headers through. */
static enum ack_form ack_form_of(const struct http_head *head)
{
    if (head->accepts_octets || head->ack == HTTP_ACK_BINARY)
        return ACK_BINARY;
    return head->ack == HTTP_ACK_FULL ? ACK_FULL : ACK_BRIEF;
}

/* Is the type one that the node has put off. */
static bool is_off(const struct gate *gate, const struct request *request, struct mistake *mistake)
{
    for (uint32_t i = 0; i < gate->config.codes_off_count; i++)
        if (gate->config.codes_off[i] == request->code)
            return !mistake_set(mistake, PROBLEM_not_ready, NULL,
                                "requests of type %s are put off after repeated faults, until the "
                                "operator lets them in again",
                                request->name);
    return false;
}

/* Envelope and R11 steps 5 to 9 into the job. */
static bool decode(struct gate *gate, struct conn *conn, struct job *job, const char *body,
                   size_t count, struct mistake *mistake)
{
    struct command *command = job_command(job);
    struct envelope envelope;
    const struct admission_window window = {
        .now_ms = gate->context.unix_ns / 1000000,
        .past_ms = gate->config.options->values[OPTION_exchange_clock_past_ms],
        .future_ms = gate->config.options->values[OPTION_exchange_clock_future_ms],
    };
    bool read =
        conn->head.media == HTTP_MEDIA_OCTETS
            ? envelope_frame(&envelope, (const uint8_t *)body, count, command->bytes, mistake)
            : envelope_json(&envelope, body, count, command->bytes, mistake);
    if (!read)
        return false;
    job->request = admission_check(&envelope, conn->route.path, &window, mistake);
    if (job->request == NULL || is_off(gate, job->request, mistake))
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

/* R11 step 11 for a request whose signature is good: STATUS_request_completed to go on. */
static enum status check_key(struct gate *gate, const struct job *job,
                             const struct command *command)
{
    const struct request *request = job->request;
    if (!gate->config.source.ready(gate->config.source.context))
        return STATUS_retry_required;
    /* R11, code 14: a session revokes on /logout only. */
    if (request->code == REQUEST_revoke_session && command->bytes[1] == SIGNATURE_ED25519)
        return STATUS_session_rejected;
    if (request->signer == SIGNER_NEW_SECP256K1) /* exempt */
        return STATUS_request_completed;
    /* Looked up again: a key may have been added while the signature waited. */
    if (job->known || signer_key_is_known(&gate->config, request, command))
        return STATUS_request_completed;
    gate->context.metrics.counters.unknown_keys++;
    return ack_unauthorized(request->code);
}

/* What is known of the request's key before its signature is verified. True: it is a slow one. */
static bool judge_key(const struct gate *gate, const struct conn *conn, struct job *job)
{
    const struct command *command = job_command(job);
    job->known = signer_key_is_known(&gate->config, job->request, command);
    job->address = conn->address;
    job->table = NULL;
    if (command->bytes[1] == SIGNATURE_SECP256K1 ||
        signer_key_is_slow(gate->intake->allowance, conn, job->request, job->known,
                           gate->context.now_ns))
        return true;
    job->table = key_tables_find(gate->config.key_tables, command_key(command));
    return false;
}

bool intake_take(struct gate *gate, struct conn *conn, const char *body, size_t count)
{
    struct intake *intake = gate->intake;
    INVARIANT(intake->free_count > 0);
    uint32_t number = intake->free[intake->free_count - 1];
    struct job *job = &intake->jobs[number];
    struct mistake mistake;
    bool slow = false;
    bool decoded = decode(gate, conn, job, body, count, &mistake);
    if (decoded && !job->passkey) {
        slow = judge_key(gate, conn, job);
        if (slow && intake->slow.tail - intake->slow.head >= INTAKE_SLOW_MAX) {
            conn_queue_push(&gate->context.conns, CONN_SLOW, conn);
            return false;
        }
    }
    intake->free_count--;
    struct pending *pending =
        pending_add(&gate->context.pendings, conn, PENDING_WRITE, PENDING_STAGED);
    gate->context.metrics.counters.signed_requests++;
    job->pending = pending_index(&gate->context.pendings, pending);
    job->deadline_ns = 0;
    if (decoded) {
        pending->ack_form = (uint8_t)ack_form_of(&conn->head);
        memcpy(pending->request_id, command_request_id(job_command(job)), REQUEST_ID_BYTES);
    }
    if (!decoded) {
        pending->kind = PENDING_MISTAKE;
        pending->mistake = mistake;
        free_job(gate, number);
        pipeline_finish(&gate->pipeline, pending);
    } else if (job->passkey) {
        /* W4: this binary makes no passkey account, so no credential id is known. */
        refuse_signature(gate, job, "the credential id is unknown");
        free_job(gate, number);
    } else if (slow) {
        conn->slow_job = true;
        queue_push(&intake->slow, number);
    } else {
        queue_push(&intake->fresh, number);
    }
    return true;
}

struct pending *intake_take_plain(struct gate *gate, struct conn *conn, uint16_t code,
                                  const uint8_t *body, uint16_t body_bytes)
{
    struct intake *intake = gate->intake;
    INVARIANT(intake->free_count > 0 && body_bytes % 8 == 0);
    uint32_t number = intake->free[--intake->free_count];
    struct job *job = &intake->jobs[number];
    struct command *command = job_command(job);
    struct pending *pending =
        pending_add(&gate->context.pendings, conn, PENDING_WRITE, PENDING_STAGED);
    *command = (struct command){
        .code = code,
        .kind = COMMAND_UNSIGNED,
        .payload_bytes = body_bytes,
        .received_ticks = conn->received_ticks,
    };
    memcpy(command->bytes, body, body_bytes);
    job->request = request_find(code);
    job->pending = pending_index(&gate->context.pendings, pending);
    job->deadline_ns = 0;
    job->passkey = false;
    job->plain = true;
    pending->ack_form = ACK_BRIEF;
    queue_push(&intake->fresh, number);
    return pending;
}

/* A verdict on a signature: refuses, or queues the command to be pushed. */
static void take_verdict(struct gate *gate, uint32_t number, bool slow, bool good)
{
    struct job *job = &gate->intake->jobs[number];
    struct command *command = job_command(job);
    struct conn *conn = context_conn(&gate->context, &gate->context.pendings.items[job->pending]);
    if (conn != NULL) {
        conn->forges = !good || (conn->forges && !slow); /* not slow: sent before that was known */
        conn->proved = !conn->forges && job->known;
    }
#if defined(PLANTED_BUG) && PLANTED_BUG == 7 /* a wrong signature is taken */
    good = true;
#endif
    if (!good) {
        refuse_signature(gate, job, "the signature does not verify");
        free_job(gate, number);
        return;
    }
    gate->context.metrics.counters.signatures_good++;
    command->verified_ticks = delta_ticks(command->received_ticks);
    enum status status = check_key(gate, job, command);
    if (status != STATUS_request_completed) {
        refuse(gate, job, status);
        free_job(gate, number);
        return;
    }
    queue_push(&gate->intake->good, number);
}

/* What was taken in this turn and is not slow, its signatures in one batch. */
static uint32_t verify_fresh(struct gate *gate)
{
    struct intake *intake = gate->intake;
    struct ed25519_job batch[NET_TURN_REQUESTS];
    uint16_t numbers[NET_TURN_REQUESTS];
    unsigned count = 0, signed_count = 0;
    while (count < NET_TURN_REQUESTS && !queue_is_empty(&intake->fresh)) {
        uint16_t number = intake->fresh.items[intake->fresh.head++ % INTAKE_JOBS];
        const struct command *command = job_command(&intake->jobs[number]);
        numbers[count++] = number;
        if (intake->jobs[number].plain)
            continue;
        batch[signed_count++] = (struct ed25519_job){
            .key = command_key(command),
            .signature = command_signature(command),
            .message = command_payload(command),
            .message_bytes = command->payload_bytes,
            .table = intake->jobs[number].table,
        };
        gate->context.metrics.counters.tables_missing += intake->jobs[number].table == NULL;
    }
    enum ed25519_path path = ed25519_path_of_use();
    uint64_t good = signed_count > 0 ? ed25519_verify(batch, signed_count) : 0;
    for (unsigned i = 0; i < count; i++) {
        if (intake->jobs[numbers[i]].plain) {
            struct command *command = job_command(&intake->jobs[numbers[i]]);
            command->verified_ticks = delta_ticks(command->received_ticks);
            queue_push(&intake->good, numbers[i]);
            continue;
        }
        shadow_tell(&gate->shadows, job_command(&intake->jobs[numbers[i]]), good & 1, path);
        take_verdict(gate, numbers[i], false, good & 1);
        good >>= 1;
    }
    return count;
}

/* As many connections as there is room for slow jobs may try again. Some take none (they are gone,
 * or their key is known by now): so room counts, not signatures done, and nobody is left behind. */
static void resume_slow(struct gate *gate)
{
    uint32_t room = INTAKE_SLOW_MAX - (gate->intake->slow.tail - gate->intake->slow.head);
    while (room > 0 && conn_queue_count(&gate->context.conns, CONN_SLOW) > 0) {
        struct conn *conn = conn_queue_pop(&gate->context.conns, CONN_SLOW);
        if (conn->open)
            pipeline_resume(&gate->pipeline, conn);
        room -= conn->open && conn->blocked;
    }
}

static bool verify_one(struct gate *gate, const struct command *command)
{
    struct eip712_hashes hashes;
    if (command->bytes[1] == SIGNATURE_ED25519) {
        const struct ed25519_job one = {
            .key = command_key(command),
            .signature = command_signature(command),
            .message = command_payload(command),
            .message_bytes = command->payload_bytes,
            /* Not what was found when it was taken: that may be turns ago. */
            .table = key_tables_find(gate->config.key_tables, command_key(command)),
        };
        enum ed25519_path path = ed25519_path_of_use();
        bool good = ed25519_verify(&one, 1) == 1;
        shadow_tell(&gate->shadows, command, good, path);
        return good;
    }
    return eip712_hash(&gate->eip712, command_payload(command), command->payload_bytes, &hashes) ==
               0 &&
           secp256k1_verify(command_key(command), hashes.digest, command_signature(command));
}

/* Its address has asked for too much. Even this answer comes in its turn: whoever floods gets no
 * more of them than of verdicts. */
static bool refuse_unverified(struct gate *gate, uint32_t number, bool forges)
{
    struct job *job = &gate->intake->jobs[number];
    struct pending *pending = &gate->context.pendings.items[job->pending];
    if (!signer_key_is_refused(&gate->config, gate->intake->allowance, job->address, job->known,
                               forges, gate->context.now_ns, &pending->mistake))
        return false;
    gate->context.metrics.counters.rate_limited++;
    pending->kind = PENDING_MISTAKE;
    free_job(gate, number);
    pipeline_finish(&gate->pipeline, pending);
    return true;
}

static uint32_t verify_slow(struct gate *gate)
{
    struct intake *intake = gate->intake;
    uint32_t done = 0;
    while (done < NET_TURN_SLOW && !queue_is_empty(&intake->slow)) {
        uint16_t number = intake->slow.items[intake->slow.head++ % INTAKE_JOBS];
        struct job *job = &intake->jobs[number];
        struct conn *conn =
            context_conn(&gate->context, &gate->context.pendings.items[job->pending]);
        if (conn != NULL)
            conn->slow_job = false;
        if (!refuse_unverified(gate, number, conn == NULL || conn->forges)) {
            if (signer_key_is_strange(&gate->config, job->known))
                allowance_charge(intake->allowance, job->address, ALLOWANCE_UNKNOWN_KEY,
                                 gate->context.now_ns);
            take_verdict(gate, number, true, verify_one(gate, job_command(job)));
        }
        if (conn != NULL && conn->open)
            pipeline_resume(&gate->pipeline, conn);
        done++;
    }
    resume_slow(gate);
    return done;
}

/* Completes the command: secret, hashes, token, sizes. False: the kernel gave no random bytes. */
static bool complete(struct gate *gate, struct job *job)
{
    struct command *command = job_command(job);
    struct pending *pending = &gate->context.pendings.items[job->pending];
    if (command->code == REQUEST_create_api_key) {
        if (secret_random(pending->secret, sizeof pending->secret) != 0)
            return false;
        pending->has_secret = true;
        command->extra_bytes = SECRET_HASH_BYTES;
        secret_hash(command->bytes + command->payload_bytes + command->key_bytes + SIGNATURE_BYTES,
                    gate->config.secret_key, pending->secret);
    }
    derive_command(command, gate->config.hash_key);
#if defined(PLANTED_BUG) && PLANTED_BUG == 20 /* net hashes ids otherwise than the node */
    command->request_hash = ~command->request_hash;
#endif
    command->token = pending_token(&gate->context.pendings, pending);
    command->slot_count =
        (uint16_t)command_slots(command_bytes(command) - (uint32_t)sizeof *command);
    return true;
}

/* Pushes what credits and ring allow; publishes once. */
static uint32_t push_good(struct gate *gate)
{
    struct intake *intake = gate->intake;
    struct ring *ring = gate->config.commands;
    uint32_t pushed = 0, done = 0;
    while (!queue_is_empty(&intake->good) && gate->commands_out < gate->answer_credits) {
        uint16_t number = intake->good.items[intake->good.head % INTAKE_JOBS];
        struct job *job = &intake->jobs[number];
        struct command *command = job_command(job);
        struct pending *pending = &gate->context.pendings.items[job->pending];
        if (command->slot_count == 0 && !complete(gate, job)) {
            intake->good.head++;
            refuse(gate, job, STATUS_retry_required);
            free_job(gate, number);
            done++;
            continue;
        }
        void *slots = ring_claim(ring, command->slot_count);
        if (slots == NULL)
            break;
        command->pushed_ticks = delta_ticks(command->received_ticks);
        net_metrics_stamp(&gate->context.metrics, NET_STAGE_verified, command->verified_ticks);
        net_metrics_stamp(&gate->context.metrics, NET_STAGE_pushed, command->pushed_ticks);
        memcpy(slots, command, command_bytes(command));
        intake->good.head++;
        pending->state = PENDING_SENT;
        gate->commands_out++;
        pushed++;
        free_job(gate, number);
    }
    if (pushed > 0)
        ring_publish(ring);
    gate->context.metrics.counters.commands_pushed += pushed;
    return pushed + done;
}

/* R11 step 13: those that waited net.credit_wait_ms without a credit. */
static uint32_t drop_late(struct gate *gate)
{
    struct intake *intake = gate->intake;
    uint32_t dropped = 0;
    for (uint32_t at = intake->good.head; at != intake->good.tail; at++) {
        struct job *job = &intake->jobs[intake->good.items[at % INTAKE_JOBS]];
        if (job->deadline_ns == 0)
            job->deadline_ns =
                gate->context.now_ns + (uint64_t)gate->config.credit_wait_ms * UINT64_C(1000000);
    }
    while (!queue_is_empty(&intake->good)) {
        uint16_t number = intake->good.items[intake->good.head % INTAKE_JOBS];
        struct job *job = &intake->jobs[number];
        if (job->deadline_ns > gate->context.now_ns)
            break;
        intake->good.head++;
        refuse(gate, job, STATUS_request_dropped);
        free_job(gate, number);
        gate->context.metrics.counters.commands_dropped++;
        dropped++;
    }
    return dropped;
}

void intake_begin(struct gate *gate)
{
    INVARIANT(queue_is_empty(&gate->intake->fresh)); /* their tables were of the last turn */
    key_tables_quiet(gate->config.key_tables, gate->config.number);
}

uint32_t intake_run(struct gate *gate)
{
    uint32_t done = 0;
    while (!queue_is_empty(&gate->intake->fresh))
        done += verify_fresh(gate);
    done += verify_slow(gate);
    done += push_good(gate);
    if (!queue_is_empty(&gate->intake->good))
        done += drop_late(gate);
    return done;
}

void intake_answer(struct gate *gate, const struct answer *answer)
{
    struct pending *pending = pending_of(&gate->context.pendings, answer->token);
    INVARIANT(gate->commands_out > 0);
    gate->commands_out--;
    gate->context.metrics.counters.answers++;
    pending->answer = *answer;
    bool asks = pending->conn != CONN_NONE && plain_body_becomes_read(pending);
    net_metrics_stamp(&gate->context.metrics, NET_STAGE_sequenced, answer->sequenced_ticks);
    net_metrics_stamp(&gate->context.metrics, NET_STAGE_matched, answer->matched_ticks);
    net_metrics_stamp(&gate->context.metrics, NET_STAGE_released,
                      clock_ticks() - answer->received_ticks);
    if (asks)
        pipeline_advance(&gate->pipeline, context_conn(&gate->context, pending));
    else
        pipeline_finish(&gate->pipeline, pending);
}

uint64_t intake_deadline_ns(const struct intake *intake)
{
    if (queue_is_empty(&intake->good))
        return UINT64_MAX;
    return intake->jobs[intake->good.items[intake->good.head % INTAKE_JOBS]].deadline_ns;
}

bool intake_has_work(const struct gate *gate)
{
    const struct intake *intake = gate->intake;
    return !queue_is_empty(&intake->fresh) || !queue_is_empty(&intake->slow) ||
           (!queue_is_empty(&intake->good) && gate->commands_out < gate->answer_credits &&
            ring_free(gate->config.commands) >= COMMAND_SLOTS_MAX);
}
