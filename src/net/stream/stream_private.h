/* stream_private.h - the channel `private`: what happens to the account of the login, in the order
 * of its seq (wire.md W9, json.md J9). Net thread.
 *
 *   subscribe, resume ── the account's seq ──> follower ──> live
 *   private log ── events after `at` ──> frames, of a pinned login those of its subaccount
 *
 * The key of the login is looked up again before anything is sent. When it has ended, so does the
 * stream. A stream that the log has overrun gets a gap and goes on. */
#ifndef NET_STREAM_STREAM_PRIVATE_H
#define NET_STREAM_STREAM_PRIVATE_H

#include "net/stream/stream_state.h"

/* The awaited op's reply from the follower, its account row: answers a subscribe with a snapshot, a
 * resume with what follows or a gap. False without room; nothing has changed. */
CC_MUST_USE bool stream_private_begin(struct stream *stream, const struct reply *reply,
                                      const uint8_t *rows);

/* Ends the subscription, if there is one. */
void stream_private_end(struct stream *stream);

/* One turn: events, and the heartbeat when it is due. `facts` were read before the log. Returns the
 * work done. */
uint32_t stream_private_run(struct stream *stream, const struct net_facts *facts);

#endif
