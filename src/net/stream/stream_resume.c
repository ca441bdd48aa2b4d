#include "net/stream/stream_resume.h"

#include "base/row.h"
#include "net/json/json_field.h"
#include "net/json/json_history.h"
#include "net/stream/stream.h"
#include "net/stream/stream_feed.h"
#include "net/stream/stream_op.h"
#include "net/stream/stream_subs.h"

enum {
    OLDER_TRADES = 1000, /* of history, at most: those of a page */
    UPDATE_MAX = 512,    /* bytes of an update of a trade, at most */
};

enum found { FOUND, LOST, NOT_YET };

void stream_resume_begin(struct stream *stream, const struct reply *reply, const uint8_t *rows)
{
    const struct net_config *config = stream->owner->pipeline->context->config;
    struct row_mark mark;
    memcpy(&mark, rows, sizeof mark);
    stream->scan = (struct stream_scan){
        .number = event_log_count(config->events),
        .oldest_seq = mark.book_seq,
        .seq = mark.book_seq,
        .engine_seq = reply->applied,
        .time_ns = reply->time_ns,
    };
    stream->scans = true;
    stream->owner->resuming++;
}

/* Looks at events of the log from the newest down, `share` of them. An event of the market at or
 * below from_seq is enough: the log has all that came after it. */
static enum found search(struct stream *stream, uint32_t share)
{
    const struct net_config *config = stream->owner->pipeline->context->config;
    struct stream_scan *scan = &stream->scan;
    struct event_log_event event;
    bool is_ahead = stream->resume_seq > scan->seq; /* a gap, and the oldest is looked for */
    for (; share != 0; share--, scan->number--) {
        if (scan->number == 0 || !event_log_read(config->events, scan->number - 1, &event))
            return LOST;
        if (event.asset_id != stream->awaited->asset_id)
            continue;
        if (!is_ahead && event.seq <= stream->resume_seq)
            return FOUND;
        if (event.seq < scan->oldest_seq)
            scan->oldest_seq = event.seq;
    }
    return NOT_YET;
}

static void send_gap(struct stream *stream, struct stream_sub *sub)
{
    const struct stream_scan *scan = &stream->scan;
    struct writer writer = stream_frame(stream, sub, scan->seq);
    JSON_FIELD_UINT(&writer, "engine_seq", scan->engine_seq);
    JSON_FIELD_UINT(&writer, "time_ns", scan->time_ns);
    WRITER_TEXT(&writer, ",\"type\":\"gap\",\"data\":{\"from_seq\":");
    writer_uint(&writer, stream->resume_seq);
    JSON_FIELD_UINT(&writer, "oldest_seq", scan->oldest_seq);
    WRITER_TEXT(&writer, "}}");
    stream_answer(stream, &writer);
    sub->seq = scan->seq;
}

/* Answers the op. False without room; nothing has changed. */
static bool finish(struct stream *stream, bool is_found)
{
    struct stream_sub *sub = stream->awaited;
    if (!stream_has_room(stream))
        return false;
    stream_op_resumed(stream);
    sub->seq = stream->resume_seq;
    if (!is_found)
        send_gap(stream, sub);
    stream_subs_follow(stream, sub, is_found ? stream->scan.number : stream->from);
    stream_feed_await_beat(stream);
    return true;
}

void stream_resume_end(struct stream *stream)
{
    stream->owner->resuming -= stream->scans;
    stream->scans = false;
}

/* Whether history may have what the log lacks: the seq is one that the market has had. */
static bool may_ask(const struct stream *stream)
{
    return !stream->ended && stream->resume_seq <= stream->scan.seq;
}

