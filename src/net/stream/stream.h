/* stream.h - the WebSockets of a network thread: opened, read, written, closed.
 *
 *   parser ── handshake ──> stream_open ──> stream_receive ──> stream_op
 *   follower's log, snapshots, clock ──> stream_feed ──> stream_send ──> output
 *
 * Owner. The net thread.
 * Bound. A message of a client has STREAM_MESSAGE_MAX bytes. Unsent bytes: limits.stream_backlog.
 *        The memory of a stream is allocated when it opens, and freed when it closes. */
#ifndef NET_STREAM_STREAM_H
#define NET_STREAM_STREAM_H

#include "net/http/writer.h"
#include "net/stream/stream_state.h"

/* 0 or -ENOMEM. The streams must be all zeros before. Their signed requests become jobs. */
CC_MUST_USE int stream_init(struct streams *streams, struct job_table *jobs);
void stream_free(struct streams *streams);

/* Answers the handshake in conn->head, whose first byte is `text`. The connection has no request in
 * flight. It is a stream then, or the handshake is refused. */
void stream_open(struct streams *streams, struct conn *conn, const char *text);

/* Reads some of the bytes of frames and gives how many; 0: it waits for a snapshot, or for room. */
CC_MUST_USE size_t stream_receive(struct stream *stream, const char *bytes, size_t count);

/* Frees the stream of a connection that closes; without one it does nothing. */
void stream_close(struct conn *conn);

/* Sends the close frame; nothing follows it. */
void stream_end(struct stream *stream, uint16_t code, const char *reason);

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
