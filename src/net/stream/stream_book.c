#include "net/stream/stream_book.h"

#include "net/json/json_field.h"
#include "net/stream/stream.h"
#include "net/stream/stream_binary.h"
#include "net/stream/stream_subs.h"
#include "net/stream/stream_view.h"

enum {
    HEAD_MAX = 512,        /* bytes of a frame before what many frames share */
    STALE_PART = 4,        /* of limits.stream_backlog */
    LEVELS_MAX = 4 * 1000, /* of an update: each side is another altogether */
};

static_assert(LEVELS_MAX * sizeof(struct stream_message_level) <= STREAM_TEXT_MAX - HEAD_MAX,
              "every update fits");

static uint32_t backlog_of(const struct stream *stream)
{
    return stream->owner->pipeline->context->config->stream_backlog;
}

static void write_state(const struct stream_view *view, struct writer *writer)
{
    JSON_FIELD_UINT(writer, "engine_seq", view->engine_seq);
    JSON_FIELD_UINT(writer, "time_ns", view->time_ns);
}

/* ---- whole states ---------------------------------------------------------------------------- */

static struct stream_binary_of state_of(const struct stream_view *view,
                                        enum stream_message_type type)
{
    return (struct stream_binary_of){
        .seq = view->seq, .engine_seq = view->engine_seq, .time_ns = view->time_ns, .type = type
    };
}

/* The whole as messages: of a book a snapshot. */
static bool send_whole_binary(struct stream *stream, const struct stream_sub *sub, bool is_update)
{
    struct stream_binary_of of =
        state_of(sub->view, is_update ? STREAM_MESSAGE_UPDATE : STREAM_MESSAGE_SNAPSHOT);
    of.has_crc = sub->channel == STREAM_BOOK;
    of.crc = of.has_crc ? stream_view_crc(sub->view) : 0;
    struct writer writer = stream_binary_begin(stream, sub, &of);
    if (sub->channel == STREAM_BOOK)
        stream_view_whole_binary(sub->view, &writer);
    else
        stream_view_best_binary(sub->view, &writer);
    return stream_binary_send(stream, &writer);
}

static bool send_whole_text(struct stream *stream, const struct stream_sub *sub, bool is_update)
{
    struct stream_view *view = sub->view;
    struct writer writer = stream_frame(stream, sub, view->seq);
    write_state(view, &writer);
    if (sub->channel == STREAM_BOOK) {
        WRITER_TEXT(&writer, ",\"type\":\"snapshot\"");
        JSON_FIELD_UINT(&writer, "crc", stream_view_crc(view));
        WRITER_TEXT(&writer, ",\"data\":");
        stream_view_whole(view, &writer);
    } else {
        JSON_FIELD_WORD(&writer, "type", is_update ? "update" : "snapshot");
        WRITER_TEXT(&writer, ",\"data\":");
        stream_view_best(view, &writer);
    }
    WRITER_TEXT(&writer, "}");
    return stream_send(stream, &writer);
}

/* A book as a snapshot; a bbo, which is always whole, as a snapshot or an update. False without
 * room. */
static bool send_whole(struct stream *stream, struct stream_sub *sub, bool is_update)
{
    struct stream_view *view = sub->view;
    if (!is_update)
        sub->seq = view->seq;
    bool is_sent = stream->is_binary ? send_whole_binary(stream, sub, is_update)
                                     : send_whole_text(stream, sub, is_update);
    if (is_sent)
        sub->seq = view->seq;
    return is_sent;
}

void stream_book_catch_up(struct stream *stream)
{
    if (stream_unsent(stream) > backlog_of(stream) / STALE_PART / 2)
        return;
    for (unsigned channel = STREAM_BBO; channel <= STREAM_BOOK; channel++)
        for (uint32_t symbol_index = 0; symbol_index < SYMBOLS_MAX && stream->stale_count != 0;
             symbol_index++) {
            struct stream_sub *sub = stream->subs[channel][symbol_index];
            if (sub == NULL || !sub->stale)
                continue;
            if (!send_whole(stream, sub, channel == STREAM_BBO))
                return;
            stream_subs_stale(stream, sub, false);
        }
}

