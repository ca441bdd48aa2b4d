#include "net/command/command_send.h"

#include "base/command_hash.h"
#include "base/rule.h"
#include "base/status.h"
#include "crypto/derive.h"
#include "crypto/secret.h"
#include "net/json/ack.h"
#include "net/request/plain_body.h"

#define UNKNOWN_LOOK_NS UINT64_C(20000000)

void command_send_init(struct command_sender *sender, struct job_table *jobs)
{
    const struct net_config *config = jobs->context->config;
    *sender =
        (struct command_sender){ .jobs = jobs, .answer_credits = config->answers->slot_mask + 1 };
}

/* Completes the command: secret, hashes, token, sizes. False: no random bytes from the kernel. */
static bool complete(struct command_sender *sender, struct job *job)
{
    struct context *context = sender->jobs->context;
    struct command *command = job_command(job);
    struct pending *pending = job_pending(sender->jobs, job);
    uint8_t *end = command->bytes + command->payload_bytes + command->key_bytes +
                   command_signature_bytes(command) + command->extra_bytes;
    if (pending->has_device) {
        memcpy(end, pending->secret, SECRET_HASH_BYTES);
        command->extra_bytes += SECRET_HASH_BYTES;
    } else if (command_secret_bytes(command->code) != 0) {
        if (secret_random(pending->secret, sizeof pending->secret) != 0)
            return false;
        pending->has_secret = true;
        secret_hash(end, context->config->secret_key, pending->secret);
        command->extra_bytes += SECRET_HASH_BYTES;
    }
    derive_command(command, context->config->hash_key);
    command->token = pending_token(&context->pendings, pending);
    command->slot_count =
        (uint16_t)command_slots(command_bytes(command) - (uint32_t)sizeof *command);
    return true;
}

/* Whether the command only takes away, or is an operator's: an eighth of the credits is kept for
 * these (F2), as of the engine's duplicate set. */
static bool is_kept_for(uint16_t code)
{
    return code == REQUEST_order_reduction || code == REQUEST_order_cancel ||
           code == REQUEST_cancel_all_orders || code == REQUEST_conditional_order_cancel ||
           code == REQUEST_cancel_on_disconnect || request_find(code)->signer == SIGNER_OPERATOR;
}

/* Whether the first verified job, if there is one, may have a credit. */
static bool has_credit(const struct command_sender *sender)
{
    struct job_table *jobs = sender->jobs;
    uint32_t kept = sender->answer_credits / COMMAND_CREDITS_KEPT;
    if (job_queue_count(&jobs->good) == 0)
        return false;
    if (sender->commands_out + kept < sender->answer_credits)
        return true;
    const struct command *first = job_command(&jobs->items[job_queue_first(&jobs->good)]);
    return sender->commands_out < sender->answer_credits && is_kept_for(first->code);
}

/* Puts the jobs that came since the last time in line. */
static void line_up(struct job_table *jobs)
{
    for (; jobs->lined_up != jobs->good.tail; jobs->lined_up++)
        job_line_up(jobs, &jobs->good, jobs->lined_up, jobs->turn);
}

/* Removes the first job of the queue. Those that never waited have no turn. */
static uint32_t pop_first(struct job_table *jobs)
{
    uint32_t number = job_queue_pop(&jobs->good);
    if (jobs->lined_up + 1 == jobs->good.head)
        jobs->lined_up = jobs->good.head;
    else
        jobs->turn = jobs->items[number].turn;
    return number;
}

