/* book_board.h - the best levels of books for streams: one writer, any number of readers that it
 * never waits for.
 *
 *   net threads ── book_board_want ──> follower ── book_board_write ──> net threads
 *
 * A market is named by the index of its symbol in the table of symbols. The follower writes its
 * best levels after each turn that changed it, as deep as some reader wants them; what was there is
 * overwritten.
 *
 * Order. A reader knows whether what it copied was whole. Levels that change after the follower
 *        could see a want are written; a query sent after book_board_want shows those before.
 * Wait.  Nothing blocks or retries.
 * Owner. The writer is one thread; any thread reads and wants.
 * Bound. SYMBOLS_MAX markets, BOOK_BOARD_DEPTH_MAX levels a side, mapped at the start and touched
 *        as deep as they are wanted. */
#ifndef BASE_BOOK_BOARD_H
#define BASE_BOOK_BOARD_H

#include "base/published.h"
#include "base/row.h"
#include "base/symbols.h"

enum { BOOK_BOARD_DEPTHS = 4, BOOK_BOARD_DEPTH_MAX = 1000 };

/* The depths that can be wanted, ascending. */
extern const uint16_t book_board_depths[BOOK_BOARD_DEPTHS];

/* What is kept of a market, besides its levels. */
struct book_board_head {
    uint64_t book_seq;
    uint64_t applied; /* the sequence that it shows */
    uint64_t time_ns; /* its engine time */
    uint32_t depth;   /* levels a side that it shows, if there are so many */
    uint32_t bid_count;
    uint32_t ask_count;
    uint32_t zero;
};

struct book_board {
    struct book_board_row *rows; /* [SYMBOLS_MAX]; NULL: before book_board_init */
    struct published writes;
    _Atomic uint32_t wanted; /* all wants that are open */
};

/* 0 or -ENOMEM. The board must be all zeros before. */
CC_MUST_USE int book_board_init(struct book_board *board);
void book_board_free(struct book_board *board);

/* From now on the market is written that deep; each call is ended by one of book_board_drop. */
void book_board_want(struct book_board *board, uint32_t symbol_index, uint16_t asset_id,
                     unsigned depth_index);
void book_board_drop(struct book_board *board, uint32_t symbol_index, unsigned depth_index);

/* The greatest depth that is wanted of the market, and its asset id; 0: none. */
CC_MUST_USE uint32_t book_board_wanted(const struct book_board *board, uint32_t symbol_index,
                                       uint16_t *asset_id);

/* The book_seq of what the writer wrote last; 0: nothing. The writer's thread. */
CC_MUST_USE uint64_t book_board_seq(const struct book_board *board, uint32_t symbol_index);

/* Writes head->bid_count bids, then head->ask_count asks, best first. */
void book_board_write(struct book_board *board, uint32_t symbol_index,
                      const struct book_board_head *head, const struct row_level *levels);

/* How often the market was written; 0: never. */
CC_MUST_USE uint64_t book_board_version(const struct book_board *board, uint32_t symbol_index);

/* Copies at most `depth` levels a side; the counts of `head` are then those copied. False: it is
 * being written, or never was. */
CC_MUST_USE bool book_board_read(const struct book_board *board, uint32_t symbol_index,
                                 uint32_t depth, struct book_board_head *head,
                                 struct row_level *bids, struct row_level *asks);

#endif
