/* holding.h - one record per (portfolio, market) with a position or a resting order.
 *
 * It carries the position (R2), the sums of the resting orders that margin needs (R4), what the
 * mark scan keeps (R7) and the list of the orders themselves. Owned by the engine.
 *
 * Owner.  Indexes are valid until holding_release; index 0 is a dummy and never given.
 * Units.  Sizes raw, cost and notionals micro-USDC, prices raw.
 * Order.  A portfolio's holdings are linked by ascending market index, the order list is by placing
 *         sequence (oldest first), a market's holders are met by ascending portfolio number. */
#ifndef ENGINE_STATE_HOLDING_H
#define ENGINE_STATE_HOLDING_H

#include "base/compiler.h"
#include "engine/table/hash_index.h"
#include "engine/table/slot_table.h"

enum { HOLDING_NONE = 0 };

/* The resting orders of one side. Reduce-only ones are in `reduce_*` alone. */
struct holding_side {
    int64_t size;        /* B or S of R4 */
    int64_t notional;    /* bn or sn */
    int64_t reduce_size; /* reduce-only: R1's bounds count them, R4 does not */
    int64_t reduce_notional;
    uint64_t price_bound;     /* buy_price_max, sell_price_min: bounds every price (R4); 0: empty */
    uint64_t cancel_sequence; /* stamp: older orders are dead (R3) */
    uint32_t order_count;     /* resting, reduce-only and dead ones included */
    uint32_t margin_count;    /* those of them that are not reduce-only */
};

/* Five lines: what a walk reads; the orders' sums and the position's id; margin; links. */
struct holding {
    int64_t size;                    /* signed */
    int64_t cost;                    /* signed */
    uint64_t post_cancel_sequence;   /* stamp: older post-only orders are dead (MMP) */
    uint64_t reduce_cancel_sequence; /* stamp: older reduce-only orders are dead */
    uint64_t walk_stamp;             /* scratch of one walk (R3): valid while it is the walk's */
    int64_t walk_quantity;
    int64_t walk_equity;
    uint32_t portfolio;
    uint16_t market;              /* index in the market table */
    uint8_t side_reasons[2];      /* of the sides' lists: enum reason, 0: none yet */
    struct holding_side sides[2]; /* by enum order_side */
    uint64_t position_ns;         /* t, sequence and index that make the position's id (R3) */
    uint64_t position_sequence;
    int128 figure_initial;      /* margin's figures at figure_mark (margin.h): IM_m, ... */
    int128 figure_loose;        /* ... by how much it may be too high, 0: exact */
    int64_t figure_value;       /* mark * size - cost */
    int64_t figure_maintenance; /* MM_m */
    uint64_t figure_mark;       /* 0: the figures are out of date */
    uint64_t mark_seen;         /* the last mark at which the portfolio's E was >= 0 (R7) */
    uint32_t position_index;
    uint32_t order_head; /* list of its orders, oldest placing sequence first */
    uint32_t order_tail;
    uint32_t next; /* next holding of the portfolio; in the free list: next free */
    uint32_t map_slot;
    uint32_t cancel_cursor; /* order that a cancellation list goes on at (work.h) */
    uint16_t leverage;      /* copy of the portfolio's setting (leverage.h), 0: none */
    bool exceeds;           /* queued for its reduce-only orders (excess.h) */
    uint8_t zero;
    uint32_t mmp;              /* its setting in the table of mmp.h, 0: none */
    uint64_t liquidation_ns;   /* t of the last L1 action that sold of it (R7), 0: none */
    int64_t net_funding;       /* of the position */
    uint32_t funding_epoch;    /* epoch of the market up to which its funding is settled (R5) */
    uint32_t account_position; /* what its account has there (account_position.h) */
    uint32_t account_next;     /* list of the account's holdings, if it has more than one */
    uint32_t account_prev;     /* portfolio (account_position.h); HOLDING_NONE: the ends */
};

static_assert(sizeof(struct holding) == 5 * CC_CACHE_LINE, "rows stay on lines");

