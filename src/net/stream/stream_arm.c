#include "net/stream/stream_arm.h"

#include <stdlib.h>

#include "base/reason.h"
#include "net/request/api_caller.h"
#include "net/request/plain_body.h"
#include "net/stream/stream.h"

#define MS_NS   UINT64_C(1000000)
#define LOOK_NS CONN_SECOND_NS /* W9 */

enum {
    ARM_BYTES = 56, /* of 2012 (wire.md W3b) */
    AT_CREDENTIAL = 16,
    AT_ACCOUNT = 32,
    AT_SUBACCOUNT = 40,
    AT_GRACE = 44,
    AT_ARMED = 48,
    ENDS_A_TURN = 64,
};

struct stream_arm {
    struct stream_arm *next;
    uint8_t id[16];
    uint64_t token;    /* of its 2012, while that is not answered */
    uint64_t sequence; /* that set it; 0: not answered */
    uint64_t due_ns;   /* its stream has closed: when the grace ends */
    uint32_t grace_ms;
    bool enabled; /* false: a 2012 that disarms */
};

/* ---- those of closed streams ----------------------------------------------------------------- */

static void free_arm(struct streams *streams, struct stream_arm *arm)
{
    streams->arm_count--;
    free(arm);
}

/* Makes room for one arm more among those that are due, so that a close never fails. */
static bool reserve(struct streams *streams)
{
    if (streams->arm_count < streams->due_room)
        return true;
    uint32_t room = streams->due_room == 0 ? STREAM_ARMS_MAX : 2 * streams->due_room;
    struct stream_arm **due = realloc(streams->due, room * sizeof(struct stream_arm *));
    if (due == NULL)
        return false;
    streams->due = due;
    streams->due_room = room;
    return true;
}

static void add_due(struct streams *streams, struct stream_arm *arm)
{
    struct stream_arm **due = streams->due;
    uint32_t at = streams->due_count++;
    INVARIANT(at < streams->due_room);
    for (; at != 0 && arm->due_ns < due[(at - 1) / 2]->due_ns; at = (at - 1) / 2)
        due[at] = due[(at - 1) / 2];
    due[at] = arm;
}

/* Removes the first that is due. */
static void remove_due(struct streams *streams)
{
    struct stream_arm **due = streams->due;
    uint32_t count = --streams->due_count, at = 0;
    struct stream_arm *last = due[count];
    for (uint32_t child = 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && due[child + 1]->due_ns < due[child]->due_ns)
            child++;
        if (last->due_ns <= due[child]->due_ns)
            break;
        due[at] = due[child];
        at = child;
    }
    due[at] = last;
}

/* Answers come in the order of the commands: the arm of the next one is at the front, or near. */
static void add_unanswered(struct streams *streams, struct stream_arm *arm)
{
    arm->next = NULL;
    if (streams->unanswered == NULL)
        streams->unanswered = arm;
    else
        streams->newest->next = arm;
    streams->newest = arm;
}

static struct stream_arm *pop_unanswered(struct streams *streams, uint64_t token)
{
    struct stream_arm *before = NULL, *arm = streams->unanswered;
    for (; arm != NULL && arm->token != token; arm = arm->next)
        before = arm;
    if (arm == NULL)
        return NULL;
    if (before == NULL)
        streams->unanswered = arm->next;
    else
        before->next = arm->next;
    if (streams->newest == arm)
        streams->newest = before;
    return arm;
}

/* ---- arming ---------------------------------------------------------------------------------- */

/* Whether the login may arm the subaccount; *row is its key's. */
static bool may_arm(const struct stream *stream, const struct stream_arm_ask *ask,
                    struct keyring_row *row, struct problem_detail *problem)
{
    const struct context *context = stream->owner->pipeline->context;
    const struct stream_login *login = &stream->login;
    uint32_t count = 0;
    if (!context->config->source.ready(context->config->source.context))
        return problem_detail_set(problem, PROBLEM_not_ready, NULL, "the service is recovering");
    if (login->key.kind == 0)
        return problem_detail_set(problem, PROBLEM_invalid_api_key, NULL,
                                  "cancel_on_disconnect needs a login before it");
    if (!api_caller_is_live(context->config, context->unix_ns, &login->key, row))
        return api_caller_refuse(&login->key, problem);
    if (!login->may_write)
        return problem_detail_set(problem, PROBLEM_read_only_key, NULL,
                                  "the API key has scope READ");
    for (const struct stream_arm *arm = stream->arms; arm != NULL; arm = arm->next)
        count++;
    if (count >= STREAM_ARMS_MAX)
        return problem_detail_set(problem, PROBLEM_invalid_parameter, "arm_id",
                                  "a connection has at most %d arms", STREAM_ARMS_MAX);
    return api_caller_may_reach(login->pin, ask->subaccount_index, problem);
}

