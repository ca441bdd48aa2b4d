/* book_log.h - changes of single orders in books for streams, as rows of a row_log, while some
 * reader wants them.
 *
 *   net threads ── book_log_want ──> follower ── book_log_add ──> the newest BOOK_LOG_SLOTS changes
 *                                                                        └──> net threads
 *
 * Order. row_log's. What is applied after the follower could see a want is added: a query sent
 *        after book_log_want shows what was before.
 * Wait.  Nothing blocks or retries.
 * Owner. The writer is the follower's thread; any thread reads and wants.
 * Bound. BOOK_LOG_SLOTS changes, mapped at the start. */
#ifndef BASE_BOOK_LOG_H
#define BASE_BOOK_LOG_H

#include "base/row_log.h"

enum { BOOK_LOG_SLOTS = 65536, BOOK_LOG_BYTES = 64 };

/* The actions of 2107 (wire.md W3c), in its order. */
enum book_log_action {
    BOOK_LOG_ADD,
    BOOK_LOG_REDUCE,
    BOOK_LOG_DELETE,
    BOOK_LOG_EXECUTE,
};

/* A change of an order with what its JSON needs. */
struct book_log_change {
    uint64_t seq;      /* of the market (W9) */
    uint64_t sequence; /* of its command */
    uint64_t time_ns;  /* of that, unix ns */
    uint64_t handle;   /* seq of the order's add */
    uint64_t price;    /* raw */
    uint64_t size;     /* raw, what is left */
    uint16_t asset_id;
    uint8_t side; /* 0 LONG, 1 SHORT */
    uint8_t action;
    uint8_t price_decimals;
    uint8_t size_decimals;
    uint8_t zero[10];
};

static_assert(sizeof(struct book_log_change) == BOOK_LOG_BYTES, "whole words");

struct book_log {
    struct row_log rows;
    _Atomic uint32_t wanted;
};

/* 0 or -ENOMEM. The log must be all zeros before. */
CC_MUST_USE static inline int book_log_init(struct book_log *log)
{
    return row_log_init(&log->rows, BOOK_LOG_SLOTS, BOOK_LOG_BYTES);
}

static inline void book_log_free(struct book_log *log)
{
    row_log_free(&log->rows);
}

/* From now on changes are added; each call is ended by one of book_log_drop. */
static inline void book_log_want(struct book_log *log)
{
    /* relaxed: the query that follows goes through a ring, which orders it. */
    atomic_fetch_add_explicit(&log->wanted, 1, memory_order_relaxed);
}

static inline void book_log_drop(struct book_log *log)
{
    atomic_fetch_sub_explicit(&log->wanted, 1, memory_order_relaxed);
}

CC_MUST_USE static inline bool book_log_is_wanted(const struct book_log *log)
{
    return atomic_load_explicit(&log->wanted, memory_order_relaxed) != 0;
}

static inline void book_log_add(struct book_log *log, const struct book_log_change *change)
{
    row_log_add(&log->rows, change);
}

/* How many changes were ever added; the next one has this number. */
CC_MUST_USE static inline uint64_t book_log_count(const struct book_log *log)
{
    return row_log_count(&log->rows);
}

/* Copies the change of that number, which was added. False: it has been overwritten, and what
 * `change` then holds means nothing. */
CC_MUST_USE static inline bool book_log_read(const struct book_log *log, uint64_t number,
                                             struct book_log_change *change)
{
    return row_log_read(&log->rows, number, change);
}

#endif