/* clang-format off */
#define HOLDING_SIDE_FIELDS(X) \
    X(size) X(notional) X(reduce_size) X(reduce_notional) X(price_bound) X(cancel_sequence) \
    X(order_count) X(margin_count)
#define HOLDING_FIELDS(X) \
    X(size) X(cost) X(net_funding) X(mark_seen) X(sides) X(reduce_cancel_sequence) X(position_ns) \
    X(position_sequence) X(position_index) X(portfolio) X(market) X(figure_initial) \
    X(figure_loose) X(figure_value) X(figure_maintenance) X(figure_mark) X(funding_epoch) \
    X(liquidation_ns) X(post_cancel_sequence) X(side_reasons)
#define HOLDING_FIELDS_1(X) \
    X(size) X(cost) X(net_funding) X(mark_seen) X(sides) X(reduce_cancel_sequence) X(position_ns) \
    X(position_sequence) X(position_index) X(portfolio) X(market) X(figure_initial) \
    X(figure_loose) X(figure_value) X(figure_maintenance) X(figure_mark)
#define HOLDING_CACHES(X) \
    X(walk_quantity) X(walk_equity) X(walk_stamp) X(order_head) X(order_tail) X(next) \
    X(map_slot) X(cancel_cursor) X(leverage) X(exceeds) X(zero) X(mmp) X(account_position) \
    X(account_next) X(account_prev)
/* clang-format on */

struct holding_table {
    struct holding *rows; /* [slots.laid_out + 1]; 0 is the dummy */
    struct hash_index map;
    struct slot_table slots; /* limit: engine.positions */
};

/* Prefetch: where the map has a record that may be given back. */
static inline void holding_prefetch_slot(const struct holding_table *table,
                                         const struct holding *holding)
{
    CC_PREFETCH(&table->map.buckets[holding->map_slot >> HASH_INDEX_BUCKET_SHIFT]);
}

struct engine;
struct image_read;

/* Returns the bytes that holding_table_init needs for that many. */
size_t holding_table_bytes(uint32_t slots);

/* Prepares an empty table. `memory`: holding_table_bytes(slots) zero bytes, 64-byte aligned,
 * which outlive it. */
void holding_table_init(struct holding_table *table, void *memory, uint32_t slots);

/* Index of the record of (portfolio, market index), or HOLDING_NONE. */
CC_MUST_USE uint32_t holding_find(const struct engine *engine, uint32_t portfolio, uint32_t market);

/* True if only R1's bound of 64 markets prevents a new record. */
CC_MUST_USE bool holding_over_markets(const struct engine *engine, uint32_t portfolio,
                                      uint32_t market);

/* The record, made (all zero, mark_seen = the market's mark) when there is none. A new one has room
 * in the table and by R1's bound of 64 markets. */
uint32_t holding_get(struct engine *engine, uint32_t portfolio, uint32_t market);

/* Gives the record back when it has neither position nor orders; else does nothing. */
void holding_free_empty(struct engine *engine, uint32_t holding);

/* The position's size has changed from `before`: what its account and its market hold follows. One
 * that is 0 or flipped exceeds nothing. */
void holding_move(struct engine *engine, struct holding *holding, int64_t before);

/* Puts a resting order into the record's list, or takes one out: the links and the counts of the
 * portfolio's resting orders only, sums are the caller's. At the end, except after a trigger: an
 * order that was placed before others goes before them. */
void holding_link(struct engine *engine, uint32_t holding, uint32_t order);
void holding_unlink(struct engine *engine, uint32_t order);

/* The holder of a market (index) with the lowest portfolio number >= from, or HOLDING_NONE. */
CC_MUST_USE uint32_t holding_next_holder(const struct engine *engine, uint32_t market,
                                         uint32_t from);

/* Section 6 of an image, into the empty table; portfolios, markets and leverages are there. The
 * sums of the sides are made again from the orders (order_load). */
CC_MUST_USE bool holding_load(struct engine *engine, struct image_read *read);

#endif
