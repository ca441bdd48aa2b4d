/* Orders, fills, trades, cash and requests in the file of the history: pages of ring and file equal
 * the list of everything that happened, over random commands, commits, clean starts, and starts
 * that left a gap; a page that needs a row of a gap is refused (wire.md W7). Each request and order
 * is found by its id, or was in a gap; an id that no request had is told from one that may have
 * been in a gap. The trades after any seq of a market come whole and in order, or it is said
 * that they are not kept. Private events after any seq come as they happened, or it is said that
 * they are not kept; the newest PRIVATE_MOST are kept, and older ones leave the file. */
#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "exchange_random.h"

enum { PRIVATE_MOST = 1200, PRIVATE_MAX = 1 << 16 };
enum { ACCOUNTS = 3, CAPACITY = 1024, STARTS = 8, ROUNDS = 60, COMMANDS = 20, GAPS_MAX = STARTS };

static struct exchange exchange;
static struct reply_pool pool;
static struct history_file *file;
static char folder[] = "/tmp/perpd-keep-XXXXXX";

static struct gap {
    uint64_t after, to; /* rows of (after, to] were never written */
} gaps[GAPS_MAX];
static uint32_t gap_count, refused_count, file_rows, requests_found, requests_lost;
static uint32_t orders_found, orders_lost, order_pages, order_pages_refused;
static uint64_t first; /* sequence with which the file begins */

/* Private events by account and seq, as streams were shown them. */
static struct private_log shown;
static struct private_event *privates[ACCOUNTS + 1];
static uint64_t private_counts[ACCOUNTS + 1];
static uint32_t pages_whole, pages_lost, pages_coming, pages_dropped, after_whole, after_lost;

static struct query_task ask(enum query_kind kind, uint64_t account, uint16_t asset, uint32_t limit,
                             uint64_t before_sequence, uint32_t before_index)
{
    struct query query = { .kind = (uint16_t)kind,
                           .account_id = account,
                           .subaccount_index = kind == QUERY_cash ? 0 : QUERY_ANY_INDEX,
                           .portfolio_index = QUERY_ANY_INDEX,
                           .pin = -1,
                           .limit = limit,
                           .before_sequence = before_sequence,
                           .before_index = before_index,
                           .end_ns = UINT64_MAX,
                           .status = QUERY_ANY_STATUS };

    if (asset != 0)
        memcpy(query.market, asset == HOST_BTC ? "BTC-PERP" : "ETH-PERP", 8);
    return exchange_ask(&exchange, &pool, &query);
}

/* The gap that has the sequence, or NULL. */
static const struct gap *gap_of(uint64_t sequence)
{
    for (uint32_t i = 0; i < gap_count; i++)
        if (sequence > gaps[i].after && sequence <= gaps[i].to)
            return &gaps[i];
    return NULL;
}

/* One list from its newest row to its first. `index` counts down through the list of everything;
 * the functions below know what it is a list of. */
struct list {
    enum query_kind kind;
    uint64_t account;
    uint16_t asset;
};

static bool is_of(const struct list *list, uint32_t at)
{
    if (list->kind == QUERY_cash)
        return exchange.cash[at].account == list->account && exchange.cash[at].subaccount == 0;
    return list->kind == QUERY_fills ? exchange.fills[at].account == list->account
                                     : exchange.trades[at].asset == list->asset;
}

static void check_row(const struct list *list, const struct query_task *task, uint32_t number,
                      uint32_t at)
{
    struct row_fill fill;
    struct row_trade trade;
    struct row_cash cash;

    if (list->kind == QUERY_cash) {
        const struct exchange_cash *want = &exchange.cash[at];
        memcpy(&cash, task->rows + sizeof(struct row_list) + number * sizeof cash, sizeof cash);
        CHECK(cash.movement.sequence == want->sequence && cash.movement.index == want->index);
        CHECK(cash.movement.amount == want->amount && cash.movement.kind == want->kind);
        CHECK(cash.movement.balance_after == want->balance_after);
        CHECK(cash.account_id == want->account && cash.portfolio_index == want->portfolio);
        return;
    }
    if (list->kind == QUERY_fills) {
        const struct exchange_fill *want = &exchange.fills[at];
        memcpy(&fill, task->rows + number * sizeof fill, sizeof fill);
        CHECK(fill.sequence == want->sequence && fill.index == want->index);
        CHECK(fill.price == want->price && fill.quantity == want->quantity);
        CHECK(fill.fee == want->fee && fill.trade_seq == want->trade_seq);
        CHECK(memcmp(fill.request_id, want->order_id, 16) == 0 && fill.side == want->side);
        return;
    }
    const struct exchange_trade *want = &exchange.trades[at];
    memcpy(&trade, task->rows + sizeof(struct row_trades) + number * sizeof trade, sizeof trade);
    CHECK(trade.sequence == want->sequence && trade.index == want->index);
    CHECK(trade.price == want->price && trade.size == want->size);
    CHECK(trade.trade_seq == want->trade_seq && trade.taker_side == want->taker_side);
}

