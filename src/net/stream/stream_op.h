/* stream_op.h - what clients ask of a stream: login, subscribe, unsubscribe, resume, signed,
 * ping (json.md J9). Net thread. */
#ifndef NET_STREAM_STREAM_OP_H
#define NET_STREAM_STREAM_OP_H

#include "net/stream/stream_state.h"

/* Runs one message, and answers it; a subscribe that needs the follower is answered by
 * stream_op_shown. */
void stream_op_run(struct stream *stream, const char *text, size_t count);

/* Outcomes are known, of the oldest requests of the connection: answers signed ones, and takes the
 * snapshot that the stream awaits. False: the output pool has no room for the next. */
CC_MUST_USE bool stream_op_shown(struct stream *stream);

/* Sends the query of the awaited op, or one for private events; stream_op_shown gets its reply.
 * `caller` is NULL or the key that it needs. A slot for it is available. */
void stream_op_query(struct stream *stream, const struct query *query,
                     const struct keyring_key *caller);

/* Answers a resume that has found its event. There is room. */
void stream_op_resumed(struct stream *stream);

/* Answers the awaited subscribe or resume of `private`. There is room. */
void stream_op_private_answer(struct stream *stream);

/* The awaited op is done: the stream's input goes on. */
void stream_op_finish(struct stream *stream);

#endif
