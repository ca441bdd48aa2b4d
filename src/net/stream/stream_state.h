/* stream_state.h - one WebSocket and its subscriptions.
 *
 * Owner. The net thread.
 * Units. Times are clock_monotonic_ns. */
#ifndef NET_STREAM_STREAM_STATE_H
#define NET_STREAM_STREAM_STATE_H

#include "base/published.h"
#include "net/response/pipeline.h"

enum {
    STREAM_MESSAGE_MAX = 4096, /* bytes of a client's message */
    STREAM_TEXT_MAX = 65536,   /* bytes of a frame to a client, with its head */
    STREAM_FRAME_HEAD = 4,     /* bytes of a frame's head, at most */
    STREAM_CODED_MAX = 448,    /* bytes of an encoded trade */
    STREAM_CODED = 1024,       /* encoded events kept */
};

/* Close codes (RFC 6455, 7.4; W9). */
enum {
    STREAM_CLOSE_GOING_AWAY = 1001,
    STREAM_CLOSE_PROTOCOL = 1002,
    STREAM_CLOSE_UNSUPPORTED = 1003,
    STREAM_CLOSE_TEXT = 1007,
    STREAM_CLOSE_SLOW = 4008,
};

/* The channel `trades` of one market. */
struct stream_trades {
    uint64_t seq; /* of the frame sent last */
    char market[SYMBOL_BYTES];
    uint16_t asset_id;
    bool live; /* its snapshot is sent */
};

struct wslay_event_context;

struct stream {
    struct wslay_event_context *frames;
    struct streams *owner;
    struct conn *conn;
    struct stream *previous, *next; /* of its net thread */
    const uint8_t *bytes;           /* received and not read yet, in stream_receive */
    size_t left;
    uint64_t at;      /* number of the next event that it gets */
    uint64_t beat_ns; /* of its next heartbeats */
    bool ended;       /* its close frame is sent */
    bool awaits;      /* a snapshot; its input waits */
    bool has_id;      /* of the awaited subscribe */
    int64_t id;
    uint64_t from; /* number of the first event that may follow the awaited snapshot */
    bool has_status;
    uint64_t status_seq;
    uint32_t trades_count;
    struct stream_trades trades[SYMBOLS_MAX];
};

/* The subscription to a market's trades; NULL: there is none. */
static inline struct stream_trades *stream_find_trades(struct stream *stream, uint16_t asset_id)
{
    for (uint32_t i = 0; i < stream->trades_count; i++)
        if (stream->trades[i].asset_id == asset_id)
            return &stream->trades[i];
    return NULL;
}

/* An event as text from its "engine_seq" to its last brace. */
struct stream_coded {
    uint64_t number; /* 1 + that of the event; 0: none */
    struct event_log_trade event;
    uint32_t count;
    char text[STREAM_CODED_MAX];
};

struct streams {
    struct pipeline *pipeline;
    struct stream *first;
    uint32_t count;
    struct published open; /* the count, for other threads */
    uint64_t seen;         /* events in the log when it was looked at last */
    uint32_t status_count; /* streams with the channel `status` */
    uint64_t look_ns;      /* when the status is looked at again */
    uint64_t status_beat_ns;
    uint32_t status_shown;      /* what the last status frames said, packed */
    bool behind;                /* some stream is behind the log and may go on at once */
    struct stream_coded *coded; /* [STREAM_CODED] */
    char *text;                 /* [STREAM_TEXT_MAX], the frame being written */
};

#endif
