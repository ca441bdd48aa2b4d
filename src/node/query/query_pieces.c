#include "node/query/query_pieces.h"

#include "node/history/history_find.h"
#include "node/query/query_task.h"

static const struct history_ring *ring_of(const struct piece_walk *walk,
                                          const struct query_sources *sources)
{
    return &sources->history->candles.rings[walk->unit];
}

void query_pieces_bound(enum candle_unit unit, const struct candle_piece *open, uint64_t now_ns,
                        uint64_t *bucket, uint32_t *number)
{
    *bucket = now_ns / candle_log_unit_ns(unit) + 1;
    *number = 0;
    if (open->trade_seq == 0)
        return;
    *bucket = open->bucket;
    *number = candle_log_number(unit, open->trade_seq + (open->trade_count == 0));
}

void query_pieces_begin(struct piece_walk *walk, const struct query_sources *sources,
                        enum candle_unit unit, uint16_t asset_id, uint64_t bucket, uint32_t number)
{
    *walk = (struct piece_walk){
        .bucket = bucket, .number = number, .asset_id = asset_id, .unit = (uint8_t)unit
    };
    walk->at = history_ring_below(ring_of(walk, sources), asset_id, UINT64_MAX, UINT32_MAX);
}

static uint32_t number_of(const struct piece_walk *walk, const struct candle_piece *piece)
{
    return candle_log_number((enum candle_unit)walk->unit, piece->trade_seq);
}

/* Whether the piece lies where the walk has not been yet. */
static bool is_below(const struct piece_walk *walk, const struct candle_piece *piece)
{
    return piece->bucket < walk->bucket ||
           (piece->bucket == walk->bucket && number_of(walk, piece) < walk->number);
}

static enum query_pieces_found pass(struct piece_walk *walk, const struct candle_piece *piece)
{
    walk->number = number_of(walk, piece);
    walk->bucket = piece->bucket;
    return QUERY_PIECES_ROW;
}

enum query_pieces_found query_pieces_next(struct piece_walk *walk,
                                          const struct query_sources *sources,
                                          struct candle_piece *piece, uint32_t *rows,
                                          uint64_t *bucket, uint64_t *lost)
{
    struct history_keep *keep = &sources->history->keep;
    const struct history_ring *ring = ring_of(walk, sources);
    enum history_table table = walk->unit == CANDLE_MINUTE ? HISTORY_MINUTES : HISTORY_HOURS;
    const struct candle_row *row;

    while ((row = history_ring_at(ring, walk->at)) != NULL) {
        if (!query_task_count(rows))
            return QUERY_PIECES_PAUSE;
        *piece = row->piece;
        /* Rows that the file has are sought there. */
        if (!is_below(walk, piece) && history_keep_is_written(keep) &&
            walk->at < history_keep_view(keep, table)) {
            walk->at = HISTORY_IN_FILE;
            break;
        }
        walk->at = row->link.older;
        if (is_below(walk, piece))
            return pass(walk, piece);
    }
    if (walk->at == HISTORY_NONE)
        return QUERY_PIECES_END;
    if (!query_task_count(rows))
        return QUERY_PIECES_PAUSE;
    *bucket = walk->bucket;
    *lost = history_ring_dropped_sequence(ring);
    switch (history_find_piece(keep, table, walk->asset_id, bucket, walk->number, &row, lost)) {
    case HISTORY_OLDER_ROW:
        *piece = row->piece;
        return pass(walk, piece);
    case HISTORY_OLDER_END:
        walk->at = HISTORY_NONE;
        return QUERY_PIECES_END;
    case HISTORY_OLDER_LOST:
        walk->at = HISTORY_NONE;
        return QUERY_PIECES_LOST;
    }
    INVARIANT(!"a piece is there or not");
}
