#include "trade.h"

#include "engine/risk/margin.h"
#include "rig.h"

void trade_open(struct host *host, const char *overrides)
{
    host_open(host, overrides);
    for (uint32_t n = 1; n <= TRADE_ACCOUNTS; n++) {
        CHECK(host_account(host, n) == n);
        CHECK(host_deposit(host, n, TRADE_CASH) == TRADE_OK);
    }
    CHECK(host_oracle(host, HOST_BTC, TRADE_MARK) == TRADE_OK);
    CHECK(trade_market(host)->mark == TRADE_MARK);
}

void trade_add_market(struct host *host, const char *symbol, uint16_t asset)
{
    char text[4120];
    const char *rest = strstr(host_btc_record, ",\"price_decimals\"");

    CHECK(rest != NULL);
    snprintf(text, sizeof text, "{\"market\":\"%s-PERP\",\"asset_id\":%u,\"base\":\"%s\"%s", symbol,
             asset, symbol, rest);
    CHECK(host_market(host, text) == TRADE_OK);
    CHECK(host_oracle(host, asset, TRADE_MARK) == TRADE_OK);
}

enum status trade_set_state(struct host *host, uint16_t asset, uint8_t state)
{
    uint8_t body[8] = { (uint8_t)asset, (uint8_t)(asset >> 8), 0, 0, state };
    struct host_request request = { .code = REQUEST_market_state,
                                    .body = body,
                                    .body_bytes = 8,
                                    .key = host_operator_key,
                                    .key_bytes = 32 };

    return host_signed(host, &request);
}

enum status trade_limit(struct host *host, uint32_t n, int64_t quantity, uint64_t price)
{
    return trade_tif(host, n, quantity, price, TRADE_GTC);
}

enum status trade_tif(struct host *host, uint32_t n, int64_t quantity, uint64_t price,
                      uint64_t expiry)
{
    struct host_order order = { .price = price, .quantity = quantity, .expiry = expiry };
    return host_limit(host, n, &order);
}

enum status trade_post(struct host *host, uint32_t n, int64_t quantity, uint64_t price)
{
    struct host_order order = {
        .price = price, .quantity = quantity, .expiry = TRADE_GTC, .post_only = 1
    };
    return host_limit(host, n, &order);
}

enum status trade_reduce(struct host *host, uint32_t n, int64_t quantity, uint64_t price,
                         uint64_t expiry)
{
    struct host_order order = {
        .price = price, .quantity = quantity, .expiry = expiry, .reduce_only = 1
    };
    return host_limit(host, n, &order);
}

enum status trade_stp(struct host *host, uint32_t n, int64_t quantity, uint64_t price,
                      uint64_t expiry, uint8_t stp)
{
    struct host_order order = {
        .price = price, .quantity = quantity, .expiry = expiry, .stp = stp
    };
    return host_limit(host, n, &order);
}

struct trade_id trade_rest(struct host *host, uint32_t n, int64_t quantity, uint64_t price)
{
    struct trade_id id;

    CHECK(trade_limit(host, n, quantity, price) == TRADE_OK);
    memcpy(id.bytes, host->id, sizeof id.bytes);
    return id;
}

struct trade_id trade_last_id(const struct host *host)
{
    struct trade_id id;

    memcpy(id.bytes, host->id, sizeof id.bytes);
    return id;
}

static enum status send(struct host *host, uint16_t code, uint32_t n, uint8_t *body,
                        uint32_t body_bytes)
{
    uint8_t key[32];

    host_session_key(n, key);
    cc_store64(body, n);
    struct host_request request = {
        .code = code, .body = body, .body_bytes = body_bytes, .key = key, .key_bytes = sizeof key
    };
    return host_signed(host, &request);
}

enum status trade_cut(struct host *host, uint32_t n, struct trade_id id, uint64_t reduce_by,
                      uint64_t expected)
{
    uint8_t body[56] = { 0 };

    memcpy(body + 16, id.bytes, sizeof id.bytes);
    cc_store64(body + 32, reduce_by);
    cc_store64(body + 40, expected);
    cc_store16(body + 48, HOST_BTC);
    return send(host, REQUEST_order_reduction, n, body, sizeof body);
}

enum status trade_replace(struct host *host, uint32_t n, struct trade_id id,
                          const struct host_order *order, uint64_t expected)
{
    uint8_t body[72] = { 0 };

    memcpy(body + 16, id.bytes, sizeof id.bytes);
    cc_store64(body + 32, order->price);
    cc_store64(body + 40, (uint64_t)order->quantity);
    cc_store64(body + 48, order->expiry);
    body[56] = order->post_only;
    body[57] = order->reduce_only;
    body[58] = order->stp;
    cc_store16(body + 60, order->asset != 0 ? order->asset : HOST_BTC);
    cc_store64(body + 64, expected);
    return send(host, REQUEST_order_replacement, n, body, sizeof body);
}

