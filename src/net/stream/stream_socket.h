/* stream_socket.h - the WebSockets of a network thread: opened, read, closed.
 *
 *   parser ── handshake ──> stream_socket_open ──> stream_socket_receive ──> ops
 *
 * Owner. The net thread.
 * Bound. A message of a client has STREAM_MESSAGE_MAX bytes. The memory of a stream is allocated
 *        when it opens, and freed when it closes. */
#ifndef NET_STREAM_STREAM_SOCKET_H
#define NET_STREAM_STREAM_SOCKET_H

#include "net/stream/stream_state.h"

/* 0 or -ENOMEM. The streams must be all zeros before. Their signed requests become jobs. */
CC_MUST_USE int stream_socket_init(struct streams *streams, struct job_table *jobs);
void stream_socket_free(struct streams *streams);

/* Answers the handshake in conn->head, whose first byte is `text`. The connection has no request in
 * flight. It is a stream then, or the handshake is refused. */
void stream_socket_open(struct streams *streams, struct conn *conn, const char *text);

/* Reads some of the bytes of frames and gives how many; 0: it waits for a snapshot, or for room. */
CC_MUST_USE size_t stream_socket_receive(struct stream *stream, const char *bytes, size_t count);

/* Frees the stream of a connection that closes; without one it does nothing. */
void stream_socket_close(struct conn *conn);

#endif
