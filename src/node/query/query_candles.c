#include "node/query/query_candles.h"

enum { LIMIT_MAX = 1000, WIDEN = 4 };

#define MS_NS UINT64_C(1000000)

static_assert(sizeof(struct row_candles) + LIMIT_MAX * sizeof(struct row_candle) <=
                  REPLY_BUFFER_BYTES,
              "fits");

/* Of each interval: the pieces that it is made of, and how many of their buckets it spans. */
static const struct {
    uint8_t unit; /* enum candle_unit */
    uint8_t buckets;
} intervals[ROW_INTERVALS] = {
    [ROW_INTERVAL_1M] = { CANDLE_MINUTE, 1 },   [ROW_INTERVAL_5M] = { CANDLE_MINUTE, 5 },
    [ROW_INTERVAL_15M] = { CANDLE_MINUTE, 15 }, [ROW_INTERVAL_1H] = { CANDLE_HOUR, 1 },
    [ROW_INTERVAL_4H] = { CANDLE_HOUR, 4 },     [ROW_INTERVAL_1D] = { CANDLE_HOUR, 24 },
};

static enum candle_unit unit_of(const struct query_task *task)
{
    return (enum candle_unit)intervals[task->query.interval].unit;
}

static uint64_t buckets_of(const struct query_task *task)
{
    return intervals[task->query.interval].buckets;
}

static bool has_start(const struct query_task *task)
{
    return task->query.start_ns != QUERY_NO_START;
}

/* Begins with the newest piece below the span's end. */
static void restart(struct query_task *task, const struct query_sources *sources)
{
    struct query_candles *state = &task->candles;
    bool is_bound =
        state->high > state->bound || (state->high == state->bound && state->bound_number == 0);

    query_pieces_begin(&state->walk, sources, unit_of(task), task->asset_id,
                       is_bound ? state->bound : state->high, is_bound ? state->bound_number : 0);
    state->count = 0;
    state->is_open_due = state->open.trade_count != 0 && state->open.bucket < state->high &&
                         state->open.bucket >= state->low;
}

bool query_candles_begin(struct query_task *task, const struct query_sources *sources)
{
    const struct query *query = &task->query;
    const struct market_name *market = market_names_find(&sources->history->names, query->market);
    struct query_candles *state = &task->candles;

    if (market == NULL) {
        query_task_refuse(task, PROBLEM_not_found);
        return false;
    }
    INVARIANT(query->interval < ROW_INTERVALS);
    task->asset_id = market->asset_id;
    enum candle_unit unit = unit_of(task);
    uint64_t buckets = buckets_of(task), unit_ns = candle_log_unit_ns(unit);
    uint64_t span_ns = buckets * unit_ns, now_ns = engine_time(sources->engine);
    state->open = sources->history->candles.open[unit][task->asset_id];
    state->seq = sources->history->candles.seqs[task->asset_id];
    query_pieces_bound(unit, &state->open, now_ns, &state->bound, &state->bound_number);
    uint64_t last_ns = query->end_ns < now_ns ? query->end_ns : now_ns;
    state->end = (last_ns / span_ns + 1) * buckets;
    state->high = state->end;
    if (has_start(task)) {
        state->low = (query->start_ns / span_ns + (query->start_ns % span_ns != 0)) * buckets;
        uint64_t room = state->low + query->limit * buckets;
        state->high = room < state->end ? room : state->end;
    }
    restart(task, sources);
    return true;
}

/* Whether the page needs nothing of this bucket and of those before it. */
static bool is_complete(const struct query_task *task, uint64_t bucket)
{
    const struct query_candles *state = &task->candles;
    uint64_t buckets = buckets_of(task);

    if (has_start(task) || state->count < task->query.limit)
        return bucket < state->low;
    return bucket / buckets < state->piece.bucket / buckets;
}

/* The next older piece, into *piece: 1; 0: there is none, or it is not kept and the task refused;
 * -1: the rows of this turn are used up. */
static int next_piece(struct query_task *task, const struct query_sources *sources,
                      struct candle_piece *piece, uint32_t *rows)
{
    uint64_t bucket = 0, lost = 0;

    switch (query_pieces_next(&task->candles.walk, sources, piece, rows, &bucket, &lost)) {
    case QUERY_PIECES_ROW:
        return 1;
    case QUERY_PIECES_PAUSE:
        return -1;
    case QUERY_PIECES_END:
        return 0;
    case QUERY_PIECES_LOST:
        if (!is_complete(task, bucket))
            query_task_refuse_dropped(task, lost);
    }
    return 0;
}

