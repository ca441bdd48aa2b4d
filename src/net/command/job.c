#include "net/command/job.h"

#include <errno.h>
#include <stdlib.h>

#include "net/json/ack.h"
#include "net/request/admission.h"
#include "net/request/api_caller.h"
#include "net/request/charge.h"
#include "net/request/envelope.h"
#include "net/request/key_lookup.h"
#include "net/request/leadership.h"

enum {
    ITEMS_A_TURN = 16, /* of a batch */
    SLOW_AGAIN_MS = 1000,
};

int job_table_create(struct job_table **jobs, struct pipeline *pipeline)
{
    const struct net_config *config = pipeline->context->config;
    struct job_table *made = calloc(1, sizeof *made);
    const uint32_t rates[RATE_LIMIT_KINDS] = {
        [RATE_LIMIT_UNKNOWN_KEY] = config->rate_limits ? config->unknown_key_rate : 0,
        [RATE_LIMIT_BAD_SIGNATURE] = config->rate_limits ? config->bad_signature_rate : 0,
    };
    *jobs = made;
    if (made == NULL)
        return -ENOMEM;
    int failed = rate_limit_create(&made->limits, rates, config->port_threads, config->hash_key);
    if (failed != 0) {
        job_table_destroy(made);
        *jobs = NULL;
        return failed;
    }
    made->context = pipeline->context;
    made->pipeline = pipeline;
    made->free_count = JOBS_MAX;
    for (uint32_t i = 0; i < JOBS_MAX; i++)
        made->free[i] = (uint16_t)(JOBS_MAX - 1 - i);
    return 0;
}

void job_table_destroy(struct job_table *jobs)
{
    if (jobs == NULL)
        return;
    rate_limit_destroy(jobs->limits);
    free(jobs);
}

static struct job *alloc_job(struct job_table *jobs, uint32_t *number)
{
    INVARIANT(jobs->free_count > 0);
    *number = jobs->free[--jobs->free_count];
    return &jobs->items[*number];
}

void job_free(struct job_table *jobs, uint32_t number)
{
    struct context *context = jobs->context;
    INVARIANT(number < JOBS_MAX && jobs->free_count < JOBS_MAX);
    jobs->free[jobs->free_count++] = (uint16_t)number;
    while (conn_queue_count(&context->conns, CONN_STALLED) > 0) {
        struct conn *conn = conn_queue_pop(&context->conns, CONN_STALLED);
        if (conn->open)
            pipeline_resume(jobs->pipeline, conn);
    }
}

void job_finish(struct job_table *jobs, struct job *job, struct answer answer)
{
    struct pending *pending = job_pending(jobs, job);
    answer.code = job->request->code;
    answer.processed_at_ns = jobs->context->unix_ns;
    answer.verified_ticks = job_command(job)->verified_ticks;
    pending->answer = answer;
    pipeline_finish(jobs->pipeline, pending);
}

void job_refuse(struct job_table *jobs, struct job *job, enum status status)
{
    job_finish(jobs, job, (struct answer){ .status = (uint8_t)status });
}

/* The mistake costs its address what one that is found sooner costs. The connection may be at a
 * later request by now, whose bucket stays that of its own answer. */
static void charge_late(struct context *context, struct pending *pending)
{
    struct conn *conn = context_conn(context, pending);
    if (conn == NULL)
        return;
    const struct client_rate_state next = conn->rate;
    charge_mistake(context, conn, &pending->problem);
    pending->rate = conn->rate;
    conn->rate = next;
}

void job_refuse_signature(struct job_table *jobs, struct job *job, enum problem problem,
                          const char *detail)
{
    struct context *context = jobs->context;
    struct pending *pending = job_pending(jobs, job);
    pending->kind = PENDING_PROBLEM;
    if (job->known && key_lookup_charge_bad(context->config, jobs->limits, job->address,
                                            context->now_ns, &pending->problem))
        context->metrics.counters.rate_limited++;
    else
        (void)problem_detail_set(&pending->problem, problem, NULL, "%s", detail);
    charge_late(context, pending);
    context->metrics.counters.signatures_bad++;
    pipeline_finish(jobs->pipeline, pending);
}

/* A signed request as it came. */
struct arrival {
    const char *body;
    size_t count;
    const struct route_path *path; /* NULL: of a stream, whose requests may be of any */
    enum ack_form form;
    bool is_frame;         /* the body is binary */
    const char *head_text; /* with a device key in its head: of a logout; else NULL */
};

/* What became of one that has a slot. */
struct taken {
    uint32_t number;
    bool decoded; /* else `problem` says why not */
    bool slow;
    uint8_t device[HASH_BYTES]; /* of the logout's device key */
    struct problem_detail problem;
};

