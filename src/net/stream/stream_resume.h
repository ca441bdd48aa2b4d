/* stream_resume.h - goes on with a channel after the last event that a client has: the events after
 * it are looked for in the follower's log, then in history (W9, resume). Net thread.
 *
 *   newest <── looked at, some a turn ── an event of the market at or below from_seq: all after it
 *                                        are there
 *                                     ── the oldest that the log has: history is asked for the
 *                                        trades after from_seq, page by page, the oldest first
 *   the last page ──> events of the log from when it was asked for
 *
 * What history has lost is a gap. If it was there when the search began, the search begins again.
 *
 * Wait.  A page, and what happened before the resume and is in the log, waits while a quarter of
 *        limits.stream_backlog is unsent, and the stream's input until the last page is sent.
 * Bound. The streams of a thread that search share STREAM_RESUME_A_TURN events a turn, but each
 *        looks at STREAM_RESUME_LEAST. */
#ifndef NET_STREAM_STREAM_RESUME_H
#define NET_STREAM_STREAM_RESUME_H

#include "net/stream/stream_state.h"

enum { STREAM_RESUME_A_TURN = 4096, STREAM_RESUME_LEAST = 16 };

/* Begins the search for the awaited subscription; the reply says where its market is. */
void stream_resume_begin(struct stream *stream, const struct reply *reply, const uint8_t *rows);

/* Ends the search, if there is one. */
void stream_resume_end(struct stream *stream);

/* While stream->pages: asks for the next page, or where the market is to search again, unless it
 * has been asked, it is too early, or the client has much unread. */
void stream_resume_page(struct stream *stream);

/* History has answered with a page, which is sent, or that it has lost what follows: a gap. Without
 * stream->pages the op is over. False without room; nothing has changed. */
CC_MUST_USE bool stream_resume_older(struct stream *stream, const struct reply *reply);

/* Whether trades that happened before a resume, which the log has, wait for the client. */
CC_MUST_USE bool stream_resume_waits(const struct stream *stream);

/* The page cannot be read at the moment: it is asked for again. */
void stream_resume_later(struct stream *stream);

/* One turn, while streams->resuming is not 0: searches on, and answers those that have found their
 * place. Returns the work done. */
uint32_t stream_resume_run(struct streams *streams);

#endif
