/* stream_binary.h - frames of streams that speak perps.bin.v1 (wire.md W9): heads, and the messages
 * after them, made from the same rows as the texts of json.md J9. Net thread.
 *
 * A frame is begun by stream_binary_begin, messages are appended, stream_binary_send sends it. */
#ifndef NET_STREAM_STREAM_BINARY_H
#define NET_STREAM_STREAM_BINARY_H

#include "net/http/problem_detail.h"
#include "net/http/writer.h"
#include "net/stream/stream_message.h"
#include "net/stream/stream_state.h"

/* What a frame says outside of its data. */
struct stream_binary_of {
    uint64_t seq;
    uint64_t engine_seq;
    uint64_t time_ns;
    enum stream_message_type type;
    bool has_crc;
    uint32_t crc;
};

/* Whether the client may subscribe to the channel: a stream of binary messages has book, trades,
 * bbo and private. False with the problem. */
CC_MUST_USE bool stream_binary_may(const struct stream *stream, unsigned channel,
                                   struct problem_detail *problem);

/* Begins a frame of the subscription, whose sub->seq is the prev_seq; of private, with its
 * prev_seq. */
struct writer stream_binary_begin(struct stream *stream, const struct stream_sub *sub,
                                  const struct stream_binary_of *of);
struct writer stream_binary_begin_private(struct stream *stream, uint64_t prev_seq,
                                          const struct stream_binary_of *of);

/* stream_send and stream_answer of such a frame. */
CC_MUST_USE bool stream_binary_send(struct stream *stream, const struct writer *writer);
void stream_binary_answer(struct stream *stream, const struct writer *writer);

/* ---- messages -------------------------------------------------------------------------------- */

/* The head of a message of `bytes` in that template. */
CC_MUST_USE static inline struct stream_message_head
stream_binary_head(enum stream_message_template name, size_t bytes, uint16_t asset_id, uint64_t seq,
                   uint64_t time_ns)
{
    return (struct stream_message_head){ .template = (uint16_t)name,
                                         .length = (uint16_t)bytes,
                                         .market = asset_id,
                                         .seq = seq,
                                         .time_ns = time_ns };
}

/* A trade as of that seq of its market. */
void stream_binary_trade(struct writer *writer, uint16_t asset_id, const struct row_trade *trade,
                         uint64_t seq, uint64_t time_ns);

/* A snapshot of trades: struct row_trades and its rows, newest first. */
void stream_binary_trades(struct writer *writer, uint16_t asset_id, const uint8_t *rows);

/* The data of a gap. */
void stream_binary_gap(struct writer *writer, uint16_t asset_id, const struct stream_binary_of *of,
                       uint64_t from_seq, uint64_t oldest_seq);

/* One private event. */
void stream_binary_event(struct writer *writer, const struct symbols *symbols,
                         const struct private_event *event);

#endif
