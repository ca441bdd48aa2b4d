/* stream_subs.h - the subscriptions of a stream to channels of markets: added, live, removed. Net
 * thread. */
#ifndef NET_STREAM_STREAM_SUBS_H
#define NET_STREAM_STREAM_SUBS_H

#include "net/stream/stream_state.h"

#define STREAM_BEAT_NS (5 * CONN_SECOND_NS) /* between heartbeats (W9) */

/* By enum stream_channel; all intervals of candles have the last one. */
extern const char *const stream_subs_names[STREAM_NAMES];

/* Whether the channel is candles of some interval. */
CC_MUST_USE static inline bool stream_subs_is_candles(unsigned channel)
{
    return channel >= STREAM_CANDLES && channel < STREAM_CHANNELS;
}

CC_MUST_USE static inline const char *stream_subs_name(unsigned channel)
{
    return stream_subs_names[channel < STREAM_CANDLES ? channel : STREAM_CANDLES];
}

/* Whether the channel shows a view. */
CC_MUST_USE static inline bool stream_subs_is_view(unsigned channel)
{
    return channel == STREAM_BBO || channel == STREAM_BOOK;
}

/* Whether events of the follower's log are the channel's; else it shows a view, or changes of
 * single orders. */
CC_MUST_USE static inline bool stream_subs_is_log(unsigned channel)
{
    return !stream_subs_is_view(channel) && channel != STREAM_BOOK_L3;
}

/* Whether there is room for one more, of `is_status` for the status or another in its place, and
 * what it would show is not stale: status says how old it is. It costs a read of the login's key,
 * or of the address. False with the refusal in *problem. */
CC_MUST_USE bool stream_subs_may(struct stream *stream, bool is_status,
                                 struct problem_detail *problem);

/* Adds a subscription that is not live yet, and there is none of that channel and market.
 * `depth_index` is of a book. NULL without memory. */
struct stream_sub *stream_subs_add(struct stream *stream, enum stream_channel channel,
                                   const char market[SYMBOL_BYTES], uint16_t asset_id,
                                   unsigned depth_index);

/* Its snapshot is being sent: updates follow. */
void stream_subs_live(struct stream *stream, struct stream_sub *sub);

/* After stream_subs_live or _follow: the first live subscription starts the heartbeats. */
void stream_subs_await_beat(struct stream *stream);

/* Like stream_subs_live, and events of the log from that number on follow, also those that its
 * stream has passed for others. */
void stream_subs_follow(struct stream *stream, struct stream_sub *sub, uint64_t number);

/* Notes that a live one misses updates, or that it has the whole state again. */
void stream_subs_stale(struct stream *stream, struct stream_sub *sub, bool is_stale);

/* Removes and frees it; NULL: nothing. */
void stream_subs_remove(struct stream *stream, struct stream_sub *sub);
void stream_subs_clear(struct stream *stream);

#endif
