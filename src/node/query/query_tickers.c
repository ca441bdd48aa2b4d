#include "node/query/query_tickers.h"

#include "base/row_ticker.h"
#include "engine/view/read_ticker.h"

enum { DAY_MINUTES = 1440, HOUR_MINUTES = 60 };

/* Of one market, as of the first turn. They lie in the buffer after the rows until the reply is
 * published. */
struct day {
    struct candle_day key;     /* what the sum of the ended pieces is of, and where it goes */
    struct candle_piece piece; /* the open piece, then with what has ended before it */
    struct piece_walk walks[CANDLE_UNITS];
    uint64_t lows[CANDLE_UNITS]; /* the first minute and hour of the day that the walks look for */
    uint16_t asset_id;
    bool is_done;
    uint8_t zero[5];
};

enum { DAYS_AT = (ENGINE_MARKETS_MAX * sizeof(struct row_ticker) + 63) / 64 * 64 };

static_assert(DAYS_AT + ENGINE_MARKETS_MAX * sizeof(struct day) <= REPLY_BUFFER_BYTES, "fits");

static struct day *day_at(const struct query_task *task, uint32_t number)
{
    /* The buffer is aligned for rows (reply_pool.h). */
    struct day *days = (void *)(task->rows + DAYS_AT);

    return &days[number];
}

/* The open piece, if it is of the day: of the hour or, when that hour has begun before the first
 * whole one, of the minute. */
static void set_open(struct day *day, const struct candle_piece *minute,
                     const struct candle_piece *hour)
{
    if (hour->trade_count != 0 && hour->bucket >= day->lows[CANDLE_HOUR])
        day->piece = *hour;
    else if (minute->trade_count != 0 && minute->bucket >= day->lows[CANDLE_MINUTE] &&
             minute->bucket < day->lows[CANDLE_HOUR] * HOUR_MINUTES)
        day->piece = *minute;
}

static void begin_day(struct day *day, const struct query_sources *sources, uint16_t asset_id)
{
    struct candle_log *log = &sources->history->candles;
    const struct candle_piece *minute = &log->open[CANDLE_MINUTE][asset_id];
    const struct candle_piece *hour = &log->open[CANDLE_HOUR][asset_id];
    uint64_t now_ns = engine_time(sources->engine), bucket;
    uint64_t now = now_ns / candle_log_unit_ns(CANDLE_MINUTE);
    uint32_t number;

    memset(day, 0, sizeof *day);
    day->asset_id = asset_id;
    day->lows[CANDLE_MINUTE] = now < DAY_MINUTES ? 0 : now - (DAY_MINUTES - 1);
    day->lows[CANDLE_HOUR] = (day->lows[CANDLE_MINUTE] + HOUR_MINUTES - 1) / HOUR_MINUTES;
    set_open(day, minute, hour);

    query_pieces_bound(CANDLE_HOUR, hour, now_ns, &bucket, &number);
    query_pieces_begin(&day->walks[CANDLE_HOUR], sources, CANDLE_HOUR, asset_id, bucket, number);
    day->key = (struct candle_day){ .minute = now, .bucket = bucket, .number = number };
    query_pieces_bound(CANDLE_MINUTE, minute, now_ns, &bucket, &number);
    if (bucket >= day->lows[CANDLE_HOUR] * HOUR_MINUTES) {
        bucket = day->lows[CANDLE_HOUR] * HOUR_MINUTES;
        number = 0;
    }
    query_pieces_begin(&day->walks[CANDLE_MINUTE], sources, CANDLE_MINUTE, asset_id, bucket,
                       number);
}

static void put_older(struct candle_piece *piece, const struct candle_piece *older)
{
    if (older->trade_count != 0)
        candle_log_prepend(piece, older);
}

static void end_day(struct query_task *task, uint32_t number, const struct candle_piece *ended)
{
    struct day *day = day_at(task, number);
    uint8_t *at = task->rows + number * sizeof(struct row_ticker);
    struct row_ticker row;

    put_older(&day->piece, ended);
    day->is_done = true;
    if (day->piece.trade_count == 0)
        return;
    memcpy(&row, at, sizeof row);
    row.open = day->piece.open;
    row.high = day->piece.high;
    row.low = day->piece.low;
    row.volume = day->piece.volume;
    row.notional = day->piece.notional;
    row.trade_count = day->piece.trade_count;
    memcpy(at, &row, sizeof row);
}

static void begin_market(struct query_task *task, const struct query_sources *sources,
                         uint16_t asset_id)
{
    uint32_t number = task->reply.row_count;
    struct day *day = day_at(task, number);
    struct row_ticker row;

    read_ticker(sources->engine, asset_id, &row);
    query_task_put(task, &row, sizeof row);
    begin_day(day, sources, asset_id);
    const struct candle_day *kept = &sources->history->candles.days[asset_id];
    if (kept->minute == day->key.minute && kept->bucket == day->key.bucket &&
        kept->number == day->key.number)
        end_day(task, number, &kept->piece);
}

bool query_tickers_begin(struct query_task *task, const struct query_sources *sources)
{
    const struct market_names *names = &sources->history->names;

    if (task->query.kind == QUERY_ticker) {
        const struct market_name *market = market_names_find(names, task->query.market);
        if (market == NULL) {
            query_task_refuse(task, PROBLEM_not_found);
            return false;
        }
        begin_market(task, sources, market->asset_id);
        return true;
    }
    for (uint32_t k = 0; k < names->count; k++)
        begin_market(task, sources, names->rows[k].asset_id);
    return true;
}

/* Adds the ended pieces of a unit: 1 when all are there, 0 when one is not kept and the task is
 * refused, -1 when the rows of this turn are used up. */
static int sum_pieces(struct query_task *task, const struct query_sources *sources, struct day *day,
                      enum candle_unit unit, uint32_t *rows)
{
    struct piece_walk *walk = &day->walks[unit];
    uint64_t bucket = 0, lost = 0;
    struct candle_piece piece;

    while (walk->at != HISTORY_NONE) {
        switch (query_pieces_next(walk, sources, &piece, rows, &bucket, &lost)) {
        case QUERY_PIECES_ROW:
            if (piece.bucket >= day->lows[unit])
                put_older(&day->key.piece, &piece);
            else
                walk->at = HISTORY_NONE;
            break;
        case QUERY_PIECES_PAUSE:
            return -1;
        case QUERY_PIECES_END:
            break;
        case QUERY_PIECES_LOST:
            if (bucket < day->lows[unit])
                break;
            query_task_refuse_dropped(task, lost);
            return 0;
        }
    }
    return 1;
}

bool query_tickers_step(struct query_task *task, const struct query_sources *sources,
                        uint32_t *rows_left)
{
    uint32_t given = *rows_left < QUERY_TASK_ROWS_A_TURN ? *rows_left : QUERY_TASK_ROWS_A_TURN;
    uint32_t rows = given;
    int got = 1;

    for (; task->market < task->reply.row_count && got > 0; task->market += got > 0) {
        struct day *day = day_at(task, task->market);
        if (day->is_done)
            continue;
        got = sum_pieces(task, sources, day, CANDLE_HOUR, &rows);
        if (got > 0)
            got = sum_pieces(task, sources, day, CANDLE_MINUTE, &rows);
        if (got <= 0)
            break;
        end_day(task, task->market, &day->key.piece);
        sources->history->candles.days[day->asset_id] = day->key;
    }
    *rows_left -= given - rows;
    return got >= 0;
}