static uint64_t sequence_at(const struct list *list, uint32_t at)
{
    if (list->kind == QUERY_cash)
        return exchange.cash[at].sequence;
    return list->kind == QUERY_fills ? exchange.fills[at].sequence : exchange.trades[at].sequence;
}

static uint32_t index_at(const struct list *list, uint32_t at)
{
    if (list->kind == QUERY_cash)
        return exchange.cash[at].index;
    return list->kind == QUERY_fills ? exchange.fills[at].index : exchange.trades[at].index;
}

/* Pages of `limit` from the newest row on. A refused one must need a row of a gap; the list goes on
 * below the gap. */
static void check_list(const struct list *list, uint32_t limit)
{
    uint32_t at = list->kind == QUERY_cash    ? exchange.cash_count
                  : list->kind == QUERY_fills ? exchange.fill_count
                                              : exchange.trade_count;
    uint64_t before = 0;
    uint32_t before_index = 0, size = limit, head = list->kind != QUERY_fills;

    for (;;) {
        struct query_task task =
            ask(list->kind, list->account, list->asset, size, before, before_index);
        if (task.reply.problem != PROBLEM_none && size > 1) {
            size = 1; /* find the gap row by row */
            continue;
        }
        if (task.reply.problem != PROBLEM_none) {
            CHECK(task.reply.problem == PROBLEM_not_ready && task.reply.cause == REPLY_NOT_KEPT);
            const struct gap *gap = gap_of(task.reply.kept_from - 1);
            CHECK(gap != NULL && gap->to == task.reply.kept_from - 1);
            CHECK(before == 0 || gap->to < before || before_index != 0);
            while (at > 0 && (!is_of(list, at - 1) || sequence_at(list, at - 1) > gap->after)) {
                at--; /* nothing of the list lies between the last page and the gap */
                CHECK(!is_of(list, at) || sequence_at(list, at) <= gap->to);
            }
            before = gap->after + 1;
            before_index = 0;
            size = limit;
            refused_count++;
            continue;
        }
        uint32_t count = task.reply.row_count - head;
        for (uint32_t k = 0; k < count; k++) {
            do
                CHECK(at-- > 0);
            while (!is_of(list, at));
            CHECK(gap_of(sequence_at(list, at)) == NULL);
            check_row(list, &task, k, at);
            before = sequence_at(list, at);
            before_index = index_at(list, at);
        }
        if (count < size)
            break;
    }
    while (at > 0)
        CHECK(!is_of(list, --at));
}

/* The trades after `seq` of the market, at most `limit`: the oldest of those that happened, of
 * which list[at] is the first; refused only where rows from there on were never written. */
static void check_after(uint16_t asset, const struct exchange_trade *const *list, uint32_t count,
                        uint32_t at, uint64_t seq, uint32_t limit)
{
    struct query_task task = ask(QUERY_trades_after, 0, asset, limit, seq, 0);
    uint32_t rows = count - at < limit ? count - at : limit;
    uint64_t low = at == 0 ? 0 : list[at - 1]->sequence;

    if (task.reply.problem != PROBLEM_none) {
        CHECK(task.reply.problem == PROBLEM_not_ready && task.reply.cause == REPLY_NOT_KEPT);
        CHECK(gap_count != 0 && gaps[gap_count - 1].to >= low);
        after_lost++;
        return;
    }
    CHECK(task.reply.row_count == rows + 1 && task.reply.more == (at + rows < count));
    for (uint32_t k = 0; k < rows; k++) {
        const struct exchange_trade *want = list[at + rows - 1 - k];
        struct row_trade trade;
        memcpy(&trade, task.rows + sizeof(struct row_trades) + k * sizeof trade, sizeof trade);
        CHECK(trade.seq == want->seq && trade.sequence == want->sequence);
        CHECK(trade.trade_seq == want->trade_seq);
        CHECK(trade.price == want->price && trade.size == want->size);
    }
    after_whole++;
}

