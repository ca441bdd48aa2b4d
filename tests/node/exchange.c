#include "exchange.h"

#include "base/query_message.h"
#include "check.h"
#include "engine/table/order_state.h"

static struct exchange_order *order_of(struct exchange *exchange, uint64_t account,
                                       const uint8_t *id)
{
    for (uint32_t k = exchange->order_count; k-- > 0;)
        if (exchange->orders[k].account == account && memcmp(exchange->orders[k].id, id, 16) == 0)
            return &exchange->orders[k];
    return NULL;
}

/* Whose order an effect speaks of: the record is still in its table (W3c). */
static uint64_t account_of(const struct effect *effect)
{
    struct row_order row;

    if (effect->record == EFFECT_NO_RECORD)
        return cc_load64(command_body(effect->command));
    read_order_record(effect->engine, effect->record, &row);
    return row.account_id;
}

/* Of those that enter their number; a refused item of a batch comes behind them. */
static uint32_t index_of(const struct effect *effect, const uint8_t *id)
{
    const uint8_t *items = command_body(effect->command) + 24;
    struct row_order row;
    uint32_t k = 0;

    if (effect->record != EFFECT_NO_RECORD) {
        read_order_record(effect->engine, effect->record, &row);
        return row.index;
    }
    if (effect->command->code != REQUEST_order_batch)
        return 0;
    while (items[64 * k] != 0 || memcmp(items + 64 * k + 32, id, 16) != 0)
        k++;
    return 65536 + k;
}

static void take_order(struct exchange *exchange, const struct effect *effect)
{
    struct effect_order_state body;

    memcpy(&body, effect->bytes, sizeof body);
    struct exchange_order *order = order_of(exchange, account_of(effect), body.order_id);
    if (order == NULL) {
        CHECK(exchange->order_count < EXCHANGE_ROWS_MAX);
        order = &exchange->orders[exchange->order_count++];
        order->account = account_of(effect);
        order->sequence = effect->sequence;
        order->asset = body.asset_id;
        order->index = index_of(effect, body.order_id);
        memcpy(order->id, body.order_id, sizeof order->id);
    }
    order->remaining = body.remaining;
    order->filled = body.filled;
    order->price = body.price;
    order->status = body.status;
    order->reason = body.reason;
    order->side = body.side;
    order->order_type = body.order_type;
    if (order_state_is_final((enum order_state)body.status)) {
        order->ended_sequence = effect->sequence;
        order->ended_number = exchange->ended_count++;
    }
}

static void take_fill(struct exchange *exchange, const struct effect *effect)
{
    struct effect_fill body;

    memcpy(&body, effect->bytes, sizeof body);
    CHECK(exchange->fill_count < EXCHANGE_ROWS_MAX);
    struct exchange_fill *fill = &exchange->fills[exchange->fill_count++];
    *fill = (struct exchange_fill){
        .account = account_of(effect),
        .sequence = effect->sequence,
        .price = body.price,
        .quantity = (uint64_t)(body.quantity < 0 ? -body.quantity : body.quantity),
        .trade_seq = exchange->trade_seq,
        .fee = body.fee,
        .index = exchange->counted++,
        .asset = effect->asset_id,
        .side = body.quantity < 0,
        .liquidity = body.liquidity,
    };
    memcpy(fill->order_id, body.order_id, sizeof fill->order_id);
}

static void take_trade(struct exchange *exchange, const struct effect *effect)
{
    struct effect_trade body;

    memcpy(&body, effect->bytes, sizeof body);
    CHECK(exchange->trade_count < EXCHANGE_ROWS_MAX);
    exchange->trades[exchange->trade_count++] = (struct exchange_trade){
        .sequence = effect->sequence,
        .price = body.price,
        .size = body.size,
        .trade_seq = body.trade_seq,
        .time_ns = effect->t_ns,
        .seq = body.book_seq,
        .index = exchange->counted,
        .asset = body.asset_id,
        .taker_side = body.taker_side,
    };
    exchange->trade_seq = body.trade_seq;
}

static void take_cash(struct exchange *exchange, const struct effect *effect)
{
    struct effect_cash body;

    memcpy(&body, effect->bytes, sizeof body);
    uint32_t index = exchange->counted++;
    if (body.portfolio.account_id == 0)
        return;
    CHECK(exchange->cash_count < EXCHANGE_ROWS_MAX);
    exchange->cash[exchange->cash_count++] = (struct exchange_cash){
        .account = body.portfolio.account_id,
        .sequence = effect->sequence,
        .amount = body.amount,
        .balance_after = body.balance_after,
        .index = index,
        .subaccount = body.portfolio.subaccount_index,
        .portfolio = body.portfolio.portfolio_index,
        .kind = body.kind,
    };
}

static void take_answer(struct exchange *exchange, const struct effect *effect)
{
    struct effect_answer body;

    memcpy(&body, effect->bytes, sizeof body);
    if (exchange->batch_sequence != effect->sequence)
        exchange->batch_count = 0;
    exchange->batch_sequence = effect->sequence;
    if (body.item != EFFECT_NO_ITEM) { /* of a batch, whose own comes after them */
        CHECK(exchange->batch_count < sizeof exchange->batch_results);
        exchange->batch_results[exchange->batch_count++] = (uint8_t)body.status;
        return;
    }
    CHECK(exchange->request_count < EXCHANGE_ROWS_MAX);
    struct exchange_request *request = &exchange->requests[exchange->request_count++];
    *request = (struct exchange_request){
        .account = body.account_id,
        .sequence = effect->sequence,
        .code = effect->command->code,
        .status = (uint8_t)body.status,
        .reason = body.reason,
    };
    memcpy(request->id, body.request_id, sizeof request->id);
    request->result_count = exchange->batch_count;
    memcpy(request->results, exchange->batch_results, exchange->batch_count);
}

