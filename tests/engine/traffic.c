#include "traffic.h"

#include "base/uuid.h"
#include "engine/risk/fee.h"
#include "waiting.h"

/* The BTC record under another name and id, with another tick. */
static void define_market(struct host *host, uint16_t asset, const char *name)
{
    char text[4120], symbol[96];
    size_t at = 0;

    snprintf(symbol, sizeof symbol, "\"market\":\"%s-PERP\",\"asset_id\":%u,\"base\":\"%s\"", name,
             asset, name);
    const char *rest = strstr(host_btc_record, ",\"price_decimals\"");
    CHECK(rest != NULL);
    at = (size_t)snprintf(text, sizeof text, "{%s%s", symbol, rest);
    CHECK(at < sizeof text);
    CHECK(host_market(host, text) == TRADE_OK);
}

static uint16_t random_asset(struct traffic *traffic)
{
    return (uint16_t)(HOST_BTC + rig_below(&traffic->seed, traffic->markets));
}

static uint64_t random_expiry(struct traffic *traffic)
{
    static const uint64_t plain[] = { TRADE_IOC, TRADE_FOK, TRADE_GTC, TRADE_GTC };
    uint32_t kind = rig_below(&traffic->seed, 5);

    if (kind < 4)
        return plain[kind];
    return traffic->host.clock_ns + rig_below(&traffic->seed, 2000) * UINT64_C(1000000);
}

static struct host_order random_order(struct traffic *traffic, uint16_t asset)
{
    struct host *host = &traffic->host;
    uint64_t *seed = &traffic->seed;
    uint64_t mark = state_market(host->engine, asset - 1u)->mark;
    uint64_t spread = mark / (rig_below(seed, 8) == 0 ? 4 : 400);
    int64_t quantity = 1000 + rig_below(seed, rig_below(seed, 16) == 0 ? 2000000 : 60000);
    uint64_t price = mark - spread / 2 + rig_below(seed, (uint32_t)spread + 1);
    bool is_buy = rig_below(seed, 2) == 0;
    uint64_t expiry = random_expiry(traffic);
    bool post_only = rig_below(seed, 5) == 0;
    bool reduce_only = rig_below(seed, 6) == 0;
    uint8_t stp = (uint8_t)rig_below(seed, 4);
    return (struct host_order){
        .price = price,
        .quantity = is_buy ? quantity : -quantity,
        .expiry = expiry,
        .post_only = post_only,
        .reduce_only = reduce_only,
        .stp = stp,
        .asset = asset,
    };
}

static enum status place(struct traffic *traffic)
{
    struct host *host = &traffic->host;
    uint32_t n = 1 + rig_below(&traffic->seed, TRADE_ACCOUNTS);
    uint16_t asset = random_asset(traffic);
    struct host_order order = random_order(traffic, asset);
    enum status status = host_limit(host, n, &order);
    uint32_t slot = traffic->id_count++ % TRAFFIC_IDS;

    memcpy(traffic->ids[slot], host->id, 16);
    traffic->owners[slot] = (uint8_t)n;
    traffic->assets[slot] = (uint8_t)asset;
    return status;
}

static enum status take(struct traffic *traffic)
{
    uint32_t n = 1 + rig_below(&traffic->seed, TRADE_ACCOUNTS);
    struct host_order order = random_order(traffic, random_asset(traffic));

    return trade_at_market(&traffic->host, n, &order, rig_below(&traffic->seed, 4) * 20000);
}

/* Codes 1 and 2 on an order that was placed lately; every other one names what it has exactly. */
static enum status amend(struct traffic *traffic)
{
    struct host *host = &traffic->host;
    uint64_t *seed = &traffic->seed;
    uint32_t slot, n, index = ORDER_NONE;
    struct trade_id id;

