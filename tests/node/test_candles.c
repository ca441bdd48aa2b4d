/* Candles and tickers equal those that all public trades make, over random commands, jumps of time,
 * commits, starts and starts that left a gap: each interval, any span and limit, while more trades
 * come between the turns of one page. Only what needs trades of a gap is refused. */
#include <stdlib.h>
#include <unistd.h>

#include "base/row_ticker.h"
#include "check.h"
#include "engine/rig.h"
#include "engine/state/state.h"
#include "exchange_random.h"
#include "node/query/query_candles.h"
#include "node/query/query_tickers.h"

enum { ACCOUNTS = 3, CAPACITY = 1024, STARTS = 9, ROUNDS = 70, COMMANDS = 20, CANDLES_MAX = 4096 };

#define MINUTE_NS UINT64_C(60000000000)

static struct exchange exchange;
static struct reply_pool pool;
static struct history_file *file;
static char folder[] = "/dev/shm/perpd-candles-XXXXXX";
static uint64_t seed = 14, history_now_ns = 5000000000;
static uint32_t pages, refused, in_turns, widened, cut_short, empty;
static uint32_t tickers, kept, without, unknown, slow_tickers;

/* Buckets from..to of an asset and unit, some of whose trades were never written. */
static struct gap {
    uint64_t from, to;
} gaps[STARTS][EXCHANGE_ETH + 1][CANDLE_UNITS];
static uint32_t gap_count;

static const struct {
    uint64_t minutes;
    enum candle_unit unit;
} intervals[ROW_INTERVALS] = {
    { 1, CANDLE_MINUTE }, { 5, CANDLE_MINUTE }, { 15, CANDLE_MINUTE },
    { 60, CANDLE_HOUR },  { 240, CANDLE_HOUR }, { 1440, CANDLE_HOUR },
};

static uint32_t below(uint32_t bound)
{
    return rig_below(&seed, bound);
}

/* ---- what the trades say --------------------------------------------------------------------- */

static struct row_candle made[CANDLES_MAX];

/* All candles of the first `trades` trades. */
static uint32_t make(uint16_t asset, uint64_t span_ns, uint32_t trades)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < trades; i++) {
        const struct exchange_trade *trade = &exchange.trades[i];
        uint64_t start_ms = trade->time_ns / span_ns * span_ns / 1000000;
        if (trade->asset != asset)
            continue;
        if (count == 0 || made[count - 1].start_ms != start_ms) {
            CHECK(count < CANDLES_MAX);
            made[count++] = (struct row_candle){ .start_ms = start_ms,
                                                 .open = trade->price,
                                                 .low = UINT64_MAX };
        }
        struct row_candle *candle = &made[count - 1];
        candle->high = trade->price > candle->high ? trade->price : candle->high;
        candle->low = trade->price < candle->low ? trade->price : candle->low;
        candle->close = trade->price;
        candle->volume += trade->size;
        candle->notional += trade->price * trade->size;
        candle->trade_count++;
    }
    return count;
}

/* Notes the gap that a start leaves: from the newest piece that the file had. */
static void note_gap(uint64_t after)
{
    for (uint16_t asset = HOST_BTC; asset <= EXCHANGE_ETH; asset++)
        for (int unit = 0; unit < CANDLE_UNITS; unit++) {
            uint64_t unit_ns = unit == CANDLE_MINUTE ? MINUTE_NS : 60 * MINUTE_NS;
            uint64_t block = unit == CANDLE_MINUTE ? 1024 : 1 << 20, newest = 0, open = 0;
            for (uint32_t i = 0; i < exchange.trade_count; i++) {
                const struct exchange_trade *trade = &exchange.trades[i];
                if (trade->asset != asset || trade->sequence > after)
                    continue;
                uint64_t bucket = trade->time_ns / unit_ns;
                if (open != 0 && open != bucket)
                    newest = open;
                open = trade->trade_seq % block == 0 ? 0 : bucket;
                if (open == 0)
                    newest = bucket;
            }
            if (gap_count > 0 && gaps[gap_count - 1][asset][unit].to > newest)
                newest = gaps[gap_count - 1][asset][unit].to;
            gaps[gap_count][asset][unit] =
                (struct gap){ newest, engine_time(exchange.host.engine) / unit_ns };
        }
    gap_count++;
}

/* Whether a gap has a bucket of the span. */
static bool is_in_gap(uint16_t asset, enum candle_unit unit, uint64_t first, uint64_t last)
{
    for (uint32_t i = 0; i < gap_count; i++)
        if (first <= gaps[i][asset][unit].to && last >= gaps[i][asset][unit].from)
            return true;
    return false;
}

