#include "trade.h"

#include "engine/margin.h"
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

uint64_t trade_remaining(const struct host *host, uint32_t n, struct trade_id id)
{
    uint64_t words[2];

    memcpy(words, id.bytes, sizeof words);
    uint64_t hash = mix_id(host->key, n, id.bytes);
    uint32_t order = order_map_find(&host->engine->order_map, hash, n, words);
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

    CHECK(engine->risk.changed_head == UINT32_MAX);
    for (uint32_t i = 0; i < engine->portfolios.count; i++) {
        const struct portfolio *portfolio = state_portfolio(engine, i);
        struct margin_view view;

        CHECK(portfolio->stale_holding == HOLDING_NONE);
        if (portfolio->figure_epoch != engine->risk.mark_epoch)
            continue;
        margin_view(engine, i, &view);
        CHECK(margin_equity(portfolio) == view.equity);
        CHECK(portfolio->maintenance == view.maintenance);
        CHECK(portfolio->initial >= view.initial);
        CHECK(portfolio->initial - portfolio->loose <= view.initial);
        CHECK(portfolio->flagged == (view.equity < view.initial));
        CHECK(portfolio->slack_maintenance <= view.equity - view.maintenance);
        CHECK(portfolio->slack_initial <= view.equity - view.initial);
    }
}