    for (uint32_t tries = 0; tries < 6 && index == ORDER_NONE; tries++) {
        slot = (traffic->id_count - 1 - rig_below(seed, 48)) % TRAFFIC_IDS;
        n = traffic->owners[slot];
        if (n == 0)
            return TRADE_OK;
        memcpy(id.bytes, traffic->ids[slot], sizeof id.bytes);
        index = trade_order(host, n, id);
    }
    const struct order *order = &host->engine->orders.hot[index];
    uint64_t left = index == ORDER_NONE ? 1000 : order->remaining;
    uint64_t expected = rig_below(seed, 2) == 0 ? 0 : left - (rig_below(seed, 8) == 0);
    if (rig_below(seed, 3) == 0)
        return trade_cut(
            host, n, id,
            rig_below(seed, 16) == 0 ? 0 : rig_below(seed, (uint32_t)(left + left / 8) + 2),
            expected);
    struct host_order next = random_order(traffic, traffic->assets[slot]);
    if (index != ORDER_NONE && rig_below(seed, 8) != 0)
        next.quantity =
            (order->side == ORDER_LONG) == (next.quantity > 0) ? next.quantity : -next.quantity;
    if (index != ORDER_NONE && rig_below(seed, 2) == 0) { /* in its place, mostly */
        const struct market *market = state_market(host->engine, order->market);
        next.price = book_price(&market->book, (enum order_side)order->side, order->tick);
        uint64_t size = left - rig_below(seed, (uint32_t)left) / 2;
        next.quantity = order->side == ORDER_LONG ? (int64_t)size : -(int64_t)size;
    }
    enum status status = trade_replace(host, n, id, &next, expected);
    if (status == TRADE_OK && trade_order(host, n, id) == ORDER_NONE)
        traffic->used_up++;
    else if (status == TRADE_OK &&
             order->stamp >> ORDER_STAMP_BITS == engine_sequence(host->engine))
        traffic->entered_anew++;
    else if (status == TRADE_OK)
        traffic->kept_place++;
    return status;
}

static enum status cancel(struct traffic *traffic)
{
    uint32_t slot = rig_below(&traffic->seed, TRAFFIC_IDS);

    if (traffic->owners[slot] == 0)
        return TRADE_OK;
    return host_cancel(&traffic->host, traffic->owners[slot], traffic->ids[slot]);
}

/* An order that waits for a price near the mark; every other one is of a group of four. */
static enum status place_waiting(struct traffic *traffic)
{
    struct host *host = &traffic->host;
    uint64_t *seed = &traffic->seed;
    uint32_t n = 1 + rig_below(seed, TRADE_ACCOUNTS);
    uint16_t asset = random_asset(traffic);
    uint64_t mark = state_market(host->engine, asset - 1u)->mark;
    struct host_order order = random_order(traffic, asset);
    uint8_t type = (uint8_t)(ORDER_STOP_LIMIT + rig_below(seed, 4));
    bool is_market = order_type_is_market(type);
    uint64_t trigger = mark - mark / 100 + rig_below(seed, (uint32_t)(mark / 50) + 1);
    uint8_t live = order.post_only ? ORDER_GTC : (uint8_t)rig_below(seed, 3);
    uint64_t group = rig_below(seed, 2) == 0 ? 0 : 1 + rig_below(seed, 4);
    uint8_t source = (uint8_t)rig_below(seed, 3);
    struct waiting waiting = {
        .trigger = trigger,
        .price = is_market ? 0 : order.price,
        .quantity = order.quantity,
        .expiry = order.expiry > TRADE_FOK ? order.expiry : 0,
        .oco = group,
        .asset = asset,
        .type = type,
        .source = source,
        .live = is_market ? 0 : live,
        .post_only = is_market ? 0 : order.post_only,
        .reduce_only = order.reduce_only,
        .stp = order.stp,
    };
    enum status status = waiting_place(host, n, &waiting);
    uint32_t slot = traffic->wait_count++ % TRAFFIC_IDS;

    memcpy(traffic->wait_ids[slot], host->id, 16);
    traffic->wait_owners[slot] = (uint8_t)n;
    return status;
}

static enum status cancel_wait(struct traffic *traffic)
{
    uint32_t slot = (traffic->wait_count - 1 - rig_below(&traffic->seed, 32)) % TRAFFIC_IDS;
    struct trade_id id;

    if (traffic->wait_count == 0 || traffic->wait_owners[slot] == 0)
        return TRADE_OK;
    memcpy(id.bytes, traffic->wait_ids[slot], sizeof id.bytes);
    return waiting_cancel(&traffic->host, traffic->wait_owners[slot], id);
}

