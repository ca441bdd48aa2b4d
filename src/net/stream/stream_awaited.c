#include "net/stream/stream_awaited.h"

#include "net/json/json_field.h"
#include "net/stream/stream.h"
#include "net/stream/stream_reply.h"

void stream_awaited_query(struct stream *stream, const struct query *query,
                          const struct keyring_key *caller)
{
    struct pipeline *pipeline = stream->owner->pipeline;
    struct pending *pending =
        pending_add(&pipeline->context->pendings, stream->conn, PENDING_READ, PENDING_HELD);
    pending->query = *query;
    pending->query.end_ns = UINT64_MAX;
    pending->query.address = stream->conn->address;
    pending->query.received_ticks = stream->conn->received_ticks;
    pending->payload = BODY_NONE;
    pending->is_page = query->kind == QUERY_private_events;
    pending->caller = caller != NULL ? *caller : (struct keyring_key){ 0 };
    pipeline_advance(pipeline, stream->conn);
}

const char *stream_awaited_name(const struct stream *stream)
{
    return stream->resumes ? "resume" : "subscribe";
}

struct writer stream_awaited_begin(struct stream *stream)
{
    struct writer writer =
        stream_reply_begin(stream, stream_awaited_name(stream), stream->has_id, stream->id);
    stream_reply_channel(&writer, stream->awaited->channel, stream->awaited->market);
    return writer;
}

void stream_awaited_resumed(struct stream *stream)
{
    struct writer writer = stream_awaited_begin(stream);
    JSON_FIELD_UINT(&writer, "from_seq", stream->resume_seq);
    stream_reply_epoch(stream, &writer);
    stream_answer(stream, &writer);
}

void stream_awaited_private(struct stream *stream)
{
    struct writer writer =
        stream_reply_begin(stream, stream_awaited_name(stream), stream->has_id, stream->id);
    stream_reply_channel(&writer, STREAM_PRIVATE, NULL);
    if (stream->resumes)
        JSON_FIELD_UINT(&writer, "from_seq", stream->resume_seq);
    stream_reply_epoch(stream, &writer);
    stream_answer(stream, &writer);
}

void stream_awaited_finish(struct stream *stream)
{
    stream->awaited = NULL;
    stream->pages = false;
    stream->asks_history = false;
    stream->is_answered = false;
    stream->private_events.awaited = false;
    stream->conn->blocked = true;
    conn_queue_push(&stream->owner->pipeline->context->conns, CONN_READY, stream->conn);
}