/* The search has ended; the answer waits for history's. False: no slot is free yet. */
static bool ask_older(struct stream *stream)
{
    struct query query = { .kind = QUERY_trades, .limit = OLDER_TRADES, .pin = -1 };
    if (stream->conn->pending_count >= CONN_PENDING_MAX ||
        !pending_available(&stream->owner->pipeline->context->pendings))
        return false;
    memcpy(query.market, stream->awaited->market, sizeof query.market);
    stream_resume_end(stream);
    stream->asks_history = true;
    stream_op_query(stream, &query, NULL);
    return true;
}

static struct row_trade trade_at(const uint8_t *rows, uint32_t index)
{
    struct row_trade trade;
    memcpy(&trade, rows + sizeof(struct row_trades) + index * sizeof trade, sizeof trade);
    return trade;
}

static void send_trade(struct stream *stream, struct stream_sub *sub, const struct row_trade *trade,
                       const struct row_trades *list)
{
    struct writer writer = stream_frame(stream, sub, trade->seq);
    JSON_FIELD_UINT(&writer, "engine_seq", trade->sequence);
    JSON_FIELD_UINT(&writer, "time_ns", trade->time_ns);
    WRITER_TEXT(&writer, ",\"type\":\"update\",\"data\":");
    json_history_trade(&writer, trade, list->price_decimals, list->size_decimals);
    WRITER_TEXT(&writer, "}");
    INVARIANT(writer_count(&writer) <= UPDATE_MAX);
    stream_answer(stream, &writer);
    sub->seq = trade->seq;
}

bool stream_resume_older(struct stream *stream, const struct reply *reply)
{
    const struct context *context = stream->owner->pipeline->context;
    struct stream_sub *sub = stream->awaited;
    const uint8_t *rows = NULL;
    struct row_trades list = { 0 };
    uint32_t newer = 0; /* trades after resume_seq */
    if (reply->problem == PROBLEM_none) {
        rows = reply_pool_at(context->config->reply_pool, reply->buffer);
        memcpy(&list, rows, sizeof list);
    }
    while (newer < list.trade_count && trade_at(rows, newer).seq > stream->resume_seq)
        newer++;
    bool is_whole = rows != NULL && (newer < list.trade_count || reply->more == 0);
    size_t most = STREAM_ANSWER_MAX + (is_whole ? newer : 0) * (size_t)UPDATE_MAX;
    bool is_small = stream_unsent(stream) + most <= context->config->stream_backlog / 2;
    if (!output_fits(&context->outputs, &stream->conn->output, is_small ? most : STREAM_ANSWER_MAX))
        return false;
    if (!is_whole && newer != 0 && trade_at(rows, newer - 1).seq < stream->scan.oldest_seq)
        stream->scan.oldest_seq = trade_at(rows, newer - 1).seq;
    stream_op_resumed(stream);
    sub->seq = stream->resume_seq;
    if (!is_whole || !is_small)
        send_gap(stream, sub);
    else
        while (newer-- != 0) {
            const struct row_trade trade = trade_at(rows, newer);
            send_trade(stream, sub, &trade, &list);
        }
    stream_subs_follow(stream, sub, stream->from);
    stream_feed_await_beat(stream);
    return true;
}

static void step(struct stream *stream, uint32_t share)
{
    enum found found = stream->ended ? LOST : search(stream, share);
    if (found == NOT_YET)
        return;
    if (found == LOST && may_ask(stream)) {
        (void)ask_older(stream); /* else in the next turn */
        return;
    }
    if (!stream->ended && !finish(stream, found == FOUND)) {
        pipeline_starve(stream->owner->pipeline, stream->conn);
        return;
    }
    stream_resume_end(stream);
    stream_op_finish(stream);
}

uint32_t stream_resume_run(struct streams *streams)
{
    uint32_t share = STREAM_RESUME_A_TURN / streams->resuming;
    uint32_t count = 0;
    if (share < STREAM_RESUME_LEAST)
        share = STREAM_RESUME_LEAST;
    for (struct stream *stream = streams->first; stream != NULL; stream = stream->next)
        if (stream->scans) {
            step(stream, share);
            count++;
        }
    return count;
}
