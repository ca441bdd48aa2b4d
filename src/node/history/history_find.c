#include "node/history/history_find.h"

#include "node/history/candle_log.h"
#include "node/history/order_log.h"
#include "node/history/request_log.h"

/* What is to be said of an id that the file does not have: it may be of a row of a gap. */
static enum history_older not_there(struct history_keep *keep, const uint8_t *id, uint64_t *lost)
{
    struct uuid uuid;

    uuid_load(&uuid, id);
    if (uuid_time_ms(&uuid) > keep->gap_ms)
        return HISTORY_OLDER_END;
    *lost = published_get(&keep->from) - 1;
    return HISTORY_OLDER_LOST;
}

enum history_older history_find_request(struct history_keep *keep, uint64_t account_id,
                                        const uint8_t *id, const struct request_row **row,
                                        const uint8_t **results, uint64_t *lost)
{
    struct history_location location = { .table = HISTORY_REQUESTS,
                                         .key = account_id,
                                         .sequence = UINT64_MAX };
    size_t fixed = sizeof(struct request_row) - sizeof(struct history_link), bytes = 0;

    *lost = keep->requests->dropped_sequence;
    memcpy(location.id, id, sizeof location.id);
    enum history_older older = history_keep_load(keep, &location, &bytes, lost);
    if (older == HISTORY_OLDER_END)
        return not_there(keep, id, lost);
    *row = (const void *)&keep->found;
    *results = keep->found.bytes + fixed;
    if (older == HISTORY_OLDER_ROW && (*row)->result_count != bytes - fixed)
        return HISTORY_OLDER_LOST;
    return older;
}

uint64_t history_find_refusals(struct history_keep *keep, uint64_t account_id, uint64_t sequence)
{
    struct history_location location = { .table = HISTORY_REFUSALS,
                                         .key = account_id,
                                         .sequence = sequence + 1 };
    size_t bytes;
    uint64_t lost;

    if (history_keep_load(keep, &location, &bytes, &lost) != HISTORY_OLDER_ROW)
        return 0;
    return cc_load64(keep->found.bytes);
}

/* The order of this id that the command `sequence` placed for the account. */
static enum history_older find_placed(struct history_keep *keep, uint64_t account_id,
                                      const uint8_t *id, uint64_t sequence, uint64_t *lost)
{
    struct history_location location = { .table = HISTORY_ORDERS,
                                         .key = account_id,
                                         .sequence = sequence + 1 };
    const struct order_row *row = (const void *)&keep->found;
    size_t bytes;

    for (;;) {
        enum history_older older = history_keep_load(keep, &location, &bytes, lost);
        if (older != HISTORY_OLDER_ROW)
            return older;
        if (location.sequence != sequence)
            return HISTORY_OLDER_END;
        if (memcmp(row->order.id.bytes, id, sizeof location.id) == 0)
            return HISTORY_OLDER_ROW;
    }
}

/* The sequence of the account's newest request with this id, 0 unless it is found. */
static enum history_older find_request(struct history_keep *keep, uint64_t account_id,
                                       const uint8_t *id, uint64_t *sequence, uint64_t *lost)
{
    enum history_older older = HISTORY_OLDER_ROW;
    const uint8_t *results;
    struct uuid uuid;

    uuid_load(&uuid, id);
    const struct request_row *request = request_log_find(keep->requests, account_id, &uuid);
    if (request == NULL)
        older = history_find_request(keep, account_id, id, &request, &results, lost);
    *sequence = older == HISTORY_OLDER_ROW ? request->link.sequence : 0;
    return older;
}

