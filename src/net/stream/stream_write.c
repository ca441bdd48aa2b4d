#include "net/stream/stream_write.h"

#include "base/uuid.h"
#include "crypto/secret.h"
#include "net/json/json_field.h"
#include "net/stream/stream.h"
#include "net/stream/stream_arm.h"
#include "net/stream/stream_binary.h"
#include "net/stream/stream_reply.h"

static const char signed_op[] = "signed", arm_op[] = "cancel_on_disconnect";

/* ---- signed requests ------------------------------------------------------------------------- */

void stream_write_signed(struct stream *stream, bool has_id, int64_t id,
                         const struct json_member *ack, const char *text, size_t count)
{
    struct streams *streams = stream->owner;
    struct problem_detail problem;
    bool wants_full =
        ack->kind == JSON_STRING && json_scan_equal(&ack->value, "full", strlen("full"));
    bool is_good = has_id && (ack->kind == JSON_NONE || wants_full);
    if (!has_id)
        (void)problem_detail_set(&problem, PROBLEM_invalid_parameter, "id",
                                 "a signed request needs an id, by which its answer is known");
    else if (!is_good)
        (void)problem_detail_set(&problem, PROBLEM_invalid_parameter, "ack",
                                 "ack is full or absent");
    if (!is_good) {
        stream_reply_refuse(stream, signed_op, has_id, id, &problem);
        return;
    }
    bool is_taken = job_accept_op(streams->jobs, stream->conn, text, count, wants_full, id);
    INVARIANT(is_taken); /* may_read in stream.c has made sure of a slot */
    streams->pipeline->context->metrics.counters.requests++;
}

void stream_write_frame(struct stream *stream, const uint8_t *bytes, size_t count)
{
    struct streams *streams = stream->owner;
    bool is_taken = job_accept_op_frame(streams->jobs, stream->conn, bytes, count);
    INVARIANT(is_taken); /* may_read in stream.c has made sure of a slot */
    streams->pipeline->context->metrics.counters.requests++;
}

/* A reply that names the request that it is for. */
static struct writer begin_signed(struct stream *stream, const struct pending *pending)
{
    if (!pending->is_op_frame)
        return stream_reply_begin(stream, signed_op, pending->has_op_id, pending->op_id);
    struct writer writer = stream_reply_begin(stream, signed_op, false, 0);
    if (pending->has_op_id)
        JSON_FIELD_UUID(&writer, "request_id", pending->op_request);
    return writer;
}

static bool answer_frame(struct stream *stream, const struct pending *pending)
{
    struct writer writer = stream_text(stream->owner);
    const struct stream_message_head head =
        stream_binary_head(STREAM_MESSAGE_ACK, sizeof(struct stream_message_ack), SYMBOL_NONE,
                           pending->answer.sequence, pending->answer.processed_at_ns);
    writer_bytes(&writer, &head, sizeof head);
    response_write_binary(stream->owner->pipeline->context, &writer, pending);
    INVARIANT(writer_count(&writer) == sizeof(struct stream_message_ack));
    return stream_binary_send(stream, &writer);
}

static bool answer_signed(struct stream *stream, const struct pending *pending)
{
    if (pending->is_op_frame && request_find(pending->answer.code)->answer == ANSWER_ACK)
        return answer_frame(stream, pending);
    struct writer writer = begin_signed(stream, pending);
    char *brace = writer.at;
    response_write_op(stream->owner->pipeline->context, &writer, pending);
    INVARIANT(!writer.full && *brace == '{');
    *brace = ','; /* the members join those before */
    bool is_sent = stream_send(stream, &writer);
    if (pending->has_secret)
        secret_wipe(brace, (size_t)(writer.at - brace));
    return is_sent;
}

/* ---- arms ------------------------------------------------------------------------------------ */

/* The whole number of a member, at most `most`. */
static bool read_number(const struct json_member *member, int64_t most, uint32_t *value,
                        struct problem_detail *problem)
{
    int64_t number = -1;
    if (member->kind != JSON_NUMBER || !json_scan_int64(&member->value, &number) || number < 0 ||
        number > most)
        return problem_detail_set(problem, PROBLEM_invalid_parameter, member->name,
                                  "%s is an integer in 0..%lld", member->name, (long long)most);
    *value = (uint32_t)number;
    return true;
}

static bool read_arm(const struct stream_write_arm *members, struct stream_arm_ask *ask,
                     struct problem_detail *problem)
{
    const struct json_member *id = members->arm_id, *enabled = members->enabled;
    char text[UUID_TEXT_BYTES + 1];
    struct uuid uuid;
    ptrdiff_t count =
        id->kind == JSON_STRING ? json_scan_unescape(&id->value, text, sizeof text) : -1;
    if (count < 0 || !uuid_parse(&uuid, text, (size_t)count))
        return problem_detail_set(problem, PROBLEM_invalid_parameter, "arm_id",
                                  "arm_id is a UUID that the client makes");
    memcpy(ask->arm_id, uuid.bytes, sizeof ask->arm_id);
    if (enabled->kind != JSON_TRUE && enabled->kind != JSON_FALSE)
        return problem_detail_set(problem, PROBLEM_invalid_parameter, "enabled",
                                  "enabled is true or false");
    ask->enabled = enabled->kind == JSON_TRUE;
    return read_number(members->subaccount_index, INT32_MAX, &ask->subaccount_index, problem) &&
           read_number(members->grace_ms, STREAM_ARM_GRACE_MAX_MS, &ask->grace_ms, problem);
}

void stream_write_arm(struct stream *stream, bool has_id, int64_t id,
                      const struct stream_write_arm *members)
{
    struct problem_detail problem;
    struct stream_arm_ask ask = { .has_op_id = has_id, .op_id = id };
    if (!read_arm(members, &ask, &problem) || !stream_arm_send(stream, &ask, &problem))
        stream_reply_refuse(stream, arm_op, has_id, id, &problem);
}

/* The answer to an arm that was set or taken away. */
static struct writer arm_answer(struct stream *stream, const struct pending *pending)
{
    struct writer writer = stream_reply_begin(stream, arm_op, pending->has_op_id, pending->op_id);
    JSON_FIELD_UUID(&writer, "arm_id", (const uint8_t *)pending->plain.name);
    JSON_FIELD_BOOL(&writer, "enabled", pending->plain.amount != 0);
    JSON_FIELD_UINT(&writer, "sequence", pending->answer.sequence);
    WRITER_TEXT(&writer, "}");
    return writer;
}

bool stream_write_answer(struct stream *stream, const struct pending *pending)
{
    struct problem_detail problem;
    bool is_write = pending->kind == PENDING_WRITE;
    bool is_arm = is_write && pending->answer.code == REQUEST_disconnect_arm;
    if (is_write && !is_arm)
        return answer_signed(stream, pending);
    if (is_arm && stream_arm_succeeded(pending, &problem)) {
        struct writer writer = arm_answer(stream, pending);
        return stream_send(stream, &writer);
    }
    if (is_arm)
        stream_arm_dropped(stream, pending);
    else
        problem = pending->problem;
    struct writer writer =
        is_arm ? stream_reply_begin(stream, arm_op, pending->has_op_id, pending->op_id)
               : begin_signed(stream, pending);
    stream_reply_end_problem(stream, &writer, &problem);
    return stream_send(stream, &writer);
}
