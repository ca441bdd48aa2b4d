/* order.h - the table of live orders: a hot line and a short cold row each. Owned by the engine.
 *
 * Owner.  An index is valid from order_alloc to order_release. Code that keeps an order across a
 *         release keeps its index, never a pointer. Index 0 is a dummy: lists write to it without
 *         a branch, its content means nothing, and order_alloc never returns it.
 * Units.  Quantities are raw sizes of the market, times ns since 1970, notionals micro-USDC.
 * Bound.  `limit` orders at a time; memory is laid out for `slots`. Only the count of live orders
 *         decides a refusal. The index of an order is no part of the state that replicas compare.
 *
 * The initial size of an order is always filled + remaining (R3: reductions, replacements and STP
 * decrements change both alike), so it is not stored: order_initial(). */
#ifndef ENGINE_TABLE_ORDER_H
#define ENGINE_TABLE_ORDER_H

#include "base/compiler.h"
#include "engine/table/order_state.h"
#include "engine/table/order_terms.h"

/* The age of an order (R3): the sequence of the command that entered it, and in the low bits the
 * number of orders that this command entered before. No two orders of the engine share a stamp. */
enum { ORDER_STAMP_BITS = 16 };

static inline uint64_t order_stamp(uint64_t sequence, uint32_t number)
{
    INVARIANT(number >> ORDER_STAMP_BITS == 0);
    return sequence << ORDER_STAMP_BITS | number;
}

/* Returns a stamp above every order that this command or an earlier one entered; 0 for sequence 0.
 * Loaders check stamps against it and convert the sequences of older images with it. */
static inline uint64_t order_stamp_behind(uint64_t sequence)
{
    return sequence == 0 ? 0 : order_stamp(sequence + 1, 0);
}

enum { ORDER_NONE = 0 }; /* the dummy index: "no order" in every list */
enum { ORDER_SLOTS_MAX = 1 << 27, ORDER_OWN = 2 };

/* The part that matching reads and writes: one cache line. */
struct order {
    uint32_t next;      /* next in its level's queue, or ORDER_NONE; written by book only */
    uint32_t prev;      /* previous in that queue */
    uint32_t tick;      /* index in its side's ladder (book.h), set before book_insert */
    uint32_t map_slot;  /* its slot in the order-id map; written by order_map only */
    uint64_t remaining; /* raw; while resting written by book only */
    uint64_t id[2];     /* the UUID's 16 bytes in wire order, loaded as two words */
    uint64_t stamp;     /* its last entry into a queue: priority and cancellation lists */
    uint32_t holding;   /* index of its (portfolio, market) record */
    uint32_t account;   /* index in the account table: self-trade test and id lookup */
    uint16_t market;    /* index in the market table */
    uint8_t side;       /* enum order_side */
    uint8_t flags;      /* ORDER_POST_ONLY | ORDER_REDUCE_ONLY | stp << | tif << */
    uint8_t state;      /* enum order_state; written by order_move only */
    uint8_t order_type; /* enum order_type */
    uint8_t reason;     /* why it ended, a reason of the wire */
    bool has_extra;     /* its cold row has the index of its extras */
};

/* The part that lists read and write. order_alloc does not clear it. */
typedef uint64_t order_word __attribute__((aligned(4))); /* a row has no padding */
struct order_cold {
    order_word placed_ns; /* t of its placing */
    order_word handle;    /* the book sequence of its last add (2107); 0: it never rested */
    uint32_t list_next, list_prev; /* the holding's list of orders; written by its owner only */
    uint32_t extra;                /* index of its extras, valid if has_extra */
};

/* The extras of an order that fills in part, changes or expires: order_extra makes them. */
struct order_extra {
    uint64_t expiry_ns;       /* of a GTT order, as signed; else without meaning (order_expiry) */
    uint64_t filled;          /* raw */
    uint64_t filled_notional; /* micro-USDC; average price = this / filled */
    uint64_t updated_ns;      /* t of its last change */
    uint64_t placed_rank;     /* order_rank; a later entry into a queue changes only the stamp */
    uint64_t entered_ns;      /* t of its last entry into a queue (order_entered_ns) */
};