/* ---- updates --------------------------------------------------------------------------------- */

static void send_update(struct stream *stream, struct stream_sub *sub, const struct writer *shared)
{
    const struct stream_binary_of of = state_of(sub->view, STREAM_MESSAGE_UPDATE);
    if (sub->stale)
        return;
    if (stream_unsent(stream) <= backlog_of(stream) / STALE_PART) {
        struct writer writer = stream->is_binary ? stream_binary_begin(stream, sub, &of)
                                                 : stream_frame(stream, sub, sub->view->seq);
        writer_bytes(&writer, shared->start, writer_count(shared));
        if (stream->is_binary ? stream_binary_send(stream, &writer)
                              : stream_send(stream, &writer)) {
            sub->seq = sub->view->seq;
            return;
        }
    }
    stream_subs_stale(stream, sub, true);
}

/* What has changed, as the text that frames share from their "engine_seq" on. */
static struct writer encode_text(const struct streams *streams, const struct stream_view *view,
                                 enum stream_channel channel)
{
    struct writer shared = writer_begin(streams->shared, STREAM_TEXT_MAX - HEAD_MAX);
    write_state(view, &shared);
    WRITER_TEXT(&shared, ",\"type\":\"update\",\"data\":");
    if (channel == STREAM_BOOK)
        stream_view_changes(view, &shared);
    else
        stream_view_best(view, &shared);
    WRITER_TEXT(&shared, "}");
    INVARIANT(!shared.full);
    return shared;
}

/* The same as messages, which follow the heads of frames. */
static struct writer encode_binary(const struct streams *streams, const struct stream_view *view,
                                   enum stream_channel channel)
{
    struct writer shared = writer_begin(streams->shared_binary, STREAM_TEXT_MAX - HEAD_MAX);
    if (channel == STREAM_BOOK)
        stream_view_changes_binary(view, &shared);
    else
        stream_view_best_binary(view, &shared);
    INVARIANT(!shared.full);
    return shared;
}

/* Sends what has changed to all that follow the view on that channel: encoded once in each form
 * that one of them speaks. */
static void share(struct streams *streams, struct stream_view *view, enum stream_channel channel)
{
    struct writer text = { 0 }, binary = { 0 };
    for (struct stream *stream = streams->first; stream != NULL; stream = stream->next) {
        struct stream_sub *sub = stream->subs[channel][view->symbol_index];
        struct writer *shared = stream->is_binary ? &binary : &text;
        if (sub == NULL || !sub->live || sub->view != view)
            continue;
        if (shared->start == NULL)
            *shared = stream->is_binary ? encode_binary(streams, view, channel)
                                        : encode_text(streams, view, channel);
        send_update(stream, sub, shared);
    }
}

static void share_change(struct streams *streams, struct stream_view *view,
                         enum stream_view_change change)
{
    if (change == STREAM_VIEW_BEST || change == STREAM_VIEW_DEEPER)
        share(streams, view, STREAM_BOOK);
    if (change == STREAM_VIEW_BEST && view->depth_index == 0)
        share(streams, view, STREAM_BBO);
}

void stream_book_begin(struct stream *stream, struct stream_sub *sub, const struct reply *reply,
                       const uint8_t *rows)
{
    share_change(stream->owner, sub->view, stream_view_refresh(sub->view, reply, rows));
    stream_subs_live(stream, sub);
    if (!send_whole(stream, sub, false))
        stream_subs_stale(stream, sub, true);
}

uint32_t stream_book_run(struct streams *streams)
{
    const struct book_board *board = streams->pipeline->context->config->books;
    uint64_t writes = published_get(&board->writes);
    uint32_t work = 0;
    if (writes == streams->books_seen)
        return 0;
    streams->books_seen = writes;
    for (struct stream_view *view = streams->views; view != NULL; view = view->next) {
        enum stream_view_change change = stream_view_look(view, board);
        share_change(streams, view, change);
        if (change == STREAM_VIEW_TORN)
            streams->books_seen = UINT64_MAX; /* it is looked at again */
        work += change != STREAM_VIEW_SAME && change != STREAM_VIEW_TORN;
    }
    return work;
}
