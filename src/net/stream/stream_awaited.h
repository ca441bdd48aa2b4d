/* stream_awaited.h - the op of a stream that waits for the follower: a subscribe or a resume whose
 * snapshot or events are on their way (json.md J9). Net thread. */
#ifndef NET_STREAM_STREAM_AWAITED_H
#define NET_STREAM_STREAM_AWAITED_H

#include "net/http/writer.h"
#include "net/stream/stream_state.h"

/* Sends the query of the awaited op, or one for private events; stream_op_show gets its reply.
 * `caller` is NULL or the key that it needs. A slot for it is available. */
void stream_awaited_query(struct stream *stream, const struct query *query,
                          const struct keyring_key *caller);

/* "subscribe" or "resume". */
const char *stream_awaited_name(const struct stream *stream);

/* The answer to the awaited op on a channel of a market, up to its epoch. */
struct writer stream_awaited_begin(struct stream *stream);

/* Answers a resume that has found its event. There is room. */
void stream_awaited_resumed(struct stream *stream);

/* Answers the awaited subscribe or resume of `private`. There is room. */
void stream_awaited_private(struct stream *stream);

/* The awaited op is done: the stream's input goes on. */
void stream_awaited_finish(struct stream *stream);

#endif
