/* stream_state.h - one WebSocket and its subscriptions.
 *
 * Owner. The net thread.
 * Units. Times are clock_monotonic_ns. */
#ifndef NET_STREAM_STREAM_STATE_H
#define NET_STREAM_STREAM_STATE_H

#include "base/published.h"
#include "base/row_history.h"
#include "net/command/job.h"
#include "net/json/json_private.h"

enum {
    STREAM_MESSAGE_MAX =
        REQUEST_PASSKEY_ENVELOPE_MAX + 512, /* bytes of a client's message: of any envelope */
    STREAM_TEXT_MAX = 262144, /* bytes of a frame to a client, with its head: a whole book and one
                                  that replaces it fit */
    STREAM_ANSWER_MAX =
        6144, /* bytes of the frames that answer an op, but for snapshots of markets */
    STREAM_FRAME_HEAD = 10,                      /* bytes of a frame's head, at most */
    STREAM_CODED_MAX = 704,                      /* bytes of an encoded entry of a log */
    STREAM_CANDLE_MAX = 508,                     /* of an encoded candle */
    STREAM_CODED = 1024,                         /* encoded entries kept, of each log */
    STREAM_PRIVATE_MAX = JSON_PRIVATE_MAX + 128, /* bytes of an encoded private event */
    STREAM_PRIVATE_CODED = 128,                  /* of those that are kept */
};

/* Close codes (RFC 6455, 7.4; W9). */
enum {
    STREAM_CLOSE_GOING_AWAY = 1001,
    STREAM_CLOSE_PROTOCOL = 1002,
    STREAM_CLOSE_UNSUPPORTED = 1003,
    STREAM_CLOSE_TEXT = 1007,
    STREAM_CLOSE_POLICY = 1008, /* the key of the login has ended */
    STREAM_CLOSE_SLOW = 4008,
};

/* The channels of one market, in the order of stream_subs_names. */
enum stream_channel {
    STREAM_TRADES,
    STREAM_BBO,
    STREAM_BOOK,
    STREAM_MARK,
    STREAM_MARKET_STATE,
    STREAM_FUNDING,
    STREAM_LIQUIDATIONS,
    STREAM_BOOK_L3,
    STREAM_CANDLES, /* of 1m; those of the other intervals follow (enum row_interval) */
    STREAM_NAMES,   /* that channels have */
    STREAM_CHANNELS = STREAM_CANDLES + ROW_INTERVALS,
    STREAM_STATUS = STREAM_CHANNELS, /* these have no market */
    STREAM_PRIVATE,
};

struct stream_view;
struct stream_arm;
struct stream_coded;
struct stream_candle_coded;
struct stream_private_coded;

/* The subscription to a channel of one market. */
struct stream_sub {
    struct stream_view *view; /* of a book or bbo; NULL: another channel */
    uint64_t seq;             /* of the frame sent last */
    struct row_candle candle; /* of candles, as of that frame */
    char market[SYMBOL_BYTES];
    uint32_t symbol_index; /* of the market (symbols_index) */
    uint16_t asset_id;
    uint8_t channel;
    bool live;  /* its snapshot is sent */
    bool stale; /* of a book or bbo: its stream has much unsent, and it has missed updates */
};

/* The search of a resume, from the newest event down. */
struct stream_scan {
    uint64_t number;     /* events at and above it have been looked at */
    uint64_t oldest_seq; /* of the market's events among those */
    uint64_t seq;        /* the market's, as of the next two */
    uint64_t engine_seq;
    uint64_t time_ns;
    bool has_page; /* of history, since it began */
    bool is_lost;  /* and it has lost what follows: the search begins again */
};

/* Who the client has shown to be. */
struct stream_login {
    struct keyring_key key; /* kind 0: nobody yet */
    uint64_t account_id;
    int32_t pin; /* API_CALLER_NO_PIN: all subaccounts */
    bool may_write;
};

/* The subscription to the account's private events. */
struct stream_private {
    uint64_t at;      /* events up to this seq of the account have been looked at */
    uint64_t seq;     /* of the frame sent last */
    uint64_t begun;   /* the account's seq when it began: events up to here wait for the client */
    uint64_t beat_ns; /* of its next heartbeat, while it is live */
    uint64_t by;      /* sequence by which the event that history is asked for has happened;
                         UINT64_MAX: not known */
    uint64_t ask_ns;  /* history is not asked before */
    uint64_t asked;   /* seq of the newest event when history was asked last */
    bool asks;        /* history is asked for the events after `at`, which the log has lost */
    bool stale;       /* and what it answers is of a subscription that has ended */
    bool awaited;     /* the stream's input waits for its snapshot or its resume */
    bool live;
};

