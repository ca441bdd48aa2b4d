#include "exchange_random.h"

#include "base/uuid.h"
#include "check.h"
#include "engine/rig.h"
#include "engine/table/order.h"

static void cancel_some(struct exchange *exchange)
{
    if (exchange->order_count == 0)
        return;
    uint32_t near = exchange->order_count < 200 ? exchange->order_count : 200;
    bool is_old = rig_below(&exchange->seed, 8) == 0;
    const struct exchange_order *order =
        &exchange->orders[is_old ? rig_below(&exchange->seed, exchange->order_count)
                                 : exchange->order_count - 1 - rig_below(&exchange->seed, near)];
    uint8_t body[40] = { 0 }, key[32];

    host_session_key((uint32_t)order->account, key);
    cc_store64(body, order->account);
    memcpy(body + 16, order->id, 16);
    cc_store16(body + 32, order->asset);
    struct host_request request = { .code = REQUEST_order_cancel,
                                    .body = body,
                                    .body_bytes = sizeof body,
                                    .key = key,
                                    .key_bytes = sizeof key };
    (void)host_signed(&exchange->host, &request);
}

static void place_some(struct exchange *exchange, uint32_t account)
{
    uint16_t asset = rig_below(&exchange->seed, 4) == 0 ? EXCHANGE_ETH : HOST_BTC;
    uint64_t mark = asset == HOST_BTC ? 1000000 : 400000;
    uint64_t price = mark - 40 + rig_below(&exchange->seed, 80);
    int64_t quantity = 20000 + (int64_t)rig_below(&exchange->seed, 1000);
    uint32_t fate = rig_below(&exchange->seed, 16);
    struct host_order order = {
        .price = price,
        .quantity = rig_below(&exchange->seed, 2) == 0 ? quantity : -quantity,
        .expiry = fate < 2 ? 0 : UINT64_MAX,
        .post_only = fate == 3,
        .reduce_only = fate == 4,
        .stp = (uint8_t)rig_below(&exchange->seed, 4),
        .asset = asset,
    };
    if (fate == 5)
        order.price = 0; /* row 17: REJECTED */
    if (fate == 6)
        order.quantity = 1; /* row 21 */
    if (fate >= 12)         /* far from the others: it rests for long */
        order.price = order.quantity > 0 ? mark / 2 + rig_below(&exchange->seed, 1000)
                                         : mark + mark / 2 + rig_below(&exchange->seed, 1000);
    (void)host_limit(&exchange->host, account, &order);
}

/* Code 2: another price, or less of it. */
static void replace_some(struct exchange *exchange)
{
    const struct exchange_order *order =
        &exchange->orders[rig_below(&exchange->seed, exchange->order_count)];
    uint8_t body[72] = { 0 }, key[32];
    int64_t quantity = (int64_t)(order->remaining != 0 ? order->remaining : 20000);

    host_session_key((uint32_t)order->account, key);
    cc_store64(body, order->account);
    memcpy(body + 16, order->id, 16);
    cc_store64(body + 32, order->price - 20 + rig_below(&exchange->seed, 40));
    cc_store64(body + 40, (uint64_t)(order->side == ORDER_LONG ? quantity : -quantity));
    cc_store64(body + 48, UINT64_MAX);
    cc_store16(body + 60, order->asset);
    struct host_request request = { .code = REQUEST_order_replacement,
                                    .body = body,
                                    .body_bytes = sizeof body,
                                    .key = key,
                                    .key_bytes = sizeof key };
    exchange->replaced += host_signed(&exchange->host, &request) == STATUS_request_completed;
}

static void send(struct exchange *exchange, uint16_t code, uint64_t account, const uint8_t *body,
                 uint16_t body_bytes)
{
    uint8_t key[32];

    host_session_key((uint32_t)account, key);
    struct host_request request = {
        .code = code, .body = body, .body_bytes = body_bytes, .key = key, .key_bytes = sizeof key
    };
    (void)host_signed(&exchange->host, &request);
}

/* Code 6: a stop or take-profit of the last price near the mark; most fire soon, some are
 * refused. */
static void wait_some(struct exchange *exchange, uint32_t account)
{
    uint8_t body[80] = { 0 };
    bool is_sell = rig_below(&exchange->seed, 2) != 0;
    uint8_t type = (uint8_t)(2 + rig_below(&exchange->seed, 4));
    bool is_market = type == ORDER_STOP_MARKET || type == ORDER_TAKE_PROFIT_MARKET;
    int64_t quantity = 20000;

    cc_store64(body, account);
    cc_store64(body + 16, 1000000 - 60 + rig_below(&exchange->seed, 120));
    cc_store64(body + 24, is_market ? 0 : 1000000 - 40 + rig_below(&exchange->seed, 80));
    cc_store64(body + 32, (uint64_t)(is_sell ? -quantity : quantity));
    cc_store64(body + 40, UINT64_MAX);
    body[51] = type;
    cc_store16(body + 52, HOST_BTC);
    body[60] = 1; /* LAST */
    body[61] = is_market ? 0 : (uint8_t)rig_below(&exchange->seed, 3);
    body[64] = (uint8_t)rig_below(&exchange->seed, 3); /* of a group, or of none */
    send(exchange, REQUEST_place_conditional_order, account, body, sizeof body);
}

