/* read_positions.h - the positions of an account, and the holders of a market by their rank in a
 * deleveraging (rules.md R4, R7; json.md).
 *
 * Called by the thread that owns the engine (the follower) between commands. Nothing is settled or
 * stored: figures are made anew at the current marks.
 *
 * Order.  By (subaccount, portfolio), then asset id.
 * Owner.  A cursor is good until the next command is applied.
 * Bound.  A row costs its portfolio's records (at most 64) and its own resting orders (at most
 *         limits.open_orders). */
#ifndef ENGINE_VIEW_READ_POSITIONS_H
#define ENGINE_VIEW_READ_POSITIONS_H

#include "engine/view/read.h"

struct read_positions {
    struct read_filter filter;
    uint32_t subaccount_index; /* where it stands */
    uint32_t portfolio_index;
    uint32_t next_market; /* in ascending asset ids */
    /* Of the row given last: */
    uint32_t portfolio; /* its creation number */
    uint32_t market;    /* it is the k-th of read_market */
    int128 score;       /* R7's, see read_positions_next_holder */
};

void read_positions_begin(struct read_positions *cursor, const struct read_filter *filter);

/* The next row, its adl_quantile 0. False: there is none. */
CC_MUST_USE bool read_positions_next(struct read_positions *cursor, const struct engine *engine,
                                     struct row_position *row);

/* A record of a market: a position, or resting orders alone. */
struct read_positions_holder {
    uint32_t portfolio; /* creation number */
    uint32_t zero;
    int64_t size; /* signed; 0: no position */
    int128 score; /* R7: the higher, the sooner it is deleveraged; 0 without a position */
};

/* The holder of the k-th market with the lowest portfolio number >= *from, and *from behind it.
 * False: there is none. Account 0 is a holder too. Cost: the portfolio's records. */
CC_MUST_USE bool read_positions_next_holder(const struct engine *engine, uint32_t k, uint32_t *from,
                                            struct read_positions_holder *holder);

#endif