bool stream_arm_send(struct stream *stream, const struct stream_arm_ask *ask,
                     struct problem_detail *problem)
{
    struct streams *streams = stream->owner;
    struct context *context = streams->pipeline->context;
    uint8_t body[ARM_BYTES] = { 0 };
    struct keyring_row row;
    if (!may_arm(stream, ask, &row, problem))
        return false;
    struct stream_arm *arm = reserve(streams) ? calloc(1, sizeof *arm) : NULL;
    if (arm == NULL)
        return problem_detail_set(problem, PROBLEM_not_ready, NULL, "no memory for an arm");
    memcpy(body, ask->arm_id, sizeof ask->arm_id);
    memcpy(body + AT_CREDENTIAL, row.credential_id.bytes, sizeof row.credential_id.bytes);
    cc_store64(body + AT_ACCOUNT, row.account_id);
    cc_store32(body + AT_SUBACCOUNT, ask->subaccount_index);
    cc_store32(body + AT_GRACE, ask->grace_ms);
    body[AT_ARMED] = ask->enabled;
    struct pending *pending =
        job_accept_plain(streams->jobs, stream->conn, REQUEST_disconnect_arm, body, sizeof body);
    pending->is_op = true;
    pending->has_op_id = ask->has_op_id;
    pending->op_id = ask->op_id;
    pending->by_device = row.key.kind == KEYRING_DEVICE;
    pending->plain = (struct pending_plain){ .account_id = row.account_id, .amount = ask->enabled };
    memcpy(pending->plain.name, ask->arm_id, sizeof ask->arm_id);
    *arm = (struct stream_arm){
        .next = stream->arms,
        .token = pending_token(&context->pendings, pending),
        .grace_ms = ask->grace_ms,
        .enabled = ask->enabled,
    };
    memcpy(arm->id, ask->arm_id, sizeof arm->id);
    stream->arms = arm;
    streams->arm_count++;
    return true;
}

bool stream_arm_succeeded(const struct pending *pending, struct problem_detail *problem)
{
    if (pending->answer.status == STATUS_order_rejected_invalid)
        return problem_detail_set(problem, PROBLEM_invalid_parameter, "arm_id",
                                  pending->answer.reason == REASON_limit_reached
                                      ? "the account has as many arms as it may"
                                      : "arm_id is an arm of another account");
    return plain_body_succeeded(&pending->answer, pending->by_device, problem);
}

static void remove_arm(struct stream *stream, struct stream_arm *arm)
{
    struct stream_arm **list = &stream->arms;
    while (*list != arm) {
        INVARIANT(*list != NULL);
        list = &(*list)->next;
    }
    *list = arm->next;
    free_arm(stream->owner, arm);
}

/* Removes those with the id of `newer`, which replaces them. */
static void remove_older(struct stream *stream, const struct stream_arm *newer)
{
    for (struct stream_arm *arm = stream->arms; arm != NULL;) {
        struct stream_arm *next = arm->next;
        if (arm != newer && arm->sequence != 0 && arm->sequence < newer->sequence &&
            memcmp(arm->id, newer->id, sizeof arm->id) == 0)
            remove_arm(stream, arm);
        arm = next;
    }
}

/* The stream is open. */
static void note(struct stream *stream, const struct answer *answer)
{
    struct stream_arm *arm = stream->arms;
    while (arm != NULL && (arm->sequence != 0 || arm->token != answer->token))
        arm = arm->next;
    if (arm == NULL)
        return;
    bool is_done = answer->status == STATUS_request_completed;
    arm->sequence = answer->sequence;
    if (is_done)
        remove_older(stream, arm);
    if (!is_done || !arm->enabled)
        remove_arm(stream, arm);
}

