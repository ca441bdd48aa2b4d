/* read_orders.h - the live orders of an account, newest placing first: a page of a list (json.md).
 *
 * Called by the thread that owns the engine (the follower) between commands; the follower merges
 * them with the ended ones of its memory. An order that is dead at the engine's t is given as it
 * will end (R3), and a filter by status goes by that.
 *
 * Owner.  A cursor is good until the next command is applied; then begin another one before the
 *         (sequence, index) of the row that was given last.
 * Bound.  A look through every order of the portfolios that the filter lets in (at most
 *         limits.open_orders and limits.conditional_orders each) for every
 *         READ_ORDERS_KEPT rows. */
#ifndef ENGINE_VIEW_READ_ORDERS_H
#define ENGINE_VIEW_READ_ORDERS_H

#include "engine/view/read.h"

enum { READ_ORDERS_KEPT = 256 };

struct read_orders_found {
    uint64_t sequence; /* of its placing */
    uint32_t index;
    uint32_t order; /* index, or EFFECT_CONDITIONAL | index of an untriggered one */
};

struct read_orders {
    struct read_filter filter;
    struct read_orders_found before; /* rows below it are still to be found */
    uint32_t count;                  /* found, newest first */
    uint32_t given;
    bool is_over; /* nothing lies below the found ones */
    struct read_orders_found found[READ_ORDERS_KEPT];
};

/* From below (before_sequence, before_index); before_sequence 0: from the newest. */
void read_orders_begin(struct read_orders *cursor, const struct read_filter *filter,
                       uint64_t before_sequence, uint32_t before_index);

/* The next row. False: there is none. */
CC_MUST_USE bool read_orders_next(struct read_orders *cursor, const struct engine *engine,
                                  struct row_order *row);

#endif