/* Pushes as many jobs as credits and ring allow, and publishes once. */
static uint32_t push_good(struct command_sender *sender)
{
    struct job_table *jobs = sender->jobs;
    struct context *context = jobs->context;
    struct ring *ring = context->config->commands;
    uint32_t pushed = 0, done = 0;
    if (jobs->lined_up != jobs->good.head)
        line_up(jobs); /* some wait: jobs that came since may be before them */
    while (has_credit(sender)) {
        uint32_t number = job_queue_first(&jobs->good);
        struct job *job = &jobs->items[number];
        struct command *command = job_command(job);
        struct pending *pending = job_pending(sender->jobs, job);
        if (command->slot_count == 0 && !complete(sender, job)) {
            (void)pop_first(jobs);
            job_refuse(jobs, job, STEP_STATUS(not_ready));
            job_free(jobs, number);
            done++;
            continue;
        }
        void *slots = ring_claim(ring, command->slot_count);
        if (slots == NULL)
            break;
        command->pushed_ticks = clock_ticks_since(command->received_ticks);
        net_metrics_stamp(&context->metrics, NET_STAGE_verified, command->verified_ticks);
        net_metrics_stamp(&context->metrics, NET_STAGE_pushed, command->pushed_ticks);
        memcpy(slots, command, command_bytes(command));
        (void)pop_first(jobs);
        pending_move(pending, PENDING_SENT);
        sender->commands_out++;
        pushed++;
        job_free(jobs, number);
    }
    line_up(jobs);
    if (pushed > 0)
        ring_publish(ring);
    context->metrics.counters.commands_pushed += pushed;
    return pushed + done;
}

static void drop(struct job_table *jobs, uint32_t number)
{
    job_refuse(jobs, &jobs->items[number], STEP_STATUS(no_credit));
    job_free(jobs, number);
    jobs->context->metrics.counters.commands_dropped++;
}

/* Refuses those after the first that waited too long; their turns may be late, their time is
 * not. */
static uint32_t drop_behind(struct job_table *jobs)
{
    struct job_queue *good = &jobs->good;
    uint32_t kept = good->head + 1, dropped = 0;
    uint16_t late[JOBS_MAX];
    for (uint32_t at = kept; at != good->tail; at++) {
        uint16_t number = good->items[at % JOBS_MAX];
        if (jobs->items[number].deadline_ns > jobs->context->now_ns)
            good->items[kept++ % JOBS_MAX] = number;
        else
            late[dropped++] = number;
    }
    good->tail = jobs->lined_up = kept;
    for (uint32_t i = 0; i < dropped; i++)
        drop(jobs, late[i]);
    return dropped;
}

/* R11 step 13: refuses jobs that waited net.credit_wait_ms for a credit, up to one that may have
 * one now. */
static uint32_t drop_late(struct command_sender *sender)
{
    struct job_table *jobs = sender->jobs;
    struct context *context = jobs->context;
    uint32_t dropped = 0;
    for (uint32_t at = jobs->good.head; at != jobs->good.tail; at++) {
        struct job *job = &jobs->items[jobs->good.items[at % JOBS_MAX]];
        if (job->deadline_ns == 0)
            job->deadline_ns =
                context->now_ns + (uint64_t)context->config->credit_wait_ms * UINT64_C(1000000);
    }
    while (job_queue_count(&jobs->good) > 0) {
        const struct job *job = &jobs->items[job_queue_first(&jobs->good)];
        if (has_credit(sender))
            break;
        if (job->deadline_ns > context->now_ns)
            return dropped + drop_behind(jobs);
        drop(jobs, pop_first(jobs));
        dropped++;
    }
    return dropped;
}

uint32_t command_send_run(struct command_sender *sender)
{
    uint32_t done = push_good(sender);
    uint32_t dropped = 0;
    while (job_queue_count(&sender->jobs->good) > 0 && (dropped = drop_late(sender)) > 0)
        done += dropped + push_good(sender);
    return done;
}

/* Reports to the account's bucket which placements the engine has refused. */
static void judge(struct context *context, const struct pending *pending)
{
    const struct answer *answer = &pending->answer;
    uint64_t refused = answer->status >= STATUS_rejected_account_suspended ? pending->places : 0;
    if (answer->code == REQUEST_order_batch)
        for (unsigned i = 0; i < answer->item_count; i++)
            refused |= (uint64_t)(answer->results[i] >= STATUS_rejected_account_suspended) << i;
    account_rate_judge(context->config->account_rates, pending->account_id, pending->places,
                       refused, context->now_ns);
}

/* X-Ack: receipt. A request that was refused before it was sequenced has none; a duplicate has that
 * of the first. */