static void check_trades_after(uint16_t asset)
{
    static const struct exchange_trade *list[EXCHANGE_ROWS_MAX];
    static const uint32_t limits[] = { 1000, 37, 1 };
    uint32_t count = 0;

    for (uint32_t k = 0; k < exchange.trade_count; k++)
        if (exchange.trades[k].asset == asset)
            list[count++] = &exchange.trades[k];
    check_after(asset, list, count, 0, 0, 1000);
    for (uint32_t k = 0; k < count; k += 1 + k % 29) {
        check_after(asset, list, count, k, list[k]->seq - 1, limits[k % CC_COUNT(limits)]);
        check_after(asset, list, count, k + 1, list[k]->seq, limits[k % 2]);
    }
    check_after(asset, list, count, count, UINT64_MAX, 1000);
}

static struct query_task ask_request(uint64_t account, int32_t pin, const uint8_t *id)
{
    struct query query = { .kind = QUERY_request, .account_id = account, .pin = pin, .limit = 1 };

    memcpy(query.id, id, sizeof query.id);
    return exchange_ask(&exchange, &pool, &query);
}

/* The date of an id is its first 48 bits. */
static uint64_t ms_of(const uint8_t *id)
{
    return __builtin_bswap64(cc_load64(id)) >> 16;
}

static void check_requests(void)
{
    uint64_t gap_ms = history_file_gap_ms(file);

    for (uint32_t k = 0; k < exchange.request_count; k++) {
        const struct exchange_request *want = &exchange.requests[k];
        struct row_request row;
        uint8_t other[16];

        if (want->account >> 63 != 0 || want->sequence < first)
            continue; /* an operator's: of no account's key; or from before there was a file */
        struct query_task task = ask_request(want->account, -1, want->id);
        if (gap_of(want->sequence) != NULL) {
            CHECK(task.reply.problem == PROBLEM_not_ready && task.reply.cause == REPLY_NOT_KEPT);
            CHECK(ms_of(want->id) <= gap_ms);
            requests_lost++;
            continue;
        }
        CHECK(task.reply.problem == PROBLEM_none && task.reply.row_count == 1);
        memcpy(&row, task.rows, sizeof row);
        CHECK(row.sequence == want->sequence && row.code == want->code);
        CHECK(row.status == want->status && row.reason == want->reason);
        CHECK(row.account_id == want->account && memcmp(row.request_id, want->id, 16) == 0);
        CHECK(row.result_count == want->result_count);
        CHECK(memcmp(row.results, want->results, want->result_count) == 0);
        requests_found++;
        if (k % 16 != 0)
            continue;
        /* Neither another account's, nor an id that is near, nor for a key pinned elsewhere. */
        memcpy(other, want->id, sizeof other);
        other[15] ^= 1;
        enum problem unknown =
            ms_of(want->id) <= gap_ms ? PROBLEM_not_ready : PROBLEM_request_not_found;
        CHECK(ask_request(want->account, -1, other).reply.problem == unknown);
        CHECK(ask_request(want->account + 1, -1, want->id).reply.problem == unknown);
        CHECK(ask_request(want->account, 77, want->id).reply.problem == PROBLEM_request_not_found);
    }
}

/* Orders of the account, newest placing first: of these a list shows all or those of a status. */
static uint32_t list_orders(uint64_t account, const struct exchange_order **list)
{
    uint32_t count = 0;

    for (uint32_t k = 0; k < exchange.order_count; k++) {
        const struct exchange_order *order = &exchange.orders[k];
        uint32_t at = count;
        if (order->account != account)
            continue;
        for (; at > 0 && list[at - 1]->sequence == order->sequence; at--)
            if (list[at - 1]->index < order->index)
                break;
        memmove(&list[at + 1], &list[at], (count - at) * sizeof(const struct exchange_order *));
        list[at] = order;
        count++;
    }
    for (uint32_t k = 0; k < count / 2; k++) {
        const struct exchange_order *oldest = list[k];
        list[k] = list[count - 1 - k];
        list[count - 1 - k] = oldest;
    }
    return count;
}

static void check_order(const struct row_order *row, const struct exchange_order *want)
{
    CHECK(row->account_id == want->account && memcmp(row->id, want->id, 16) == 0);
    CHECK(row->sequence == want->sequence && row->index == want->index);
    CHECK(row->filled == want->filled && row->remaining == want->remaining);
    CHECK(row->order_type == want->order_type && row->side == want->side);
    if (want->ended_sequence != 0)
        CHECK(row->status == want->status && row->reason == want->reason);
}

