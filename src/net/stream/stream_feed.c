#include "net/stream/stream_feed.h"

#include "net/json/json_field.h"
#include "net/json/json_history.h"
#include "net/json/json_info.h"
#include "net/json/json_market.h"
#include "net/json/json_money.h"
#include "net/stream/stream.h"
#include "net/stream/stream_arm.h"
#include "net/stream/stream_binary.h"
#include "net/stream/stream_book.h"
#include "net/stream/stream_candles.h"
#include "net/stream/stream_coded.h"
#include "net/stream/stream_kept.h"
#include "net/stream/stream_orders.h"
#include "net/stream/stream_private.h"
#include "net/stream/stream_resume.h"
#include "net/stream/stream_subs.h"
#include "net/stream/stream_view.h"

#define LOOK_NS (CONN_SECOND_NS / 4) /* how late a change of the status is seen */

/* Whether nothing more is sent. */
static bool is_over(const struct stream *stream)
{
    return stream->ended || stream->conn->broken || stream->conn->last;
}

static const struct net_config *config_of(const struct streams *streams)
{
    return streams->pipeline->context->config;
}

static void read_facts(const struct streams *streams, struct net_facts *facts)
{
    const struct net_source *source = &config_of(streams)->source;
    *facts = (struct net_facts){ 0 };
    source->facts(source->context, facts);
}

/* ---- events ---------------------------------------------------------------------------------- */

/* Writes the data of the event and gives its channel; STREAM_CHANNELS: none. */
static enum stream_channel write_event(struct writer *writer, const struct event_log_event *event)
{
    switch ((enum event_log_kind)event->kind) {
    case EVENT_LOG_BEGIN:
        return STREAM_CHANNELS;
    case EVENT_LOG_TRADE:
        json_history_trade(writer, &event->trade, event->price_decimals, event->size_decimals);
        return STREAM_TRADES;
    case EVENT_LOG_MARK:
        json_money_mark_data(writer, &event->mark);
        return STREAM_MARK;
    case EVENT_LOG_STATE:
        json_market_state_data(writer, &event->state);
        return STREAM_MARKET_STATE;
    case EVENT_LOG_RATE:
        json_money_rate_data(writer, &event->rate, event->price_decimals);
        return STREAM_FUNDING;
    case EVENT_LOG_LIQUIDATION:
        json_money_liquidation(writer, &event->liquidation, event->price_decimals,
                               event->size_decimals);
        return STREAM_LIQUIDATIONS;
    }
    INVARIANT(!"a kind of event");
}

static bool write_coded(const struct streams *streams, uint64_t number, struct stream_coded *coded,
                        struct writer *writer)
{
    struct event_log_event event;
    if (!event_log_read(config_of(streams)->events, number, &event))
        return false;
    const struct stream_coded_of of = { event.seq, event.sequence, event.time_ns, event.asset_id };
    stream_coded_begin(streams, coded, &of, writer);
    coded->channel = write_event(writer, &event);
    if (coded->channel == STREAM_TRADES) {
        struct writer binary = writer_begin((char *)coded->binary, sizeof coded->binary);
        stream_binary_trade(&binary, event.asset_id, &event.trade, event.seq, event.time_ns);
        coded->trade = event.trade;
        coded->price_decimals = event.price_decimals;
        coded->size_decimals = event.size_decimals;
    }
    return true;
}

/* The market's seq as the rows of the snapshot have it. */
static uint64_t seq_of_rows(enum stream_channel channel, const uint8_t *rows)
{
    struct row_trades trades;
    struct row_list list;
    struct row_mark mark;
    if (channel == STREAM_TRADES) {
        memcpy(&trades, rows, sizeof trades);
        return trades.book_seq;
    }
    if (channel == STREAM_FUNDING) {
        memcpy(&list, rows, sizeof list);
        return list.book_seq;
    }
    memcpy(&mark, rows, sizeof mark);
    return mark.book_seq;
}

/* The newest rate, if there is one. */
static void write_newest_rate(struct writer *writer, const uint8_t *rows)
{
    struct row_list list;
    struct row_rate rate;
    memcpy(&list, rows, sizeof list);
    if (list.count == 0) {
        WRITER_TEXT(writer, "{}");
        return;
    }
    memcpy(&rate, rows + sizeof list, sizeof rate);
    json_money_rate_data(writer, &rate, list.price_decimals);
}

