#include "net/stream/stream_orders.h"

#include "net/json/json_field.h"
#include "net/json/json_market.h"
#include "net/stream/stream.h"
#include "net/stream/stream_subs.h"

enum { CHANGES_A_TURN = 64 /* of a stream */ };

static const struct net_config *config_of(const struct stream *stream)
{
    return stream->owner->pipeline->context->config;
}

/* The change of that number and its text; NULL: it has been overwritten. */
static const struct stream_order_coded *code(const struct stream *stream, uint64_t number)
{
    struct stream_order_coded *coded = &stream->owner->order_coded[number % STREAM_ORDERS_CODED];
    struct book_log_change change;
    if (coded->number == number + 1)
        return coded;
    if (!book_log_read(config_of(stream)->orders, number, &change))
        return NULL;
    struct writer writer = writer_begin(coded->text, sizeof coded->text);
    JSON_FIELD_UINT(&writer, "engine_seq", change.sequence);
    JSON_FIELD_UINT(&writer, "time_ns", change.time_ns);
    WRITER_TEXT(&writer, ",\"type\":\"update\",\"data\":");
    json_market_order_change(&writer, &change);
    WRITER_TEXT(&writer, "}");
    INVARIANT(!writer.full);
    coded->number = number + 1;
    coded->seq = change.seq;
    coded->place = symbols_place(config_of(stream)->symbols, change.asset_id);
    coded->count = (uint32_t)writer_count(&writer);
    return coded;
}

/* Sends a change to the subscription, unless its snapshot had it. False without room. */
static bool send_change(struct stream *stream, struct stream_sub *sub,
                        const struct stream_order_coded *coded)
{
    if (sub == NULL || !sub->live || coded->seq <= sub->seq)
        return true;
    struct writer writer = stream_frame(stream, sub, coded->seq);
    writer_bytes(&writer, coded->text, coded->count);
    if (!stream_send(stream, &writer))
        return false;
    sub->seq = coded->seq;
    return true;
}

uint32_t stream_orders_run(struct stream *stream, uint64_t end)
{
    uint32_t passed = 0;
    while (stream->orders_at < end && passed < CHANGES_A_TURN && !stream->ended) {
        const struct stream_order_coded *coded = code(stream, stream->orders_at);
        if (coded == NULL) {
            stream_end(stream, STREAM_CLOSE_SLOW, "slow_consumer");
            break;
        }
        if (!send_change(stream, stream->subs[STREAM_BOOK_L3][coded->place], coded)) {
            pipeline_starve(stream->owner->pipeline, stream->conn);
            return passed;
        }
        stream->orders_at++;
        passed++;
    }
    if (stream->orders_at < end && !stream->ended)
        stream->owner->behind = true;
    return passed;
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
