/* Random streams of the order set over one and over three markets: after every command I1 to I6
 * (rules.md R2) hold, the cached figures of margin equal a recount from nothing (R4), and the
 * command's answer is one that its kind may have. Streams are short of cash, so margin refuses;
 * small quotas, so deferred work is sliced; the index jumps, so markets are held, marks scanned. */
#include "base/uuid.h"
#include "engine/audit.h"
#include "engine/fee.h"
#include "keys.h"
#include "trade.h"

enum { COMMANDS = 40000, IDS_KEPT = 256, ETH = 2, SOL = 3 };

struct stream {
    struct host host;
    uint64_t seed;
    uint32_t markets;
    uint32_t id_count;
    uint8_t ids[IDS_KEPT][16];
    uint8_t owners[IDS_KEPT];
    uint8_t assets[IDS_KEPT];
    uint32_t statuses[STATUS_COUNT];
    uint32_t reasons[256];                      /* of canceled orders */
    uint32_t kept_place, entered_anew, used_up; /* by replacements */
    uint32_t leverage_set, leverage_refused, tier_changes;
    struct keys_id keys[TRADE_ACCOUNTS + 1];
};

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

static uint16_t random_asset(struct stream *stream)
{
    return (uint16_t)(HOST_BTC + rig_below(&stream->seed, stream->markets));
}

static uint64_t random_expiry(struct stream *stream)
{
    static const uint64_t plain[] = { TRADE_IOC, TRADE_FOK, TRADE_GTC, TRADE_GTC };
    uint32_t kind = rig_below(&stream->seed, 5);

    if (kind < 4)
        return plain[kind];
    return stream->host.clock_ns + rig_below(&stream->seed, 2000) * UINT64_C(1000000);
}

static struct host_order random_order(struct stream *stream, uint16_t asset)
{
    struct host *host = &stream->host;
    uint64_t *seed = &stream->seed;
    uint64_t mark = state_market(host->engine, asset - 1u)->mark;
    uint64_t spread = mark / (rig_below(seed, 8) == 0 ? 4 : 400);
    int64_t quantity = 1000 + rig_below(seed, rig_below(seed, 16) == 0 ? 2000000 : 60000);
    return (struct host_order){
        .price = mark - spread / 2 + rig_below(seed, (uint32_t)spread + 1),
        .quantity = rig_below(seed, 2) == 0 ? quantity : -quantity,
        .expiry = random_expiry(stream),
        .post_only = rig_below(seed, 5) == 0,
        .reduce_only = rig_below(seed, 6) == 0,
        .stp = (uint8_t)rig_below(seed, 4),
        .asset = asset,
    };
}

static enum status place(struct stream *stream)
{
    struct host *host = &stream->host;
    uint32_t n = 1 + rig_below(&stream->seed, TRADE_ACCOUNTS);
    uint16_t asset = random_asset(stream);
    struct host_order order = random_order(stream, asset);
    enum status status = host_limit(host, n, &order);
    uint32_t slot = stream->id_count++ % IDS_KEPT;

    memcpy(stream->ids[slot], host->id, 16);
    stream->owners[slot] = (uint8_t)n;
    stream->assets[slot] = (uint8_t)asset;
    return status;
}

static enum status take(struct stream *stream)
{
    uint32_t n = 1 + rig_below(&stream->seed, TRADE_ACCOUNTS);
    struct host_order order = random_order(stream, random_asset(stream));

    return trade_at_market(&stream->host, n, &order, rig_below(&stream->seed, 4) * 20000);
}

/* Codes 1 and 2 on an order that was placed lately; every other one names what it has exactly. */
static enum status amend(struct stream *stream)
{
    struct host *host = &stream->host;
    uint64_t *seed = &stream->seed;
    uint32_t slot, n, index = ORDER_NONE;
    struct trade_id id;

