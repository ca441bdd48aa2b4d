/* What history keeps, by hand: places of fills and trades (json.md J1, `at`; wire.md W3c), ids,
 * orders that outlive their row, requests and what they made (W5, J2), refused placements. */
#include "check.h"
#include "engine/rig.h"
#include "engine/table/order_state.h"
#include "exchange.h"

enum { CAPACITY = 64, ACCOUNTS = 3 };

static struct exchange exchange;
static struct reply_pool pool;

static struct query_task ask(enum query_kind kind, uint64_t account, int32_t pin, const uint8_t *id,
                             const char *market)
{
    struct query query = { .kind = (uint16_t)kind,
                           .account_id = account,
                           .subaccount_index = QUERY_ANY_INDEX,
                           .portfolio_index = QUERY_ANY_INDEX,
                           .pin = pin,
                           .limit = 100,
                           .status = QUERY_ANY_STATUS };

    if (id != NULL)
        memcpy(query.id, id, sizeof query.id);
    snprintf(query.market, sizeof query.market, "%s", market);
    return exchange_ask(&exchange, &pool, &query);
}

static void limit(uint32_t account, uint64_t price, int64_t quantity)
{
    struct host_order order = { .price = price, .quantity = quantity, .expiry = UINT64_MAX };
    CHECK(host_limit(&exchange.host, account, &order) == STATUS_request_completed);
}

/* Two makers, one taker. W3c: a fill is 2108, 2102 maker, 2102 taker, 2104 of the taker (fee), 2104
 * of the maker (fee); nothing is realised by an opening. So the places among 2102 and 2104 are 0
 * and 1, then behind two fees 4 and 5. Ids count maker's fill, maker's new position, taker's fill,
 * taker's new position; in the second fill the taker's position is no new one. */
static void check_places(void)
{
    static const struct {
        uint32_t index, id_index;
        uint64_t account, price;
        uint8_t liquidity, side;
    } want[] = {
        { 0, 0, 1, 999990, LIQUIDITY_MAKER, ORDER_LONG },
        { 1, 2, 3, 999990, LIQUIDITY_TAKER, ORDER_SHORT },
        { 4, 4, 2, 999980, LIQUIDITY_MAKER, ORDER_LONG },
        { 5, 6, 3, 999980, LIQUIDITY_TAKER, ORDER_SHORT },
    };
    uint8_t maker_id[16];

    limit(1, 999990, 20000);
    memcpy(maker_id, exchange.host.id, sizeof maker_id);
    limit(2, 999980, 30000);
    limit(3, 999980, -40000);
    uint64_t sequence = engine_sequence(exchange.host.engine);
    uint64_t t_ns = engine_time(exchange.host.engine);
    uint32_t taken[ACCOUNTS + 1] = { 0 };
    for (size_t k = CC_COUNT(want); k-- > 0;) { /* newest first */
        struct query_task task = ask(QUERY_fills, want[k].account, -1, NULL, "");
        const struct row_fill *row =
            (const struct row_fill *)(const void *)task.rows + taken[want[k].account]++;
        struct uuid id = uuid_engine(t_ns, sequence, want[k].id_index);
        CHECK(task.reply.row_count == (want[k].account == 3 ? 2 : 1));
        CHECK(row->sequence == sequence && row->time_ns == t_ns && row->index == want[k].index);
        CHECK(memcmp(row->id, id.bytes, 16) == 0);
        CHECK(row->price == want[k].price && row->quantity == 20000);
        CHECK(row->liquidity == want[k].liquidity && row->side == want[k].side);
        CHECK(row->trade_seq == (k < 2 ? 1 : 2));
        CHECK(row->account_id == want[k].account && row->subaccount_index == 0);
        CHECK(want[k].account != 1 || memcmp(row->request_id, maker_id, 16) == 0);
    }
    struct query_task task = ask(QUERY_trades, 0, -1, NULL, "BTC-PERP");
    const struct row_trades *list = (const struct row_trades *)(const void *)task.rows;
    const struct row_trade *trades =
        (const struct row_trade *)(const void *)(task.rows + sizeof *list);
    CHECK(list->trade_count == 2 && task.reply.row_count == 3 && !task.reply.more);
    CHECK(list->price_decimals == 1 && list->size_decimals == 5);
    CHECK(trades[0].index == 4 && trades[0].trade_seq == 2 && trades[0].price == 999980);
    CHECK(trades[1].index == 0 && trades[1].trade_seq == 1 && trades[1].price == 999990);
    CHECK(trades[0].sequence == sequence && trades[0].taker_side == ORDER_SHORT);
    CHECK(ask(QUERY_trades, 0, -1, NULL, "ETH-PERP").reply.row_count == 1); /* the list's own row */
}