/* Pages of `limit`. Once the file has a gap, nothing that was placed up to its end is listed. */
static void check_orders(uint64_t account, uint32_t limit, uint8_t status)
{
    static const struct exchange_order *list[EXCHANGE_ROWS_MAX];
    uint64_t lost = gap_count == 0 ? 0 : gaps[gap_count - 1].to;
    uint32_t count = list_orders(account, list), at = 0, size = limit;
    struct query query = { .kind = QUERY_orders,
                           .account_id = account,
                           .subaccount_index = QUERY_ANY_INDEX,
                           .portfolio_index = QUERY_ANY_INDEX,
                           .pin = -1,
                           .status = status };

    for (bool is_over = false; !is_over;) {
        query.limit = size;
        struct query_task task = exchange_ask(&exchange, &pool, &query);
        order_pages++;
        if (task.reply.problem != PROBLEM_none && size > 1) {
            size = 1;
            continue;
        }
        if (task.reply.problem != PROBLEM_none) {
            CHECK(task.reply.cause == REPLY_NOT_KEPT && task.reply.kept_from == lost + 1);
            while (at < count && status != QUERY_ANY_STATUS && list[at]->status != status)
                at++;
            CHECK(lost != 0 && (at == count || list[at]->sequence <= lost));
            order_pages_refused++;
            return;
        }
        const struct row_order *rows = (const struct row_order *)(const void *)task.rows;
        for (uint32_t k = 0; k < task.reply.row_count; k++, at++) {
            while (status != QUERY_ANY_STATUS && list[at]->status != status)
                CHECK(++at < count);
            CHECK(at < count);
            check_order(&rows[k], list[at]);
            CHECK(status == ORDER_OPEN || list[at]->sequence > lost);
            query.before_sequence = rows[k].sequence;
            query.before_index = rows[k].index;
        }
        is_over = task.reply.row_count < size;
    }
    for (; at < count; at++)
        CHECK(status != QUERY_ANY_STATUS && list[at]->status != status);
    CHECK(lost == 0 || status == ORDER_OPEN);
}

static void check_each_order(void)
{
    for (uint32_t k = 0; k < exchange.order_count; k++) {
        const struct exchange_order *want = &exchange.orders[k];
        struct query query = { .kind = QUERY_order, .account_id = want->account, .pin = -1 };
        memcpy(query.id, want->id, sizeof query.id);
        struct query_task task = exchange_ask(&exchange, &pool, &query);
        bool is_lost = want->ended_sequence != 0 && gap_of(want->ended_sequence) != NULL;
        if (task.reply.problem == PROBLEM_none) {
            CHECK(!is_lost);
            check_order((const struct row_order *)(const void *)task.rows, want);
            orders_found++;
        } else { /* its end, or the request that leads to its place */
            CHECK(is_lost || gap_of(want->sequence) != NULL);
            CHECK(task.reply.problem == PROBLEM_not_ready && task.reply.cause == REPLY_NOT_KEPT);
            orders_lost++;
        }
        if (task.reply.problem != PROBLEM_none || k % 16 != 0)
            continue;
        query.pin = 77;
        CHECK(exchange_ask(&exchange, &pool, &query).reply.problem == PROBLEM_order_not_found);
        query.pin = -1;
        query.account_id++;
        CHECK(exchange_ask(&exchange, &pool, &query).reply.problem != PROBLEM_none);
    }
}

/* ---- private events -------------------------------------------------------------------------- */

static void note_privates(void)
{
    for (uint64_t account = 1; account <= ACCOUNTS; account++) {
        uint64_t *count = &private_counts[account];
        while (*count < private_log_newest(&shown, account)) {
            struct private_event *event = &privates[account][*count + 1];
            CHECK(++*count < PRIVATE_MAX);
            if (!private_log_read(&shown, account, *count, event))
                CHECK(*count <= 64); /* of before the log was there */
        }
    }
}

/* Whether the file must have the event. */
static bool is_kept(const struct private_event *event)
{
    return event->sequence >= first && gap_of(event->sequence) == NULL &&
           event->sequence <= history_file_applied(file);
}