struct wslay_event_context;

struct stream {
    struct wslay_event_context *frames;
    struct streams *owner;
    struct conn *conn;
    struct stream *previous, *next; /* of its net thread */
    const uint8_t *bytes;           /* received and not read yet, in stream_socket_receive */
    size_t left;
    bool has_message;   /* one is read, and no more is in this call of it */
    uint64_t at;        /* number of the next event that it gets */
    uint64_t orders_at; /* number of the next change of an order that it gets */
    uint64_t beat_ns;   /* of its next heartbeats */
    uint32_t beat_at;   /* subscriptions that have had theirs, by channel and symbol */
    bool is_binary;     /* its frames are those of perps.bin.v1 */
    bool ended;         /* its close frame is sent */
    bool has_id;        /* of the awaited subscribe */
    int64_t id;
    struct stream_sub *awaited; /* whose snapshot its input waits for; NULL: it does not */
    uint64_t from;              /* number of the first event that may follow that snapshot */
    bool resumes;               /* no snapshot is wanted but the events after resume_seq */
    bool scans;                 /* it looks for them in the log */
    bool pages;                 /* history has them, or some of them, page by page */
    bool asks_history;          /* for the next page */
    bool is_answered;           /* the resume; a page was sent */
    uint64_t page_from;         /* number of the first event that may follow that page */
    uint64_t page_ns;           /* no page is asked for before */
    struct stream_scan scan;
    uint64_t resume_seq;
    uint64_t past;       /* events of the log below it had happened when it resumed trades */
    uint32_t past_count; /* of what has happened before a resume, and is not charged yet */
    struct stream_login login;
    struct stream_private private_events;
    struct stream_arm *arms; /* that end with it, and those that are being set */
    uint64_t login_look_ns;  /* while it has arms, its login's key is looked up again then */
    bool has_status;
    bool status_late; /* it found no room for the newest */
    uint64_t status_seq;
    uint32_t sub_count;    /* subscriptions of the table */
    uint32_t live_count;   /* those that are live */
    uint32_t log_count;    /* those that get events of the log (stream_subs_is_log) */
    uint32_t log_live;     /* those that are both */
    uint32_t candles_live; /* live ones of candles */
    uint32_t orders_live;  /* live ones of single orders */
    uint32_t stale_count;  /* those that are stale */
    struct stream_sub *subs[STREAM_CHANNELS][SYMBOLS_MAX]; /* by symbol_index; NULL: none */
};

struct streams {
    struct pipeline *pipeline;
    struct job_table *jobs;
    struct stream *first;
    uint32_t count;
    struct published open; /* the count, for other threads */
    uint64_t seen;         /* events in the log when it was looked at last */
    uint64_t books_seen;   /* writes of the board when it was looked at last */
    uint32_t orders_count; /* live subscriptions of single orders */
    uint64_t orders_seen;  /* changes of orders when they were looked at last */
    struct stream_view *views;
    uint32_t resuming; /* streams that scan */
    /* Arms of closed streams (stream_arm.h). */
    struct stream_arm *unanswered, *newest; /* whose 2012 is under way, oldest first; the last */
    struct stream_arm **due;                /* the others: a heap, the earliest due at 0 */
    uint32_t due_count, due_room;
    uint32_t arm_count;     /* all, also those of open streams */
    uint32_t private_count; /* streams with live private events */
    uint64_t private_seen;  /* events in the private log when it was looked at last */
    uint32_t status_count;  /* streams with the channel `status` */
    uint64_t look_ns;       /* when the status is looked at again */
    uint64_t status_beat_ns;
    uint32_t status_shown;            /* what the last status frames said, packed */
    uint64_t maintenance_shown;       /* and what they announced */
    uint64_t heads_shown;             /* heads that were made before those frames */
    bool behind;                      /* some stream is behind the log and may go on at once */
    struct stream_coded *coded;       /* [STREAM_CODED], events */
    struct stream_coded *order_coded; /* [STREAM_CODED], changes of orders */
    struct stream_candle_coded *candle_coded;   /* [STREAM_CODED] */
    struct stream_private_coded *private_coded; /* [STREAM_PRIVATE_CODED] */
    char *text;                                 /* [STREAM_TEXT_MAX], the frame being written */
    char *shared; /* [STREAM_TEXT_MAX], an update's data that many frames carry, as the next */
    char *shared_binary;
};

/* Whether an op awaits the follower, and the stream's input waits with it. */
CC_MUST_USE static inline bool stream_is_waiting(const struct stream *stream)
{
    return stream->awaited != NULL || stream->private_events.awaited;
}

#endif