    for (uint32_t tries = 0; tries < 6 && index == ORDER_NONE; tries++) {
        slot = (stream->id_count - 1 - rig_below(seed, 48)) % IDS_KEPT;
        n = stream->owners[slot];
        if (n == 0)
            return TRADE_OK;
        memcpy(id.bytes, stream->ids[slot], sizeof id.bytes);
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
    struct host_order next = random_order(stream, stream->assets[slot]);
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
        stream->used_up++;
    else if (status == TRADE_OK && order->sequence == engine_sequence(host->engine))
        stream->entered_anew++;
    else if (status == TRADE_OK)
        stream->kept_place++;
    return status;
}

static enum status cancel(struct stream *stream)
{
    uint32_t slot = rig_below(&stream->seed, IDS_KEPT);

    if (stream->owners[slot] == 0)
        return TRADE_OK;
    return host_cancel(&stream->host, stream->owners[slot], stream->ids[slot]);
}

static enum status move_index(struct stream *stream)
{
    struct host *host = &stream->host;
    uint16_t asset = random_asset(stream);
    uint64_t now = state_market(host->engine, asset - 1u)->index_price;
    uint64_t range = now / (rig_below(&stream->seed, 30) == 0 ? 4 : 50) + 2;
    uint64_t price = now - range / 2 + rig_below(&stream->seed, (uint32_t)range);

    price = price < 200000 ? price + 50000 : price > 4000000 ? price - 500000 : price;
    return host_oracle(host, asset, price);
}

static enum status choose_leverage(struct stream *stream)
{
    struct host *host = &stream->host;
    uint32_t n = 1 + rig_below(&stream->seed, TRADE_ACCOUNTS);
    uint32_t leverage = 1 + rig_below(&stream->seed, rig_below(&stream->seed, 2) == 0 ? 50 : 6);
    enum status status = keys_leverage(host, stream->keys[n], n, random_asset(stream), leverage);

    stream->leverage_set += status == TRADE_OK;
    stream->leverage_refused += host->result.reason == REASON_insufficient_free_equity;
    return TRADE_OK; /* its statuses are not those of orders */
}

/* Sleeps into another day; the indexes are stale until they are told again. */
static void pass_days(struct stream *stream)
{
    stream->host.clock_ns += (1 + rig_below(&stream->seed, 4)) * FEE_DAY_NS;
}

static enum status command(struct stream *stream)
{
    struct host *host = &stream->host;
    uint32_t kind = rig_below(&stream->seed, 100);

