/* stream_arm.h - cancel-on-disconnect: the arms of a stream, and what ends them (wire.md W9). Net
 * thread.
 *
 *   op ── 2012 ──> answer: the arm is the stream's ── it closes, grace_ms pass ──> 2011
 *
 * A 2011 names the sequence that set its arm. An arm that was set again since is somebody else's:
 * the matcher drops that 2011. An arm whose thread ends before its grace is ended by the next start
 * (disconnect_restart.h).
 *
 * Bound. STREAM_ARMS_MAX arms of a stream; those of closed streams for their grace, at most 10 s,
 *        and for as long as the command ring has no room. However many these are, a turn looks at
 *        the first that is due, and an answer at those of its own stream: a key with thousands of
 *        them in their grace costs others nothing.
 */
#ifndef NET_STREAM_STREAM_ARM_H
#define NET_STREAM_STREAM_ARM_H

#include "net/command/command_send.h"
#include "net/stream/stream_state.h"

enum { STREAM_ARMS_MAX = 16, STREAM_ARM_GRACE_MAX_MS = 10000 };

/* What an op asks for. */
struct stream_arm_ask {
    uint8_t arm_id[16];
    uint32_t subaccount_index;
    uint32_t grace_ms;
    bool enabled;
    bool has_op_id;
    int64_t op_id;
};

/* Sends 2012; its answer is that of the op. False with the problem: it may not. */
CC_MUST_USE bool stream_arm_send(struct stream *stream, const struct stream_arm_ask *ask,
                                 struct problem_detail *problem);

/* A 2012 of this thread was answered, whether its stream is open or not. Before the answer is given
 * to the stream. */
void stream_arm_answered(struct streams *streams, const struct answer *answer);

/* The 2012 of an open stream was not carried out. If it was never sent, its arm goes too. */
void stream_arm_dropped(struct stream *stream, const struct pending *pending);

/* Whether the 2012 was carried out; else why not. */
CC_MUST_USE bool stream_arm_succeeded(const struct pending *pending,
                                      struct problem_detail *problem);

/* The stream closes: its arms end after their graces. */
void stream_arm_close(struct stream *stream);

/* One turn of an open stream. While it has arms it is ended, and their graces begin, once the key
 * of its login has been revoked or has expired: looked up each second. */
void stream_arm_look(struct stream *stream);

/* When that is next, clock_monotonic_ns; UINT64_MAX: it has no arms. */
CC_MUST_USE static inline uint64_t stream_arm_look_ns(const struct stream *stream)
{
    return stream->arms != NULL ? stream->login_look_ns : UINT64_MAX;
}

/* Frees the arms of closed streams. */
void stream_arm_free(struct streams *streams);

/* One turn: sends the 2011 of arms whose grace has passed, while commands can be sent. Returns the
 * work done. */
uint32_t stream_arm_run(struct streams *streams, const struct command_sender *sender);

/* When the next grace ends, clock_monotonic_ns; UINT64_MAX: none. */
uint64_t stream_arm_deadline_ns(const struct streams *streams);

#endif