/* The requested form of the answer; parser.c refused all other headers. */
static enum ack_form ack_form_of(const struct http_head *head)
{
    if (head->accepts_octets || head->ack == HTTP_ACK_BINARY)
        return ACK_BINARY;
    if (head->ack == HTTP_ACK_RECEIPT)
        return ACK_RECEIPT;
    return head->ack == HTTP_ACK_FULL ? ACK_FULL : ACK_BRIEF;
}

/* Whether the node has put off the request type. */
static bool is_off(const struct job_table *jobs, const struct request *request,
                   struct problem_detail *problem)
{
    for (uint32_t i = 0; i < jobs->context->config->codes_off_count; i++)
        if (jobs->context->config->codes_off[i] == request->code)
            return !problem_detail_set(
                problem, PROBLEM_not_ready, NULL,
                "requests of type %s are put off after repeated faults, until the "
                "operator lets them in again",
                request->name);
    return false;
}

/* Decodes the envelope into the job: steps 5 to 9 of R11. */
static bool decode(const struct job_table *jobs, const struct conn *conn, struct job *job,
                   const struct arrival *arrival, struct problem_detail *problem)
{
    const struct context *context = jobs->context;
    struct command *command = job_command(job);
    struct envelope envelope;
    const struct admission_window window = {
        .now_ms = context->unix_ns / 1000000,
        .past_ms = context->config->options->values[OPTION_exchange_clock_past_ms],
        .future_ms = context->config->options->values[OPTION_exchange_clock_future_ms],
    };
    const char *body = arrival->body;
    bool read = arrival->is_frame
                    ? envelope_frame(&envelope, (const uint8_t *)body, arrival->count,
                                     command->bytes, problem)
                    : envelope_json(&envelope, body, arrival->count, command->bytes, problem);
    /* Who does not lead judges no id by its clock. */
    if (!read || !leadership_write(context->config, problem))
        return false;
    job->request = admission_check(&envelope, arrival->path, &window, problem);
    if (job->request == NULL || is_off(jobs, job->request, problem))
        return false;
    job->key_sent = envelope.key_sent;
    job->plain = false;
    *command = (struct command){
        .code = job->request->code,
        .kind = envelope.passkey ? COMMAND_PASSKEY : COMMAND_SIGNED,
        .payload_bytes = (uint16_t)envelope.payload_bytes,
        .key_bytes = (uint16_t)envelope.key_bytes,
        .extra_bytes = (uint16_t)envelope.extra_bytes,
        .received_ticks = conn->received_ticks,
    };
    bool wants_evidence = arrival->form == ACK_FULL || arrival->form == ACK_BINARY;
    if (wants_evidence && ack_has_evidence(command->code))
        command->flags = COMMAND_WANTS_EVIDENCE;
    return true;
}

/* Looks up the request's key before its signature is verified. True: the job is slow. */
static bool judge_key(const struct job_table *jobs, const struct conn *conn, struct job *job)
{
    const struct command *command = job_command(job);
    job->known = key_lookup_is_known(jobs->context->config, job->request, command);
    job->address = conn->address;
    job->table = NULL;
    if (command->bytes[1] != SIGNATURE_ED25519 ||
        key_lookup_is_slow(jobs->limits, conn, job->request, job->known, jobs->context->now_ns))
        return true;
    job->table = key_tables_find(jobs->context->config->key_tables, command_key(command));
    return false;
}

/* ---- lines of jobs by turns of their addresses ----------------------------------------------- */

/* The turn of one more job of the address behind those of the queue that stand before `end`: one
 * after the last of its own, or after `last`, which was taken last. */
static uint64_t next_turn(const struct job_table *jobs, const struct job_queue *queue, uint32_t end,
                          uint64_t address, uint64_t last)
{
    for (uint32_t at = queue->head; at != end; at++) {
        const struct job *job = &jobs->items[queue->items[at % JOBS_MAX]];
        if (job->address == address && job->turn > last)
            last = job->turn;
    }
    return last + 1;
}

void job_line_up(struct job_table *jobs, struct job_queue *queue, uint32_t at, uint64_t last)
{
    uint16_t number = queue->items[at % JOBS_MAX];
    struct job *job = &jobs->items[number];
    job->turn = next_turn(jobs, queue, at, job->address, last);
    for (; at != queue->head; at--) {
        uint16_t before = queue->items[(at - 1) % JOBS_MAX];
        if (jobs->items[before].turn <= job->turn)
            break;
        queue->items[at % JOBS_MAX] = before;
    }
    queue->items[at % JOBS_MAX] = number;
}

