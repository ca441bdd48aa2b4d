/* History behind a start from a snapshot: what happened before is not kept, and every answer that
 * needs it says so (503 not_ready, never a short page or a false 404); what comes later is whole
 * (wire.md W7, W10; docs/decisions/0041). The list of everything that happened is the judge. */
#include "check.h"
#include "engine/rig.h"
#include "engine/table/order_state.h"
#include "exchange_random.h"

enum { ACCOUNTS = 3, CAPACITY = 8192, COMMANDS = 2500 };

static struct exchange exchange;
static struct reply_pool pool;
static uint64_t floor_sequence; /* of the snapshot */

static struct query_task ask(enum query_kind kind, uint64_t account, const uint8_t *id,
                             uint32_t limit, uint16_t asset, uint8_t status)
{
    struct query query = { .kind = (uint16_t)kind,
                           .account_id = account,
                           .subaccount_index = QUERY_ANY_INDEX,
                           .portfolio_index = QUERY_ANY_INDEX,
                           .pin = -1,
                           .limit = limit,
                           .status = status };

    if (id != NULL)
        memcpy(query.id, id, sizeof query.id);
    if (asset != 0)
        memcpy(query.market, asset == HOST_BTC ? "BTC-PERP" : "ETH-PERP", 8);
    return exchange_ask(&exchange, &pool, &query);
}

static bool is_not_kept(const struct query_task *task)
{
    return task->reply.problem == PROBLEM_not_ready && task->reply.cause == REPLY_NOT_KEPT &&
           task->reply.kept_from == floor_sequence + 1;
}

/* Number of the account's or market's rows above the snapshot; a page of as many is served, one of
 * one more is not. */
static void check_pages(enum query_kind kind, uint64_t account, uint16_t asset, uint32_t above)
{
    uint32_t head = kind == QUERY_trades; /* the list's own row */

    CHECK(above > 10);
    for (uint32_t limit = 1; limit <= above; limit += 1 + above / 7) {
        struct query_task task = ask(kind, account, NULL, limit, asset, QUERY_ANY_STATUS);
        CHECK(task.reply.problem == PROBLEM_none && task.reply.row_count == head + limit);
    }
    struct query_task task = ask(kind, account, NULL, above, asset, QUERY_ANY_STATUS);
    CHECK(task.reply.row_count == head + above);
    CHECK(kind != QUERY_trades || task.reply.more);
    task = ask(kind, account, NULL, above + 1, asset, QUERY_ANY_STATUS);
    CHECK(is_not_kept(&task));
}

static void check_lists(uint32_t accounts)
{
    for (uint32_t account = 1; account <= accounts; account++) {
        uint32_t fills = 0, orders = 0;
        for (uint32_t k = 0; k < exchange.fill_count; k++)
            fills +=
                exchange.fills[k].account == account && exchange.fills[k].sequence > floor_sequence;
        for (uint32_t k = 0; k < exchange.order_count; k++)
            orders += exchange.orders[k].account == account &&
                      exchange.orders[k].sequence > floor_sequence;
        check_pages(QUERY_fills, account, 0, fills);
        check_pages(QUERY_orders, account, 0, orders);
        static const uint8_t ends[] = { ORDER_FILLED, ORDER_CANCELED, ORDER_REJECTED };
        for (size_t i = 0; i < CC_COUNT(ends); i++) {
            struct query_task task = ask(QUERY_orders, account, NULL, 1000, 0, ends[i]);
            CHECK(is_not_kept(&task));
        }
    }
    for (uint16_t asset = HOST_BTC; asset <= EXCHANGE_ETH; asset++) {
        uint32_t trades = 0;
        for (uint32_t k = 0; k < exchange.trade_count; k++)
            trades +=
                exchange.trades[k].asset == asset && exchange.trades[k].sequence > floor_sequence;
        check_pages(QUERY_trades, 0, asset, trades);
    }
}

/* Open orders are the engine's: their list is whole, whenever they were placed. */
static void check_open(void)
{
    uint32_t old = 0;

    for (uint32_t account = 1; account <= ACCOUNTS; account++) {
        uint32_t open = 0;
        for (uint32_t k = 0; k < exchange.order_count; k++) {
            const struct exchange_order *order = &exchange.orders[k];
            if (order->account != account || order->status != ORDER_OPEN)
                continue;
            open++;
            old += order->sequence <= floor_sequence;
        }
        struct query_task task = ask(QUERY_orders, account, NULL, 1000, 0, ORDER_OPEN);
        CHECK(task.reply.problem == PROBLEM_none && task.reply.row_count == open);
    }
    CHECK(old > 0);
}