/* The page after `from`, of `limit` events. */
static void check_page(uint64_t account, uint64_t from, uint32_t limit, uint64_t by)
{
    const struct private_event *events = privates[account];
    uint64_t newest = private_counts[account], applied = history_file_applied(file);
    uint64_t dropped = newest < PRIVATE_MOST + PRIVATE_KEEP_STEP + 3 * PRIVATE_BLOCK_EVENTS
                           ? 0
                           : newest - PRIVATE_MOST - PRIVATE_KEEP_STEP - 3 * PRIVATE_BLOCK_EVENTS;
    struct query query = { .kind = QUERY_private_events,
                           .account_id = account,
                           .limit = limit,
                           .pin = -1,
                           .before_sequence = from,
                           .offset = by };
    struct query_task task = exchange_ask(&exchange, &pool, &query);
    const struct private_event *rows = (const struct private_event *)(const void *)task.rows;
    bool is_first_kept = from < newest && is_kept(&events[from + 1]);

    if (task.reply.problem == PROBLEM_none && task.reply.row_count != 0) {
        CHECK(is_first_kept && from + 1 > dropped);
        for (uint32_t k = 0; k < task.reply.row_count; k++)
            CHECK(memcmp(&rows[k], &events[from + 1 + k], sizeof *rows) == 0);
        uint64_t last = from + task.reply.row_count;
        CHECK(task.reply.row_count == limit || last == newest || !is_kept(&events[last + 1]));
        pages_whole++;
        return;
    }
    bool may_be_dropped = from + 1 + PRIVATE_MOST <= newest;
    CHECK(!is_first_kept || may_be_dropped);
    if (task.reply.problem == PROBLEM_none) { /* on its way, as far as is known */
        CHECK(by > applied && (from >= newest || events[from + 1].sequence > applied));
        for (uint64_t seq = from + 1; seq <= newest; seq++)
            CHECK(!is_kept(&events[seq]));
        pages_coming++;
        return;
    }
    CHECK(task.reply.problem == PROBLEM_not_ready && task.reply.cause == REPLY_NOT_KEPT);
    pages_dropped += is_first_kept;
    pages_lost++;
}

static void check_privates(void)
{
    static const uint32_t limits[] = { 256, 128, 37, 1 };
    uint64_t sequence = engine_sequence(exchange.host.engine);

    note_privates();
    for (uint64_t account = 1; account <= ACCOUNTS; account++)
        for (uint64_t from = 0; from <= private_counts[account] + 1; from += 1 + from % 23) {
            check_page(account, from, limits[from % CC_COUNT(limits)], UINT64_MAX);
            check_page(account, from, limits[from % 3], sequence);
        }
}

static void check_all(void)
{
    static const uint32_t limits[] = { 1000, 37, 5 };

    for (size_t i = 0; i < CC_COUNT(limits); i++) {
        for (uint64_t account = 1; account <= ACCOUNTS; account++)
            check_list(&(struct list){ QUERY_fills, account, 0 }, limits[i]);
        for (uint64_t account = 1; account <= ACCOUNTS; account++)
            check_list(&(struct list){ QUERY_cash, account, 0 }, limits[i]);
        for (uint16_t asset = HOST_BTC; asset <= EXCHANGE_ETH; asset++)
            check_list(&(struct list){ QUERY_trades, 0, asset }, limits[i]);
        check_trades_after(i == 0 ? HOST_BTC : EXCHANGE_ETH);
        for (uint64_t account = 1; account <= ACCOUNTS; account++) {
            check_orders(account, limits[i], QUERY_ANY_STATUS);
            check_orders(account, limits[i], ORDER_FILLED);
            check_orders(account, limits[i], ORDER_OPEN);
        }
    }
    check_each_order();
    check_requests();
    check_privates();
}

/* A new history in the file, whose private events go to `shown` too. */
static void attach(void)
{
    struct history *history = history_create(CAPACITY, ACCOUNTS + 2, exchange.host.key);

    CHECK(history != NULL && history_attach(history, file) == 0);
    history_keep_private(history, PRIVATE_MOST);
    exchange.sink.history = history;
    exchange.sink.feed.log = &shown;
}

/* A new process: what was not committed is gone, the state is the engine's. */
static void start_again(bool is_clean)
{
    static const uint8_t id[HISTORY_ID_BYTES] = { 1 };
    struct history_keep *keep = &exchange.sink.history->keep;

    if (is_clean)
        CHECK(history_keep_flush(keep, true) >= 0);
    else /* what came last is lost */
        exchange_random_run(&exchange, COMMANDS);
    note_privates();
    uint64_t sequence = engine_sequence(exchange.host.engine);
    file_rows += (uint32_t)published_get(&keep->rows);
    history_destroy(exchange.sink.history);
    history_file_close(file);
    CHECK(history_file_open(&file, folder, id) == 0);
    uint64_t applied = history_file_applied(file);
    CHECK(!is_clean || applied == sequence);
    if (applied < sequence)
        gaps[gap_count++] = (struct gap){ applied, sequence };
    attach();
    history_forget(exchange.sink.history, exchange.host.engine);
}

