/* stream_op.h - what clients ask of a stream: login, subscribe, unsubscribe, resume, signed,
 * ping (json.md J9). Net thread. */
#ifndef NET_STREAM_STREAM_OP_H
#define NET_STREAM_STREAM_OP_H

#include "net/stream/stream_state.h"

/* Runs one message, and answers it; a subscribe that needs the follower is answered by
 * stream_op_show. */
void stream_op_run(struct stream *stream, const char *text, size_t count);

/* One turn of all streams whose requests have outcomes: answers signed ones, and shows the
 * snapshots that streams await. Returns the work done. */
uint32_t stream_op_show(struct streams *streams);

#endif
