#include "node/history/history_keep.h"

#include <errno.h>

#include "base/account_id.h"
#include "base/log.h"
#include "engine/view/read.h"
#include "node/history/history.h"
#include "store/history_cursor.h"

enum {
    COMMIT_ROWS = 1 << 16,  /* that are committed at once */
    PENDING_ROWS = 1 << 17, /* of one ring, that may wait */
    PENDING_SHARE = 8,      /* and of its capacity, one part of so many */
    LINK_BYTES = sizeof(struct history_link),
};

#define COMMIT_NS      UINT64_C(1000000000)
#define COMMIT_IDLE_NS UINT64_C(60000000000) /* when commands made no rows */

static_assert(sizeof(struct fill_row) - LINK_BYTES <= HISTORY_ROW_BYTES_MAX, "fits");
static_assert(sizeof(struct payment_row) - LINK_BYTES <= HISTORY_ROW_BYTES_MAX, "fits");
static_assert(sizeof(struct order_row) - LINK_BYTES <= HISTORY_ROW_BYTES_MAX, "fits");
static_assert(offsetof(struct order_row, ended_sequence) == LINK_BYTES, "as history_file.h says");
static_assert(sizeof(struct candle_row) - LINK_BYTES <= HISTORY_ROW_BYTES_MAX, "fits");
static_assert(offsetof(struct candle_row, sequence) == LINK_BYTES, "as history_file.h says");
static_assert(sizeof(struct withdrawal_kept) - LINK_BYTES <= HISTORY_ROW_BYTES_MAX, "fits");
static_assert(offsetof(struct withdrawal_kept, ended_sequence) == LINK_BYTES, "as it says");
static_assert(sizeof(struct house_row) - LINK_BYTES <= HISTORY_ROW_BYTES_MAX, "fits");
static_assert(sizeof(struct cash_row) - LINK_BYTES <= HISTORY_ROW_BYTES_MAX, "fits");
static_assert((int)PRIVATE_BLOCK_BYTES <= (int)HISTORY_ROW_BYTES_MAX, "fits");
static_assert(sizeof(struct request_row) - LINK_BYTES + ROW_RESULTS_MAX <= HISTORY_ROW_BYTES_MAX,
              "fits");

/* Of the file, what metrics and /status show. */
static void show(struct history_keep *keep)
{
    published_set(&keep->applied, history_file_applied(keep->file));
    published_set(&keep->from, history_file_from(keep->file));
    keep->gap_ms = history_file_gap_ms(keep->file);
    keep->gap_accounts = history_file_gap_accounts(keep->file);
}

/* The same without a file: what the rings have. */
static void show_rings(struct history_keep *keep)
{
    uint64_t dropped = 0;

    for (int i = 0; i < HISTORY_TABLES; i++) {
        if (keep->rings[i] == NULL)
            continue;
        uint64_t sequence = history_ring_dropped_sequence(keep->rings[i]);
        dropped = dropped > sequence ? dropped : sequence;
    }
    published_set(&keep->from, dropped + 1);
}

int history_keep_init(struct history_keep *keep, struct history *history, struct history_file *file)
{
    struct history_ring *rings[] = {
        [HISTORY_FILLS] = &history->fills.fills,
        [HISTORY_TRADES] = &history->fills.trades,
        [HISTORY_PAYMENTS] = &history->money.payments,
        [HISTORY_RATES] = &history->money.rates,
        [HISTORY_FUND] = &history->money.houses[MONEY_FUND],
        [HISTORY_FEES] = &history->money.houses[MONEY_FEES],
        [HISTORY_LIQUIDATIONS] = &history->money.liquidations,
        [HISTORY_CASH] = &history->money.cash,
        [HISTORY_ORDERS] = &history->orders.ring,
        [HISTORY_MINUTES] = &history->candles.rings[CANDLE_MINUTE],
        [HISTORY_HOURS] = &history->candles.rings[CANDLE_HOUR],
        [HISTORY_WITHDRAWALS] = &history->withdrawals.ring,
        [HISTORY_REQUESTS] = &history->requests.ring,
        [HISTORY_ORDER_IDS] = &history->orders.ids,
    };
    static_assert(CC_COUNT(rings) == HISTORY_TABLES, "one for each table");
    uint64_t share = (rings[0]->mask + 1) / PENDING_SHARE;

    memset(keep, 0, sizeof *keep);
    memcpy(keep->rings, rings, sizeof rings);
    keep->requests = &history->requests;
    keep->privates = &history->privates;
    keep->pending_max = share < PENDING_ROWS ? share : PENDING_ROWS;
    published_set(&keep->from, 1);
    if (file == NULL)
        return 0;
    keep->file = file;
    show(keep);
    published_set(&keep->synced, history_file_applied(file)); /* opening it has synced it */
    keep->cursor = history_cursor_create(file);
    return keep->cursor != NULL ? 0 : -ENOMEM;
}

