#include "net/stream/stream_reply.h"

#include "net/json/json_problem.h"
#include "net/request/charge.h"
#include "net/stream/stream.h"

struct writer stream_reply_begin(struct stream *stream, const char *op, bool has_id, int64_t id)
{
    struct writer writer = stream_text(stream->owner);
    if (op == NULL)
        WRITER_TEXT(&writer, "{\"op\":null");
    else {
        WRITER_TEXT(&writer, "{\"op\":\"");
        writer_text(&writer, op);
        WRITER_TEXT(&writer, "\"");
    }
    if (has_id) {
        WRITER_TEXT(&writer, ",\"id\":");
        writer_int(&writer, id);
    }
    return writer;
}

void stream_reply_end_problem(struct stream *stream, struct writer *writer,
                              const struct problem_detail *problem)
{
    WRITER_TEXT(writer, ",\"problem\":");
    json_problem(writer, problem);
    WRITER_TEXT(writer, "}");
    stream->owner->pipeline->context->metrics.counters.problems++;
}

struct writer stream_reply_problem(struct stream *stream, const char *op, bool has_id, int64_t id,
                                   const struct problem_detail *problem)
{
    struct writer writer = stream_reply_begin(stream, op, has_id, id);
    stream_reply_end_problem(stream, &writer, problem);
    return writer;
}

void stream_reply_refuse(struct stream *stream, const char *op, bool has_id, int64_t id,
                         const struct problem_detail *problem)
{
    struct problem_detail charged = *problem;
    charge_mistake(stream->owner->pipeline->context, stream->conn, &charged);
    struct writer writer = stream_reply_problem(stream, op, has_id, id, &charged);
    stream_answer(stream, &writer);
}
