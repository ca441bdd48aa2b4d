/* Lists against a plain list of everything that happened (wire.md W7 and W10, json.md J1, J2, J6):
 * every filter and page boundary over random histories, with so few rows in memory that most are
 * dropped. A page is right to the row; without a file it may be refused, because a row that it may
 * need is gone. */
#include <stdlib.h>

#include "check.h"
#include "engine/rig.h"
#include "engine/table/order_state.h"
#include "exchange_random.h"
#include "store/history_folder.h"

enum {
    ACCOUNTS = 4,
    CAPACITY = 256,
    COMMANDS = 6000,
    PAGES = 6000,
    REJECTED_SHOWN = 1024, /* W10 */
};

static struct exchange exchange;
static struct reply_pool pool;
static struct adl_rank *ranks;
static struct history_file *file; /* NULL: rows are kept in memory alone */
static char folder[] = "/dev/shm/perpd-query-XXXXXX";
static uint64_t seed = 20251120;
static struct {
    uint32_t served, refused, short_of, full;
} seen;

static uint32_t below(uint32_t bound)
{
    return rig_below(&seed, bound);
}

static struct query_sources sources(void)
{
    return (struct query_sources){
        .engine = exchange.host.engine,
        .history = exchange.sink.history,
        .ranks = ranks,
    };
}

/* Answers a query in steps of at most `rows` rows; *steps gets how many it took. */
static struct query_task ask(const struct query *query, uint32_t rows, uint32_t *steps)
{
    struct query_sources from = sources();
    struct query_budget budget = { .rows = rows, .holders = 1 };
    struct query_task task;

    *steps = 1;
    for (bool done = query_begin(&task, &from, query, &pool, &budget); !done; ++*steps) {
        history_keep_end(&exchange.sink.history->keep);
        budget = (struct query_budget){ .rows = rows, .holders = 1 };
        done = query_step(&task, &from, &pool, &budget);
    }
    history_keep_end(&exchange.sink.history->keep);
    if (task.reply.problem != PROBLEM_none) {
        CHECK(task.reply.buffer == REPLY_NO_BUFFER && task.reply.row_count == 0);
    } else {
        reply_pool_free(&pool, task.reply.buffer);
    }
    CHECK(task.reply.applied == engine_sequence(exchange.host.engine));
    return task;
}

static struct query any_query(enum query_kind kind, uint64_t account)
{
    return (struct query){
        .kind = (uint16_t)kind,
        .account_id = account,
        .subaccount_index = QUERY_ANY_INDEX,
        .portfolio_index = QUERY_ANY_INDEX,
        .pin = -1,
        .limit = 1000,
        .status = QUERY_ANY_STATUS,
    };
}

static void put_market(struct query *query, uint16_t asset)
{
    memset(query->market, 0, sizeof query->market);
    memcpy(query->market, asset == HOST_BTC ? "BTC-PERP" : "ETH-PERP", 8);
}

static bool is_below(uint64_t sequence, uint32_t index, uint64_t other, uint32_t other_index)
{
    return sequence < other || (sequence == other && index < other_index);
}

/* --- what is lost ----------------------------------------------------------------------------- */

/* R3: what is dead will end so, whatever is in its record. The engine's own view is checked where
 * it is made; here it says which live orders are dead. */
static void order_now(const struct exchange_order *order, uint8_t *status, uint8_t *reason)
{
    struct row_order row;

    *status = order->status;
    *reason = order->reason;
    if (order_state_is_final((enum order_state)order->status))
        return;
    CHECK(read_order(exchange.host.engine, order->account, order->id, -1, &row));
    *status = row.status;
    *reason = row.reason;
}

/* Number of REJECTED orders of its account from this one on. */
static uint32_t rejections_from(uint32_t at)
{
    uint32_t count = 0;
    for (uint32_t k = at; k < exchange.order_count; k++)
        count += exchange.orders[k].account == exchange.orders[at].account &&
                 exchange.orders[k].status == ORDER_REJECTED;
    return count;
}

static bool order_is_hidden(uint32_t at)
{
    return exchange.orders[at].status == ORDER_REJECTED && rejections_from(at) > REJECTED_SHOWN;
}