void history_keep_free(struct history_keep *keep)
{
    history_cursor_destroy(keep->cursor);
    keep->cursor = NULL;
    keep->file = NULL;
}

bool history_keep_is_written(const struct history_keep *keep)
{
    /* relaxed: a flag; the rows in the file stay whatever it says. */
    return keep->file != NULL && !atomic_load_explicit(&keep->is_stopped, memory_order_relaxed);
}

static void stop(struct history_keep *keep, const char *what, int failed)
{
    atomic_store_explicit(&keep->is_stopped, true, memory_order_relaxed);
    log_line(LOG_ERROR, "history", "%s: %s; nothing more is written to history/ in this run", what,
             strerror(-failed));
}

/* Commits a write with this `applied`, or cancels it if it has failed. 0 or -errno. */
static int end_write(struct history_keep *keep, int failed, uint64_t sequence)
{
    if (failed == 0)
        return history_file_commit(keep->file, sequence);
    history_file_cancel(keep->file);
    return failed;
}

/* ---- gaps ------------------------------------------------------------------------------------ */

static int put_gap(struct history_keep *keep, enum history_table table, uint64_t key,
                   uint64_t sequence)
{
    return history_file_put_gap(keep->file, table, key, sequence, history_file_applied(keep->file));
}

/* What the pieces of one of the two tables of candles are of. */
static enum candle_unit unit_of(enum history_table table)
{
    return table == HISTORY_MINUTES ? CANDLE_MINUTE : CANDLE_HOUR;
}

/* A gap of the pieces of candles: of the minutes or hours from that of the newest one in the file,
 * which may not be whole, to that of the engine's time. */
static int put_candle_gap(struct history_keep *keep, const struct engine *engine,
                          enum history_table table, uint64_t asset_id)
{
    enum candle_unit unit = unit_of(table);
    struct history_location location = {
        .table = table, .key = asset_id, .sequence = UINT64_MAX, .index = UINT32_MAX
    };
    uint64_t lost, after = 0;
    size_t bytes;

    if (history_keep_load(keep, &location, &bytes, &lost) != HISTORY_OLDER_END &&
        location.sequence != 0)
        after = location.sequence == UINT64_MAX ? 0 : location.sequence - 1;
    return history_file_put_gap(keep->file, table, asset_id,
                                engine_time(engine) / candle_log_unit_ns(unit), after);
}

static int put_gaps(struct history_keep *keep, const struct engine *engine, uint64_t sequence,
                    uint64_t newest_ms)
{
    struct row_market market;
    int failed = 0;
    uint64_t id;
    uint32_t slot = 0;

    for (; failed == 0 && read_account_at(engine, slot, &id); slot++) {
        failed = put_gap(keep, HISTORY_FILLS, id, sequence);
        if (failed == 0)
            failed = put_gap(keep, HISTORY_PAYMENTS, id, sequence);
        if (failed == 0)
            failed = put_gap(keep, HISTORY_CASH, id, sequence);
    }
    history_file_put_id_gap(keep->file, sequence, newest_ms, slot);
    for (uint32_t k = 0; k < read_market_count(engine) && failed == 0; k++) {
        read_market(engine, k, &market);
        failed = put_gap(keep, HISTORY_TRADES, market.asset_id, sequence);
        if (failed == 0)
            failed = put_gap(keep, HISTORY_RATES, market.asset_id, sequence);
        if (failed == 0)
            failed = put_gap(keep, HISTORY_LIQUIDATIONS, market.asset_id, sequence);
        if (failed == 0)
            failed = put_candle_gap(keep, engine, HISTORY_MINUTES, market.asset_id);
        if (failed == 0)
            failed = put_candle_gap(keep, engine, HISTORY_HOURS, market.asset_id);
    }
    if (failed == 0)
        failed = put_gap(keep, HISTORY_FUND, 0, sequence);
    return failed != 0 ? failed : put_gap(keep, HISTORY_FEES, 0, sequence);
}

