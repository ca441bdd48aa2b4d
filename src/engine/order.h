/* order.h - the table of live orders, a hot and a cold line each. Owned by the engine.
 *
 * Owner.  An index is valid from order_take to order_release; everybody holds indexes, never
 *         pointers, across a release. Index 0 is a dummy that lists may write to without a
 *         branch; its content means nothing and order_take never gives it.
 * Units.  Quantities are raw sizes of the market, times ns since 1970, notionals micro-USDC.
 * Bound.  `limit` orders at a time, of `slots` that memory was laid out for. Refusal is by count
 *         alone; which index an order gets is no part of the state that replicas compare.
 *
 * The initial size of an order is filled + remaining at every moment (R3: reductions, replacements
 * and STP decrements change both alike), so it is not stored: order_initial(). */
#ifndef ENGINE_ORDER_H
#define ENGINE_ORDER_H

#include "base/cc.h"
#include "engine/order_state.h"

/* Age of an order: the sequence of the command that entered it, and below it how many orders that
 * command had entered before (decision 54). No two orders of the engine share one. */
enum { ORDER_STAMP_BITS = 16 };

static inline uint64_t order_stamp(uint64_t sequence, uint32_t number)
{
    INVARIANT(number >> ORDER_STAMP_BITS == 0);
    return sequence << ORDER_STAMP_BITS | number;
}

/* The stamp of a list, whose orders are older, that covers all that this command or one before it
 * has entered; 0: none. What images were written with before there were stamps. */
static inline uint64_t order_stamp_behind(uint64_t sequence)
{
    return sequence == 0 ? 0 : order_stamp(sequence + 1, 0);
}

enum { ORDER_NONE = 0 }; /* the dummy index: "no order" in every list */
enum { ORDER_SLOTS_MAX = 1 << 27, ORDER_OWN = 2 };

enum order_side { ORDER_LONG = 0, ORDER_SHORT = 1 };

/* Time in force, numbered so that 0..2 are the wire's live_tif. */
enum order_tif { ORDER_IOC = 0, ORDER_FOK = 1, ORDER_GTC = 2, ORDER_GTT = 3 };

/* The wire's order_type. An order that was triggered keeps its own (R8). */
enum order_type {
    ORDER_MARKET,
    ORDER_LIMIT,
    ORDER_STOP_LIMIT,
    ORDER_STOP_MARKET,
    ORDER_TAKE_PROFIT,
    ORDER_TAKE_PROFIT_MARKET,
    ORDER_LIQUIDATE,
    ORDER_AUTO_DELEVERAGE,
    ORDER_TYPE_COUNT
};

enum {
    ORDER_POST_ONLY = 1 << 0,
    ORDER_REDUCE_ONLY = 1 << 1,
    ORDER_STP_SHIFT = 2, /* 2 bits: the wire's stp code */
    ORDER_TIF_SHIFT = 4, /* 2 bits: enum order_tif */
};

/* What matching touches: one cache line. */
struct order {
    uint32_t next;      /* behind it in its level's queue, or ORDER_NONE; written by book only */
    uint32_t prev;      /* before it */
    uint32_t tick;      /* index in its side's ladder (book.h), set before book_insert */
    uint32_t map_slot;  /* place in the order-id map; written by order_map only */
    uint64_t remaining; /* raw; while resting written by book only */
    uint64_t id[2];     /* the UUID's 16 bytes in wire order, loaded as two words */
    uint64_t stamp;     /* when it entered its queue last: priority and cancellation lists */
    uint32_t holding;   /* index of its (portfolio, market) record */
    uint16_t market;    /* index in the market table */
    uint8_t side;       /* enum order_side */
    uint8_t flags;      /* ORDER_POST_ONLY | ORDER_REDUCE_ONLY | stp << | tif << */
    uint32_t hash;      /* upper half of the keyed hash; written by order_map only */
    uint32_t account;   /* index in the account table: self-trade test and id lookup */
};

