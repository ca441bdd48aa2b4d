#include "net/stream/stream_arm.h"

#include <stdlib.h>

#include "base/reason.h"
#include "net/request/api_caller.h"
#include "net/request/plain_body.h"

#define MS_NS UINT64_C(1000000)

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

static void remove_arm(struct stream_arm **list, struct stream_arm *arm)
{
    while (*list != arm) {
        INVARIANT(*list != NULL);
        list = &(*list)->next;
    }
    *list = arm->next;
    free(arm);
}

/* Removes those with the id of `newer`, which replaces them. */
static void remove_older(struct stream_arm **list, const struct stream_arm *newer)
{
    for (struct stream_arm *arm = *list; arm != NULL;) {
        struct stream_arm *next = arm->next;
        if (arm != newer && arm->sequence != 0 && arm->sequence < newer->sequence &&
            memcmp(arm->id, newer->id, sizeof arm->id) == 0)
            remove_arm(list, arm);
        arm = next;
    }
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
    struct stream_arm *arm = calloc(1, sizeof *arm);
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

/* The arm of that 2012 in the list; NULL: it is not there. */
static struct stream_arm *find(struct stream_arm *list, uint64_t token)
{
    while (list != NULL && (list->sequence != 0 || list->token != token))
        list = list->next;
    return list;
}

/* Notes the answer in the list that has the arm. False: it has not. */
static bool note(struct stream_arm **list, const struct answer *answer)
{
    struct stream_arm *arm = find(*list, answer->token);
    if (arm == NULL)
        return false;
    bool is_done = answer->status == STATUS_request_completed;
    arm->sequence = answer->sequence;
    if (is_done)
        remove_older(list, arm);
    if (!is_done || !arm->enabled)
        remove_arm(list, arm);
    return true;
}

void stream_arm_answered(struct streams *streams, const struct answer *answer)
{
    if (note(&streams->ending, answer))
        return;
    for (struct stream *stream = streams->first; stream != NULL; stream = stream->next)
        if (note(&stream->arms, answer))
            return;
}

/* ---- ending ---------------------------------------------------------------------------------- */

void stream_arm_close(struct stream *stream)
{
    struct streams *streams = stream->owner;
    uint64_t now_ns = streams->pipeline->context->now_ns;
    while (stream->arms != NULL) {
        struct stream_arm *arm = stream->arms;
        stream->arms = arm->next;
        arm->due_ns = now_ns + arm->grace_ms * MS_NS;
        arm->next = streams->ending;
        streams->ending = arm;
    }
}

void stream_arm_free(struct streams *streams)
{
    while (streams->ending != NULL)
        remove_arm(&streams->ending, streams->ending);
}

uint32_t stream_arm_run(struct streams *streams, const struct command_sender *sender)
{
    struct context *context = streams->pipeline->context;
    uint32_t count = 0;
    if (context->draining) /* the next start ends them */
        return 0;
    for (struct stream_arm *arm = streams->ending; arm != NULL && count < ENDS_A_TURN;) {
        struct stream_arm *next = arm->next;
        if (arm->sequence != 0 && arm->due_ns <= context->now_ns) {
            if (!command_send_has_room(sender) || !pending_available(&context->pendings))
                return count;
            job_accept_end(streams->jobs, arm->id, arm->sequence);
            remove_arm(&streams->ending, arm);
            count++;
        }
        arm = next;
    }
    return count;
}

uint64_t stream_arm_deadline_ns(const struct streams *streams)
{
    uint64_t deadline = UINT64_MAX;
    for (const struct stream_arm *arm = streams->ending; arm != NULL; arm = arm->next)
        if (arm->sequence != 0 && arm->due_ns < deadline)
            deadline = arm->due_ns;
    return deadline;
}