void history_keep_forget(struct history_keep *keep, const struct engine *engine, uint64_t newest_ms)
{
    uint64_t sequence = engine_sequence(engine);

    if (!history_keep_is_written(keep))
        show_rings(keep);
    if (!history_keep_is_written(keep) || history_file_applied(keep->file) >= sequence)
        return;
    log_line(LOG_WARN, "history",
             "history/ ends with sequence %lu and the state begins with %lu: reads of the time "
             "between are refused, and its rows are not compared with this journal",
             history_file_applied(keep->file), sequence);
    int failed = history_file_begin(keep->file);
    history_keep_mark(keep, engine);
    *history_file_mark(keep->file) = history_keep_marked(keep);
    if (failed == 0)
        failed = end_write(keep, put_gaps(keep, engine, sequence, newest_ms), sequence);
    history_keep_end(keep);
    if (failed != 0)
        stop(keep, "writing a gap", failed);
    show(keep);
}

bool history_keep_cut(struct history_keep *keep, uint64_t sequence)
{
    if (!history_keep_is_written(keep) || history_file_applied(keep->file) <= sequence)
        return false;
    uint64_t former = history_file_applied(keep->file);
    history_keep_end(keep);
    int failed = history_file_go_back(keep->file, sequence);
    log_line(LOG_WARN, "history",
             "history/ had sequence %lu and the journal ends with %lu: its rows behind %lu are "
             "made again",
             former, sequence, history_file_applied(keep->file));
    if (failed != 0)
        stop(keep, "cutting it", failed);
    show(keep);
    return failed == 0;
}

/* ---- rows into the file ---------------------------------------------------------------------- */

void history_keep_publish(struct history_keep *keep)
{
    if (!history_keep_is_written(keep))
        show_rings(keep);
    if (keep->file == NULL)
        return;
    /* Release: the rows below a position are complete (pairs: write_table). */
    for (int i = 0; i < HISTORY_TABLES; i++)
        if (keep->rings[i] != NULL)
            atomic_store_explicit(&keep->added[i], keep->rings[i]->added, memory_order_release);
    atomic_store_explicit(&keep->added[HISTORY_PRIVATE], keep->privates->added,
                          memory_order_release);
}

bool history_keep_has(struct history_keep *keep, uint64_t sequence)
{
    if (!history_keep_is_written(keep) || published_get(&keep->applied) >= sequence)
        return true;
    /* relaxed: a number; nothing is ordered by it (pairs: history_keep_step). */
    atomic_store_explicit(&keep->wanted, sequence, memory_order_relaxed);
    return false;
}

static uint64_t pending(const struct history_keep *keep, int table)
{
    /* Acquire of `committed`: the history thread has read the rows below it (pairs: flush). */
    uint64_t committed = atomic_load_explicit(&keep->committed[table], memory_order_acquire);
    return atomic_load_explicit(&keep->added[table], memory_order_relaxed) - committed;
}

bool history_keep_is_full(const struct history_keep *keep)
{
    if (!history_keep_is_written(keep))
        return false;
    for (int i = 0; i < HISTORY_TABLES; i++)
        if (pending(keep, i) >= keep->pending_max)
            return true;
    return false;
}