static void reject_many(uint32_t account, uint32_t count)
{
    struct host_order order = { .price = 0, .quantity = 1000, .expiry = UINT64_MAX };
    for (uint32_t k = 0; k < count; k++)
        CHECK(host_limit(&exchange.host, account, &order) == STATUS_rejected_invalid_price);
}

/* An order older than every kept row is listed while it lives, and read by id when it has ended. */
static void check_old_order(void)
{
    uint8_t id[16];

    limit(1, 900000, 20000);
    memcpy(id, exchange.host.id, sizeof id);
    reject_many(2, CAPACITY);
    struct query_task task = ask(QUERY_orders, 1, -1, NULL, "ETH-PERP");
    CHECK(task.reply.cause == REPLY_NOT_KEPT); /* account 1 has lost its filled maker order */
    task = ask(QUERY_order, 1, -1, id, "");
    CHECK(task.reply.row_count == 1);
    CHECK(host_cancel(&exchange.host, 1, id) == STATUS_request_completed);
    task = ask(QUERY_order, 1, -1, id, "");
    const struct row_order *row = (const struct row_order *)(const void *)task.rows;
    CHECK(task.reply.row_count == 1 && row->status == ORDER_CANCELED);
    CHECK(row->reason == REASON_user_cancel && row->remaining == 20000);
}

/* The same for an account that has lost nothing: its list is complete. */
static void check_old_list(void)
{
    uint8_t ids[3][16];

    for (uint32_t k = 0; k < CC_COUNT(ids); k++) {
        limit(3, 800000 + k, 20000);
        memcpy(ids[k], exchange.host.id, sizeof ids[k]);
    }
    reject_many(2, CAPACITY);
    struct query_task task = ask(QUERY_orders, 3, -1, NULL, "");
    CHECK(task.reply.cause == REPLY_NOT_KEPT); /* its taker order of check_places is lost */
    exchange_close(&exchange);
    exchange_open(&exchange, CAPACITY, ACCOUNTS);
    for (uint32_t k = 0; k < CC_COUNT(ids); k++) {
        limit(3, 800000 + k, 20000);
        memcpy(ids[k], exchange.host.id, sizeof ids[k]);
    }
    reject_many(2, CAPACITY);
    task = ask(QUERY_orders, 3, -1, NULL, "");
    CHECK(task.reply.problem == PROBLEM_none && task.reply.row_count == CC_COUNT(ids));
    const struct row_order *rows = (const struct row_order *)(const void *)task.rows;
    for (uint32_t k = 0; k < CC_COUNT(ids); k++)
        CHECK(memcmp(rows[k].id, ids[2 - k], 16) == 0);
    CHECK(host_cancel(&exchange.host, 3, ids[1]) == STATUS_request_completed);
    task = ask(QUERY_orders, 3, -1, NULL, ""); /* and has its place when it has ended */
    CHECK(task.reply.problem == PROBLEM_none && task.reply.row_count == CC_COUNT(ids));
    CHECK(memcmp(rows[1].id, ids[1], 16) == 0 && rows[1].status == ORDER_CANCELED);
    CHECK(ask(QUERY_order, 3, -1, ids[1], "").reply.row_count == 1);
    CHECK(ask(QUERY_order, 3, 1, ids[1], "").reply.problem == PROBLEM_order_not_found); /* a pin */
}

/* --- requests --------------------------------------------------------------------------------- */

static const struct row_request *request_of(uint64_t account, int32_t pin, const uint8_t *id)
{
    struct query_task task = ask(QUERY_request, account, pin, id, "");
    if (task.reply.problem == PROBLEM_request_not_found)
        return NULL;
    CHECK(task.reply.problem == PROBLEM_none && task.reply.row_count == 1);
    return (const struct row_request *)(const void *)task.rows;
}

static void create_key(uint8_t id[16])
{
    uint8_t body[48] = { 0 }, extra[32] = { 9 }, key[32];

    cc_store64(body, 1);
    cc_store32(body + 8, UINT32_MAX); /* not pinned */
    host_session_key(1, key);
    struct host_request request = { .code = REQUEST_create_api_key,
                                    .body = body,
                                    .body_bytes = sizeof body,
                                    .key = key,
                                    .key_bytes = sizeof key,
                                    .extra = extra,
                                    .extra_bytes = sizeof extra };
    CHECK(host_signed(&exchange.host, &request) == STATUS_request_completed);
    memcpy(id, exchange.host.id, 16);
}

