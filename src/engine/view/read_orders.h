/* read_orders.h - the live orders of an account, newest placing first: a page of a list (json.md).
 *
 * The thread that owns the engine (the follower) calls these functions between commands and merges
 * the rows with the ended orders of its memory. An order that is dead at the engine's t is shown as
 * it will end (R3); a filter by status uses that status.
 *
 * Owner.  A cursor is valid until the next command is applied. After it, begin another cursor with
 *         the (sequence, index) of the last row.
 * Bound.  Every READ_ORDERS_KEPT rows cost one walk over all orders of the portfolios that the
 *         filter admits (at most limits.open_orders and limits.conditional_orders each). */
#ifndef ENGINE_VIEW_READ_ORDERS_H
#define ENGINE_VIEW_READ_ORDERS_H

#include "engine/view/read.h"

enum { READ_ORDERS_KEPT = 256 };

struct read_orders_found {
    uint64_t sequence; /* of its placing */
    uint32_t index;
    uint32_t order; /* index, or EFFECT_CONDITIONAL | index of an untriggered order */
};

struct read_orders {
    struct read_filter filter;
    struct read_orders_found before; /* the next walk finds older orders than this */
    uint32_t count;                  /* of `found`, newest first */
    uint32_t given;                  /* of `found`, shown already */
    bool is_over;                    /* there is no older order than those of `found` */
    struct read_orders_found found[READ_ORDERS_KEPT];
};

/* Begins a walk over the orders that were placed before (before_sequence, before_index), newest
 * first; before_sequence 0: over all orders. */
void read_orders_begin(struct read_orders *cursor, const struct read_filter *filter,
                       uint64_t before_sequence, uint32_t before_index);

/* Shows the next order. False: there is none. */
CC_MUST_USE bool read_orders_next(struct read_orders *cursor, const struct engine *engine,
                                  struct row_order *row);

#endif
