#include "net/stream/stream_subs.h"

#include <stdlib.h>

#include "net/request/charge.h"
#include "net/request/leadership.h"
#include "net/stream/stream_view.h"

const char *const stream_subs_names[STREAM_NAMES] = {
    "trades",  "bbo",          "book",    "mark",    "market_state",
    "funding", "liquidations", "book_l3", "candles",
};

bool stream_subs_may(struct stream *stream, bool is_status, struct problem_detail *problem)
{
    struct context *context = stream->owner->pipeline->context;
    uint32_t most = context->config->stream_subscriptions;
    uint32_t others = stream->sub_count + stream->private_events.live;
    if (others + (stream->has_status && !is_status) >= most)
        return problem_detail_set(problem, PROBLEM_invalid_parameter, "channel",
                                  "a connection has at most %u subscriptions", most);
    return (is_status || leadership_read(context->config, false, problem)) &&
           charge_subscription(context, stream->conn, &stream->login.key, problem);
}

struct stream_sub *stream_subs_add(struct stream *stream, enum stream_channel channel,
                                   const char market[SYMBOL_BYTES], uint16_t asset_id,
                                   unsigned depth_index)
{
    const struct symbols *symbols = stream->owner->pipeline->context->config->symbols;
    struct stream_sub *sub = calloc(1, sizeof *sub);
    if (sub == NULL)
        return NULL;
    sub->symbol_index = symbols_index(symbols, asset_id);
    INVARIANT(sub->symbol_index < SYMBOLS_MAX); /* the client has named it */
    sub->asset_id = asset_id;
    sub->channel = (uint8_t)channel;
    memcpy(sub->market, market, sizeof sub->market);
    if (stream_subs_is_view(channel)) {
        sub->view = stream_view_use(stream->owner, sub->symbol_index, asset_id, depth_index);
        if (sub->view == NULL) {
            free(sub);
            return NULL;
        }
    }
    if (channel == STREAM_BOOK_L3)
        book_log_want(stream->owner->pipeline->context->config->orders);
    INVARIANT(stream->subs[channel][sub->symbol_index] == NULL);
    stream->subs[channel][sub->symbol_index] = sub;
    stream->sub_count++;
    stream->log_count += stream_subs_is_log(channel);
    return sub;
}

void stream_subs_live(struct stream *stream, struct stream_sub *sub)
{
    INVARIANT(!sub->live);
    sub->live = true;
    stream->live_count++;
    stream->log_live += stream_subs_is_log(sub->channel);
    stream->candles_live += stream_subs_is_candles(sub->channel);
    stream->orders_live += sub->channel == STREAM_BOOK_L3;
    stream->owner->orders_count += sub->channel == STREAM_BOOK_L3;
}

void stream_subs_await_beat(struct stream *stream)
{
    if (stream->live_count == 1)
        stream->beat_ns = stream->owner->pipeline->context->now_ns + STREAM_BEAT_NS;
}

void stream_subs_follow(struct stream *stream, struct stream_sub *sub, uint64_t number)
{
    stream_subs_live(stream, sub);
    if (stream->log_live == 1 || number < stream->at) /* the others have what is below their seq */
        stream->at = number;
}

void stream_subs_stale(struct stream *stream, struct stream_sub *sub, bool is_stale)
{
    stream->stale_count -= sub->stale;
    sub->stale = is_stale;
    stream->stale_count += sub->stale;
}

void stream_subs_remove(struct stream *stream, struct stream_sub *sub)
{
    if (sub == NULL)
        return;
    stream->subs[sub->channel][sub->symbol_index] = NULL;
    stream->sub_count--;
    stream->log_count -= stream_subs_is_log(sub->channel);
    stream->live_count -= sub->live;
    stream->log_live -= sub->live && stream_subs_is_log(sub->channel);
    stream->stale_count -= sub->stale;
    stream->candles_live -= sub->live && stream_subs_is_candles(sub->channel);
    if (sub->channel == STREAM_BOOK_L3) {
        stream->orders_live -= sub->live;
        stream->owner->orders_count -= sub->live;
        book_log_drop(stream->owner->pipeline->context->config->orders);
    }
    if (sub->view != NULL)
        stream_view_drop(stream->owner, sub->view);
    free(sub);
}

void stream_subs_clear(struct stream *stream)
{
    for (unsigned channel = 0; channel < STREAM_CHANNELS; channel++)
        for (uint32_t symbol_index = 0; symbol_index < SYMBOLS_MAX; symbol_index++)
            stream_subs_remove(stream, stream->subs[channel][symbol_index]);
}