enum history_older history_find_order(struct history_keep *keep, uint64_t account_id,
                                      const uint8_t *id, const struct order_row **row,
                                      uint64_t *lost)
{
    struct history_location location = { .table = HISTORY_ORDER_IDS,
                                         .key = account_id,
                                         .sequence = UINT64_MAX };
    uint64_t of_request, lost_request;
    size_t bytes;

    *lost = history_ring_dropped_sequence(keep->rings[HISTORY_ORDERS]);
    *row = (const void *)&keep->found;
    enum history_older of_id = find_request(keep, account_id, id, &of_request, &lost_request);
    /* Places of the id, the newest first; that of its request is one of them. */
    memcpy(location.id, id, sizeof location.id);
    for (;;) {
        enum history_older older = history_keep_load(keep, &location, &bytes, lost);
        if (older == HISTORY_OLDER_LOST)
            return older; /* it cannot be read */
        uint64_t sequence = older == HISTORY_OLDER_ROW ? location.sequence : 0;
        if (of_request > sequence) {
            location.sequence = sequence + 1; /* this one again, afterwards */
            location.index = 0;
            sequence = of_request;
            of_request = 0;
        }
        if (sequence == 0)
            break;
        older = find_placed(keep, account_id, id, sequence, lost);
        if (older != HISTORY_OLDER_END)
            return older;
    }
    if (of_id != HISTORY_OLDER_LOST)
        return not_there(keep, id, lost);
    *lost = lost_request;
    return of_id;
}

enum history_older history_find_piece(struct history_keep *keep, enum history_table table,
                                      uint16_t asset_id, uint64_t *bucket, uint32_t number,
                                      const struct candle_row **row, uint64_t *lost)
{
    struct history_location location = {
        .table = table, .key = asset_id, .sequence = *bucket, .index = number
    };
    size_t bytes = 0;

    *row = (const void *)&keep->found;
    enum history_older older = history_keep_load(keep, &location, &bytes, lost);
    *bucket = location.sequence;
    if (older == HISTORY_OLDER_LOST) /* a gap names a minute or an hour */
        *lost = published_get(&keep->from) - 1;
    return older;
}

/* The open piece of a minute: the trades from the last one at `sequence` back to another minute or
 * the end of a block. */
static void find_minute(struct history_keep *keep, struct candle_log *log, uint16_t asset_id,
                        uint64_t sequence)
{
    struct candle_piece *open = &log->open[CANDLE_MINUTE][asset_id];
    struct history_location location = { .table = HISTORY_TRADES,
                                         .key = asset_id,
                                         .sequence = sequence + 1 };
    const struct trade_row *trade = (const void *)&keep->found;
    size_t bytes;
    uint64_t lost, block = 0;

    while (history_keep_load(keep, &location, &bytes, &lost) == HISTORY_OLDER_ROW) {
        struct candle_piece piece = candle_log_piece(CANDLE_MINUTE, trade);
        if (open->trade_seq == 0) {
            block = trade->trade_seq - trade->trade_seq % CANDLE_LOG_MINUTE_BLOCK;
            open->trade_seq = trade->trade_seq;
            open->bucket = piece.bucket;
            log->seqs[asset_id] = trade->seq;
        }
        if (trade->trade_seq <= block || piece.bucket != open->bucket)
            return;
        candle_log_prepend(open, &piece);
    }
}

/* The open piece of an hour: that of the minute, and the rows of minutes before it. */
static void find_hour(struct history_keep *keep, struct candle_piece *open,
                      const struct candle_piece *minute, uint16_t asset_id, uint64_t sequence)
{
    const uint64_t minutes = 60;
    uint64_t bucket = minute->bucket + 1, lost;
    uint64_t block = minute->trade_seq - minute->trade_seq % CANDLE_LOG_HOUR_BLOCK;
    uint32_t number = 0;
    const struct candle_row *row;

    *open = *minute;
    while (history_find_piece(keep, HISTORY_MINUTES, asset_id, &bucket, number, &row, &lost) ==
           HISTORY_OLDER_ROW) {
        number = candle_log_number(CANDLE_MINUTE, row->piece.trade_seq);
        if (row->sequence > sequence)
            continue; /* the replay makes it */
        if (row->piece.trade_seq <= block || bucket / minutes != minute->bucket / minutes)
            break;
        candle_log_prepend(open, &row->piece);
    }
    open->bucket = minute->bucket / minutes;
    open->trade_seq = minute->trade_seq;
}

void history_find_candles(struct history_keep *keep, struct candle_log *log, uint16_t asset_id,
                          uint64_t sequence)
{
    struct candle_piece *minute = &log->open[CANDLE_MINUTE][asset_id];

    if (!history_keep_is_written(keep) || history_file_applied(keep->file) < sequence)
        return;
    find_minute(keep, log, asset_id, sequence);
    if (minute->trade_seq != 0)
        find_hour(keep, &log->open[CANDLE_HOUR][asset_id], minute, asset_id, sequence);
}