uint32_t job_pop_slow(struct job_table *jobs)
{
    uint32_t number = job_queue_pop(&jobs->slow);
    INVARIANT(jobs->items[number].turn >= jobs->slow_turn);
    jobs->slow_turn = jobs->items[number].turn;
    return number;
}

/* The last in line, which is of an address with the most jobs there. */
static uint32_t last_slow(const struct job_table *jobs)
{
    return jobs->slow.items[(jobs->slow.tail - 1) % JOBS_MAX];
}

bool job_table_has_slow_room(const struct job_table *jobs, uint64_t address)
{
    /* One more, else two addresses with as many would take places from each other. */
    return job_queue_count(&jobs->slow) < JOBS_SLOW_MAX ||
           next_turn(jobs, &jobs->slow, jobs->slow.tail, address, jobs->slow_turn) + 1 <
               jobs->items[last_slow(jobs)].turn;
}

/* Makes room for a slow job of the address. False: there is none. */
static bool make_slow_room(struct job_table *jobs, uint64_t address)
{
    if (!job_table_has_slow_room(jobs, address))
        return false;
    if (job_queue_count(&jobs->slow) < JOBS_SLOW_MAX)
        return true;
    uint32_t number = last_slow(jobs);
    struct pending *pending = job_pending(jobs, &jobs->items[number]);
    struct conn *conn = context_conn(jobs->context, pending);
    jobs->slow.tail--;
    if (conn != NULL)
        conn->slow_job = false;
    (void)problem_detail_set_number(&pending->problem, PROBLEM_rate_limited, SLOW_AGAIN_MS,
                                    "too many requests of your address wait whose signatures are "
                                    "slow to verify; send fewer at a time");
    pending->kind = PENDING_PROBLEM;
    jobs->context->metrics.counters.rate_limited++;
    job_free(jobs, number);
    pipeline_finish(jobs->pipeline, pending);
    return true;
}

/* ---- requests -------------------------------------------------------------------------------- */

/* Decodes the request into a slot. False: too many slow jobs wait; nothing has changed but that the
 * connection is in CONN_SLOW. */
static bool decode_job(struct job_table *jobs, struct conn *conn, const struct arrival *arrival,
                       struct taken *taken)
{
    struct context *context = jobs->context;
    struct job *job = alloc_job(jobs, &taken->number);
    /* One that found no room among the slow jobs is charged already. */
    bool charged = conn->is_charged || charge_signature(context, conn, &taken->problem);
    taken->decoded = charged && decode(jobs, conn, job, arrival, &taken->problem) &&
                     (arrival->head_text == NULL ||
                      api_caller_device_hash(context->config, &conn->head, arrival->head_text,
                                             taken->device, &taken->problem));
    taken->slow = taken->decoded && judge_key(jobs, conn, job);
    conn->is_charged = taken->slow && !make_slow_room(jobs, job->address);
    if (conn->is_charged) {
        jobs->free_count++; /* as if it had not been allocated */
        conn_queue_push(&context->conns, CONN_SLOW, conn);
        return false;
    }
    if (!taken->decoded)
        charge_mistake(context, conn, &taken->problem);
    return true;
}

/* Makes the pending of a request that was accepted. */
static struct pending *add_pending(struct job_table *jobs, struct conn *conn,
                                   const struct arrival *arrival, const struct taken *taken)
{
    struct context *context = jobs->context;
    struct job *job = &jobs->items[taken->number];
    struct pending *pending = pending_add(&context->pendings, conn, PENDING_WRITE, PENDING_QUEUED);
    context->metrics.counters.signed_requests++;
    job->pending = pending_index(&context->pendings, pending);
    job->deadline_ns = 0;
    if (taken->decoded) {
        pending->ack_form = (uint8_t)arrival->form;
        memcpy(pending->request_id, command_request_id(job_command(job)), REQUEST_ID_BYTES);
        conn->turns -= (int8_t)(admission_cost(job->request, command_payload(job_command(job))) /
                                ITEMS_A_TURN);
    }
    return pending;
}

/* Puts the job into its queue, or answers that it is none. */
static void enter(struct job_table *jobs, struct conn *conn, struct pending *pending,
                  const struct taken *taken)
{
    if (!taken->decoded) {
        pending->kind = PENDING_PROBLEM;
        pending->problem = taken->problem;
        job_free(jobs, taken->number);
        pipeline_finish(jobs->pipeline, pending);
    } else if (taken->slow) {
        conn->slow_job = true;
        job_queue_push(&jobs->slow, taken->number);
        job_line_up(jobs, &jobs->slow, jobs->slow.tail - 1, jobs->slow_turn);
    } else {
        job_queue_push(&jobs->fresh, taken->number);
    }
}