static void check_requests(void)
{
    uint8_t created[16], key_id[16];
    struct host_order order = { .price = 0, .quantity = 1000, .expiry = UINT64_MAX };

    exchange_close(&exchange);
    exchange_open(&exchange, CAPACITY, ACCOUNTS - 1);
    CHECK(host_account(&exchange.host, ACCOUNTS) == ACCOUNTS);
    memcpy(created, exchange.host.id, sizeof created);
    const struct row_request *row = request_of(ACCOUNTS, -1, created);
    CHECK(row != NULL && row->code == REQUEST_create_account_secp256k1);
    CHECK(row->members == (ROW_REQUEST_ACCOUNT | ROW_REQUEST_SESSION));
    CHECK(row->account_id == ACCOUNTS && row->status == STATUS_account_created_with_session);
    CHECK(memcmp(row->id, exchange.host.result.id, 16) == 0);
    CHECK(row->sequence == exchange.host.result.sequence);
    CHECK(row->processed_at_ns == exchange.host.result.processed_at_ns);
    CHECK(request_of(1, -1, created) == NULL);       /* another account's */
    CHECK(request_of(ACCOUNTS, 0, created) == NULL); /* names no subaccount */

    create_key(key_id);
    row = request_of(1, -1, key_id);
    CHECK(row != NULL && row->members == ROW_REQUEST_API_KEY);
    CHECK(memcmp(row->id, exchange.host.result.id, 16) == 0);
    CHECK(request_of(1, 0, key_id) == NULL);

    CHECK(host_limit(&exchange.host, 1, &order) == STATUS_rejected_invalid_price);
    row = request_of(1, 0, exchange.host.id); /* a pinned key of the body's subaccount */
    CHECK(row != NULL && row->members == 0 && row->status == STATUS_rejected_invalid_price);
    CHECK(request_of(1, 1, exchange.host.id) == NULL);

    /* R11 row 3: unknown credential, the id stays unused. */
    uint8_t body[48] = { 1 }, stranger[32] = { 77 };
    struct host_request request = { .code = REQUEST_place_limit_order,
                                    .body = body,
                                    .body_bytes = sizeof body,
                                    .key = stranger,
                                    .key_bytes = sizeof stranger };
    CHECK(host_signed(&exchange.host, &request) == STATUS_rejected_unauthorized);
    CHECK(request_of(1, -1, exchange.host.id) == NULL);

    /* The id that created the account is free in the account's own set (W5): the later is shown. */
    uint8_t key[32];
    host_session_key(ACCOUNTS, key);
    cc_store64(body, ACCOUNTS);
    cc_store16(body + 44, HOST_BTC);
    request.key = key;
    request.id = created;
    CHECK(host_signed(&exchange.host, &request) == STATUS_rejected_size_zero);
    row = request_of(ACCOUNTS, -1, created);
    CHECK(row->code == REQUEST_place_limit_order && row->members == 0);
    reject_many(ACCOUNTS, 2 * CAPACITY); /* and its row is dropped without harm */
}

/* R3, W10: a market order has no price, also when it is refused; it is IOC. */
static void check_refusals(void)
{
    alignas(16) static uint8_t space[256];
    struct command *command = (void *)space;
    struct effect effect = { .code = EFFECT_order_state,
                             .record = EFFECT_NO_RECORD,
                             .sequence = 5,
                             .t_ns = 99,
                             .command = command };
    struct effect_order_state state = { .remaining = 300,
                                        .status = ORDER_REJECTED,
                                        .reason = STATUS_rejected_invalid_size,
                                        .side = ORDER_SHORT,
                                        .order_type = 0,
                                        .asset_id = 2 };
    struct order_summary order;

    command->code = REQUEST_place_market_order;
    command->kind = COMMAND_SIGNED;
    command->payload_bytes = 64;
    uint8_t *body = command->bytes + REQUEST_BODY_AT;
    cc_store64(body, 7);
    cc_store32(body + 8, 2);
    cc_store32(body + 12, 3);
    cc_store64(body + 16, (uint64_t)-300);
    cc_store32(body + 24, 5000);
    cc_store16(body + 28, 2);
    body[32] = 1;
    body[33] = 3;
    order_summary_make(&order, &effect, &state);
    CHECK(order.account_id == 7 && order.subaccount_index == 2 && order.portfolio_index == 3);
    CHECK(order.price == 0 && order.expiry == 0 && order.order_type == 0);
    CHECK(order.initial == 300 && order.remaining == 300 && order.filled == 0);
    CHECK(order.reduce_only && !order.post_only && order.stp == 3);
    CHECK(order.sequence == 5 && order.time_ns == 99 && order.updated_at_ns == 99);
}

int main(void)
{
    void *memory = aligned_alloc(64, REPLY_POOL_BYTES);

    CHECK(memory != NULL);
    reply_pool_init(&pool, memory);
    exchange_open(&exchange, CAPACITY, ACCOUNTS);
    check_places();
    check_old_order();
    check_old_list();
    check_requests();
    check_refusals();
    exchange_close(&exchange);
    free(memory);
    return 0;
}
