/* stream_feed.h - what streams get by themselves: events, heartbeats, the status (json.md J9). Net
 * thread. */
#ifndef NET_STREAM_STREAM_FEED_H
#define NET_STREAM_STREAM_FEED_H

#include "net/stream/stream_state.h"

/* Sends the snapshot of the subscription; what has happened since follows. There is room for the
 * snapshot. */
void stream_feed_begin(struct stream *stream, struct stream_sub *sub, const struct reply *reply,
                       const uint8_t *rows);

/* Sends the status as a snapshot. */
void stream_feed_status(struct stream *stream);

/* Shows the status of a service that stops, and ends every stream. */
void stream_feed_drain(struct streams *streams);

/* One turn: sends events, heartbeats and the status. Returns the work done. */
uint32_t stream_feed_run(struct streams *streams);

/* When it must run again by the clock alone, clock_monotonic_ns; UINT64_MAX: never. */
uint64_t stream_feed_deadline_ns(const struct streams *streams);

/* Whether there is something to send now. */
CC_MUST_USE bool stream_feed_has_work(const struct streams *streams);

#endif