/* An ended order that is no longer among the newest CAPACITY that ended, and in no file. */
static bool order_is_lost(const struct exchange_order *order)
{
    return file == NULL && order->ended_sequence != 0 &&
           exchange.ended_count - order->ended_number > exchange.capacity;
}

/* The sequence below which orders of the account may be missing; 0: none of it is lost. */
static uint64_t orders_from(uint64_t account)
{
    uint64_t from = 0;
    bool is_lost = false;

    for (uint32_t k = 0; k < exchange.order_count; k++) {
        const struct exchange_order *order = &exchange.orders[k];
        if (order_is_lost(order))
            is_lost |= order->account == account;
        else if (order->ended_sequence != 0 &&
                 exchange.ended_count - order->ended_number == exchange.capacity)
            from = order->ended_sequence + 1;
    }
    return is_lost ? from : 0;
}

/* --- orders ----------------------------------------------------------------------------------- */

static void check_row(const struct row_order *row, const struct exchange_order *order)
{
    uint8_t status, reason;

    order_now(order, &status, &reason);
    CHECK(row->account_id == order->account && memcmp(row->id, order->id, 16) == 0);
    CHECK(row->sequence == order->sequence && row->index == 0);
    CHECK(row->status == status && row->reason == reason);
    CHECK(row->remaining == order->remaining && row->filled == order->filled);
    CHECK(row->initial == order->remaining + order->filled || order->filled == 0);
    CHECK(row->price == order->price && row->side == order->side);
    CHECK(row->order_type == order->order_type);
    CHECK(row->order_type != 0 || (row->price == 0 && row->expiry == 0)); /* MARKET: IOC (J2) */
    CHECK(memcmp(row->market, order->asset == HOST_BTC ? "BTC-PERP" : "ETH-PERP", 9) == 0);
    CHECK(row->price_decimals + row->size_decimals == 6);
    CHECK(row->price_decimals == (order->asset == HOST_BTC ? 1 : 2));
}

static bool order_matches(const struct query *query, uint32_t at)
{
    const struct exchange_order *order = &exchange.orders[at];
    uint8_t status, reason;

    if (order->account != query->account_id || order_is_hidden(at))
        return false;
    if (query->before_sequence != 0 &&
        !is_below(order->sequence, 0, query->before_sequence, query->before_index))
        return false;
    order_now(order, &status, &reason);
    return (query->market[0] == '\0' || (query->market[0] == 'B') == (order->asset == HOST_BTC)) &&
           (query->status == QUERY_ANY_STATUS || query->status == status) &&
           (query->subaccount_index == QUERY_ANY_INDEX || query->subaccount_index == 0) &&
           (query->portfolio_index == QUERY_ANY_INDEX || query->portfolio_index == 0) &&
           query->pin <= 0;
}

static void check_orders(const struct query *query, uint32_t rows)
{
    uint32_t steps, found = 0, last = 0;
    struct query_task task = ask(query, rows, &steps);
    const struct row_order *shown = (const struct row_order *)(const void *)task.rows;
    uint64_t offset = query->offset;
    bool is_live = query->status == ORDER_OPEN || query->status == ORDER_PARTIALLY_FILLED ||
                   query->status == ORDER_UNTRIGGERED;
    bool is_refused = task.reply.problem != PROBLEM_none;

    for (uint32_t k = exchange.order_count; k-- > 0 && found < query->limit;) {
        if (!order_matches(query, k))
            continue;
        if (offset > 0) {
            offset--;
            continue;
        }
        last = k;
        if (!is_refused) {
            CHECK(found < task.reply.row_count);
            check_row(&shown[found], &exchange.orders[k]);
        }
        found++;
    }
    /* A page that reaches down to where orders are missing is refused. */
    uint64_t lowest = found < query->limit ? 0 : exchange.orders[last].sequence;
    CHECK(is_refused == (!is_live && lowest < orders_from(query->account_id)));
    if (is_refused) {
        CHECK(task.reply.problem == PROBLEM_not_ready && task.reply.cause == REPLY_NOT_KEPT);
        seen.refused++;
        return;
    }
    CHECK(task.reply.row_count == found);
    CHECK(task.reply.row_bytes == found * sizeof *shown);
    seen.served++;
    seen.full += found == query->limit;
    seen.short_of += found < query->limit;
}

