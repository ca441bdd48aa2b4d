/* stream_candles.h - the channel `candles`: the newest candle of a market and interval, then what
 * each public trade makes of it (W9, J9).
 *
 *   snapshot ──> the subscription's candle <── trades of the follower's log
 *
 * Every stream gets each trade in its own time, so each subscription has a candle of its own; what
 * one trade makes of it is the same for all and is encoded once for the net thread.
 *
 * Owner. The net thread. */
#ifndef NET_STREAM_STREAM_CANDLES_H
#define NET_STREAM_STREAM_CANDLES_H

#include "net/stream/stream_state.h"

/* Sends the snapshot of a subscription, whose updates follow: struct row_candles and one candle at
 * most. There is room for it. */
void stream_candles_begin(struct stream *stream, struct stream_sub *sub, const struct reply *reply,
                          const uint8_t *rows);

/* Tells the stream's candles of a trade, unless they have it. False without room: those that were
 * sent have it. */
CC_MUST_USE bool stream_candles_send(struct stream *stream, const struct stream_coded *coded);

#endif