static bool becomes_receipt(struct pending_pool *pool, struct pending *pending)
{
    const struct answer *answer = &pending->answer;
    uint64_t account_id =
        (answer->members & ANSWER_HAS_ACCOUNT) != 0 ? answer->account_id : pending->account_id;
    bool has_one = answer->sequence != 0 || (answer->members & ANSWER_HAS_ORIGINAL) != 0;
    if (CC_LIKELY(pending->ack_form != ACK_RECEIPT) || !has_one || account_id == 0)
        return false;
    pending_become_receipt(pool, pending, account_id);
    return true;
}

void command_send_answer(struct command_sender *sender, const struct answer *answer)
{
    struct pipeline *pipeline = sender->jobs->pipeline;
    struct context *context = pipeline->context;
    struct pending *pending = pending_of(&context->pendings, answer->token);
    INVARIANT(sender->commands_out > 0);
    sender->commands_out--;
    context->metrics.counters.answers++;
    pending->answer = *answer;
    if (pending->places != 0)
        judge(context, pending);
    bool asks = pending->conn != CONN_NONE &&
                (plain_body_becomes_read(pending) || becomes_receipt(&context->pendings, pending));
    net_metrics_stamp(&context->metrics, NET_STAGE_sequenced, answer->sequenced_ticks);
    net_metrics_stamp(&context->metrics, NET_STAGE_matched, answer->matched_ticks);
    net_metrics_stamp(&context->metrics, NET_STAGE_released,
                      clock_ticks() - answer->received_ticks);
    if (asks)
        pipeline_advance(pipeline, context_conn(context, pending));
    else
        pipeline_finish(pipeline, pending);
}

/* Of one connection. */
static uint32_t give_up_conn(struct command_sender *sender, struct conn *conn)
{
    struct context *context = sender->jobs->context;
    struct pending_pool *pool = &context->pendings;
    struct pending *before = NULL;
    uint32_t count = 0, at = conn->pending_head;
    while (at != PENDING_NONE && pending_available(pool)) {
        struct pending *pending = pending_at(pool, at);
        if (pending->state == PENDING_SENT) {
            pending = pending_replace(pool, conn, before, pending);
            (void)problem_detail_set(&pending->problem, PROBLEM_outcome_unknown, NULL,
                                     "it is not known whether this was executed; send the same "
                                     "request again, here or to another node");
            count++;
        }
        before = pending;
        at = pending->next;
    }
    if (count > 0) {
        pipeline_advance(sender->jobs->pipeline, conn);
        context_mark_dirty(context, conn);
    }
    return count;
}

uint32_t command_send_give_up(struct command_sender *sender)
{
    struct context *context = sender->jobs->context;
    uint32_t count = 0;
    if (sender->commands_out == 0 ||
        (sender->gave_up_ns != 0 && context->now_ns - sender->gave_up_ns < UNKNOWN_LOOK_NS))
        return 0;
    sender->gave_up_ns = context->now_ns;
    for (uint32_t i = 0; i < context->conns.capacity; i++) {
        struct conn *conn = conn_at(&context->conns, i);
        if (conn->open && !conn->broken && conn->pending_count > 0)
            count += give_up_conn(sender, conn);
    }
    context->metrics.counters.outcomes_unknown += count;
    return count;
}

bool command_send_has_room(const struct command_sender *sender)
{
    const struct job_table *jobs = sender->jobs;
    return job_table_has_room(jobs) && job_queue_count(&jobs->good) == 0 &&
           sender->commands_out < sender->answer_credits &&
           ring_free(jobs->context->config->commands) >= COMMAND_SLOTS_MAX;
}

uint64_t command_send_deadline_ns(const struct command_sender *sender)
{
    const struct job_table *jobs = sender->jobs;
    if (job_queue_count(&jobs->good) == 0)
        return UINT64_MAX;
    uint64_t deadline_ns = UINT64_MAX;
    for (uint32_t at = jobs->good.head; at != jobs->good.tail; at++) {
        const struct job *job = &jobs->items[jobs->good.items[at % JOBS_MAX]];
        deadline_ns = job->deadline_ns < deadline_ns ? job->deadline_ns : deadline_ns;
    }
    return deadline_ns;
}

bool command_send_has_work(const struct command_sender *sender)
{
    const struct job_table *jobs = sender->jobs;
    return has_credit(sender) && ring_free(jobs->context->config->commands) >= COMMAND_SLOTS_MAX;
}
