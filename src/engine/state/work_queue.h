/* work_queue.h - what waits to be done in slices: the queue of deferred work (R3). work.h does it.
 *
 *   liquidations:  a portfolio's liquidation | the fund's selling in a market
 *   scans:         mark scan of a market
 *   others:        timers | cancellation list of a portfolio or a market | orders that fire | ...
 *                  head: worked on until it is finished                    tail: queued last
 *
 * Order.  Each first in, first out; liquidations before scans before others, but the last quarter
 *         of a command's units is the others' (R3).
 * Bound.  An item is queued at most once, so the queue has room for all of them.
 * Owner.  The engine; part of its image. */
#ifndef ENGINE_STATE_WORK_QUEUE_H
#define ENGINE_STATE_WORK_QUEUE_H

#include "base/compiler.h"
#include "base/option.h"

/* The kinds (R3), what index an item carries, and whose functions they are. An image holds the
 * numbers. */
enum work_kind {
    WORK_TIMERS = 1,    /* 0 */
    WORK_MARK_SCAN,     /* market */
    WORK_CANCEL,        /* portfolio */
    WORK_MARKET_CANCEL, /* market */
    WORK_TRIGGER,       /* number of the batch (trigger.h) */
    WORK_FUNDING,       /* market (funding.h) */
    WORK_LIQUIDATION,   /* portfolio (liquidation.h) */
    WORK_SETTLEMENT,    /* market (settlement.h) */
    WORK_UNWIND,        /* market (unwind.h) */
    WORK_ACCOUNT_LIST,  /* account (account_list.h) */
    WORK_EXCESS,        /* portfolio (excess.h) */
    WORK_KIND_COUNT
};

enum { WORK_MARKETS_MAX = 128, WORK_ITEM_BITS = 28 };

#define WORK_INDEX_MASK ((UINT32_C(1) << WORK_ITEM_BITS) - 1)

/* The scan of one market's positions. */
struct work_scan {
    uint32_t from;  /* portfolio number to go on at */
    uint8_t queued; /* in the queue */
    uint8_t begun;  /* visited a position since it was queued: `from` counts */
    uint8_t again;  /* the mark changed since it began: run it again */
    uint8_t exact;  /* the tiers changed: slacks bound nothing, check every position exactly */
    uint64_t mark;  /* at which it began, 0: not yet (R3, Gap) */
};

/* The cancellation list of one market (market.cancel_sequence). */
struct work_list {
    uint32_t portfolio; /* number to go on at */
    uint8_t queued;     /* in the queue */
    uint8_t inside;     /* in the orders of that portfolio: its cancel_cursor counts */
    uint8_t zero[2];
};

/* The queues, in the order in which units are taken from them (R3). An image holds their items in
 * this order. */
enum work_ring { WORK_RING_LIQUIDATIONS, WORK_RING_SCANS, WORK_RING_OTHERS, WORK_RING_COUNT };

struct work_items {
    uint32_t *items; /* ring of kind << WORK_ITEM_BITS | index */
    uint32_t mask;
    uint32_t head; /* position of the first item, counted without wrapping */
    uint32_t count;
};

struct work_queue {
    struct work_items rings[WORK_RING_COUNT];
    uint32_t count;         /* of all of them */
    uint32_t liquidations;  /* items of WORK_LIQUIDATION */
    uint32_t gaps;          /* markets that are in a gap */
    uint32_t account_lists; /* how many of accounts are queued: mostly none */
    bool timers_queued;
    struct work_scan scans[WORK_MARKETS_MAX];
    struct work_list lists[WORK_MARKETS_MAX];
    uint64_t next_second_ns; /* C: earliest second of a market that is due next */
    uint64_t next_timer_ns;  /* C: no timer is due before it */
};

struct engine;
struct market;

/* Returns the bytes that work_queue_init needs for these options. */
size_t work_queue_bytes(const struct option_engine *capacity);

/* `memory`: work_queue_bytes(capacity) zero bytes, 64-byte aligned, that outlive the queue. */
void work_queue_init(struct work_queue *work, void *memory, const struct option_engine *capacity);

/* True if an item waits. */
CC_MUST_USE bool work_queue_is_pending(const struct engine *engine);

/* The queue that an item of the kind goes to. */
static inline enum work_ring work_queue_ring(uint32_t kind)
{
    if (kind == WORK_LIQUIDATION || kind == WORK_UNWIND)
        return WORK_RING_LIQUIDATIONS;
    return kind == WORK_MARK_SCAN ? WORK_RING_SCANS : WORK_RING_OTHERS;
}

/* R10: a mark scan or a liquidation is queued. */
CC_MUST_USE bool work_queue_is_moving(const struct engine *engine);

/* R3: the market is in a gap, until its scan and every liquidation that is queued are done. */
void work_queue_begin_gap(struct engine *engine, uint32_t market);
/* Ends the gaps whose work is done; after each unit. */
void work_queue_end_gaps(struct engine *engine);
/* The market is in no gap any more. */
void work_queue_leave_gap(struct engine *engine, uint32_t market);

/* Takes the first item out of a queue. */
void work_queue_pop(struct engine *engine, enum work_ring ring);

/* Puts an item at the end of its queue. Its owner sees to it that there is at most one of it, and
 * that the ring has room for every item of the kind (ring_slots). */
void work_queue_push(struct engine *engine, enum work_kind kind, uint32_t index);

/* Whether the last item of the kind's queue is of this kind. */
CC_MUST_USE bool work_queue_ends_with(const struct engine *engine, enum work_kind kind);

/* A timer was set for this time. Each owner of a timer calls it at each set. */
void work_queue_timer_set(struct engine *engine, uint64_t deadline_ns);

/* Queues the scan of a market's positions (R7), or lets a running one begin again after its end. */
void work_queue_scan(struct engine *engine, uint32_t market);

/* Queues the release of a portfolio's dead orders. `holding`: where the new dead ones are. */
void work_queue_cancel(struct engine *engine, uint32_t holding);

/* Likewise; what is new on the list waits for a price (conditional.h). */
void work_queue_release(struct engine *engine, uint32_t portfolio);

/* Makes the market's orders that are not reduce-only dead and queues their release. A unit is one
 * of them, or one holder passed. */
void work_queue_market_cancel(struct engine *engine, uint32_t market);

/* A market was defined, or its second was made: its timer's deadline moved. */
void work_queue_second_changed(struct engine *engine);

/* The market whose second is due first (ties: lower asset id), or MARKET_NONE. */
CC_MUST_USE uint32_t work_queue_first_second(const struct engine *engine);

/* An order is about to leave its holding's list: a cancellation list that has come to it moves
 * on. */
void work_queue_order_leaves(struct engine *engine, uint32_t order);

#endif