static void check_random_orders(void)
{
    static const uint8_t statuses[] = { ORDER_OPEN,     ORDER_FILLED,           ORDER_CANCELED,
                                        ORDER_REJECTED, ORDER_PARTIALLY_FILLED, ORDER_UNTRIGGERED,
                                        ORDER_EXPIRED };
    struct query query = any_query(QUERY_orders, 1 + below(ACCOUNTS));

    query.limit = below(3) == 0 ? 1 + below(1000) : 1 + below(20);
    if (below(2))
        query.status = statuses[below(CC_COUNT(statuses))];
    if (below(3) == 0)
        put_market(&query, below(2) ? HOST_BTC : EXCHANGE_ETH);
    if (below(4) == 0)
        query.offset = below(below(2) ? 40 : 400);
    if (below(2)) { /* somewhere among the newest, or anywhere */
        uint32_t reach = below(2) ? exchange.order_count : CAPACITY;
        query.before_sequence = exchange.orders[exchange.order_count - 1 - below(reach)].sequence;
        query.before_index = below(2);
    }
    query.subaccount_index = below(4) == 0 ? below(2) : QUERY_ANY_INDEX;
    query.portfolio_index = below(4) == 0 ? below(2) : QUERY_ANY_INDEX;
    query.pin = below(4) == 0 ? (int32_t)below(2) : -1;
    if (query.pin >= 0)
        query.subaccount_index = QUERY_ANY_INDEX;
    check_orders(&query, below(2) ? 7 : 10000);
}

/* Every order by its id: live, ended and kept, or an answer that does not deny it. */
static void check_each_order(void)
{
    uint32_t steps, kept = 0, refused = 0;

    for (uint32_t k = 0; k < exchange.order_count; k++) {
        const struct exchange_order *order = &exchange.orders[k];
        struct query query = any_query(QUERY_order, order->account);
        memcpy(query.id, order->id, sizeof query.id);
        struct query_task task = ask(&query, 10000, &steps);
        if (task.reply.problem == PROBLEM_none) {
            check_row((const struct row_order *)(const void *)task.rows, order);
            CHECK(!order_is_hidden(k));
            kept++;
        } else if (order_is_hidden(k)) {
            CHECK(task.reply.problem == PROBLEM_order_not_found ||
                  task.reply.cause == REPLY_NOT_KEPT);
        } else {
            CHECK(order_is_lost(order) && task.reply.problem == PROBLEM_not_ready &&
                  task.reply.cause == REPLY_NOT_KEPT);
            refused++;
        }
        query.account_id = 1 + order->account % ACCOUNTS; /* another's */
        task = ask(&query, 10000, &steps);
        CHECK(task.reply.problem == PROBLEM_order_not_found || task.reply.cause == REPLY_NOT_KEPT);
    }
    CHECK(kept > CAPACITY && (file != NULL ? refused == 0 : refused > CAPACITY));
}

/* --- fills, trades, requests ------------------------------------------------------------------ */