bool job_accept(struct job_table *jobs, struct conn *conn, const char *head_text, const char *body,
                size_t count)
{
    bool is_logout = conn->route.path->is_logout;
    bool has_device = is_logout && conn->head.has_device_key;
    const struct arrival arrival = {
        .body = body,
        .count = count,
        .path = conn->route.path,
        .form = ack_form_of(&conn->head),
        .is_frame = conn->head.media == HTTP_MEDIA_OCTETS,
        .head_text = has_device ? head_text : NULL,
    };
    struct taken taken;
    if (!decode_job(jobs, conn, &arrival, &taken))
        return false;
    struct pending *pending = add_pending(jobs, conn, &arrival, &taken);
    if (taken.decoded) {
        pending->is_logout = is_logout;
        pending->has_device = has_device;
        if (has_device)
            memcpy(pending->secret, taken.device, sizeof pending->secret);
        pending->sets_cookie = api_caller_is_own_page(&conn->head, head_text);
    }
    enter(jobs, conn, pending, &taken);
    return true;
}

/* Decodes a request of a stream and adds what its answer will need; NULL as decode_job's false. The
 * caller says by what the client knows the request, and then enters it. */
static struct pending *add_op(struct job_table *jobs, struct conn *conn,
                              const struct arrival *arrival, struct taken *taken)
{
    if (!decode_job(jobs, conn, arrival, taken))
        return NULL;
    struct pending *pending = add_pending(jobs, conn, arrival, taken);
    pending->is_op = true;
    return pending;
}

bool job_accept_op(struct job_table *jobs, struct conn *conn, const char *body, size_t count,
                   bool wants_full, int64_t op_id)
{
    const struct arrival arrival = {
        .body = body,
        .count = count,
        .form = wants_full ? ACK_FULL : ACK_BRIEF,
    };
    struct taken taken;
    struct pending *pending = add_op(jobs, conn, &arrival, &taken);
    if (pending == NULL)
        return false;
    pending->has_op_id = true;
    pending->op_id = op_id;
    enter(jobs, conn, pending, &taken);
    return true;
}

bool job_accept_op_frame(struct job_table *jobs, struct conn *conn, const uint8_t *frame,
                         size_t count)
{
    const struct arrival arrival = {
        .body = (const char *)frame,
        .count = count,
        .form = ACK_BINARY,
        .is_frame = true,
    };
    struct taken taken;
    struct pending *pending = add_op(jobs, conn, &arrival, &taken);
    if (pending == NULL)
        return false;
    pending->is_op_frame = true;
    pending->has_op_id = count >= REQUEST_BODY_AT;
    if (pending->has_op_id)
        memcpy(pending->op_request, frame + REQUEST_HEADER_BYTES, sizeof pending->op_request);
    enter(jobs, conn, pending, &taken);
    return true;
}

/* Puts a command without a signature into a slot, for the pending. */
static struct job *add_plain(struct job_table *jobs, const struct pending *pending, uint16_t code,
                             const uint8_t *body, uint16_t body_bytes)
{
    uint32_t number;
    struct job *job = alloc_job(jobs, &number);
    struct command *command = job_command(job);
    INVARIANT(body_bytes % 8 == 0);
    *command = (struct command){
        .code = code,
        .kind = COMMAND_UNSIGNED,
        .payload_bytes = body_bytes,
        .received_ticks = pending->received_ticks,
    };
    memcpy(command->bytes, body, body_bytes);
    job->request = request_find(code);
    job->pending = pending_index(&jobs->context->pendings, pending);
    job->deadline_ns = 0;
    job->key_sent = false;
    job->plain = true;
    job_queue_push(&jobs->fresh, number);
    return job;
}

struct pending *job_accept_plain(struct job_table *jobs, struct conn *conn, uint16_t code,
                                 const uint8_t *body, uint16_t body_bytes)
{
    struct pending *pending =
        pending_add(&jobs->context->pendings, conn, PENDING_WRITE, PENDING_QUEUED);
    pending->ack_form = ACK_BRIEF;
    add_plain(jobs, pending, code, body, body_bytes)->address = conn->address;
    return pending;
}

void job_accept_end(struct job_table *jobs, const uint8_t arm_id[16], uint64_t armed_sequence)
{
    struct pending *pending = pending_add_own(&jobs->context->pendings, clock_ticks());
    struct job *job =
        add_plain(jobs, pending, REQUEST_cancel_on_disconnect, arm_id, REQUEST_ID_BYTES);
    job_command(job)->armed_sequence = armed_sequence;
    job->address = 0;              /* nobody's */
    job->deadline_ns = UINT64_MAX; /* it is not dropped, however long it waits */
}