static struct row_candle *candle_at(struct query_task *task, uint64_t number)
{
    /* The buffer is aligned for rows (reply_pool.h), and so are the rows after the first. */
    static_assert(sizeof(struct row_candles) % alignof(struct row_candle) == 0, "candles follow");
    struct row_candle *candles = (void *)(task->rows + sizeof(struct row_candles));

    INVARIANT(task->query.limit > 0);
    return &candles[number % task->query.limit];
}

/* Adds a piece, older than all before. False: it begins a candle that the page has no room for. */
static bool add_piece(struct query_task *task, const struct candle_piece *piece)
{
    struct query_candles *state = &task->candles;
    uint64_t buckets = buckets_of(task);
    uint64_t start_ms =
        piece->bucket / buckets * buckets * (candle_log_unit_ns(unit_of(task)) / MS_NS);

    if (state->count != 0 && state->piece.bucket / buckets == piece->bucket / buckets) {
        candle_log_prepend(&state->piece, piece);
    } else {
        if (state->count == task->query.limit && !has_start(task))
            return false;
        state->count++;
        state->piece = *piece;
    }
    *candle_at(task, state->count - 1) = (struct row_candle){
        .start_ms = start_ms,
        .open = state->piece.open,
        .high = state->piece.high,
        .low = state->piece.low,
        .close = state->piece.close,
        .volume = state->piece.volume,
        .notional = state->piece.notional,
        .trade_count = state->piece.trade_count,
    };
    return true;
}

static void reverse(struct row_candle *candles, uint32_t from, uint32_t to)
{
    while (from + 1 < to) {
        struct row_candle candle = candles[from];
        candles[from++] = candles[--to];
        candles[to] = candle;
    }
}

/* Puts the candles in their order. Of more than the limit the oldest are there, in a circle. */
static void end(struct query_task *task, const struct query_sources *sources)
{
    const struct market_name *market = market_names_of(&sources->history->names, task->asset_id);
    uint64_t count = task->candles.count;
    uint32_t limit = task->query.limit, shown = count < limit ? (uint32_t)count : limit;
    struct row_candle *candles = candle_at(task, 0);
    struct row_candles list = {
        .seq = task->candles.seq,
        .candle_count = shown,
        .interval = task->query.interval,
        .price_decimals = market->price_decimals,
        .size_decimals = market->size_decimals,
    };

    memcpy(list.market, market->symbol, sizeof list.market);
    memcpy(task->rows, &list, sizeof list);
    reverse(candles, 0, shown);
    if (count > limit) {
        uint32_t oldest = limit - 1 - (uint32_t)((count - 1) % limit);
        reverse(candles, 0, oldest);
        reverse(candles, oldest, limit);
        reverse(candles, 0, limit);
    }
    task->reply.row_count = 1 + shown;
    task->reply.row_bytes = (uint32_t)(sizeof list + shown * sizeof *candles);
}

/* A longer span with the same start, unless this one was long enough. */
static bool widen(struct query_task *task, const struct query_sources *sources)
{
    struct query_candles *state = &task->candles;

    if (!has_start(task) || state->count >= task->query.limit || state->high >= state->end)
        return false;
    uint64_t room = state->low + (state->high - state->low) * WIDEN;
    state->high = room < state->end ? room : state->end;
    restart(task, sources);
    return true;
}

bool query_candles_step(struct query_task *task, const struct query_sources *sources,
                        uint32_t *rows_left)
{
    uint32_t given = *rows_left < QUERY_TASK_ROWS_A_TURN ? *rows_left : QUERY_TASK_ROWS_A_TURN;
    uint32_t rows = given;
    struct query_candles *state = &task->candles;
    struct candle_piece piece;
    int got = state->low < state->high ? 1 : 0;

    while (got > 0) {
        if (state->is_open_due) {
            piece = state->open;
            state->is_open_due = false;
        } else {
            got = next_piece(task, sources, &piece, &rows);
        }
        if (got < 0 || task->reply.problem != PROBLEM_none)
            break;
        if (got == 0 || piece.bucket < state->low || !add_piece(task, &piece))
            got = widen(task, sources) ? 1 : 0;
    }
    *rows_left -= given - rows;
    if (got == 0 && task->reply.problem == PROBLEM_none)
        end(task, sources);
    return got >= 0;
}