    host->clock_ns += rig_below(&stream->seed, 40) * UINT64_C(1000000);
    host->wants_evidence = rig_below(&stream->seed, 2) == 0;
    if (kind < 46)
        return place(stream);
    if (kind < 50)
        return take(stream);
    if (kind < 70)
        return amend(stream);
    if (kind < 78)
        return cancel(stream);
    if (kind < 80)
        return host_cancel_all(host, 1 + rig_below(&stream->seed, TRADE_ACCOUNTS),
                               rig_below(&stream->seed, 2) == 0 ? 0xFFFF : HOST_BTC,
                               (uint8_t)rig_below(&stream->seed, 3));
    if (kind < 82)
        return choose_leverage(stream);
    if (rig_below(&stream->seed, 2000) == 0)
        pass_days(stream);
    if (kind < 97)
        return move_index(stream);
    if (kind < 98)
        return host_deposit(host, 1 + rig_below(&stream->seed, TRADE_ACCOUNTS), 3000 * HOST_USDC);
    host_tick(host, rig_below(&stream->seed, 1500) * UINT64_C(1000000));
    return TRADE_OK;
}

static void count_reasons(struct stream *stream)
{
    const struct host *host = &stream->host;
    struct effect_order_state body;

    for (uint32_t i = 0; i < host->effect_count; i++)
        if (host->effects[i].code == EFFECT_account) {
            stream->tier_changes++;
        } else if (host->effects[i].code == EFFECT_order_state) {
            memcpy(&body, host->effects[i].bytes, sizeof body);
            if (body.status == ORDER_CANCELED || body.status == ORDER_EXPIRED)
                stream->reasons[body.reason]++;
        }
}

static void check_books(const struct host *host)
{
    uint32_t pages = 0;

    for (uint32_t i = 0; i < host->engine->markets.count; i++) {
        const struct book *book = &host->engine->markets.rows[i].book;
        pages += book_check_side(book, ORDER_LONG) + book_check_side(book, ORDER_SHORT);
    }
    CHECK(pages == host->engine->markets.pages.used);
}

static void run(struct stream *stream, uint64_t seed, uint32_t markets, const char *overrides)
{
    struct host *host = &stream->host;

    stream->seed = seed;
    stream->markets = markets;
    stream->id_count = 0;
    memset(stream->owners, 0, sizeof stream->owners);
    trade_open(host, overrides);
    for (uint32_t n = 1; n <= TRADE_ACCOUNTS; n++)
        stream->keys[n] = keys_make(host, n, KEYS_READ_WRITE, KEYS_NO_PIN);
    if (markets > 1) {
        define_market(host, ETH, "ETH");
        define_market(host, SOL, "SOL");
        CHECK(host_oracle(host, ETH, 500000) == TRADE_OK);
        CHECK(host_oracle(host, SOL, 2000000) == TRADE_OK);
    }
    for (uint32_t i = 0; i < COMMANDS; i++) {
        stream->statuses[command(stream)]++;
        count_reasons(stream);
        trade_check_figures(host);
        if (i % 64 == 0)
            check_books(host);
    }
    host_close(host);
}

/* A stream that never meets a status proves nothing about it. */
static void check_reached(const struct stream *stream)
{
    static const uint8_t statuses[] = {
        STATUS_request_completed,
        STATUS_rejected_order_not_found,
        STATUS_rejected_size_not_equal,
        STATUS_rejected_size_zero,
        STATUS_rejected_invalid_size,
        STATUS_rejected_slippage_exceeds_maximum,
        STATUS_rejected_invalid_order_flags,
        STATUS_invalid_reduce_only_order,
        STATUS_self_trade_prevention,
        STATUS_rejected_post_only_would_cross_book,
        STATUS_rejected_market_cancel_only,
        STATUS_insufficient_margin_to_place,
        STATUS_insufficient_margin_to_trade,
        STATUS_rejected_f_o_k_not_fully_filled_low_liquidity,
        STATUS_rejected_f_o_k_not_fully_filled_insufficient_margin,
        STATUS_rejected_mark_price_zero,
        STATUS_rejected_invalid_price,
        STATUS_order_rejected_expired,
    };
    static const uint8_t reasons[] = { REASON_none,
                                       REASON_time_in_force,
                                       REASON_user_cancel,
                                       REASON_cancel_all,
                                       REASON_reduce_only,
                                       REASON_match_limit,
                                       STATUS_self_trade_prevention,
                                       STATUS_insufficient_margin_to_trade };

    CHECK(stream->leverage_set > 500 && stream->leverage_refused > 50 && stream->tier_changes > 20);
    CHECK(stream->kept_place > 1000 && stream->entered_anew > 1000 && stream->used_up > 200);
    for (size_t i = 0; i < CC_COUNT(statuses); i++) {
        if (stream->statuses[statuses[i]] == 0)
            fprintf(stderr, "never met: %s\n", status_name((enum status)statuses[i]));
        CHECK(stream->statuses[statuses[i]] != 0);
    }
    for (size_t i = 0; i < CC_COUNT(reasons); i++) {
        if (stream->reasons[reasons[i]] == 0)
            fprintf(stderr, "never met: reason %u\n", reasons[i]);
        CHECK(stream->reasons[reasons[i]] != 0);
    }
}

int main(void)
{
    static struct stream stream;

    run(&stream, 1, 1, NULL);
    run(&stream, 2, 1, "engine.makers_max=3\nengine.work_per_command=2\n");
    run(&stream, 3, 3, "engine.work_per_command=1\n");
    run(&stream, 4, 3, "limits.open_orders=20\n");
    check_reached(&stream);
    return 0;
}