static void take(struct engine_sink *sink, const struct effect *effect)
{
    struct exchange *exchange = (void *)sink;

    if (effect->sequence != exchange->counted_sequence)
        exchange->counted = 0;
    exchange->counted_sequence = effect->sequence;
    switch (effect->code) {
    case 2100:
        take_answer(exchange, effect);
        break;
    case 2101:
        take_order(exchange, effect);
        break;
    case 2102:
        take_fill(exchange, effect);
        break;
    case 2104:
        take_cash(exchange, effect);
        break;
    case 2105:
        exchange->counted++;
        break;
    case 2108:
        take_trade(exchange, effect);
        break;
    default:
        break;
    }
    if ((exchange->sink.sink.ignores & EFFECT_BIT(effect->code)) == 0)
        exchange->sink.sink.emit(&exchange->sink.sink, effect);
}

/* J5's record of BTC-PERP with another name, number and decimals. */
static void define_eth(struct exchange *exchange)
{
    char json[4096];
    static const struct {
        const char *from, *to;
    } changes[] = {
        { "BTC-PERP", "ETH-PERP" },
        { "\"asset_id\":1", "\"asset_id\":2" },
        { "\"BTC\"", "\"ETH\"" },
        { "\"price_decimals\":1", "\"price_decimals\":2" },
        { "decimals\":5", "decimals\":4" },
        { "\"0.1\"", "\"0.01\"" },
        { "\"0.00001\"", "\"0.0001\"" },
        { "\"0.00001\"", "\"0.0001\"" },
        { "10995116.27775", "109951162.7775" },
        { "1677721.5", "167772.15" },
    };

    snprintf(json, sizeof json, "%s", host_btc_record);
    for (size_t k = 0; k < CC_COUNT(changes); k++) {
        char rest[4096];
        char *at = strstr(json, changes[k].from);
        CHECK(at != NULL);
        snprintf(rest, sizeof rest, "%s", at + strlen(changes[k].from));
        snprintf(at, sizeof json - (size_t)(at - json), "%s%s", changes[k].to, rest);
    }
    CHECK(host_market(&exchange->host, json) == STATUS_request_completed);
}

void exchange_open(struct exchange *exchange, uint32_t capacity, uint32_t accounts)
{
    uint8_t body[4120], boot[24] = { 1, 0, 0, 0, 0, 0, 0, 0, ENGINE_RULES_VERSION };
    struct host *host = &exchange->host;

    static const char many[] = "engine.accounts=8192\nengine.portfolios=8192\n"
                               "engine.positions=16384\nengine.credentials=32768\n";
    const char *overrides = accounts < 4096 ? NULL : many;

    memset(exchange, 0, sizeof *exchange);
    host_open_bare(host, overrides);
    struct history *history = history_create(capacity, accounts + 2, host->key);
    CHECK(history != NULL);
    history_sink_init(&exchange->sink, history, NULL);
    exchange->capacity = capacity;
    exchange->account_count = accounts;
    exchange->seed = 20251120;
    host->sink.emit = take;
    host->skip_audit = true;
    CHECK(host_unsigned(host, REQUEST_boot, boot, sizeof boot) == STATUS_request_completed);
    CHECK(host_unsigned(host, REQUEST_configuration, body, host_configuration(overrides, body)) ==
          STATUS_request_completed);
    CHECK(host_market(host, host_btc_record) == STATUS_request_completed);
    define_eth(exchange);
    CHECK(host_oracle(host, HOST_BTC, 1000000) == STATUS_request_completed);
    CHECK(host_oracle(host, EXCHANGE_ETH, 400000) == STATUS_request_completed);
    for (uint32_t n = 1; n <= accounts; n++) {
        CHECK(host_account(host, n) == n);
        CHECK(host_deposit(host, n, 100000000 * HOST_USDC) == STATUS_request_completed);
        host->clock_ns += UINT64_C(100000); /* ids of one millisecond are few enough to differ */
    }
}

void exchange_close(struct exchange *exchange)
{
    history_destroy(exchange->sink.history);
    host_close(&exchange->host);
}

enum status exchange_market_order(struct exchange *exchange, uint32_t account, uint16_t asset,
                                  int64_t quantity, bool reduce_only)
{
    uint8_t body[40] = { 0 }, key[32];

    host_session_key(account, key);
    cc_store64(body, account);
    cc_store64(body + 16, (uint64_t)quantity);
    cc_store16(body + 28, asset);
    body[32] = reduce_only;
    struct host_request request = { .code = REQUEST_place_market_order,
                                    .body = body,
                                    .body_bytes = sizeof body,
                                    .key = key,
                                    .key_bytes = sizeof key };
    return host_signed(&exchange->host, &request);
}

void exchange_publish(struct exchange *exchange)
{
    history_keep_publish(&exchange->sink.history->keep);
    history_keep_mark(&exchange->sink.history->keep, exchange->host.engine);
}

struct query_task exchange_ask(struct exchange *exchange, struct reply_pool *pool,
                               const struct query *query)
{
    struct query_sources sources = { .engine = exchange->host.engine,
                                     .history = exchange->sink.history };
    struct query_budget budget = { .rows = QUERY_TASK_ROWS_A_TURN };
    struct query_task task;

    CHECK(query_begin(&task, &sources, query, pool, &budget));
    history_keep_end(&exchange->sink.history->keep);
    if (task.reply.buffer != REPLY_NO_BUFFER)
        reply_pool_free(pool, task.reply.buffer);
    return task;
}
