/* stream_view.h - a market's best levels as streams have been sent them: one for each market and
 * depth, whose changes are found and encoded once for all streams of the net thread.
 *
 *   snapshot of a subscribe, board (book_board.h) ──> stream_view_refresh, stream_view_look
 *                                       what has changed, as text <──┘
 *
 * A view that goes from one state to the next sends the levels that differ between the two: what
 * changed twice in between is sent once (W9, conflation).
 *
 * Owner. The net thread.
 * Bound. BOOK_BOARD_DEPTHS views a market, each with the levels of its depth. */
#ifndef NET_STREAM_STREAM_VIEW_H
#define NET_STREAM_STREAM_VIEW_H

#include "net/http/writer.h"
#include "net/stream/stream_state.h"

struct stream_levels {
    uint32_t bid_count, ask_count;
    struct row_level *bids, *asks; /* best first, as deep as the view */
};

struct stream_view {
    struct stream_view *next;
    uint32_t symbol_index;
    uint16_t asset_id;
    uint8_t depth_index; /* in book_board_depths */
    uint8_t price_decimals, size_decimals;
    bool is_filled; /* it has a state */
    bool has_crc;
    uint32_t crc;
    uint32_t users; /* subscriptions */
    uint64_t version;
    uint64_t seq; /* of the state, as the next two */
    uint64_t engine_seq;
    uint64_t time_ns;
    struct stream_levels levels; /* the state */
    struct stream_levels spare;  /* the next state, then the one before */
};

/* Gives the view of that market and depth, which is made if nobody has it; NULL without memory.
 * Each use is ended by stream_view_drop. */
struct stream_view *stream_view_use(struct streams *streams, uint32_t symbol_index,
                                    uint16_t asset_id, unsigned depth_index);
void stream_view_drop(struct streams *streams, struct stream_view *view);

/* What became of a view. */
enum stream_view_change {
    STREAM_VIEW_SAME,   /* there is no newer state, or its levels are the same */
    STREAM_VIEW_BEGUN,  /* it has its first state */
    STREAM_VIEW_BEST,   /* some levels have changed, a best one among them */
    STREAM_VIEW_DEEPER, /* levels other than the best have changed */
    STREAM_VIEW_TORN,   /* the board is being written: look again */
};

/* Copies the state of a snapshot, struct row_book and its levels, or of the board. */
enum stream_view_change stream_view_refresh(struct stream_view *view, const struct reply *reply,
                                            const uint8_t *rows);
enum stream_view_change stream_view_look(struct stream_view *view, const struct book_board *board);

/* The data of `book`: the whole state, or what the last change changed. */
void stream_view_whole(const struct stream_view *view, struct writer *writer);
void stream_view_changes(const struct stream_view *view, struct writer *writer);

/* The data of `bbo`. */
void stream_view_best(const struct stream_view *view, struct writer *writer);

/* The same three as messages of perps.bin.v1. */
void stream_view_whole_binary(const struct stream_view *view, struct writer *writer);
void stream_view_changes_binary(const struct stream_view *view, struct writer *writer);
void stream_view_best_binary(const struct stream_view *view, struct writer *writer);

/* The checksum of the state (J9, crc). */
uint32_t stream_view_crc(struct stream_view *view);

#endif
