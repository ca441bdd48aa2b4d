/* order.h - the table of live orders: a hot line and a short cold row each. Owned by the engine.
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
#ifndef ENGINE_TABLE_ORDER_H
#define ENGINE_TABLE_ORDER_H

#include "base/compiler.h"
#include "engine/table/order_state.h"
#include "engine/table/order_terms.h"

/* Age of an order: the sequence of the command that entered it, and below it how many orders that
 * command had entered before (R3, the age of an order). No two orders of the engine share one. */
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
    uint32_t account;   /* index in the account table: self-trade test and id lookup */
    uint16_t market;    /* index in the market table */
    uint8_t side;       /* enum order_side */
    uint8_t flags;      /* ORDER_POST_ONLY | ORDER_REDUCE_ONLY | stp << | tif << */
    uint8_t state;      /* enum order_state; written by order_move only */
    uint8_t order_type; /* enum order_type */
    uint8_t reason;     /* the wire's reason of its end */
    bool has_extra;     /* its cold row names its extras */
};

/* What listing touches. order_take leaves it as it was. */
typedef uint64_t order_time __attribute__((aligned(4))); /* a row has no padding */
struct order_cold {
    order_time placed_ns; /* t of its placing */
    uint32_t list_next;   /* the holding's list of orders; written by its owner only */
    uint32_t list_prev;
    uint32_t extra; /* its row of extras, when it has one */
};

/* What most orders do not need, since they are entered once, never change and do not expire: made
 * by order_extra when one does. */
struct order_extra {
    uint64_t expiry_ns;       /* of a GTT order, as signed; else nothing (order_expiry) */
    uint64_t filled;          /* raw */
    uint64_t filled_notional; /* micro-USDC; average price = this / filled */
    uint64_t updated_ns;      /* t of its last change */
    uint64_t placed_rank;     /* order_rank: a re-entry gives another stamp and leaves this */
};

static_assert(sizeof(struct order) == CC_CACHE_LINE, "an order is one line");
static_assert(sizeof(struct order_cold) == 20, "three cold rows and a bit are one line");

struct order_table {
    struct order *hot;       /* [slots + 1 + ORDER_OWN] */
    struct order_cold *cold; /* the same; behind the slots stand the engine's own (own_order.h) */
    struct order_extra *extras; /* the same number: one an order at most; [0] is all zero */
    uint32_t slots;             /* laid out */
    uint32_t limit;             /* may be used; <= slots */
    uint32_t count;             /* in use; <= limit */
    uint32_t fresh;             /* lowest index never given out */
    uint32_t free_head;         /* last released first, linked by next; ORDER_NONE when empty */
    uint32_t extra_fresh;       /* lowest row of extras never given out */
    uint32_t extra_free;        /* last given back first, linked by `filled`; 0 when empty */
};

size_t order_table_bytes(uint32_t slots);

/* `memory`: order_table_bytes(slots) zero bytes, 64-byte aligned, that outlive the table. */
void order_table_init(struct order_table *table, void *memory, uint32_t slots);

/* How many orders may live at once (engine.orders of the last 2013): count <= limit <= slots. */
void order_table_set_limit(struct order_table *table, uint32_t limit);

/* An order in state NEW whose hot line is else zero, or ORDER_NONE when `limit` live: then nothing
 * changes. The last released index is given first. */
CC_MUST_USE uint32_t order_take(struct order_table *table);

/* Gives the index back. The order is in no queue, map or list any more and its state is final, or
 * NEW when the command refused it. */
void order_release(struct order_table *table, uint32_t index);

/* The order's row of extras, made with what holds so far when it has none: never refuses. Its stamp
 * and placed_ns are set. */
struct order_extra *order_extra(struct order_table *table, uint32_t index);

/* Gives its row of extras back, if it has one. */
void order_forget(struct order_table *table, uint32_t index);

/* Books a fill whose quantity is already off `remaining` (book_take for a maker): filled sums and
 * the state FILLED or PARTIALLY_FILLED follow. quantity > 0. */
void order_add_fill(struct order_table *table, uint32_t index, uint64_t quantity,
                    uint64_t notional);

/* The wire's expiry as signed. */
CC_MUST_USE uint64_t order_expiry(const struct order_table *table, uint32_t index);

/* The only writer of a state: the table of order_state.h allows the move, and the order's sizes
 * agree with the new state. */
static inline void order_move(struct order *order, uint64_t filled, enum order_state next)
{
    INVARIANT(order_state_may_become((enum order_state)order->state, next)); /* so never to NEW */
    INVARIANT(order_state_fits(next, order->remaining, filled));
    order->state = (uint8_t)next;
}

/* Its row of extras, or 0: the one whose sums are zero. */
static inline uint32_t order_extra_row(const struct order_table *table, uint32_t index)
{
    return CC_UNLIKELY(table->hot[index].has_extra) ? table->cold[index].extra : 0;
}

static inline uint64_t order_filled(const struct order_table *table, uint32_t index)
{
    return table->extras[order_extra_row(table, index)].filled;
}

static inline uint64_t order_filled_notional(const struct order_table *table, uint32_t index)
{
    return table->extras[order_extra_row(table, index)].filled_notional;
}

static inline uint64_t order_initial(const struct order_table *table, uint32_t index)
{
    return order_filled(table, index) + table->hot[index].remaining;
}

/* t of the last change of an order that lives; one that ends does so now. */
static inline uint64_t order_updated_ns(const struct order_table *table, uint32_t index)
{
    uint32_t extra = order_extra_row(table, index);

    return extra != 0 ? table->extras[extra].updated_ns : table->cold[index].placed_ns;
}

/* Placing order: the stamp of its placing. No two orders share it. */
static inline uint64_t order_rank(const struct order_table *table, uint32_t index)
{
    uint32_t extra = order_extra_row(table, index);

    return extra != 0 ? table->extras[extra].placed_rank : table->hot[index].stamp;
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

/* The line of an order that a later command of the batch will touch. Any index is allowed. */
static inline void order_prefetch(const struct order_table *table, uint32_t index)
{
    __builtin_prefetch(&table->hot[index], 1);
}

#endif