static uint64_t key_of(enum history_table table, const struct history_link *link)
{
    switch (table) {
    case HISTORY_FILLS:
        return ((const struct fill_row *)(const void *)link)->account_id;
    case HISTORY_TRADES:
        return ((const struct trade_row *)(const void *)link)->asset_id;
    case HISTORY_PAYMENTS:
        return ((const struct payment_row *)(const void *)link)->account_id;
    case HISTORY_RATES:
        return ((const struct rate_row *)(const void *)link)->asset_id;
    case HISTORY_LIQUIDATIONS:
        return ((const struct liquidation_row *)(const void *)link)->asset_id;
    case HISTORY_CASH:
        return ((const struct cash_row *)(const void *)link)->account_id;
    case HISTORY_ORDERS:
        return ((const struct order_row *)(const void *)link)->order.account_id;
    case HISTORY_MINUTES:
    case HISTORY_HOURS:
        return ((const struct candle_row *)(const void *)link)->asset_id;
    case HISTORY_REQUESTS:
        return ((const struct request_row *)(const void *)link)->account_id;
    case HISTORY_ORDER_IDS:
        return ((const struct order_id_row *)(const void *)link)->account_id;
    case HISTORY_REFUSALS:
    case HISTORY_FUND:
    case HISTORY_FEES:
    case HISTORY_WITHDRAWALS:
    case HISTORY_PRIVATE:
    case HISTORY_TABLES:
        break;
    }
    return 0;
}

/* An order lies where it was placed. */
static int write_order(struct history_keep *keep, struct history_location location,
                       const struct order_row *row)
{
    location.sequence = row->order.sequence;
    location.index = row->order.index;
    int failed = history_file_put(keep->file, &location, &row->link + 1, sizeof *row - LINK_BYTES);
    if (failed != 0 || row->rejection == 0)
        return failed;
    location.table = HISTORY_REFUSALS;
    return history_file_put(keep->file, &location, &row->rejection, sizeof row->rejection);
}

/* A withdrawal lies where it was requested. */
static int write_withdrawal(struct history_keep *keep, struct history_location location,
                            const struct withdrawal_kept *kept)
{
    location.sequence = kept->row.sequence;
    location.index = kept->row.index;
    return history_file_put(keep->file, &location, &kept->link + 1, sizeof *kept - LINK_BYTES);
}

/* A piece of a candle lies at its minute or hour. */
static int write_piece(struct history_keep *keep, struct history_location location,
                       const struct candle_row *row)
{
    enum candle_unit unit = unit_of(location.table);

    location.sequence = row->piece.bucket;
    location.index = candle_log_number(unit, row->piece.trade_seq);
    return history_file_put(keep->file, &location, &row->link + 1, sizeof *row - LINK_BYTES);
}

static int write_order_id(struct history_keep *keep, struct history_location location,
                          const struct order_id_row *row)
{
    memcpy(location.id, row->id.bytes, sizeof location.id);
    location.index = (uint32_t)row->index;
    return history_file_put(keep->file, &location, &row->index, sizeof row->index);
}

static int write_row(struct history_keep *keep, enum history_table table,
                     const struct history_link *link)
{
    struct history_location location = {
        .table = table,
        .key = key_of(table, link),
        .sequence = link->sequence,
        .index = link->index,
    };
    size_t bytes = keep->rings[table]->row_bytes - LINK_BYTES;
    uint8_t with_results[HISTORY_ROW_BYTES_MAX];
    const void *row = link + 1;

    if (table == HISTORY_ORDERS)
        return write_order(keep, location, (const void *)link);
    if (table == HISTORY_WITHDRAWALS)
        return write_withdrawal(keep, location, (const void *)link);
    if (table == HISTORY_MINUTES || table == HISTORY_HOURS)
        return write_piece(keep, location, (const void *)link);
    if (table == HISTORY_ORDER_IDS)
        return write_order_id(keep, location, (const void *)link);
    if (table == HISTORY_REQUESTS) {
        const struct request_row *request = (const void *)link;
        memcpy(location.id, request->id.bytes, sizeof location.id);
        memcpy(with_results, row, bytes);
        memcpy(with_results + bytes, request_log_results(keep->requests, request),
               request->result_count);
        row = with_results;
        bytes += request->result_count;
    }
    return history_file_put(keep->file, &location, row, bytes);
}