/* ---- pages ----------------------------------------------------------------------------------- */

static void run(uint32_t commands)
{
    struct history_keep *keep = &exchange.sink.history->keep;
    uint32_t kind = below(12);

    exchange.host.clock_ns += kind == 0
                                  ? (below(8) == 0 ? 1430 + below(20) : below(300)) * MINUTE_NS
                              : kind == 1 ? below(9) * MINUTE_NS
                              : kind < 5  ? below(40) * (MINUTE_NS / 60)
                                          : 0;
    CHECK(host_oracle(&exchange.host, HOST_BTC, 1000000) == STATUS_request_completed);
    CHECK(host_oracle(&exchange.host, EXCHANGE_ETH, 400000) == STATUS_request_completed);
    exchange_random_run(&exchange, commands);
    exchange_publish(&exchange);
    if (below(7) == 0)
        history_now_ns += 1000000000; /* a commit each second */
    CHECK(history_keep_step(keep, history_now_ns) >= 0);
    CHECK(!history_keep_is_full(keep));
}

/* Asks in turns of `rows` rows; between them there may be more trades. */
static struct query_task ask(const struct query *query, uint32_t rows, bool grows)
{
    struct query_sources sources = { .engine = exchange.host.engine,
                                     .history = exchange.sink.history };
    struct query_budget budget = { .rows = rows };
    struct query_task task;
    uint32_t turns = 1;

    bool is_done = query_begin(&task, &sources, query, &pool, &budget);
    while (!is_done) {
        history_keep_end(&exchange.sink.history->keep);
        if (grows && turns < 4)
            run(COMMANDS);
        budget = (struct query_budget){ .rows = rows };
        is_done = query_step(&task, &sources, &pool, &budget);
        turns++;
    }
    history_keep_end(&exchange.sink.history->keep);
    in_turns += turns > 1;
    widened += query->kind == QUERY_candles && task.candles.count != 0 &&
               query->start_ns != QUERY_NO_START &&
               task.candles.high - task.candles.low > query->limit;
    if (task.reply.buffer != REPLY_NO_BUFFER)
        reply_pool_free(&pool, task.reply.buffer);
    return task;
}

static void check_page(bool grows)
{
    uint16_t asset = below(3) == 0 ? EXCHANGE_ETH : HOST_BTC;
    uint8_t interval = (uint8_t)below(ROW_INTERVALS);
    uint64_t span_ns = intervals[interval].minutes * MINUTE_NS;
    uint64_t first_ns = exchange.trades[0].time_ns, now_ns = engine_time(exchange.host.engine);
    uint64_t room = now_ns - first_ns + 10 * MINUTE_NS;
    uint32_t trades = exchange.trade_count;
    struct query query = { .kind = QUERY_candles,
                           .pin = -1,
                           .interval = interval,
                           .limit = below(3) == 0 ? 1 + below(6) : 1 + below(1000),
                           .start_ns = QUERY_NO_START,
                           .end_ns = UINT64_MAX };
    struct row_candles list;

    if (below(2) == 0)
        query.start_ns = below(4) == 0 ? 0 : first_ns + (uint64_t)below(1 << 20) * (room >> 20);
    if (below(2) == 0)
        query.end_ns = first_ns + (uint64_t)below(1 << 20) * (room >> 20);
    memcpy(query.market, asset == HOST_BTC ? "BTC-PERP" : "ETH-PERP", 8);
    struct query_task task = ask(&query, below(3) == 0 ? 1 + below(20) : 10000, grows);
    pages++;

    uint32_t count = make(asset, span_ns, trades), from = 0, to = count;
    bool has_start = query.start_ns != QUERY_NO_START;
    while (to > 0 && made[to - 1].start_ms * 1000000 > query.end_ns)
        to--;
    while (has_start && from < to && made[from].start_ms * 1000000 < query.start_ns)
        from++;
    bool is_cut = to - from > query.limit;
    uint32_t shown = is_cut ? query.limit : to - from;
    if (has_start && is_cut)
        to = from + query.limit;
    if (!has_start && is_cut)
        from = to - query.limit;
    if (task.reply.problem != PROBLEM_none) {
        enum candle_unit unit = intervals[interval].unit;
        uint64_t unit_ns = unit == CANDLE_MINUTE ? MINUTE_NS : 60 * MINUTE_NS;
        uint64_t low = has_start ? query.start_ns : is_cut ? made[from].start_ms * 1000000 : 0;
        uint64_t high = query.end_ns < now_ns ? query.end_ns : now_ns;
        CHECK(task.reply.problem == PROBLEM_not_ready && task.reply.cause == REPLY_NOT_KEPT);
        CHECK(task.reply.kept_from == published_get(&exchange.sink.history->keep.from));
        CHECK(is_in_gap(asset, unit, low / unit_ns,
                        high / span_ns * span_ns / unit_ns + span_ns / unit_ns - 1));
        refused++;
        return;
    }
    memcpy(&list, task.rows, sizeof list);
    CHECK(list.candle_count == shown && task.reply.row_count == shown + 1);
    CHECK(task.reply.row_bytes == sizeof list + shown * sizeof made[0]);
    CHECK(strcmp(list.market, asset == HOST_BTC ? "BTC-PERP" : "ETH-PERP") == 0);
    CHECK(memcmp(task.rows + sizeof list, &made[from], shown * sizeof made[0]) == 0);
    cut_short += is_cut;
    empty += shown == 0;
}