static void check_random_fills(void)
{
    struct query query = any_query(QUERY_fills, 1 + below(ACCOUNTS));
    uint32_t steps, found = 0;

    query.limit = below(2) ? 1 + below(10) : 1 + below(300);
    query.offset = below(2) ? 0 : below(100);
    query.subaccount_index = below(4) == 0;
    query.portfolio_index = below(4) == 0 ? below(2) : QUERY_ANY_INDEX;
    if (below(2)) {
        uint32_t reach = below(2) ? exchange.fill_count : CAPACITY;
        const struct exchange_fill *at = &exchange.fills[exchange.fill_count - 1 - below(reach)];
        query.before_sequence = at->sequence;
        query.before_index = at->index + below(2);
    }
    struct query_task task = ask(&query, below(2) ? 5 : 10000, &steps);
    bool is_refused = task.reply.problem != PROBLEM_none, misses = false;
    const struct row_fill *row = (const struct row_fill *)(const void *)task.rows;
    uint64_t offset = query.offset;

    for (uint32_t k = exchange.fill_count; k-- > 0 && found < query.limit;) {
        const struct exchange_fill *fill = &exchange.fills[k];
        if (fill->account != query.account_id ||
            (query.before_sequence != 0 &&
             !is_below(fill->sequence, fill->index, query.before_sequence, query.before_index)))
            continue;
        if (file == NULL && exchange.fill_count - k > CAPACITY) {
            misses = true; /* whether it matches cannot be known any more */
            break;
        }
        if (query.subaccount_index != 0 || (query.portfolio_index & INT32_MAX) == 1)
            continue;
        if (offset > 0) {
            offset--;
            continue;
        }
        if (!is_refused) {
            CHECK(found < task.reply.row_count);
            CHECK(row[found].sequence == fill->sequence && row[found].index == fill->index);
            CHECK(row[found].price == fill->price && row[found].quantity == fill->quantity);
            CHECK(row[found].fee == fill->fee && row[found].trade_seq == fill->trade_seq);
            CHECK(row[found].side == fill->side && row[found].liquidity == fill->liquidity);
            CHECK(memcmp(row[found].request_id, fill->order_id, 16) == 0);
            CHECK(row[found].market[0] == (fill->asset == HOST_BTC ? 'B' : 'E'));
        }
        found++;
    }
    CHECK(is_refused == misses);
    CHECK(!is_refused || task.reply.cause == REPLY_NOT_KEPT);
    CHECK(is_refused || task.reply.row_count == found);
}

static void check_random_trades(void)
{
    struct query query = any_query(QUERY_trades, 0);
    uint16_t asset = below(2) ? HOST_BTC : EXCHANGE_ETH;
    uint32_t steps, found = 0;

    put_market(&query, asset);
    query.limit = 1 + below(40);
    if (below(2)) {
        uint32_t reach = below(2) ? exchange.trade_count : CAPACITY;
        const struct exchange_trade *at = &exchange.trades[exchange.trade_count - 1 - below(reach)];
        query.before_sequence = at->sequence;
        query.before_index = at->index + below(2);
    }
    struct query_task task = ask(&query, below(2) ? 3 : 10000, &steps);
    bool is_refused = task.reply.problem != PROBLEM_none, misses = false, more = false;
    const struct row_trades *list = (const struct row_trades *)(const void *)task.rows;
    const struct row_trade *row =
        (const struct row_trade *)(const void *)(task.rows + sizeof *list);

    for (uint32_t k = exchange.trade_count; k-- > 0;) {
        const struct exchange_trade *trade = &exchange.trades[k];
        if (trade->asset != asset ||
            (query.before_sequence != 0 &&
             !is_below(trade->sequence, trade->index, query.before_sequence, query.before_index)))
            continue;
        if (found == query.limit) {
            more = true;
            break;
        }
        if (file == NULL && exchange.trade_count - k > CAPACITY) {
            misses = true;
            break;
        }
        if (!is_refused) {
            CHECK(found < list->trade_count);
            CHECK(row[found].sequence == trade->sequence && row[found].index == trade->index);
            CHECK(row[found].price == trade->price && row[found].size == trade->size);
            CHECK(row[found].trade_seq == trade->trade_seq && !row[found].liquidation);
            CHECK(row[found].taker_side == trade->taker_side);
        }
        found++;
    }
    CHECK(is_refused == misses);
    CHECK(is_refused || (list->trade_count == found && task.reply.row_count == 1 + found));
    CHECK(is_refused || task.reply.more == more);
}