/* Rows of one ring up to `sequence`; *at moves over them. */
static int write_table(struct history_keep *keep, enum history_table table, uint64_t sequence,
                       uint64_t *at, int *written)
{
    const struct history_ring *ring = keep->rings[table];
    uint64_t applied = history_file_applied(keep->file);
    uint64_t end = atomic_load_explicit(&keep->added[table], memory_order_acquire);

    if (table == HISTORY_PRIVATE) {
        int rows = private_keep_write(keep->privates, keep->file, sequence, end, at);
        *written += rows < 0 ? 0 : rows;
        return rows < 0 ? rows : 0;
    }
    if (ring == NULL)
        return 0;
    if (end - *at > ring->mask + 1)
        return -EOVERFLOW; /* one command has added more rows than the ring has room for */
    for (; *at < end; ++*at) {
        const struct history_link *link = history_ring_row(ring, *at);
        if (link->sequence > sequence)
            return 0;
        if (link->sequence <= applied)
            continue; /* a replay makes rows that the file has */
        int failed = write_row(keep, table, link);
        if (failed != 0)
            return failed;
        ++*written;
    }
    return 0;
}

/* The rows of all rings up to `sequence`, and the positions after them. */
static int write_tables(struct history_keep *keep, uint64_t sequence, uint64_t at[HISTORY_TABLES],
                        int *written)
{
    int failed = 0;

    for (int i = 0; i < HISTORY_TABLES && failed == 0; i++) {
        at[i] = atomic_load_explicit(&keep->committed[i], memory_order_relaxed); /* its own */
        failed = write_table(keep, (enum history_table)i, sequence, &at[i], written);
    }
    return failed;
}

/* Release: these rows were read and may be overwritten (pairs: pending). */
static void pass_rows(struct history_keep *keep, const uint64_t at[HISTORY_TABLES])
{
    for (int i = 0; i < HISTORY_TABLES; i++)
        atomic_store_explicit(&keep->committed[i], at[i], memory_order_release);
}

/* A replay up to `sequence` made rows that the file has: they are passed, nothing is written. */
static int pass_replayed(struct history_keep *keep, uint64_t sequence)
{
    uint64_t at[HISTORY_TABLES];
    int written = 0;
    int failed = write_tables(keep, sequence, at, &written);

    INVARIANT(written == 0);
    if (failed == 0)
        pass_rows(keep, at);
    return failed;
}

/* One commit. Returns the rows written. */
static int commit(struct history_keep *keep, const struct hash_point *mark)
{
    uint64_t sequence = mark->sequence, at[HISTORY_TABLES];
    int written = 0;
    uint64_t former = history_file_applied(keep->file);
    int failed = history_file_begin(keep->file);

    if (failed != 0)
        return failed;
    *history_file_mark(keep->file) = *mark;
    failed = end_write(keep, write_tables(keep, sequence, at, &written), sequence);
    if (failed != 0)
        return failed;
    pass_rows(keep, at);
    published_set(&keep->synced, former); /* a commit syncs the one before it */
    published_add(&keep->commits, 1);
    published_add(&keep->rows, (uint64_t)written);
    return written;
}

int history_keep_flush(struct history_keep *keep, bool durable)
{
    if (!history_keep_is_written(keep))
        return 0;
    struct hash_point mark =
        history_keep_marked(keep); /* the positions that are read now are later */
    bool is_new = mark.sequence > history_file_applied(keep->file);
    int written = is_new ? commit(keep, &mark) : pass_replayed(keep, mark.sequence);
    published_set(&keep->applied, history_file_applied(keep->file)); /* also of a former commit */
    if (written == -EAGAIN)
        return 0; /* a page of a list is under way; the next step finds it done */
    if (written < 0) {
        /* Who goes on in pages that are damaged ends with them; a start makes the file again. */
        if (written == -EOVERFLOW || written == -EBADMSG || history_keep_is_full(keep))
            stop(keep, "a commit", written);
        return written;
    }
    int failed = durable ? history_file_sync(keep->file) : 0;
    return failed != 0 ? failed : written;
}

int history_keep_step(struct history_keep *keep, uint64_t now_ns)
{
    uint64_t rows = 0;
    bool is_due = history_keep_is_full(keep);

    if (!history_keep_is_written(keep))
        return 0;
    for (int i = 0; i < HISTORY_TABLES; i++)
        rows += pending(keep, i);
    uint64_t age_ns = now_ns - keep->committed_ns;
    uint64_t wanted = atomic_load_explicit(&keep->wanted, memory_order_relaxed);
    is_due = is_due || wanted > history_file_applied(keep->file) || rows >= COMMIT_ROWS ||
             age_ns >= (rows != 0 ? COMMIT_NS : COMMIT_IDLE_NS);
    if (!is_due)
        return 0;
    keep->committed_ns = now_ns;
    return history_keep_flush(keep, false);
}