/* Code 8: three orders, one of them refused at times, and the cancel of an old one. */
static void batch_some(struct exchange *exchange, uint32_t account)
{
    uint8_t body[24 + 4 * 64] = { 0 };

    cc_store64(body, account);
    cc_store16(body + 16, 4);
    for (uint32_t i = 0; i < 4; i++) {
        uint8_t *item = body + 24 + 64 * i, random[10] = { 0 };
        cc_store64(random, rig_below(&exchange->seed, UINT32_MAX));
        struct uuid id = uuid_make_v7(exchange->host.clock_ns / 1000000, random);
        memcpy(item + 32, id.bytes, sizeof id.bytes);
        cc_store16(item + 4, HOST_BTC);
        if (i == 3 && exchange->order_count != 0) {
            item[0] = 3; /* cancel */
            memcpy(item + 32,
                   exchange->orders[rig_below(&exchange->seed, exchange->order_count)].id, 16);
            break;
        }
        cc_store64(item + 8, rig_below(&exchange->seed, 8) == 0
                                 ? 0
                                 : 1000000 - 40 + rig_below(&exchange->seed, 80));
        cc_store64(item + 16, rig_below(&exchange->seed, 2) ? 20000 : (uint64_t)-20000);
        cc_store64(item + 24, UINT64_MAX);
    }
    send(exchange, REQUEST_order_batch, account, body, sizeof body);
}

/* Codes 25 and 26: a deadline that comes, and a protection that freezes soon. */
static void guard_some(struct exchange *exchange, uint32_t account)
{
    uint8_t deadline[24] = { 0 }, mmp[48] = { 0 };

    cc_store64(deadline, account);
    cc_store64(deadline + 16, exchange->host.clock_ns + UINT64_C(1500000000));
    cc_store64(mmp, account);
    cc_store16(mmp + 16, HOST_BTC);
    cc_store32(mmp + 20, 1000);
    cc_store32(mmp + 24, 50);
    cc_store64(mmp + 32, 60000);
    if (rig_below(&exchange->seed, 2) == 0)
        send(exchange, REQUEST_schedule_cancel_all, account, deadline, sizeof deadline);
    else
        send(exchange, REQUEST_set_mmp, account, mmp, sizeof mmp);
}

/* Code 10: 1 USDC goes out, or is on its way. */
static void withdraw_some(struct exchange *exchange, uint32_t account)
{
    uint8_t body[48] = { 0 };

    cc_store64(body, account);
    cc_store64(body + 16, HOST_USDC);
    body[24] = 0xD0; /* destination */
    send(exchange, REQUEST_withdraw, account, body, sizeof body);
}

void exchange_random_run(struct exchange *exchange, uint32_t commands)
{
    for (uint32_t n = 0; n < commands; n++) {
        uint32_t account = 1 + rig_below(&exchange->seed, exchange->account_count);
        uint32_t kind = rig_below(&exchange->seed, 100);
        exchange->host.clock_ns += rig_below(&exchange->seed, 3) * UINT64_C(1000000);
        if (kind < 60 && (!exchange->rich || kind < 48))
            place_some(exchange, account);
        else if (kind < 53)
            wait_some(exchange, account);
        else if (kind < 58)
            batch_some(exchange, account);
        else if (kind < 59)
            guard_some(exchange, account);
        else if (kind < 60)
            withdraw_some(exchange, account);
        else if (kind < 64)
            exchange->market_orders +=
                exchange_market_order(
                    exchange, account, HOST_BTC, rig_below(&exchange->seed, 2) ? 20000 : -20000,
                    rig_below(&exchange->seed, 4) == 0) == STATUS_request_completed;
        else if (kind < 70 && exchange->order_count != 0)
            replace_some(exchange);
        else if (kind < 99)
            cancel_some(exchange);
        else
            (void)host_cancel_all(&exchange->host, account,
                                  rig_below(&exchange->seed, 2) ? HOST_BTC : 0xFFFF,
                                  (uint8_t)rig_below(&exchange->seed, 3));
        if (n % 100 == 0) {
            CHECK(host_oracle(&exchange->host, HOST_BTC, 1000000) == STATUS_request_completed);
            CHECK(host_oracle(&exchange->host, EXCHANGE_ETH, 400000) == STATUS_request_completed);
        }
    }
}