/* Writes the data of the channel's snapshot. */
static void write_snapshot(struct writer *writer, enum stream_channel channel, const uint8_t *rows)
{
    struct row_mark mark;
    if (channel == STREAM_TRADES) {
        json_history_snapshot(writer, rows);
        return;
    }
    if (channel == STREAM_FUNDING) {
        write_newest_rate(writer, rows);
        return;
    }
    if (channel == STREAM_LIQUIDATIONS) {
        WRITER_TEXT(writer, "{}");
        return;
    }
    memcpy(&mark, rows, sizeof mark);
    if (channel == STREAM_MARK) {
        json_money_mark_data(writer, &mark);
        return;
    }
    const struct row_market_state state = { .settlement_price = mark.mark_price,
                                            .state = mark.state,
                                            .cause = ROW_CAUSE_NONE, /* no state keeps it */
                                            .price_decimals = mark.price_decimals };
    json_market_state_data(writer, &state);
}

/* The snapshot of trades as messages. */
static void begin_trades_binary(struct stream *stream, const struct stream_sub *sub,
                                const struct reply *reply, const uint8_t *rows)
{
    const struct stream_binary_of of = { .seq = sub->seq,
                                         .engine_seq = reply->applied,
                                         .time_ns = reply->time_ns,
                                         .type = STREAM_MESSAGE_SNAPSHOT };
    INVARIANT(sub->channel == STREAM_TRADES); /* stream_binary_may */
    struct writer writer = stream_binary_begin(stream, sub, &of);
    stream_binary_trades(&writer, sub->asset_id, rows);
    stream_binary_answer(stream, &writer);
}

/* Sends the snapshot of the subscription. */
static void begin_log(struct stream *stream, struct stream_sub *sub, const struct reply *reply,
                      const uint8_t *rows)
{
    sub->seq = seq_of_rows((enum stream_channel)sub->channel, rows);
    stream_subs_follow(stream, sub, stream->from);
    if (stream->is_binary) {
        begin_trades_binary(stream, sub, reply, rows);
        return;
    }
    struct writer writer = stream_frame(stream, sub, sub->seq);
    JSON_FIELD_UINT(&writer, "engine_seq", reply->applied);
    JSON_FIELD_UINT(&writer, "time_ns", reply->time_ns);
    WRITER_TEXT(&writer, ",\"type\":\"snapshot\",\"data\":");
    write_snapshot(&writer, (enum stream_channel)sub->channel, rows);
    WRITER_TEXT(&writer, "}");
    stream_answer(stream, &writer);
}

void stream_feed_begin(struct stream *stream, struct stream_sub *sub, const struct reply *reply,
                       const uint8_t *rows)
{
    if (stream_subs_is_candles(sub->channel))
        stream_candles_begin(stream, sub, reply, rows);
    else if (stream_subs_is_log(sub->channel))
        begin_log(stream, sub, reply, rows);
    else if (sub->channel == STREAM_BOOK_L3)
        stream_orders_begin(stream, sub, reply, rows);
    else
        stream_book_begin(stream, sub, reply, rows);
    stream_subs_await_beat(stream);
}

static bool send_beat_binary(struct stream *stream, const struct stream_sub *sub,
                             const struct net_facts *facts)
{
    bool is_book = sub->channel == STREAM_BOOK;
    const struct stream_binary_of of = { .seq = sub->seq,
                                         .engine_seq = facts->applied,
                                         .time_ns = facts->applied_time_ns,
                                         .type = STREAM_MESSAGE_HEARTBEAT,
                                         .has_crc = is_book,
                                         .crc = is_book ? stream_view_crc(sub->view) : 0 };
    struct writer writer = stream_binary_begin(stream, sub, &of);
    return stream_binary_send(stream, &writer);
}

/* False without room. */
static bool send_beat(struct stream *stream, const struct stream_sub *sub,
                      const struct net_facts *facts)
{
    if (stream->is_binary)
        return send_beat_binary(stream, sub, facts);
    struct writer writer = stream_frame(stream, sub, sub->seq);
    JSON_FIELD_UINT(&writer, "engine_seq", facts->applied);
    JSON_FIELD_UINT(&writer, "time_ns", facts->applied_time_ns);
    WRITER_TEXT(&writer, ",\"type\":\"heartbeat\"");
    if (sub->channel == STREAM_BOOK)
        JSON_FIELD_UINT(&writer, "crc", stream_view_crc(sub->view));
    WRITER_TEXT(&writer, ",\"data\":{}}");
    return stream_send(stream, &writer);
}

