/* query_pieces.h - the pieces of candles of a market, from newer to older (candle_log.h).
 *
 *   pieces in memory ──> pieces of the file
 *
 * Owner. The follower's thread, between commands; a walk goes on in later turns.
 * Bound. Each piece that is looked at takes one of the rows that a turn may visit. */
#ifndef NODE_QUERY_QUERY_PIECES_H
#define NODE_QUERY_QUERY_PIECES_H

#include "node/history/history.h"

struct query_sources;

struct piece_walk {
    uint64_t at;     /* position in the ring of the next row to look at */
    uint64_t bucket; /* pieces at and above this (bucket, number) are passed over */
    uint32_t number;
    uint16_t asset_id;
    uint8_t unit; /* enum candle_unit */
    uint8_t zero;
};

enum query_pieces_found {
    QUERY_PIECES_ROW,
    QUERY_PIECES_END,   /* there is no older one */
    QUERY_PIECES_LOST,  /* older ones are not kept */
    QUERY_PIECES_PAUSE, /* the rows of this turn are used up */
};

/* The location of the piece that is open, or of the one that begins next: with `open` the market's
 * open piece, at engine time `now_ns`. What is there or above does not exist yet. */
void query_pieces_bound(enum candle_unit unit, const struct candle_piece *open, uint64_t now_ns,
                        uint64_t *bucket, uint32_t *number);

/* Begins with the newest piece below (bucket, number). */
void query_pieces_begin(struct piece_walk *walk, const struct query_sources *sources,
                        enum candle_unit unit, uint16_t asset_id, uint64_t bucket, uint32_t number);

/* The next older piece, into *piece. With QUERY_PIECES_LOST *bucket is where those that are not
 * kept end, and *lost the sequence up to which rows are not kept. */
enum query_pieces_found query_pieces_next(struct piece_walk *walk,
                                          const struct query_sources *sources,
                                          struct candle_piece *piece, uint32_t *rows,
                                          uint64_t *bucket, uint64_t *lost);

#endif
