/* stream_message.h - signed requests over a stream (wire.md W9) as a load generator sends and reads
 * them: the op `signed` as a frame of text, and its replies, which name the request by its id.
 *
 * Owner. Pure functions of the bytes, but for the words that `outcomes` takes in. */
#ifndef PERP_BENCH_STREAM_MESSAGE_H
#define PERP_BENCH_STREAM_MESSAGE_H

#include "perp/bench/answer.h"

/* Writes an envelope of `count` characters as one masked frame; `capacity` holds it. The mask is
 * zero: a server has the same work with it. Returns the bytes. */
size_t stream_message_write(uint8_t *bytes, size_t capacity, const char *envelope, size_t count,
                            uint64_t id, bool wants_full);

/* The id of a frame that stream_message_write made. */
uint64_t stream_message_id(const uint8_t *bytes);

/* Returns the bytes of the whole frame at the begin; 0 when it is not whole yet. */
size_t stream_message_bytes(const char *frame, size_t count);

enum stream_message {
    STREAM_MESSAGE_ANSWER, /* to the op `signed` of *id */
    STREAM_MESSAGE_OTHER,  /* a heartbeat, a ping, a status */
    STREAM_MESSAGE_END,    /* the server closes the stream */
};

/* Reads a whole frame of the server's. http is 200 for an acknowledgement, else what HTTP would
 * have had. */
enum stream_message stream_message_accept(struct answer *answer, const char *frame, size_t bytes,
                                          struct outcomes *outcomes, uint64_t *id);

#endif
