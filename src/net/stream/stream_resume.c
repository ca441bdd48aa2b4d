#include "net/stream/stream_resume.h"

#include "base/row.h"
#include "net/json/json_field.h"
#include "net/json/json_history.h"
#include "net/stream/stream.h"
#include "net/stream/stream_awaited.h"
#include "net/stream/stream_binary.h"
#include "net/stream/stream_subs.h"

enum {
    PAGE_TRADES = 512, /* of history */
    UPDATE_MAX = 512,  /* bytes of an update of a trade, at most */
    QUIET_PART = 4,    /* of limits.stream_backlog */
};

#define RETRY_NS (CONN_SECOND_NS / 4)

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
    stream->page_ns = 0;
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

static void send_gap_binary(struct stream *stream, const struct stream_sub *sub)
{
    const struct stream_scan *scan = &stream->scan;
    const struct stream_binary_of of = { .seq = scan->seq,
                                         .engine_seq = scan->engine_seq,
                                         .time_ns = scan->time_ns,
                                         .type = STREAM_MESSAGE_IS_GAP };
    struct writer writer = stream_binary_begin(stream, sub, &of);
    stream_binary_gap(&writer, sub->asset_id, &of, sub->seq, scan->oldest_seq);
    stream_binary_answer(stream, &writer);
}

static void send_gap_text(struct stream *stream, const struct stream_sub *sub)
{
    const struct stream_scan *scan = &stream->scan;
    struct writer writer = stream_frame(stream, sub, scan->seq);
    JSON_FIELD_UINT(&writer, "engine_seq", scan->engine_seq);
    JSON_FIELD_UINT(&writer, "time_ns", scan->time_ns);
    WRITER_TEXT(&writer, ",\"type\":\"gap\",\"data\":{\"from_seq\":");
    writer_uint(&writer, sub->seq);
    JSON_FIELD_UINT(&writer, "oldest_seq", scan->oldest_seq);
    WRITER_TEXT(&writer, "}}");
    stream_answer(stream, &writer);
}

static void send_gap(struct stream *stream, struct stream_sub *sub)
{
    if (stream->is_binary)
        send_gap_binary(stream, sub);
    else
        send_gap_text(stream, sub);
    sub->seq = stream->scan.seq;
}

/* Answers the op, unless a page before has; its updates follow. */
static void answer_once(struct stream *stream)
{
    if (stream->is_answered)
        return;
    stream_awaited_resumed(stream);
    stream->awaited->seq = stream->resume_seq;
    stream->is_answered = true;
}