/* Says for each subscription which frame was the last, and of a book what it then is; goes on where
 * it found no room. A node that may be behind others is silent: it cannot say that nothing
 * happened. */
static void beat(struct stream *stream, const struct net_facts *facts)
{
    if (facts->is_stale) {
        stream->beat_ns = stream->owner->pipeline->context->now_ns + LOOK_NS;
        return;
    }
    for (; stream->beat_at < STREAM_CHANNELS * SYMBOLS_MAX; stream->beat_at++) {
        const struct stream_sub *sub =
            stream->subs[stream->beat_at / SYMBOLS_MAX][stream->beat_at % SYMBOLS_MAX];
        if (sub == NULL || !sub->live || sub->stale || send_beat(stream, sub, facts))
            continue;
        stream->beat_ns = stream->owner->pipeline->context->now_ns + LOOK_NS;
        pipeline_starve(stream->owner->pipeline, stream->conn);
        return;
    }
    stream->beat_at = 0;
    stream->beat_ns = stream->owner->pipeline->context->now_ns + STREAM_BEAT_NS;
}

/* ---- status ---------------------------------------------------------------------------------- */

/* False without room. */
static bool send_status(struct stream *stream, const struct net_facts *facts, const char *type)
{
    bool is_first = strcmp(type, "snapshot") == 0;
    struct writer writer = stream_text(stream->owner);
    WRITER_TEXT(&writer, "{\"channel\":\"status\",\"seq\":");
    writer_uint(&writer, facts->applied);
    JSON_FIELD_UINT(&writer, "prev_seq", is_first ? facts->applied : stream->status_seq);
    JSON_FIELD_UINT(&writer, "engine_seq", facts->applied);
    JSON_FIELD_UINT(&writer, "time_ns", facts->applied_time_ns);
    JSON_FIELD_WORD(&writer, "type", type);
    WRITER_TEXT(&writer, ",\"data\":");
    json_info_status(facts, config_of(stream->owner)->heads,
                     stream->owner->pipeline->context->draining, &writer);
    WRITER_TEXT(&writer, "}");
    stream->status_late = !stream_send(stream, &writer);
    if (!stream->status_late)
        stream->status_seq = facts->applied;
    return !stream->status_late;
}

/* Values whose changes are sent at once. */
static uint32_t shown_of(const struct net_facts *facts)
{
    return (facts->not_ready & (NET_NOT_ACCEPTING | NET_NOT_FOLLOWER)) << 3 |
           (uint32_t)facts->maintains << 2 | (uint32_t)facts->fund_deficit << 1 |
           facts->profits_wait;
}

/* How many heads were ever made. */
static uint64_t head_count(const struct streams *streams)
{
    const struct head_log *heads = config_of(streams)->heads;
    return heads == NULL ? 0 : row_log_count(&heads->rows);
}

static void note_status(struct streams *streams, const struct net_facts *facts, uint64_t heads)
{
    uint64_t now_ns = streams->pipeline->context->now_ns;
    streams->status_shown = shown_of(facts);
    streams->maintenance_shown = facts->maintenance_ns;
    streams->heads_shown = heads;
    streams->status_beat_ns = now_ns + STREAM_BEAT_NS;
    streams->look_ns = now_ns + LOOK_NS;
}

void stream_feed_status(struct stream *stream)
{
    struct net_facts facts;
    uint64_t heads = head_count(stream->owner); /* before it is read: none is passed over */
    read_facts(stream->owner, &facts);
    bool is_sent = send_status(stream, &facts, "snapshot");
    INVARIANT(is_sent); /* stream.c has made sure of the room for an op */
    if (stream->owner->status_count == 1)
        note_status(stream->owner, &facts, heads);
}

void stream_feed_drain(struct streams *streams)
{
    struct net_facts facts;
    if (streams->count == 0)
        return;
    read_facts(streams, &facts);
    for (struct stream *stream = streams->first; stream != NULL; stream = stream->next) {
        if (stream->has_status)
            (void)send_status(stream, &facts, "update"); /* without room the close says it */
        stream_end(stream, STREAM_CLOSE_GOING_AWAY, "the service stops");
    }
}

