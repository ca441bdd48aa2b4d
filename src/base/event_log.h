/* event_log.h - public events for streams, as rows of a row_log.
 *
 *   follower ── event_log_add ──> the newest EVENT_LOG_SLOTS events ──> net threads
 *
 * Order, Wait. row_log's. Events are numbered from 0.
 * Owner. The writer is the follower's thread; any thread reads.
 * Bound. EVENT_LOG_SLOTS events, mapped at the start. */
#ifndef BASE_EVENT_LOG_H
#define BASE_EVENT_LOG_H

#include "base/row.h"
#include "base/row_history.h"
#include "base/row_log.h"

enum { EVENT_LOG_SLOTS = 65536, EVENT_LOG_BYTES = 128 };

/* EVENT_LOG_BEGIN: nothing has happened; the market had this seq when the log began. */
enum event_log_kind {
    EVENT_LOG_BEGIN,
    EVENT_LOG_TRADE,
    EVENT_LOG_MARK,
    EVENT_LOG_STATE,
    EVENT_LOG_RATE,
    EVENT_LOG_LIQUIDATION,
};

/* A public event of a market with what its JSON needs. */
struct event_log_event {
    uint64_t seq;      /* of the market (W9) */
    uint64_t sequence; /* of its command */
    uint64_t time_ns;  /* of that, unix ns */
    uint16_t asset_id;
    uint8_t kind; /* enum event_log_kind */
    uint8_t price_decimals;
    uint8_t size_decimals;
    uint8_t zero[3];
    union {
        struct row_trade trade;
        struct row_mark mark;
        struct row_market_state state;
        struct row_rate rate;
        struct row_liquidation liquidation;
    };
};

static_assert(sizeof(struct event_log_event) == EVENT_LOG_BYTES, "whole words");

struct event_log {
    struct row_log rows;
};

/* 0 or -ENOMEM. The log must be all zeros before. */
CC_MUST_USE static inline int event_log_init(struct event_log *log)
{
    return row_log_init(&log->rows, EVENT_LOG_SLOTS, EVENT_LOG_BYTES);
}

static inline void event_log_free(struct event_log *log)
{
    row_log_free(&log->rows);
}

static inline void event_log_add(struct event_log *log, const struct event_log_event *event)
{
    row_log_add(&log->rows, event);
}

/* How many events were ever added; the next one has this number. */
CC_MUST_USE static inline uint64_t event_log_count(const struct event_log *log)
{
    return row_log_count(&log->rows);
}

/* Copies the event of that number, which was added. False: it has been overwritten, and what
 * `event` then holds means nothing. */
CC_MUST_USE static inline bool event_log_read(const struct event_log *log, uint64_t number,
                                              struct event_log_event *event)
{
    return row_log_read(&log->rows, number, event);
}

#endif
