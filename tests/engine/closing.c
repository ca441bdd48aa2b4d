#include "closing.h"

#include "engine/state/samples.h"

enum status closing_set(struct host *host, uint8_t state, uint8_t force)
{
    uint8_t body[8] = { HOST_BTC, 0, 0, 0, state, force };
    struct host_request request = { .code = REQUEST_market_state,
                                    .body = body,
                                    .body_bytes = sizeof body,
                                    .key = host_operator_key,
                                    .key_bytes = 32 };
    return host_signed(host, &request);
}

enum status closing_now(struct host *host)
{
    return closing_set(host, MARKET_CLOSED, 1);
}

void closing_work(struct host *host)
{
    for (uint32_t i = 0; engine_has_work(host->engine); i++) {
        CHECK(i < 10000);
        host_tick(host, 1);
    }
}

void closing_seconds(struct host *host, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t next = (engine_time(host->engine) / HOST_SECOND_NS + 1) * HOST_SECOND_NS;
        host_tick(host, next - host->clock_ns);
    }
}

void closing_samples(struct host *host, uint64_t price)
{
    uint64_t now = engine_time(host->engine) / HOST_SECOND_NS;

    for (uint64_t age = 0; age < SAMPLES_LEAST; age++)
        host->engine->samples.rows[(now - age) % SAMPLES_MAX] = (struct sample){ now - age, price };
    trade_market(host)->announced_ns = engine_time(host->engine);
}

void closing_check_empty(struct host *host)
{
    CHECK(holding_next_holder(host->engine, 0, 0) == HOLDING_NONE);
    CHECK(book_best(&trade_market(host)->book, ORDER_LONG) == BOOK_TICK_NONE);
    CHECK(book_best(&trade_market(host)->book, ORDER_SHORT) == BOOK_TICK_NONE);
    CHECK(trade_market(host)->funding_pool == 0 && trade_market(host)->cancel_sequence == 0);
    CHECK(host->engine->settlements[0].pass == SETTLEMENT_NONE);
}

void closing_open_three(struct host *host, const char *options)
{
    trade_open(host, options);
    trade_rest(host, 1, 1000000, TRADE_MARK);
    CHECK(trade_limit(host, 2, -333333, TRADE_MARK) == TRADE_OK);
    CHECK(trade_limit(host, 3, -666667, TRADE_MARK) == TRADE_OK);
    CHECK(trade_cash(host, 1) == 100000000000 - 150000000);
    CHECK(trade_cash(host, 2) == 100000000000 - 149999850);
    CHECK(trade_cash(host, 3) == 100000000000 - 300000150);
    closing_work(host);
}
