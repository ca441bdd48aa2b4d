#include "net/stream/stream_orders.h"

#include "net/json/json_field.h"
#include "net/json/json_market.h"
#include "net/stream/stream.h"
#include "net/stream/stream_coded.h"
#include "net/stream/stream_kept.h"
#include "net/stream/stream_subs.h"

static bool write_coded(const struct streams *streams, uint64_t number, struct stream_coded *coded,
                        struct writer *writer)
{
    struct book_log_change change;
    if (!book_log_read(streams->pipeline->context->config->orders, number, &change))
        return false;
    const struct stream_coded_of of = { change.seq, change.sequence, change.time_ns,
                                        change.asset_id };
    stream_coded_begin(streams, coded, &of, writer);
    json_market_order_change(writer, &change);
    coded->channel = STREAM_BOOK_L3;
    return true;
}

uint32_t stream_orders_run(struct stream *stream, uint64_t end)
{
    return stream_coded_run(stream, stream->owner->order_coded, write_coded, &stream->orders_at,
                            end);
}

void stream_orders_begin(struct stream *stream, struct stream_sub *sub, const struct reply *reply,
                         const uint8_t *rows)
{
    struct row_book book;
    memcpy(&book, rows, sizeof book);
    sub->seq = book.book_seq;
    struct writer writer = stream_frame(stream, sub, sub->seq);
    JSON_FIELD_UINT(&writer, "engine_seq", reply->applied);
    JSON_FIELD_UINT(&writer, "time_ns", reply->time_ns);
    WRITER_TEXT(&writer, ",\"type\":\"snapshot\",\"data\":{");
    json_market_orders(&writer, rows);
    WRITER_TEXT(&writer, "}}");
    stream_answer(stream, &writer);
    stream_subs_live(stream, sub);
    if (stream->orders_live == 1 || stream->from < stream->orders_at)
        stream->orders_at = stream->from;
}