static void run(uint32_t rounds)
{
    struct history_keep *keep = &exchange.sink.history->keep;
    uint64_t now_ns = 5000000000;

    for (uint32_t i = 0; i < rounds; i++) {
        exchange_random_run(&exchange, COMMANDS);
        exchange_publish(&exchange);
        if (i % 7 == 0)
            now_ns += 1000000000; /* a commit each second */
        CHECK(history_keep_step(keep, now_ns) >= 0);
        note_privates();
        CHECK(!history_keep_is_full(keep));
    }
}

/* A start from an older snapshot makes rows that the file has, more than may wait: they are passed,
 * nothing is written, and a snapshot waits for what is above them alone. */
static void check_replayed(void)
{
    CHECK(history_keep_flush(&exchange.sink.history->keep, false) >= 0);
    history_destroy(exchange.sink.history);
    attach();
    struct history_keep *keep = &exchange.sink.history->keep;
    struct history_ring *ring = keep->rings[HISTORY_FEES];
    uint64_t applied = history_file_applied(file), commits = published_get(&keep->commits);

    CHECK(applied > keep->pending_max && !history_keep_is_full(keep));
    for (uint64_t sequence = 1; sequence <= keep->pending_max; sequence++)
        CHECK(history_ring_add(ring, 0, sequence, 0) != NULL);
    history_keep_publish(keep);
    hash_board_set(&keep->marks, &(struct hash_point){ .sequence = keep->pending_max });
    CHECK(history_keep_is_full(keep));
    CHECK(history_keep_step(keep, 1) == 0);
    CHECK(!history_keep_is_full(keep) && published_get(&keep->commits) == commits);
    CHECK(history_file_applied(file) == applied && history_keep_has(keep, applied));
    CHECK(!history_keep_has(keep, applied + 1));
    /* No row, and no second has passed. */
    hash_board_set(&keep->marks, &(struct hash_point){ .sequence = applied + 1 });
    CHECK(history_keep_step(keep, 2) == 0);
    CHECK(history_keep_has(keep, applied + 1) && history_file_applied(file) == applied + 1);
}

int main(void)
{
    static uint8_t memory[REPLY_POOL_BYTES] __attribute__((aligned(4096)));
    static const uint8_t id[HISTORY_ID_BYTES] = { 1 };
    char path[64];

    reply_pool_init(&pool, memory);
    CHECK(mkdtemp(folder) != NULL && history_file_open(&file, folder, id) == 0);
    exchange_open(&exchange, CAPACITY, ACCOUNTS);
    exchange.seed = 43;
    exchange.rich = true;
    history_destroy(exchange.sink.history);
    CHECK(private_log_init(&shown, ACCOUNTS + 2) == 0);
    for (int account = 1; account <= ACCOUNTS; account++) {
        privates[account] = calloc(PRIVATE_MAX, sizeof *privates[account]);
        CHECK(privates[account] != NULL);
    }
    attach();
    first = engine_sequence(exchange.host.engine) + 1;
    exchange.cash_count = 0; /* deposits of before there was a file */
    for (uint32_t start = 0; start < STARTS; start++) {
        run(ROUNDS);
        check_all();
        start_again(start % 3 != 2);
        check_all();
    }
    CHECK(gap_count == STARTS / 3 && refused_count > 0);
    CHECK(orders_found > 2 * CAPACITY && orders_lost > 100);
    CHECK(order_pages > 1000 && order_pages_refused > 10);
    CHECK(requests_found > 2 * CAPACITY && requests_lost > 100);
    CHECK(exchange.cash_count > 4 * CAPACITY);
    CHECK(exchange.fill_count > 2 * CAPACITY && file_rows > 2 * CAPACITY);
    CHECK(pages_whole > 1000 && pages_lost > 1000 && pages_coming > 10 && pages_dropped > 100);
    CHECK(after_whole > 500 && after_lost > 500);
    check_replayed();
    for (int account = 1; account <= ACCOUNTS; account++)
        free(privates[account]);
    private_log_free(&shown);
    exchange_close(&exchange);
    history_file_close(file);
    snprintf(path, sizeof path, "%s/data.mdb", folder);
    CHECK(unlink(path) == 0);
    CHECK(rmdir(folder) == 0);
    return 0;
}