static_assert(sizeof(struct order) == CC_CACHE_LINE, "an order is one line");
static_assert(sizeof(struct order_cold) == 28, "two cold rows and a bit are one line");

struct order_table {
    struct order *hot;          /* [slots + 1 + ORDER_OWN] */
    struct order_cold *cold;    /* the same count; the engine's own come last (own_order.h) */
    struct order_extra *extras; /* the same count: at most one per order; [0] is all zero */
    uint32_t slots;             /* memory is laid out for so many */
    uint32_t limit;             /* may be used; <= slots */
    uint32_t count;             /* in use; <= limit */
    uint32_t fresh;             /* lowest index never handed out */
    uint32_t free_head;         /* freed indexes, last first, linked by next; ORDER_NONE: none */
    uint32_t extra_fresh;       /* lowest index of extras never handed out */
    uint32_t extra_free;        /* freed extras, last first, linked by `filled`; 0: none */
};

size_t order_table_bytes(uint32_t slots);

/* Prepares an empty table. `memory` has order_table_bytes(slots) zero bytes, 64-byte aligned, and
 * outlives the table. */
void order_table_init(struct order_table *table, void *memory, uint32_t slots);

/* Sets how many orders may live (engine.orders of the last 2013): count <= limit <= slots. */
void order_table_set_limit(struct order_table *table, uint32_t limit);

/* Hands out an order in state NEW; the rest of its hot line is zero. ORDER_NONE when `limit` orders
 * live; then nothing changes. The index freed last is used first. */
CC_MUST_USE uint32_t order_alloc(struct order_table *table);

/* Frees the index and its extras. The order is in no queue, map or list, and its state is final,
 * or NEW if the command refused it. */
void order_release(struct order_table *table, uint32_t index);

/* Returns the order's extras until they are freed; new ones are of its stamp and placed_ns. */
struct order_extra *order_extra(struct order_table *table, uint32_t index);

/* Frees the order's extras, if it has any. */
void order_forget(struct order_table *table, uint32_t index);

/* Adds a fill to the filled sums and moves the state to FILLED or PARTIALLY_FILLED. The caller has
 * subtracted the quantity (> 0) from `remaining` (for a maker: book_fill). */
void order_add_fill(struct order_table *table, uint32_t index, uint64_t quantity,
                    uint64_t notional);

/* Returns the expiry as signed: a time in ns, or one of the wire's expiries that are no time. */
CC_MUST_USE uint64_t order_expiry(const struct order_table *table, uint32_t index);

/* Moves an order to the next state. It is the only writer of a state: it asserts that the table of
 * order_state.h allows the move and that the order's sizes fit the new state. */
static inline void order_move(struct order *order, uint64_t filled, enum order_state next)
{
    INVARIANT(order_state_may_become((enum order_state)order->state, next)); /* so never to NEW */
    INVARIANT(order_state_fits(next, order->remaining, filled));
    order->state = (uint8_t)next;
}

/* Returns the index of the order's extras; 0: it has none, and the sums of row 0 are zero. */
static inline uint32_t order_extra_row(const struct order_table *table, uint32_t index)
{
    INVARIANT(index <= table->slots + ORDER_OWN);
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

/* Returns t of the last change of a live order. An order that ends changes at the engine's t. */
static inline uint64_t order_updated_ns(const struct order_table *table, uint32_t index)
{
    uint32_t extra = order_extra_row(table, index);

    return extra != 0 ? table->extras[extra].updated_ns : table->cold[index].placed_ns;
}

/* Returns the stamp of the order's placing: lists go by it. No two orders share it. */
static inline uint64_t order_rank(const struct order_table *table, uint32_t index)
{
    uint32_t extra = order_extra_row(table, index);

    return extra != 0 ? table->extras[extra].placed_rank : table->hot[index].stamp;
}

/* True for the kinds without a limit price; they are shown without a price (W10). */
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

/* Prefetches the hot line of an order for a later command. Any index is allowed. */
static inline void order_prefetch(const struct order_table *table, uint32_t index)
{
    CC_PREFETCH(&table->hot[index]);
}

#endif
