/* stream_book.h - the channels `book` and `bbo`: snapshots, updates that all streams share, and
 * conflation (W9). Net thread.
 *
 * A stream with a quarter of limits.stream_backlog unsent gets no updates of books. When half of
 * that is sent, it gets the whole state: what changed in between is sent once. */
#ifndef NET_STREAM_STREAM_BOOK_H
#define NET_STREAM_STREAM_BOOK_H

#include "net/stream/stream_state.h"

/* Takes the snapshot into the view of the subscription, shows it to the others, and sends it. There
 * is room for it. */
void stream_book_begin(struct stream *stream, struct stream_sub *sub, const struct reply *reply,
                       const uint8_t *rows);

/* One turn: sends what the board has shown since. Returns the work done. */
uint32_t stream_book_run(struct streams *streams);

/* Sends whole states to a stream that has missed updates, when it has room. */
void stream_book_catch_up(struct stream *stream);

#endif
