/* stream_write.h - the ops of a stream that become commands: signed requests and arms (json.md J9,
 * wire.md W9). Net thread. */
#ifndef NET_STREAM_STREAM_WRITE_H
#define NET_STREAM_STREAM_WRITE_H

#include "base/json_scan.h"
#include "net/stream/stream_state.h"

/* The members of a cancel_on_disconnect. */
struct stream_write_arm {
    const struct json_member *arm_id, *subaccount_index, *enabled, *grace_ms;
};

/* Hands the envelope in the message to the jobs, or refuses the op. A slot is free. */
void stream_write_signed(struct stream *stream, bool has_id, int64_t id,
                         const struct json_member *ack, const char *text, size_t count);

/* The same of a binary message, which is the frame of a signed request; its answer is a message, or
 * a text with its request id where it has no such form. */
void stream_write_frame(struct stream *stream, const uint8_t *bytes, size_t count);

/* Sends the arm, or refuses the op. A slot is free. */
void stream_write_arm(struct stream *stream, bool has_id, int64_t id,
                      const struct stream_write_arm *members);

/* Answers one of these whose outcome is known. False without room; nothing has changed. */
CC_MUST_USE bool stream_write_answer(struct stream *stream, const struct pending *pending);

#endif