/* What acknowledging, listing and ending touch. */
struct order_cold {
    uint64_t expiry_ns;       /* the wire's expiry as signed; UINT64_MAX for GTC */
    uint64_t filled;          /* raw */
    uint64_t filled_notional; /* micro-USDC; average price = this / filled */
    uint64_t placed_ns;       /* t of its placing */
    uint64_t updated_ns;      /* t of its last change */
    uint64_t placed_sequence; /* of its placing; a re-entry does not change it */
    uint32_t list_next;       /* the holding's list of orders; written by its owner only */
    uint32_t list_prev;
    uint16_t index;     /* its number among the orders of the command that placed it (batch) */
    uint8_t state;      /* enum order_state; written by order_move only */
    uint8_t order_type; /* enum order_type */
    uint8_t reason;     /* the wire's reason of its end */
    uint8_t spare[3];
};

static_assert(sizeof(struct order) == CC_CACHE_LINE, "an order is one line");
static_assert(sizeof(struct order_cold) == CC_CACHE_LINE, "its cold half is one line");

struct order_table {
    struct order *hot;       /* [slots + 1 + ORDER_OWN] */
    struct order_cold *cold; /* the same; behind the slots stand the engine's own (own_order.h) */
    uint32_t slots;          /* laid out */
    uint32_t limit;          /* may be used; <= slots */
    uint32_t count;          /* in use; <= limit */
    uint32_t fresh;          /* lowest index never given out */
    uint32_t free_head;      /* last released first, linked by next; ORDER_NONE when empty */
};

size_t order_table_bytes(uint32_t slots);

/* `memory`: order_table_bytes(slots) zero bytes, 64-byte aligned, that outlive the table. */
void order_table_init(struct order_table *table, void *memory, uint32_t slots);

/* How many orders may live at once (engine.orders of the last 2013): count <= limit <= slots. */
void order_table_set_limit(struct order_table *table, uint32_t limit);

/* A zeroed order in state NEW, or ORDER_NONE when `limit` live: then nothing changes. The last
 * released index is given first. */
CC_MUST_USE uint32_t order_take(struct order_table *table);

/* Gives the index back. The order is in no queue, map or list any more and its state is final, or
 * NEW when the command refused it. */
void order_release(struct order_table *table, uint32_t index);

/* The only writer of a state: the table of order_state.h allows the move, and the order's sizes
 * agree with the new state. */
static inline void order_move(const struct order *order, struct order_cold *cold,
                              enum order_state next)
{
    INVARIANT(order_state_may_become((enum order_state)cold->state, next)); /* so never to NEW */
    INVARIANT(order_state_fits(next, order->remaining, cold->filled));
    cold->state = (uint8_t)next;
}

/* Books a fill whose quantity is already off `remaining` (book_take for a maker): filled sums and
 * the state FILLED or PARTIALLY_FILLED follow. quantity > 0. */
static inline void order_add_fill(const struct order *order, struct order_cold *cold,
                                  uint64_t quantity, uint64_t notional)
{
    INVARIANT(quantity != 0);
    cold->filled += quantity;
    cold->filled_notional += notional;
    if (order->remaining == 0)
        order_move(order, cold, ORDER_FILLED);
    else if (cold->state != ORDER_PARTIALLY_FILLED)
        order_move(order, cold, ORDER_PARTIALLY_FILLED);
}

static inline uint64_t order_initial(const struct order *order, const struct order_cold *cold)
{
    return cold->filled + order->remaining;
}

/* Kinds without a limit of their own: shown without a price (W10). */
static inline bool order_type_is_market(uint8_t type)
{
    return type == ORDER_MARKET || type == ORDER_STOP_MARKET || type == ORDER_TAKE_PROFIT_MARKET;
}

static inline uint8_t order_flags(bool post_only, bool reduce_only, uint8_t stp, enum order_tif tif)
{
    return (uint8_t)((post_only ? ORDER_POST_ONLY : 0) | (reduce_only ? ORDER_REDUCE_ONLY : 0) |
                     (stp & 3u) << ORDER_STP_SHIFT | ((unsigned)tif & 3u) << ORDER_TIF_SHIFT);
}

static inline uint8_t order_stp(const struct order *order)
{
    return (order->flags >> ORDER_STP_SHIFT) & 3u;
}

static inline enum order_tif order_tif(const struct order *order)
{
    return (enum order_tif)((order->flags >> ORDER_TIF_SHIFT) & 3u);
}

/* Both lines of an order that a later command of the batch will touch. Any index is allowed. */
static inline void order_prefetch(const struct order_table *table, uint32_t index)
{
    __builtin_prefetch(&table->hot[index], 1);
    __builtin_prefetch(&table->cold[index], 1);
}

#endif
