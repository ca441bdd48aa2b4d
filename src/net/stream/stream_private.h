/* stream_private.h - the channel `private`: what happens to the account of the login, in the order
 * of its seq (wire.md W9, json.md J9). Net thread.
 *
 *   subscribe, resume ── the account's seq ──> follower ──> live
 *   private log ── events after `at` ──> frames, of a pinned login those of its subaccount
 *   history     ── those of them that the log has lost, page by page ──> the same
 *
 * The key of the login is looked up again before anything is sent. When it has ended, so does the
 * stream. Events that history does not have either are a gap, and the stream goes on.
 *
 * Wait. What happened before the subscription began, and every page, waits while a quarter of
 *       limits.stream_backlog is unsent: a client that reads slowly is not closed for its past. */
#ifndef NET_STREAM_STREAM_PRIVATE_H
#define NET_STREAM_STREAM_PRIVATE_H

#include "net/stream/stream_state.h"

/* The awaited op's reply from the follower, its account row: answers a subscribe with a snapshot, a
 * resume with what follows or a gap. False without room; nothing has changed. */
CC_MUST_USE bool stream_private_begin(struct stream *stream, const struct reply *reply,
                                      const uint8_t *rows);

/* History has answered: sends the events that follow, as far as there is room, or a gap. */
void stream_private_page(struct stream *stream, const struct pending *pending);

/* Ends the subscription, if there is one. */
void stream_private_end(struct stream *stream);

/* One turn: events, and the heartbeat when it is due. `facts` were read before the log. Returns the
 * work done. */
uint32_t stream_private_run(struct stream *stream, const struct net_facts *facts);

/* When it must run next, whatever happens; UINT64_MAX: never. */
CC_MUST_USE static inline uint64_t stream_private_deadline_ns(const struct stream *stream)
{
    const struct stream_private *private_events = &stream->private_events;
    if (!private_events->live)
        return UINT64_MAX;
    return private_events->ask_ns != 0 && private_events->ask_ns < private_events->beat_ns
               ? private_events->ask_ns
               : private_events->beat_ns;
}

#endif