void history_keep_make_room(struct history_keep *keep, const struct engine *engine)
{
    if (CC_LIKELY(!history_keep_is_full(keep)))
        return;
    history_keep_mark(keep, engine);
    int written = history_keep_flush(keep, false);
    if (written < 0 && history_keep_is_written(keep))
        stop(keep, "a commit", written);
}

/* ---- rows from the file ---------------------------------------------------------------------- */

uint64_t history_keep_view(struct history_keep *keep, enum history_table table)
{
    if (!keep->is_viewing && keep->file != NULL)
        keep->seen_sequence = published_get(&keep->applied);
    /* Before the view begins. Acquire: what was committed by then is in it (pairs: pass_rows). */
    for (int i = 0; i < HISTORY_TABLES && !keep->is_viewing; i++)
        keep->seen[i] = atomic_load_explicit(&keep->committed[i], memory_order_acquire);
    keep->is_viewing = true;
    return keep->seen[table];
}

/* The bytes of a row of the table, at least. */
static size_t row_bytes(const struct history_keep *keep, enum history_table table)
{
    if (table == HISTORY_REFUSALS || table == HISTORY_ORDER_IDS || table == HISTORY_PRIVATE)
        return sizeof(uint64_t);
    return keep->rings[table]->row_bytes - LINK_BYTES;
}

enum history_older history_keep_load(struct history_keep *keep, struct history_location *location,
                                     size_t *bytes, uint64_t *lost)
{
    struct history_found *found = &keep->found;
    size_t least = row_bytes(keep, location->table);
    size_t more = location->table == HISTORY_REQUESTS  ? ROW_RESULTS_MAX
                  : location->table == HISTORY_PRIVATE ? HISTORY_ROW_BYTES_MAX - least
                                                       : 0;
    size_t most = least + more;

    if (!history_keep_is_written(keep))
        return HISTORY_OLDER_LOST;
    (void)history_keep_view(keep, location->table);
    int got = history_cursor_below(keep->cursor, location, found->bytes, bytes);
    if (got == 0)
        return HISTORY_OLDER_END;
    if (got > 0 && *bytes == 0)
        *lost = location->sequence;
    if (got > 0 && *bytes != 0 && (*bytes < least || *bytes > most))
        got = -EBADMSG;
    if (got == -EBADMSG && atomic_exchange_explicit(&keep->is_damaged, true, memory_order_relaxed))
        return HISTORY_OLDER_LOST; /* relaxed: a flag, of which the first log line tells */
    if (got < 0)
        log_line(LOG_ERROR, "history", "a row of history/ cannot be read: %s", strerror(-got));
    if (got < 0 || *bytes == 0)
        return HISTORY_OLDER_LOST;
    found->link = (struct history_link){
        .older = HISTORY_IN_FILE,
        .far = HISTORY_NONE,
        .sequence = location->sequence,
        .index = location->index,
    };
    return HISTORY_OLDER_ROW;
}

enum history_older history_keep_below(struct history_keep *keep, enum history_table table,
                                      uint64_t key, uint64_t sequence, uint32_t index,
                                      const struct history_link **row, uint64_t *lost)
{
    struct history_location location = {
        .table = table, .key = key, .sequence = sequence, .index = index
    };
    size_t bytes = 0;

    *lost = history_ring_dropped_sequence(keep->rings[table]);
    *row = &keep->found.link;
    return history_keep_load(keep, &location, &bytes, lost);
}

uint64_t history_keep_orders_from(struct history_keep *keep, uint64_t account_id)
{
    return account_id_slot(account_id) < keep->gap_accounts ? published_get(&keep->from) : 0;
}

uint64_t history_keep_withdrawals_from(struct history_keep *keep)
{
    return keep->gap_accounts != 0 ? published_get(&keep->from) : 0;
}

void history_keep_end(struct history_keep *keep)
{
    keep->is_viewing = false;
    if (keep->cursor != NULL)
        history_cursor_end(keep->cursor);
}
