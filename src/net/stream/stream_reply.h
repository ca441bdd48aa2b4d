/* stream_reply.h - how replies to ops begin, and those that refuse (json.md J9). Net thread. */
#ifndef NET_STREAM_STREAM_REPLY_H
#define NET_STREAM_STREAM_REPLY_H

#include "net/http/problem_detail.h"
#include "net/http/writer.h"
#include "net/stream/stream_state.h"

/* {"op":"..","id":..: a reply's beginning; `op` NULL: null. */
struct writer stream_reply_begin(struct stream *stream, const char *op, bool has_id, int64_t id);

/* Adds the channel; `market` is of one that has a market. */
void stream_reply_channel(struct writer *writer, unsigned channel, const char *market);

/* Ends a reply with the epoch. */
void stream_reply_epoch(struct stream *stream, struct writer *writer);

/* Ends a reply that has begun with its problem. */
void stream_reply_end_problem(struct stream *stream, struct writer *writer,
                              const struct problem_detail *problem);

/* The whole reply with a problem, to be sent. */
struct writer stream_reply_problem(struct stream *stream, const char *op, bool has_id, int64_t id,
                                   const struct problem_detail *problem);

/* Answers that the op is refused, and charges what the mistake costs (W8). There is room. */
void stream_reply_refuse(struct stream *stream, const char *op, bool has_id, int64_t id,
                         const struct problem_detail *problem);

#endif