void stream_arm_dropped(struct stream *stream, const struct pending *pending)
{
    uint64_t token = pending_token(&stream->owner->pipeline->context->pendings, pending);
    for (struct stream_arm *arm = stream->arms; arm != NULL; arm = arm->next)
        if (arm->sequence == 0 && arm->token == token) {
            remove_arm(stream, arm);
            return;
        }
}

void stream_arm_answered(struct streams *streams, const struct answer *answer)
{
    struct context *context = streams->pipeline->context;
    const struct pending *pending = pending_of(&context->pendings, answer->token);
    if (pending->conn != CONN_NONE) {
        const struct conn *conn = conn_at(&context->conns, pending->conn);
        if (conn->stream != NULL)
            note(conn->stream, answer);
        return;
    }
    struct stream_arm *arm = pop_unanswered(streams, answer->token);
    if (arm == NULL)
        return;
    arm->sequence = answer->sequence;
    if (answer->status == STATUS_request_completed && arm->enabled)
        add_due(streams, arm);
    else
        free_arm(streams, arm);
}

/* ---- ending ---------------------------------------------------------------------------------- */

/* Begins the graces of the stream's arms; those that are not answered stay, or wait for it. */
static void begin_graces(struct stream *stream, bool stay)
{
    struct streams *streams = stream->owner;
    uint64_t now_ns = streams->pipeline->context->now_ns;
    struct stream_arm *oldest = NULL, *arms = stream->arms;
    stream->arms = NULL;
    while (arms != NULL) { /* the newest comes first */
        struct stream_arm *arm = arms;
        arms = arm->next;
        arm->next = oldest;
        oldest = arm;
    }
    while (oldest != NULL) {
        struct stream_arm *arm = oldest;
        oldest = arm->next;
        arm->due_ns = now_ns + arm->grace_ms * MS_NS;
        if (arm->sequence != 0) {
            add_due(streams, arm);
        } else if (stay) {
            arm->next = stream->arms;
            stream->arms = arm;
        } else {
            add_unanswered(streams, arm);
        }
    }
}

void stream_arm_close(struct stream *stream)
{
    begin_graces(stream, false);
}

void stream_arm_look(struct stream *stream)
{
    uint64_t now_ns = stream->owner->pipeline->context->now_ns;
    if (stream->arms == NULL || stream->login_look_ns > now_ns)
        return;
    stream->login_look_ns = now_ns + LOOK_NS;
    if (stream_end_dead_login(stream))
        begin_graces(stream, true);
}

void stream_arm_free(struct streams *streams)
{
    while (streams->unanswered != NULL)
        free_arm(streams, pop_unanswered(streams, streams->unanswered->token));
    while (streams->due_count != 0)
        free_arm(streams, streams->due[--streams->due_count]);
    free(streams->due);
    streams->due = NULL;
    streams->due_room = 0;
}

/* Frees those at the front whose 2012 was dropped before it was sent: no answer comes. */
static void free_dropped(struct streams *streams)
{
    const struct pending_pool *pendings = &streams->pipeline->context->pendings;
    while (streams->unanswered != NULL && !pending_lives(pendings, streams->unanswered->token))
        free_arm(streams, pop_unanswered(streams, streams->unanswered->token));
}

uint32_t stream_arm_run(struct streams *streams, const struct command_sender *sender)
{
    struct context *context = streams->pipeline->context;
    uint32_t count = 0;
    free_dropped(streams);
    if (context->draining) /* the next start ends them */
        return 0;
    while (count < ENDS_A_TURN && streams->due_count != 0) {
        struct stream_arm *arm = streams->due[0];
        if (arm->due_ns > context->now_ns || !command_send_has_room(sender) ||
            !pending_available(&context->pendings))
            break;
        job_accept_end(streams->jobs, arm->id, arm->sequence);
        remove_due(streams);
        free_arm(streams, arm);
        count++;
    }
    return count;
}

uint64_t stream_arm_deadline_ns(const struct streams *streams)
{
    return streams->due_count == 0 ? UINT64_MAX : streams->due[0]->due_ns;
}
