#include "node/history/candle_log.h"

#include <errno.h>
#include <stdlib.h>

#include "base/money.h"

int candle_log_init(struct candle_log *log, uint32_t capacity)
{
    memset(log, 0, sizeof *log);
    log->days = calloc(FILL_LOG_ASSETS, sizeof *log->days);
    log->seqs = calloc(FILL_LOG_ASSETS, sizeof *log->seqs);
    if (log->days == NULL || log->seqs == NULL) {
        candle_log_free(log);
        return -ENOMEM;
    }
    for (int unit = 0; unit < CANDLE_UNITS; unit++) {
        int failed = history_ring_init(&log->rings[unit], capacity, sizeof(struct candle_row),
                                       FILL_LOG_ASSETS);
        log->open[unit] = calloc(FILL_LOG_ASSETS, sizeof *log->open[unit]);
        if (failed == 0 && log->open[unit] != NULL)
            continue;
        candle_log_free(log);
        return -ENOMEM;
    }
    return 0;
}

void candle_log_free(struct candle_log *log)
{
    for (int unit = 0; unit < CANDLE_UNITS; unit++) {
        history_ring_free(&log->rings[unit]);
        free(log->open[unit]);
        log->open[unit] = NULL;
    }
    free(log->days);
    free(log->seqs);
    log->days = NULL;
    log->seqs = NULL;
}

uint64_t candle_log_unit_ns(enum candle_unit unit)
{
    return unit == CANDLE_MINUTE ? UINT64_C(60000000000) : UINT64_C(3600000000000);
}

static uint64_t block_of(enum candle_unit unit)
{
    return unit == CANDLE_MINUTE ? CANDLE_LOG_MINUTE_BLOCK : CANDLE_LOG_HOUR_BLOCK;
}

uint32_t candle_log_number(enum candle_unit unit, uint64_t trade_seq)
{
    uint64_t block = block_of(unit);

    return (uint32_t)((trade_seq + block - 1) / block);
}

static uint64_t add(uint64_t a, uint64_t b)
{
    return (uint64_t)money_clamp((int128)a + b);
}

void candle_log_prepend(struct candle_piece *piece, const struct candle_piece *older)
{
    if (piece->trade_count == 0) {
        *piece = *older;
        return;
    }
    piece->open = older->open;
    piece->high = older->high > piece->high ? older->high : piece->high;
    piece->low = older->low < piece->low ? older->low : piece->low;
    piece->volume = add(piece->volume, older->volume);
    piece->notional = add(piece->notional, older->notional);
    piece->trade_count += older->trade_count;
}

struct candle_piece candle_log_piece(enum candle_unit unit, const struct trade_row *trade)
{
    return (struct candle_piece){
        .bucket = trade->time_ns / candle_log_unit_ns(unit),
        .open = trade->price,
        .high = trade->price,
        .low = trade->price,
        .close = trade->price,
        .volume = trade->size,
        .notional = (uint64_t)money_clamp((int128)trade->price * trade->size),
        .trade_seq = trade->trade_seq,
        .trade_count = 1,
    };
}

/* Makes a row of the open piece, which is empty afterwards and keeps its last trade's location. */
static void end_piece(struct candle_log *log, enum candle_unit unit, uint16_t asset_id,
                      uint64_t sequence)
{
    struct history_ring *ring = &log->rings[unit];
    struct candle_piece *open = &log->open[unit][asset_id];
    uint32_t index = history_ring_next_index(ring, asset_id, sequence);
    struct candle_row *row = history_ring_add(ring, asset_id, sequence, index);

    row->sequence = sequence;
    row->piece = *open;
    row->asset_id = asset_id;
    open->trade_count = 0;
}

void candle_log_append(struct candle_log *log, const struct trade_row *trade)
{
    log->seqs[trade->asset_id] = trade->seq;
    for (int k = 0; k < CANDLE_UNITS; k++) {
        enum candle_unit unit = (enum candle_unit)k;
        struct candle_piece *open = &log->open[unit][trade->asset_id];
        struct candle_piece newer = candle_log_piece(unit, trade);
        if (open->trade_count != 0 && open->bucket != newer.bucket)
            end_piece(log, unit, trade->asset_id, trade->link.sequence);
        if (open->trade_count != 0)
            candle_log_prepend(&newer, open);
        *open = newer;
        if (trade->trade_seq % block_of(unit) == 0)
            end_piece(log, unit, trade->asset_id, trade->link.sequence);
    }
}