/* ---- tickers --------------------------------------------------------------------------------- */

/* The figures of the 1,440 minutes up to now, of the first `trades` trades. */
static struct row_ticker make_day(uint16_t asset, uint64_t now, uint32_t trades)
{
    struct row_ticker day = { 0 };

    for (uint32_t i = 0; i < trades; i++) {
        const struct exchange_trade *trade = &exchange.trades[i];
        if (trade->asset != asset)
            continue;
        day.last_price = trade->price;
        if (trade->time_ns / MINUTE_NS + 1440 <= now)
            continue;
        if (day.trade_count++ == 0)
            day.open = day.low = trade->price;
        day.high = trade->price > day.high ? trade->price : day.high;
        day.low = trade->price < day.low ? trade->price : day.low;
        day.volume += trade->size;
        day.notional += trade->price * trade->size;
    }
    return day;
}

static void check_row(const uint8_t *bytes, uint16_t asset, uint64_t now, uint32_t trades)
{
    struct row_ticker row, want = make_day(asset, now, trades);

    memcpy(&row, bytes, sizeof row);
    CHECK(strcmp(row.market, asset == HOST_BTC ? "BTC-PERP" : "ETH-PERP") == 0);
    CHECK(row.last_price == want.last_price && row.open == want.open && row.high == want.high);
    CHECK(row.low == want.low && row.volume == want.volume && row.notional == want.notional);
    CHECK(row.trade_count == want.trade_count);
    without += want.trade_count == 0;
}

/* The first ticker of a market may look at its pieces, the next one in the same minute at none. */
static void check_ticker(bool grows)
{
    uint64_t now = engine_time(exchange.host.engine) / MINUTE_NS;
    uint16_t asset = below(2) == 0 ? EXCHANGE_ETH : HOST_BTC;
    uint32_t trades = exchange.trade_count, rows = below(3) == 0 ? 1 + below(20) : 10000;
    struct query query = { .kind = below(3) == 0 ? QUERY_tickers : QUERY_ticker, .pin = -1 };
    bool is_one = query.kind == QUERY_ticker;

    memcpy(query.market, asset == HOST_BTC ? "BTC-PERP" : "ETH-PERP", 8);
    uint32_t slow = in_turns;
    struct query_task task = ask(&query, rows, grows);
    slow_tickers += in_turns - slow;
    tickers++;
    if (task.reply.problem != PROBLEM_none) {
        bool is_excused = false;
        CHECK(task.reply.problem == PROBLEM_not_ready && task.reply.cause == REPLY_NOT_KEPT);
        for (uint16_t of = HOST_BTC; of <= EXCHANGE_ETH; of++)
            for (int unit = 0; unit < CANDLE_UNITS && (!is_one || of == asset); unit++)
                is_excused |= is_in_gap(of, (enum candle_unit)unit,
                                        (now - 1439) / (unit == CANDLE_MINUTE ? 1 : 60),
                                        now / (unit == CANDLE_MINUTE ? 1 : 60));
        CHECK(is_excused);
        unknown++;
        return;
    }
    CHECK(task.reply.row_count == (is_one ? 1 : 2));
    CHECK(task.reply.row_bytes == task.reply.row_count * sizeof(struct row_ticker));
    for (uint32_t i = 0; i < task.reply.row_count; i++)
        check_row(task.rows + i * sizeof(struct row_ticker),
                  is_one ? asset : (uint16_t)(HOST_BTC + i), now, trades);
    if (engine_time(exchange.host.engine) / MINUTE_NS != now || grows)
        return;
    struct query_sources sources = { .engine = exchange.host.engine,
                                     .history = exchange.sink.history };
    struct query_budget budget = { .rows = 0 };
    CHECK(query_begin(&task, &sources, &query, &pool, &budget));
    history_keep_end(&exchange.sink.history->keep);
    check_row(task.rows, is_one ? asset : HOST_BTC, now, trades);
    reply_pool_free(&pool, task.reply.buffer);
    kept++;
}

