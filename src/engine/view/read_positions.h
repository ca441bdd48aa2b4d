/* read_positions.h - the positions of an account, and the holders of a market by their rank in a
 * deleveraging (rules.md R4, R7; json.md).
 *
 * The thread that owns the engine (the follower) calls these functions between commands. They
 * change nothing: each figure is computed at the current marks.
 *
 * Order.  By (subaccount, portfolio), then asset id.
 * Owner.  A cursor is valid until the next command is applied.
 * Bound.  The beginning costs the account's holdings, however many portfolios it has. A row costs
 *         its portfolio's records (at most 64) and its own resting orders (at most
 *         limits.open_orders). */
#ifndef ENGINE_VIEW_READ_POSITIONS_H
#define ENGINE_VIEW_READ_POSITIONS_H

#include "engine/view/read.h"

enum { READ_POSITIONS_MAX = QUERY_POSITIONS_MAX };

struct read_positions {
    uint32_t found[READ_POSITIONS_MAX]; /* holdings, in the order of the rows */
    uint32_t count;
    uint32_t next;    /* of `found` */
    uint32_t visited; /* holdings that the beginning has looked at */
    bool is_cut;      /* there are more than READ_POSITIONS_MAX; `found` has some of them */
    uint8_t zero[3];
    /* Of the last row: */
    uint32_t portfolio; /* creation number */
    uint16_t asset_id;
    int128 score; /* of R7, as in read_positions_holder */
};

/* Finds the positions that the filter admits. */
void read_positions_begin(struct read_positions *cursor, const struct engine *engine,
                          const struct read_filter *filter);

/* The asset id of the number-th position that was found, number < count. */
uint16_t read_positions_asset(const struct read_positions *cursor, const struct engine *engine,
                              uint32_t number);

/* Passes over so many positions. */
void read_positions_pass(struct read_positions *cursor, uint64_t count);

/* Shows the next position; its adl_quantile is 0. False: there is none. */
CC_MUST_USE bool read_positions_next(struct read_positions *cursor, const struct engine *engine,
                                     struct row_position *row);

/* Sets the id of the position that a 2103 shows; `holding` is its record. */
void read_positions_id(const struct engine *engine, uint32_t holding, uint8_t id[16]);

/* A holder of a market: it has a position, or only resting orders. */
struct read_positions_holder {
    uint32_t portfolio; /* creation number */
    uint32_t zero;
    int64_t size; /* signed; 0: no position */
    int128 score; /* R7: the highest is deleveraged first; 0 without a position */
};

/* Finds the holder of the k-th market with the lowest portfolio number >= *from, and sets *from to
 * the number after it. False: there is none. Account 0 counts as a holder. A call costs a walk over
 * the holdings of one portfolio. */
CC_MUST_USE bool read_positions_next_holder(const struct engine *engine, uint32_t k, uint32_t *from,
                                            struct read_positions_holder *holder);

#endif