static void check_each_request(void)
{
    uint32_t steps, kept = 0, of_accounts = 0;

    for (uint32_t k = exchange.request_count; k-- > 0;) {
        const struct exchange_request *request = &exchange.requests[k];
        struct query query = any_query(QUERY_request, request->account);
        if (request->account >> 63 != 0)
            continue; /* an operator's: of no account's key */
        memcpy(query.id, request->id, sizeof query.id);
        struct query_task task = ask(&query, 10000, &steps);
        if (of_accounts++ < CAPACITY || file != NULL) {
            const struct row_request *row = (const struct row_request *)(const void *)task.rows;
            CHECK(task.reply.problem == PROBLEM_none);
            CHECK(row->sequence == request->sequence && row->code == request->code);
            CHECK(row->status == request->status && row->reason == request->reason);
            CHECK(memcmp(row->request_id, request->id, 16) == 0);
            kept++;
        } else {
            CHECK(task.reply.problem == PROBLEM_not_ready && task.reply.cause == REPLY_NOT_KEPT);
        }
        query.account_id = 1 + request->account % ACCOUNTS;
        task = ask(&query, 10000, &steps);
        CHECK(task.reply.problem != PROBLEM_none);
    }
    CHECK(file != NULL ? kept == of_accounts : kept == CAPACITY);
}

/* --- the rest --------------------------------------------------------------------------------- */

static void check_unknown_market(void)
{
    uint32_t steps;
    static const struct {
        enum query_kind kind;
        enum problem want;
    } rows[] = {
        { QUERY_orders, PROBLEM_invalid_market },
        { QUERY_fills, PROBLEM_invalid_market },
        { QUERY_positions, PROBLEM_invalid_market },
        { QUERY_trades, PROBLEM_not_found }, /* in a path (W7) */
    };

    for (size_t k = 0; k < CC_COUNT(rows); k++) {
        struct query query = any_query(rows[k].kind, 1);
        memcpy(query.market, "SOL-PERP", 8);
        CHECK(ask(&query, 10000, &steps).reply.problem == rows[k].want);
    }
}

/* W7: a turn passes over at most 10,000 rows of a request. */
static void check_steps(void)
{
    struct query query = any_query(QUERY_orders, 1);
    uint32_t steps, in_one;

    query.limit = 1;
    query.offset = 30;
    query.status = ORDER_OPEN;
    struct query_task one = ask(&query, 10000, &in_one);
    struct query_task many = ask(&query, 10, &steps);
    CHECK(in_one == 1 && steps == 4); /* 31 rows, ten in a step */
    CHECK(one.reply.row_count == 1 && many.reply.row_count == 1);
}

/* A page costs the account's own rows: with nothing to filter as many as it shows, wherever it
 * begins, however many rows of others lie between. */
static void check_cost(void)
{
    struct query_sources from = sources();

    for (uint32_t account = 1; account <= ACCOUNTS; account++) {
        struct query query = any_query(QUERY_orders, account);
        query.limit = 5;
        for (uint32_t page = 0; page < 4; page++) {
            struct query_budget budget = { .rows = QUERY_TASK_ROWS_A_TURN };
            struct query_task task;
            CHECK(query_begin(&task, &from, &query, &pool, &budget));
            CHECK(task.reply.problem == PROBLEM_none && task.reply.row_count == query.limit);
            uint32_t cost = QUERY_TASK_ROWS_A_TURN - budget.rows; /* and what waits, an eighth */
            CHECK(cost >= query.limit && cost <= query.limit + CAPACITY / 8);
            const struct row_order *rows = (const struct row_order *)(const void *)task.rows;
            query.before_sequence = rows[query.limit - 1].sequence;
            reply_pool_free(&pool, task.reply.buffer);
        }
    }
}

static void check_pool(void)
{
    struct query query = any_query(QUERY_orders, 1);
    uint16_t taken[REPLY_BUFFERS];
    uint32_t steps;

    for (uint32_t k = 0; k < REPLY_BUFFERS; k++)
        CHECK((taken[k] = reply_pool_alloc(&pool)) != REPLY_NO_BUFFER);
    struct query_task task = ask(&query, 10000, &steps);
    CHECK(task.reply.problem == PROBLEM_not_ready && task.reply.cause == REPLY_POOL_EMPTY);
    for (uint32_t k = 0; k < REPLY_BUFFERS; k++)
        reply_pool_free(&pool, taken[k]);
}

