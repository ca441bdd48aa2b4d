/* frame_board.h - the newest frames that are durable: which frame holds a sequence, and its hash.
 * One writer, any number of readers that it never waits for.
 *
 *   journal ── frame_board_add ──> the newest FRAME_BOARD_SLOTS frames ──> frame_board_find
 *
 * Order. A frame is on the board before its sequences count as durable. The writer marks a slot as
 *        begun before it overwrites it and counts it afterwards, so a reader knows that what it
 *        copied was whole.
 * Wait.  Nothing blocks or retries.
 * Owner. The writer is the journal's thread; any thread reads.
 * Bound. FRAME_BOARD_SLOTS frames, allocated at the start. */
#ifndef STORE_FRAME_BOARD_H
#define STORE_FRAME_BOARD_H

#include "store/frame.h"

enum { FRAME_BOARD_SLOTS = 4096 };

/* A durable frame. */
struct frame_place {
    uint64_t number;
    uint64_t first_sequence;
    uint64_t last_sequence;
    uint64_t boot;
    uint64_t segment;
    uint8_t hash[HASH_BYTES];
};

struct frame_board {
    struct frame_board_slot *slots; /* NULL: before frame_board_init */
    CC_NO_SHARE _Atomic uint64_t begun;
    _Atomic uint64_t count;
};

/* 0 or -ENOMEM. The board must be all zeros before. */
CC_MUST_USE int frame_board_init(struct frame_board *board);
void frame_board_free(struct frame_board *board);

/* A frame without records is left out: it holds no sequence. */
void frame_board_add(struct frame_board *board, const struct frame_header *header,
                     const uint8_t hash[HASH_BYTES]);

/* The frame that holds the sequence. False: it is not durable yet, or no longer on the board. */
CC_MUST_USE bool frame_board_find(const struct frame_board *board, uint64_t sequence,
                                  struct frame_place *place);

#endif