/* Answers the op. False without room; nothing has changed. */
static bool finish(struct stream *stream, bool is_found)
{
    struct stream_sub *sub = stream->awaited;
    if (!stream_has_room(stream))
        return false;
    answer_once(stream);
    if (!is_found)
        send_gap(stream, sub);
    stream->past = event_log_count(stream->owner->pipeline->context->config->events);
    stream_subs_follow(stream, sub, is_found ? stream->scan.number : stream->from);
    stream_subs_await_beat(stream);
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

/* Bytes that may be unsent before another page is asked for. */
static size_t quiet_bytes(const struct stream *stream)
{
    return stream->owner->pipeline->context->config->stream_backlog / QUIET_PART;
}

bool stream_resume_waits(const struct stream *stream)
{
    return stream->at < stream->past && stream_unsent(stream) > quiet_bytes(stream);
}

void stream_resume_page(struct stream *stream)
{
    const struct context *context = stream->owner->pipeline->context;
    size_t fits = quiet_bytes(stream) / UPDATE_MAX;
    struct query query = {
        .kind = stream->scan.is_lost ? QUERY_mark : QUERY_trades_after,
        .limit = fits < PAGE_TRADES ? (uint32_t)fits : PAGE_TRADES,
        .pin = -1,
        .before_sequence = stream->resume_seq,
    };
    if (stream->asks_history)
        return;
    if (stream->ended) {
        stream_awaited_finish(stream);
        return;
    }
    if (stream->page_ns > context->now_ns || stream_unsent(stream) > quiet_bytes(stream))
        return;
    if (stream->conn->pending_count >= CONN_PENDING_MAX || !pending_available(&context->pendings)) {
        stream->page_ns = context->now_ns + RETRY_NS;
        return;
    }
    memcpy(query.market, stream->awaited->market, sizeof query.market);
    stream->asks_history = !stream->scan.is_lost;
    stream->pages = stream->asks_history;
    if (stream->asks_history)
        stream->page_from = event_log_count(context->config->events);
    else
        stream->from = event_log_count(context->config->events);
    stream_awaited_query(stream, &query, NULL);
}

static struct row_trade trade_at(const uint8_t *rows, uint32_t index)
{
    struct row_trade trade;
    memcpy(&trade, rows + sizeof(struct row_trades) + index * sizeof trade, sizeof trade);
    return trade;
}

static void send_trade_binary(struct stream *stream, const struct stream_sub *sub,
                              const struct row_trade *trade)
{
    const struct stream_binary_of of = { .seq = trade->seq,
                                         .engine_seq = trade->sequence,
                                         .time_ns = trade->time_ns,
                                         .type = STREAM_MESSAGE_UPDATE };
    struct writer writer = stream_binary_begin(stream, sub, &of);
    stream_binary_trade(&writer, sub->asset_id, trade, trade->seq, trade->time_ns);
    stream_binary_answer(stream, &writer);
}

static void send_trade_text(struct stream *stream, const struct stream_sub *sub,
                            const struct row_trade *trade, const struct row_trades *list)
{
    struct writer writer = stream_frame(stream, sub, trade->seq);
    JSON_FIELD_UINT(&writer, "engine_seq", trade->sequence);
    JSON_FIELD_UINT(&writer, "time_ns", trade->time_ns);
    WRITER_TEXT(&writer, ",\"type\":\"update\",\"data\":");
    json_history_trade(&writer, trade, list->price_decimals, list->size_decimals);
    WRITER_TEXT(&writer, "}");
    INVARIANT(writer_count(&writer) <= UPDATE_MAX);
    stream_answer(stream, &writer);
}

static void send_trade(struct stream *stream, struct stream_sub *sub, const struct row_trade *trade,
                       const struct row_trades *list)
{
    if (stream->is_binary)
        send_trade_binary(stream, sub, trade);
    else
        send_trade_text(stream, sub, trade, list);
    sub->seq = trade->seq;
}

bool stream_resume_older(struct stream *stream, const struct reply *reply)
{
    const struct context *context = stream->owner->pipeline->context;
    struct stream_sub *sub = stream->awaited;
    const uint8_t *rows = NULL;
    struct row_trades list = { 0 };
    stream->asks_history = false;
    if (reply->problem != PROBLEM_none && stream->scan.has_page) {
        stream->scan.is_lost = true;
        stream->owner->behind = true;
        return true;
    }
    if (reply->problem == PROBLEM_none) {
        rows = reply_pool_at(context->config->reply_pool, reply->buffer);
        memcpy(&list, rows, sizeof list);
    }
    if (!output_fits(&context->outputs, &stream->conn->output,
                     STREAM_ANSWER_MAX + list.trade_count * (size_t)UPDATE_MAX)) {
        stream->asks_history = true;
        return false;
    }
    answer_once(stream);
    if (rows == NULL)
        send_gap(stream, sub);
    for (uint32_t left = list.trade_count; left != 0; left--) {
        const struct row_trade trade = trade_at(rows, left - 1);
        send_trade(stream, sub, &trade, &list);
    }
    stream->scan.has_page = true;
    stream->resume_seq = sub->seq;
    stream->pages = rows != NULL && reply->more != 0;
    if (stream->pages) {
        stream->owner->behind = true; /* the next one is asked for in the next turn */
        return true;
    }
    stream_subs_follow(stream, sub, rows != NULL ? stream->page_from : stream->from);
    stream_subs_await_beat(stream);
    return true;
}

void stream_resume_later(struct stream *stream)
{
    stream->pages = true;
    stream->asks_history = false;
    stream->page_ns = stream->owner->pipeline->context->now_ns + RETRY_NS;
}

static void step(struct stream *stream, uint32_t share)
{
    enum found found = stream->ended ? LOST : search(stream, share);
    if (found == NOT_YET)
        return;
    if (found == LOST && may_ask(stream)) {
        stream_resume_end(stream);
        stream->pages = true;
        stream_resume_page(stream);
        return;
    }
    if (!stream->ended && !finish(stream, found == FOUND)) {
        pipeline_starve(stream->owner->pipeline, stream->conn);
        return;
    }
    stream_resume_end(stream);
    stream_awaited_finish(stream);
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
