/* What /metrics counts of the exchange itself: each effect once and under its name, amounts as the
 * state has them, nothing of a replay. Values by hand. */
#include "check.h"
#include "engine/purse.h"
#include "engine/state/market.h"
#include "engine/state/portfolio.h"
#include "exchange.h"

static struct exchange_counters tally;

static void tell(uint16_t code, const void *body, size_t bytes)
{
    struct effect effect = { .code = code };

    memcpy(effect.bytes, body, bytes);
    exchange_counters_count(&tally, &effect);
}

/* Every counter is another number, so that none can stand for another. */
static void test_each(void)
{
    static const struct {
        uint16_t code;
        uint8_t at, value; /* of a byte of the body; the rest is zero */
        uint8_t times;
    } told[] = {
        { 2112, 32, PORTFOLIO_IN_LIQUIDATION, 2 },
        { 2112, 32, PORTFOLIO_ACTIVE, 30 },
        { 2113, 36, 1, 3 },
        { 2113, 36, 2, 4 },
        { 2113, 36, 3, 5 },
        { 2110, 40, 1, 6 },
        { 2110, 40, 0, 31 }, /* complete */
        { 2105, 0, 0, 7 },
        { 2114, 0, 0, 8 },
        { 2116, 16, 1, 9 },
        { 2116, 16, 0, 32 }, /* the end of a freeze */
        { 2121, 0, 0, 10 },
        { 2120, 40, 255, 11 },
        { 2120, 40, 0, 12 },
        { 2120, 40, 1, 13 },
        { 2104, 0, 0, 33 },
    };
    uint8_t body[EFFECT_BODY_BYTES];

    for (size_t i = 0; i < CC_COUNT(told); i++)
        for (uint32_t n = 0; n < told[i].times; n++) {
            memset(body, 0, sizeof body);
            body[told[i].at] = told[i].value;
            tell(told[i].code, body, sizeof body);
        }
    struct effect_market_state market = { .state = MARKET_CANCEL_ONLY, .cause = CAUSE_ORACLE };
    tell(2111, &market, sizeof market);
    market.cause = CAUSE_OPERATOR;
    tell(2111, &market, sizeof market);
    market = (struct effect_market_state){ .state = MARKET_ACTIVE, .cause = CAUSE_ORACLE };
    tell(2111, &market, sizeof market); /* it returns */
    CHECK(published_get(&tally.holds) == 1);
    CHECK(published_get(&tally.liquidated) == 2);
    CHECK(published_get(&tally.liquidations[0]) == 3);
    CHECK(published_get(&tally.liquidations[1]) == 4);
    CHECK(published_get(&tally.liquidations[2]) == 5);
    CHECK(published_get(&tally.funding_hours) == 6);
    CHECK(published_get(&tally.funding_payments) == 7);
    CHECK(published_get(&tally.triggers) == 8);
    CHECK(published_get(&tally.freezes) == 9);
    CHECK(published_get(&tally.settlements) == 10);
    CHECK(published_get(&tally.withdrawals_requested) == 11);
    CHECK(published_get(&tally.withdrawals_settled) == 12);
    CHECK(published_get(&tally.withdrawals_reverted) == 13);
}

/* 3 and 4 USDC are asked for, 4 are reverted: one of 3 is pending; 50 USDC go to the fund. */
static void test_look(void)
{
    static struct exchange exchange;
    const struct purse_place place = { 0, 0 };
    uint8_t body[8] = { 0 };
    struct host *host = &exchange.host;

    exchange_open(&exchange, 16, 2);
    CHECK(purse_withdraw(host, 1, place, 3 * HOST_USDC) == STATUS_request_completed);
    CHECK(published_get(&tally.withdrawals_requested) == 11); /* a replay is not counted */
    exchange.sink.exchange_counters = &tally;
    CHECK(purse_withdraw(host, 2, place, 4 * HOST_USDC) == STATUS_request_completed);
    CHECK(published_get(&tally.withdrawals_requested) == 12);
    exchange_counters_refresh(&tally, host->engine);
    CHECK(published_get(&tally.pending_count) == 2 &&
          tally.pending_amount == 7 * (int64_t)HOST_USDC);
    CHECK(purse_settle(host, host->result.id, 1) == STATUS_request_completed);
    cc_store64(body, 50 * HOST_USDC);
    CHECK(purse_send(host, PURSE_OPERATOR, 0, REQUEST_fund_top_up, body, sizeof body) ==
          STATUS_request_completed);
    exchange_counters_refresh(&tally, host->engine);
    CHECK(published_get(&tally.pending_count) == 1 &&
          tally.pending_amount == 3 * (int64_t)HOST_USDC);
    CHECK(tally.fund_cash == 50 * (int64_t)HOST_USDC && tally.fee_account == 0);
    CHECK(published_get(&tally.withdrawals_reverted) == 14);
    CHECK(published_get(&tally.work_items) == 0);
    exchange_close(&exchange);
}

int main(void)
{
    test_each();
    test_look();
    return 0;
}