enum status trade_at_market(struct host *host, uint32_t n, const struct host_order *order,
                            uint32_t slippage_ppm)
{
    uint8_t body[40] = { 0 };

    cc_store64(body + 16, (uint64_t)order->quantity);
    cc_store32(body + 24, slippage_ppm);
    cc_store16(body + 28, order->asset != 0 ? order->asset : HOST_BTC);
    body[32] = order->reduce_only;
    body[33] = order->stp;
    return send(host, REQUEST_place_market_order, n, body, sizeof body);
}

void trade_index(struct host *host, uint64_t price)
{
    for (;;) {
        uint64_t now = trade_market(host)->index_price;
        uint64_t step = now / 11; /* below R5's 10 % */
        uint64_t next = price > now ? (price - now > step ? now + step : price)
                                    : (now - price > step ? now - step : price);
        CHECK(host_oracle(host, HOST_BTC, next) == TRADE_OK);
        CHECK(trade_market(host)->hold_count == 0);
        if (next == price)
            return;
    }
}

struct portfolio *trade_portfolio(const struct host *host, uint32_t n)
{
    return state_portfolio(host->engine, portfolio_find(host->engine, n, 0, 0));
}

int64_t trade_cash(const struct host *host, uint32_t n)
{
    return trade_portfolio(host, n)->cash;
}

static const struct holding *holding_of(const struct host *host, uint32_t n)
{
    uint32_t portfolio = portfolio_find(host->engine, n, 0, 0);
    return &host->engine->holdings.rows[holding_find(host->engine, portfolio, 0)];
}

int64_t trade_size(const struct host *host, uint32_t n)
{
    return holding_of(host, n)->size;
}

int64_t trade_cost(const struct host *host, uint32_t n)
{
    return holding_of(host, n)->cost;
}

struct market *trade_market(const struct host *host)
{
    return state_market(host->engine, 0);
}

uint32_t trade_order(const struct host *host, uint32_t n, struct trade_id id)
{
    uint64_t words[2];

    memcpy(words, id.bytes, sizeof words);
    uint64_t hash = mix_id(host->key, n, id.bytes);
    return order_map_find(&host->engine->order_map, hash, n, words);
}

uint64_t trade_remaining(const struct host *host, uint32_t n, struct trade_id id)
{
    uint32_t order = trade_order(host, n, id);
    return order == ORDER_NONE ? 0 : host->engine->orders.hot[order].remaining;
}

struct effect_order_state trade_state(const struct host *host, uint32_t k)
{
    struct effect_order_state body;
    const struct host_effect *effect = host_effect(host, EFFECT_order_state, k);

    CHECK(effect != NULL);
    memcpy(&body, effect->bytes, sizeof body);
    return body;
}

struct effect_order_state trade_last_state(const struct host *host)
{
    uint32_t count = trade_effects(host, EFFECT_order_state);
    CHECK(count != 0);
    return trade_state(host, count - 1);
}

struct effect_trade trade_trade(const struct host *host, uint32_t k)
{
    struct effect_trade body;
    const struct host_effect *effect = host_effect(host, EFFECT_trade, k);

    CHECK(effect != NULL);
    memcpy(&body, effect->bytes, sizeof body);
    return body;
}

uint32_t trade_effects(const struct host *host, enum effect_code code)
{
    uint32_t count = 0;
    while (host_effect(host, code, count) != NULL)
        count++;
    return count;
}

void trade_check_figures(const struct host *host)
{
    struct engine *engine = host->engine;

    CHECK(engine->recheck.changed_head == UINT32_MAX);
    for (uint32_t i = 0; i < engine->portfolios.count; i++) {
        const struct portfolio *portfolio = state_portfolio(engine, i);
        struct margin_view view;

        bool is_current = portfolio->figure_epoch == engine->recheck.mark_epoch;
        CHECK(portfolio->stale_holding == HOLDING_NONE);
        if (!is_current && engine_has_work(engine)) /* a scan has not been here */
            continue;
        margin_view(engine, i, &view);
        if (is_current) {
            CHECK(margin_equity(portfolio) == view.equity);
            CHECK(portfolio->maintenance == view.maintenance);
            CHECK(portfolio->initial >= view.initial);
            CHECK(portfolio->initial - portfolio->loose <= view.initial);
        }
        CHECK(portfolio->flagged == (view.equity < view.initial));
        CHECK(portfolio->slack_maintenance <= view.equity - view.maintenance);
        CHECK(portfolio->slack_initial <= view.equity - view.initial);
    }
}