static void start_again(bool is_clean)
{
    static const uint8_t id[HISTORY_ID_BYTES] = { 1 };
    uint64_t sequence = engine_sequence(exchange.host.engine);
    const uint64_t *seqs = exchange.sink.history->candles.seqs;
    uint64_t btc = seqs[HOST_BTC], eth = seqs[EXCHANGE_ETH];

    CHECK(btc != 0 && btc <= state_market(exchange.host.engine, 0)->book_seq);
    if (is_clean)
        CHECK(history_keep_flush(&exchange.sink.history->keep, true) >= 0);
    history_destroy(exchange.sink.history);
    history_file_close(file);
    CHECK(history_file_open(&file, folder, id) == 0);
    uint64_t applied = history_file_applied(file);
    CHECK(!is_clean || applied == sequence);
    if (applied < sequence)
        note_gap(applied);
    exchange.sink.history = history_create(CAPACITY, ACCOUNTS + 2, exchange.host.key);
    CHECK(exchange.sink.history != NULL && history_attach(exchange.sink.history, file) == 0);
    history_forget(exchange.sink.history, exchange.host.engine);
    seqs = exchange.sink.history->candles.seqs;
    CHECK(!is_clean || (seqs[HOST_BTC] == btc && seqs[EXCHANGE_ETH] == eth));
}

int main(void)
{
    static uint8_t memory[REPLY_POOL_BYTES] __attribute__((aligned(4096)));
    static const uint8_t id[HISTORY_ID_BYTES] = { 1 };
    char path[64];

    reply_pool_init(&pool, memory);
    CHECK(mkdtemp(folder) != NULL && history_file_open(&file, folder, id) == 0);
    exchange_open(&exchange, CAPACITY, ACCOUNTS);
    exchange.seed = 44;
    history_destroy(exchange.sink.history);
    exchange.sink.history = history_create(CAPACITY, ACCOUNTS + 2, exchange.host.key);
    CHECK(exchange.sink.history != NULL && history_attach(exchange.sink.history, file) == 0);
    /* Soon a block of an hour ends, in the other market one of a minute. */
    state_market(exchange.host.engine, 0)->trade_seq = CANDLE_LOG_HOUR_BLOCK - 500;
    state_market(exchange.host.engine, 1)->trade_seq = CANDLE_LOG_MINUTE_BLOCK - 100;
    for (uint32_t start = 0; start < STARTS; start++) {
        for (uint32_t i = 0; i < ROUNDS; i++) {
            run(COMMANDS);
            check_page(false);
            check_ticker(false);
        }
        for (uint32_t i = 0; i < 100; i++) {
            check_page(i % 4 == 0);
            check_ticker(i % 4 == 1);
        }
        start_again(start != 5);
        for (uint32_t i = 0; i < 100; i++) {
            check_page(false);
            if (i % 10 == 0)
                check_ticker(false);
        }
    }
    CHECK(state_market(exchange.host.engine, 0)->trade_seq > CANDLE_LOG_HOUR_BLOCK + 200);
    printf("%u pages, %u refused, %u in turns, %u widened, %u cut, %u empty, %u trades\n", pages,
           refused, in_turns, widened, cut_short, empty, exchange.trade_count);
    printf("%u tickers, %u kept, %u in turns, %u without trades, %u unknown\n", tickers, kept,
           slow_tickers, without, unknown);
    CHECK(tickers > 1000 && kept > 500 && slow_tickers > 10 && without > 5 && unknown > 10);
    CHECK(gap_count == 1 && refused > 50 && refused < pages / 3);
    CHECK(in_turns > 50 && widened > 50 && cut_short > 100 && empty > 50);
    exchange_close(&exchange);
    history_file_close(file);
    snprintf(path, sizeof path, "%s/data.mdb", folder);
    CHECK(unlink(path) == 0);
    CHECK(rmdir(folder) == 0);
    return 0;
}
