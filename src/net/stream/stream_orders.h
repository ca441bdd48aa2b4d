/* stream_orders.h - the channel `book_l3`: the single orders of a book, and each change of one,
 * which all streams share (wire.md W9, json.md J9). Net thread. */
#ifndef NET_STREAM_STREAM_ORDERS_H
#define NET_STREAM_STREAM_ORDERS_H

#include "net/stream/stream_state.h"

enum { STREAM_ORDERS_LIMIT = 1000 /* orders of a side in a snapshot */ };

/* Sends the snapshot of the subscription, whose changes follow from stream->from on. The caller has
 * seen to the room. */
void stream_orders_begin(struct stream *stream, struct stream_sub *sub, const struct reply *reply,
                         const uint8_t *rows);

/* One turn of a stream with live ones: sends changes up to `end`, exclusive, as far as there is
 * room. Returns those passed. */
uint32_t stream_orders_run(struct stream *stream, uint64_t end);

#endif