/* W10: of REJECTED orders the last 1,024 of an account. */
static void check_rejections(void)
{
    enum { KEPT = 4096, PLACED = 1500 };
    struct query query = any_query(QUERY_orders, 1);
    struct host_order order = { .price = 0, .quantity = 20000, .expiry = UINT64_MAX };
    uint32_t steps, first = PLACED - REJECTED_SHOWN; /* that is shown */

    exchange_open(&exchange, KEPT, ACCOUNTS);
    CHECK(history_attach(exchange.sink.history, file) == 0);
    for (uint32_t k = 0; k < PLACED; k++)
        CHECK(host_limit(&exchange.host, 1, &order) == STATUS_rejected_invalid_price);
    if (file != NULL) { /* a start from a snapshot that has some of them */
        struct history_keep *keep = &exchange.sink.history->keep;
        exchange_publish(&exchange);
        CHECK(history_keep_flush(keep, false) >= PLACED);
        history_destroy(exchange.sink.history);
        exchange.sink.history = history_create(KEPT, ACCOUNTS + 2, exchange.host.key);
        CHECK(history_attach(exchange.sink.history, file) == 0);
        history_forget(exchange.sink.history, exchange.host.engine);
        CHECK(host_limit(&exchange.host, 1, &order) == STATUS_rejected_invalid_price);
        first++;
    }
    query.offset = REJECTED_SHOWN - 1;
    struct query_task task = ask(&query, 10000, &steps);
    CHECK(task.reply.problem == PROBLEM_none && task.reply.row_count == 1);
    check_row((const struct row_order *)(const void *)task.rows, &exchange.orders[first]);
    query = any_query(QUERY_order, 1);
    memcpy(query.id, exchange.orders[first - 1].id, 16);
    CHECK(ask(&query, 10000, &steps).reply.problem == PROBLEM_order_not_found);
    memcpy(query.id, exchange.orders[first].id, 16);
    CHECK(ask(&query, 10000, &steps).reply.problem == PROBLEM_none);
    exchange_close(&exchange);
}

/* Commands, and commits at some moments: so that pages are made of memory and file. */
static void run(uint32_t commands)
{
    for (uint32_t n = 0; n < commands; n += 10) {
        struct history_keep *keep = &exchange.sink.history->keep;
        exchange_random_run(&exchange, 10);
        exchange_publish(&exchange);
        if (below(3) == 0 || history_keep_is_full(keep))
            CHECK(history_keep_flush(keep, false) >= 0);
    }
}

static void check_everything(void)
{
    memset(&seen, 0, sizeof seen);
    exchange_open(&exchange, CAPACITY, ACCOUNTS);
    CHECK(history_attach(exchange.sink.history, file) == 0);
    check_unknown_market();
    for (uint32_t round = 0; round < 4; round++) {
        run(COMMANDS / 4);
        for (uint32_t n = 0; n < PAGES / 4; n++) {
            check_random_orders();
            check_random_fills();
            check_random_trades();
        }
    }
    CHECK(file != NULL ? seen.refused == 0 : seen.refused > PAGES / 20);
    CHECK(seen.full > PAGES / 20 && seen.short_of > PAGES / 20);
    CHECK(exchange.replaced > 20 && exchange.market_orders > 50);
    check_each_order();
    check_each_request();
    check_steps();
    check_cost();
    check_pool();
    exchange_close(&exchange);
}

static void open_file(void)
{
    static const uint8_t exchange_id[HISTORY_ID_BYTES] = { 1 };

    CHECK(history_file_open(&file, folder, exchange_id) == 0);
}

static void close_file(void)
{
    history_file_close(file);
    file = NULL;
    CHECK(history_folder_remove(folder) == 0);
}

int main(void)
{
    void *memory = aligned_alloc(64, REPLY_POOL_BYTES);

    CHECK(memory != NULL && mkdtemp(folder) != NULL);
    reply_pool_init(&pool, memory);
    CHECK((ranks = adl_rank_create()) != NULL);
    check_everything();
    check_rejections();
    open_file();
    check_everything();
    close_file();
    open_file();
    check_rejections();
    close_file();
    adl_rank_destroy(ranks);
    free(memory);
    return 0;
}
