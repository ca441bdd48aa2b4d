/* stream_coded.h - a public log. Each stream gets every record of it in its own time, and
 * a record is encoded once for all streams of the net thread. Net thread. */
#ifndef NET_STREAM_STREAM_CODED_H
#define NET_STREAM_STREAM_CODED_H

#include "net/http/writer.h"
#include "net/stream/stream_state.h"

/* What an entry is of. */
struct stream_coded_of {
    uint64_t seq;      /* of the market (W9) */
    uint64_t sequence; /* of its command */
    uint64_t time_ns;  /* of that, unix ns */
    uint16_t asset_id;
};

/* Reads the entry of that number, begins its text (stream_coded_begin), writes its data and sets
 * coded->channel. False, and nothing written: it has been overwritten. */
typedef bool stream_coded_write(const struct streams *streams, uint64_t number,
                                struct stream_coded *coded, struct writer *writer);

void stream_coded_begin(const struct streams *streams, struct stream_coded *coded,
                        const struct stream_coded_of *of, struct writer *writer);

/* One turn of a stream: sends entries from *at up to `end`, exclusive, as far as there is room, and
 * closes a stream that the log has overrun. Returns those passed. `kept`: STREAM_CODED entries. */
uint32_t stream_coded_run(struct stream *stream, struct stream_coded *kept,
                          stream_coded_write *write, uint64_t *at, uint64_t end);

#endif