static enum status cancel_many(struct traffic *traffic)
{
    uint32_t n = 1 + rig_below(&traffic->seed, TRADE_ACCOUNTS);
    uint16_t asset = rig_below(&traffic->seed, 2) == 0 ? 0xFFFF : HOST_BTC;
    uint8_t side = (uint8_t)rig_below(&traffic->seed, 3);

    if (rig_below(&traffic->seed, 2) == 0)
        return waiting_cancel_all(&traffic->host, n, asset, side);
    return host_cancel_all(&traffic->host, n, asset, side);
}

static enum status move_index(struct traffic *traffic)
{
    struct host *host = &traffic->host;
    uint16_t asset = random_asset(traffic);
    uint64_t now = state_market(host->engine, asset - 1u)->index_price;
    uint64_t range = now / (rig_below(&traffic->seed, 30) == 0 ? 4 : 50) + 2;
    uint64_t price = now - range / 2 + rig_below(&traffic->seed, (uint32_t)range);

    price = price < 200000 ? price + 50000 : price > 4000000 ? price - 500000 : price;
    return host_oracle(host, asset, price);
}

static enum status choose_leverage(struct traffic *traffic)
{
    struct host *host = &traffic->host;
    uint32_t n = 1 + rig_below(&traffic->seed, TRADE_ACCOUNTS);
    uint32_t leverage = 1 + rig_below(&traffic->seed, rig_below(&traffic->seed, 2) == 0 ? 50 : 6);
    enum status status = keys_leverage(host, traffic->keys[n], n, random_asset(traffic), leverage);

    traffic->leverage_set += status == TRADE_OK;
    traffic->leverage_refused += host->result.reason == REASON_insufficient_free_equity;
    return TRADE_OK; /* its statuses are not those of orders */
}

/* Sleeps into another day; the indexes are stale until they are told again. */
static void pass_days(struct traffic *traffic)
{
    traffic->host.clock_ns += (1 + rig_below(&traffic->seed, 4)) * ACCOUNT_DAY_NS;
}

enum status traffic_command(struct traffic *traffic)
{
    struct host *host = &traffic->host;
    uint32_t kind = rig_below(&traffic->seed, 100);

    host->clock_ns += rig_below(&traffic->seed, 40) * UINT64_C(1000000);
    host->wants_evidence = rig_below(&traffic->seed, 2) == 0;
    if (kind < 42)
        return place(traffic);
    if (kind < 46)
        return place_waiting(traffic);
    if (kind < 50)
        return take(traffic);
    if (kind < 70)
        return amend(traffic);
    if (kind < 77)
        return cancel(traffic);
    if (kind < 78)
        return cancel_wait(traffic);
    if (kind < 80)
        return cancel_many(traffic);
    if (kind < 82)
        return choose_leverage(traffic);
    if (rig_below(&traffic->seed, 1500) == 0)
        pass_days(traffic);
    if (kind < 97)
        return move_index(traffic);
    if (kind < 98)
        return host_deposit(host, 1 + rig_below(&traffic->seed, TRADE_ACCOUNTS), 3000 * HOST_USDC);
    host_tick(host, rig_below(&traffic->seed, 1500) * UINT64_C(1000000));
    return TRADE_OK;
}

void traffic_open(struct traffic *traffic, uint64_t seed, uint32_t markets, const char *overrides)
{
    struct host *host = &traffic->host;

    traffic->seed = seed;
    traffic->markets = markets;
    traffic->id_count = 0;
    memset(traffic->owners, 0, sizeof traffic->owners);
    traffic->wait_count = 0;
    memset(traffic->wait_owners, 0, sizeof traffic->wait_owners);
    trade_open(host, overrides);
    for (uint32_t n = 1; n <= TRADE_ACCOUNTS; n++)
        traffic->keys[n] = keys_make(host, n, KEYS_READ_WRITE, KEYS_NO_PIN);
    if (markets > 1) {
        define_market(host, TRAFFIC_ETH, "ETH");
        define_market(host, TRAFFIC_SOL, "SOL");
        CHECK(host_oracle(host, TRAFFIC_ETH, 500000) == TRADE_OK);
        CHECK(host_oracle(host, TRAFFIC_SOL, 2000000) == TRADE_OK);
    }
}
