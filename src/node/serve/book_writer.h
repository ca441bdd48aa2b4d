/* book_writer.h - shows the best levels of the follower's books on the board that streams read
 * (book_board.h).
 *
 * Owner. The follower's thread.
 * Bound. A turn copies BOOK_WRITER_LEVELS_A_TURN levels, and those of one market more. */
#ifndef NODE_SERVE_BOOK_WRITER_H
#define NODE_SERVE_BOOK_WRITER_H

#include "base/book_board.h"
#include "engine/engine.h"
#include "node/history/market_names.h"

enum { BOOK_WRITER_LEVELS_A_TURN = 4096 };

struct book_writer {
    struct book_board *board; /* NULL: nobody reads */
    struct market_names names;
    uint32_t next; /* the market that is looked at first */
    struct row_level levels[2 * BOOK_BOARD_DEPTH_MAX];
};

/* One turn: writes the markets that are wanted and have changed. False: some are left for the
 * next. */
CC_MUST_USE bool book_writer_run(struct book_writer *writer, const struct engine *engine);

#endif
