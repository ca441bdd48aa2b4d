/* frame_board.h - the newest frames that are durable, as rows of a row_log: which frame holds a
 * sequence, and its hash.
 *
 *   journal ── frame_board_add ──> the newest FRAME_BOARD_SLOTS frames ──> frame_board_find
 *
 * Order. A frame is on the board before its sequences count as durable. Else row_log's.
 * Wait.  Nothing blocks or retries.
 * Owner. The writer is the journal's thread; any thread reads.
 * Bound. FRAME_BOARD_SLOTS frames, allocated at the start. */
#ifndef STORE_FRAME_BOARD_H
#define STORE_FRAME_BOARD_H

#include "base/row_log.h"
#include "store/frame.h"

enum { FRAME_BOARD_SLOTS = 4096 };

/* A durable frame. */
struct frame_location {
    uint64_t number;
    uint64_t first_sequence;
    uint64_t last_sequence;
    uint64_t boot;
    uint64_t segment;
    uint8_t hash[HASH_BYTES];
};

struct frame_board {
    struct row_log rows;
};

/* 0 or -ENOMEM. The board must be all zeros before. */
CC_MUST_USE static inline int frame_board_init(struct frame_board *board)
{
    return row_log_init(&board->rows, FRAME_BOARD_SLOTS, sizeof(struct frame_location));
}

static inline void frame_board_free(struct frame_board *board)
{
    row_log_free(&board->rows);
}

/* A frame without records is left out: it holds no sequence. */
void frame_board_add(struct frame_board *board, const struct frame_header *header,
                     const uint8_t hash[HASH_BYTES]);

/* The frame that holds the sequence. False: it is not durable yet, or no longer on the board. */
CC_MUST_USE bool frame_board_find(const struct frame_board *board, uint64_t sequence,
                                  struct frame_location *location);

#endif
