/* candle_log.h - what candles are made of: pieces, each the summary of trades of one market in one
 * minute, or in one hour, that follow each other.
 *
 *   public trade ──> open piece of the minute ──┐ a trade of another minute or hour, or one whose
 *              └───> open piece of the hour   ──┘ trade_seq ends a block ──> row
 *
 * A read makes each interval of pieces: up to 15m of those of minutes, from 1h on of those of
 * hours (query_candles.h). Rows are never changed. Where a piece ends depends on the trades alone:
 * so a replay makes equal rows, and a start from a snapshot makes the open pieces again from rows
 * of the file, at most CANDLE_LOG_MINUTE_BLOCK trades and the minutes of one block of an hour.
 *
 * Owner. The follower's thread.
 * Bound. `capacity` rows of each unit, two open pieces and a day for each asset id.
 * Units. Prices and sizes raw, `notional` micro-USDC. Both sums end at INT64_MAX. */
#ifndef NODE_HISTORY_CANDLE_LOG_H
#define NODE_HISTORY_CANDLE_LOG_H

#include "node/history/fill_log.h"
#include "node/history/history_ring.h"

enum candle_unit { CANDLE_MINUTE, CANDLE_HOUR, CANDLE_UNITS };

/* A trade whose trade_seq is a multiple of it ends its piece. */
enum { CANDLE_LOG_MINUTE_BLOCK = 1 << 10, CANDLE_LOG_HOUR_BLOCK = 1 << 20 };

struct candle_piece {
    uint64_t bucket; /* unix minutes or hours */
    uint64_t open, high, low, close;
    uint64_t volume;
    uint64_t notional;
    uint64_t trade_seq;   /* of the last trade */
    uint64_t trade_count; /* 0: empty */
};

struct candle_row {
    struct history_link link;
    uint64_t sequence; /* of the command that ended it */
    struct candle_piece piece;
    uint16_t asset_id;
    uint8_t zero[6];
};

/* What the pieces of a market that had ended came to, in the 1,440 minutes up to one, when the next
 * piece of an hour was (bucket, number): kept for the next read of a ticker. */
struct candle_day {
    uint64_t minute; /* 0: nothing is kept */
    uint64_t bucket;
    struct candle_piece piece;
    uint32_t number;
    uint8_t zero[4];
};

struct candle_log {
    struct history_ring rings[CANDLE_UNITS]; /* of struct candle_row, a chain for each asset id */
    struct candle_piece *open[CANDLE_UNITS]; /* by asset id; an empty one has the bucket and
                                                trade_seq of the last trade, 0: unknown */
    uint64_t *seqs;                          /* by asset id: of its newest trade (wire.md W9); 0:
                                                 none, or unknown */
    struct candle_day *days;                 /* by asset id */
};

/* `capacity` is a power of two. 0, or -ENOMEM with nothing to free. */
CC_MUST_USE int candle_log_init(struct candle_log *log, uint32_t capacity);
void candle_log_free(struct candle_log *log);

/* Nanoseconds of a minute or an hour. */
uint64_t candle_log_unit_ns(enum candle_unit unit);

/* The number of the piece that has this trade, among those of its minute or hour: ascending. */
uint32_t candle_log_number(enum candle_unit unit, uint64_t trade_seq);

/* Adds a public trade, the newest of its market. */
void candle_log_append(struct candle_log *log, const struct trade_row *trade);

/* Puts what came before a piece in front of it. Bucket and trade_seq stay, unless it is empty. */
void candle_log_prepend(struct candle_piece *piece, const struct candle_piece *older);

/* The piece of one trade. */
struct candle_piece candle_log_piece(enum candle_unit unit, const struct trade_row *trade);

#endif