/* `was_final`, of each order: it had ended before the snapshot. */
static void check_ids(const uint8_t *was_final)
{
    uint32_t found = 0, hidden = 0, old = 0, requests = 0;

    for (uint32_t k = 0; k < exchange.order_count; k++) {
        const struct exchange_order *order = &exchange.orders[k];
        struct query_task task =
            ask(QUERY_order, order->account, order->id, 1, 0, QUERY_ANY_STATUS);
        const struct row_order *row = (const struct row_order *)(const void *)task.rows;
        if (was_final[k]) {
            CHECK(is_not_kept(&task));
            hidden++;
            continue;
        }
        CHECK(task.reply.problem == PROBLEM_none && row->sequence == order->sequence);
        found++;
        old += order->sequence <= floor_sequence;
    }
    CHECK(found > 100 && hidden > 100 && old > 0);
    for (uint32_t k = 0; k < exchange.request_count; k++) {
        const struct exchange_request *request = &exchange.requests[k];
        if (request->account >> 63 != 0)
            continue; /* an operator's: of no account's key */
        struct query_task task =
            ask(QUERY_request, request->account, request->id, 1, 0, QUERY_ANY_STATUS);
        if (request->sequence <= floor_sequence)
            CHECK(is_not_kept(&task));
        else
            CHECK(task.reply.problem == PROBLEM_none && task.reply.row_count == 1);
        requests++;
    }
    CHECK(requests > 1000);
}

/* An id that cannot be older than the snapshot: exchange.clock_future_ms is 60 s at most. */
static void check_unknown_id(void)
{
    uint8_t id[16];
    uint64_t newest_ms = exchange.sink.history->requests.newest_dropped_ms;

    for (uint64_t ms = newest_ms; ms <= newest_ms + 1; ms++) {
        memset(id, 0x77, sizeof id);
        for (int i = 0; i < 6; i++)
            id[i] = (uint8_t)(ms >> (40 - 8 * i));
        struct query_task order = ask(QUERY_order, 1, id, 1, 0, QUERY_ANY_STATUS);
        struct query_task request = ask(QUERY_request, 1, id, 1, 0, QUERY_ANY_STATUS);
        if (ms == newest_ms) {
            CHECK(is_not_kept(&order) && is_not_kept(&request));
        } else {
            CHECK(order.reply.problem == PROBLEM_order_not_found);
            CHECK(request.reply.problem == PROBLEM_request_not_found);
        }
    }
}

/* An account that was opened behind the snapshot has nothing before it: its pages are whole. */
static void check_new_account(void)
{
    static const enum query_kind kinds[] = { QUERY_orders, QUERY_fills };

    for (size_t i = 0; i < CC_COUNT(kinds); i++) {
        struct query_task task = ask(kinds[i], ACCOUNTS + 1, NULL, 100, 0, QUERY_ANY_STATUS);
        CHECK(task.reply.problem == PROBLEM_none && task.reply.row_count == 0);
    }
}

int main(void)
{
    static uint8_t memory[REPLY_POOL_BYTES] __attribute__((aligned(4096)));
    static uint8_t was_final[EXCHANGE_ROWS_MAX];

    reply_pool_init(&pool, memory);
    exchange_open(&exchange, CAPACITY, ACCOUNTS);
    exchange.seed = 41;
    exchange.rich = true;
    exchange_random_run(&exchange, COMMANDS);
    floor_sequence = engine_sequence(exchange.host.engine);
    for (uint32_t k = 0; k < exchange.order_count; k++)
        was_final[k] = order_state_is_final((enum order_state)exchange.orders[k].status);

    history_destroy(exchange.sink.history);
    struct history *history = history_create(CAPACITY, ACCOUNTS + 2, exchange.host.key);
    CHECK(history != NULL);
    history_forget(history, exchange.host.engine);
    exchange.sink.history = history;
    for (uint32_t account = 1; account <= ACCOUNTS; account++) { /* before anything comes */
        struct query_task task = ask(QUERY_fills, account, NULL, 1, 0, QUERY_ANY_STATUS);
        CHECK(is_not_kept(&task));
        task = ask(QUERY_orders, account, NULL, 1, 0, ORDER_FILLED);
        CHECK(is_not_kept(&task));
    }
    exchange_random_run(&exchange, COMMANDS);

    check_lists(ACCOUNTS);
    check_open();
    check_ids(was_final);
    check_unknown_id();
    check_new_account();
    exchange_close(&exchange);
    return 0;
}
