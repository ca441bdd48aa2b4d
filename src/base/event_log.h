/* event_log.h - public events for streams: one writer, any number of readers that it never waits
 * for.
 *
 *   follower ── event_log_add ──> the newest EVENT_LOG_SLOTS events ──> net threads
 *
 * Order. Events are numbered from 0. The writer marks a slot as begun before it overwrites it and
 *        counts it afterwards, so a reader knows that what it copied was whole, or that it has been
 *        overrun.
 * Wait.  Nothing blocks or retries. A reader that is too slow loses events, never the writer.
 * Owner. The writer is one thread; any thread reads.
 * Bound. EVENT_LOG_SLOTS events, mapped at the start. */
#ifndef BASE_EVENT_LOG_H
#define BASE_EVENT_LOG_H

#include "base/row.h"
#include "base/row_history.h"

enum { EVENT_LOG_SLOTS = 65536, EVENT_LOG_WORDS = 16 };

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

static_assert(sizeof(struct event_log_event) == EVENT_LOG_WORDS * sizeof(uint64_t), "whole words");

struct event_log {
    struct event_log_slot *slots; /* NULL: before event_log_init */
    CC_NO_SHARE _Atomic uint64_t begun;
    CC_NO_SHARE _Atomic uint64_t count;
};

/* 0 or -ENOMEM. The log must be all zeros before. */
CC_MUST_USE int event_log_init(struct event_log *log);
void event_log_free(struct event_log *log);

void event_log_add(struct event_log *log, const struct event_log_event *event);

/* How many events were ever added; the next one has this number. */
CC_MUST_USE static inline uint64_t event_log_count(const struct event_log *log)
{
    return atomic_load_explicit(&log->count, memory_order_acquire); /* pairs: event_log_add */
}

/* Copies the event of that number, which was added. False: it has been overwritten. */
CC_MUST_USE bool event_log_read(const struct event_log *log, uint64_t number,
                                struct event_log_event *event);

#endif