static void run_status(struct streams *streams)
{
    uint64_t now_ns = streams->pipeline->context->now_ns;
    struct net_facts facts;
    if (streams->status_count == 0 || streams->look_ns > now_ns)
        return;
    streams->look_ns = now_ns + LOOK_NS;
    uint64_t heads = head_count(streams);
    read_facts(streams, &facts);
    bool is_due = shown_of(&facts) != streams->status_shown || heads != streams->heads_shown ||
                  facts.maintenance_ns != streams->maintenance_shown ||
                  streams->status_beat_ns <= now_ns;
    if (is_due)
        note_status(streams, &facts, heads);
    for (struct stream *stream = streams->first; stream != NULL; stream = stream->next)
        if (stream->has_status && (is_due || stream->status_late) &&
            !send_status(stream, &facts, "update"))
            pipeline_starve(streams->pipeline, stream->conn);
}

/* ---- turns ----------------------------------------------------------------------------------- */

uint32_t stream_feed_run(struct streams *streams)
{
    struct context *context = streams->pipeline->context;
    struct net_facts facts = { 0 };
    if (streams->count == 0)
        return 0;
    uint32_t work = 0;
    bool is_ready = config_of(streams)->source.ready(config_of(streams)->source.context);
    run_status(streams);
    if (streams->resuming != 0)
        work += stream_resume_run(streams);
    if (is_ready)
        read_facts(streams, &facts); /* before the count: what is applied is in the log */
    uint64_t end = event_log_count(config_of(streams)->events);
    streams->private_seen = private_log_count(config_of(streams)->private_log);
    streams->seen = end;
    if (streams->orders_count != 0)
        streams->orders_seen = book_log_count(config_of(streams)->orders);
    streams->behind = false;
    if (is_ready)
        work += stream_book_run(streams);
    for (struct stream *stream = streams->first; stream != NULL; stream = stream->next) {
        if (stream->pages)
            stream_resume_page(stream);
        if (is_ready)
            stream_arm_look(stream);
        if (is_over(stream) || !is_ready)
            continue;
        if (stream->sub_count == 0)
            stream->beat_ns = UINT64_MAX;
        if (stream->log_count == 0)
            stream->at = end;
        if (!stream_resume_waits(stream))
            work += stream_coded_run(stream, streams->coded, write_coded, &stream->at, end);
        if (stream->orders_live != 0)
            work += stream_orders_run(stream, streams->orders_seen);
        if (stream->private_events.live)
            work += stream_private_run(stream, &facts);
        if (stream->stale_count != 0)
            stream_book_catch_up(stream);
        if (stream->beat_ns <= context->now_ns)
            beat(stream, &facts);
    }
    return work;
}

uint64_t stream_feed_deadline_ns(const struct streams *streams)
{
    uint64_t deadline = streams->status_count != 0 ? streams->look_ns : UINT64_MAX;
    for (const struct stream *stream = streams->first; stream != NULL; stream = stream->next) {
        if (stream_arm_look_ns(stream) < deadline)
            deadline = stream_arm_look_ns(stream);
        if (!is_over(stream)) {
            if (stream->beat_ns < deadline)
                deadline = stream->beat_ns;
            uint64_t private_ns = stream_private_deadline_ns(stream);
            if (private_ns < deadline)
                deadline = private_ns;
            if (stream->pages && stream->page_ns != 0 && stream->page_ns < deadline)
                deadline = stream->page_ns;
        }
    }
    return deadline;
}

bool stream_feed_has_work(const struct streams *streams)
{
    if (streams->count == 0)
        return false;
    return streams->behind || streams->resuming != 0 ||
           (streams->views != NULL &&
            streams->books_seen != published_get(&config_of(streams)->books->writes)) ||
           streams->seen != event_log_count(config_of(streams)->events) ||
           (streams->orders_count != 0 &&
            streams->orders_seen != book_log_count(config_of(streams)->orders)) ||
           (streams->private_count != 0 &&
            streams->private_seen != private_log_count(config_of(streams)->private_log)) ||
           conn_queue_count(&streams->pipeline->context->conns, CONN_SHOWN) > 0;
}
