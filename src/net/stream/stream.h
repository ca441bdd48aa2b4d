/* stream.h - what a stream sends: frames of text and of binary messages, then the close frame.
 *
 *   ops, snapshots, follower's logs, clock ──> stream_text ──> stream_send ──> output
 *
 * Owner. The net thread.
 * Bound. Unsent bytes: limits.stream_backlog. */
#ifndef NET_STREAM_STREAM_H
#define NET_STREAM_STREAM_H

#include "net/http/writer.h"
#include "net/stream/stream_state.h"

/* Sends the close frame; nothing follows it. */
void stream_end(struct stream *stream, uint16_t code, const char *reason);

/* A close frame is written: the connection closes when it is sent. */
void stream_note_end(struct stream *stream);

/* Ends the stream if the key of its login has been revoked or has expired. Whether it has. */
bool stream_end_dead_login(struct stream *stream);

/* Begins a frame; stream_send sends it. */
struct writer stream_text(struct streams *streams);

/* Begins a frame of a subscription, up to and with its prev_seq. */
struct writer stream_frame(struct stream *stream, const struct stream_sub *sub, uint64_t seq);

/* Bytes that are not sent. */
CC_MUST_USE static inline size_t stream_unsent(const struct stream *stream)
{
    return (size_t)stream->conn->output.bytes + stream->conn->wire.bytes;
}

/* Whether the answer to an op has room, whatever it is, but for the snapshot of a market. */
CC_MUST_USE bool stream_has_room(const struct stream *stream);

/* Sends the text as one frame. False: the output pool had no room, and nothing is sent. A stream
 * with too many unsent bytes is ended, but one frame may be larger than its limit. */
CC_MUST_USE bool stream_send(struct stream *stream, const struct writer *writer);

/* The same for a text that has room: an answer to an op, a snapshot. (Of binary messages:
 * stream_binary.h.) */
void stream_answer(struct stream *stream, const struct writer *writer);

#endif
