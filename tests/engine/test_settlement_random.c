/* Random trading over hours of funding, states and the end of markets: I1 to I6 hold after every
 * command (host.h), pools are never negative when an epoch completes (R5), and a closed market
 * leaves no position, no order and nobody without positions below 0 (R9). */
#include "engine/price/funding.h"
#include "engine/risk/fund.h"
#include "traffic.h"

static struct traffic traffic;
static struct host *const host = &traffic.host;

static struct seen {
    uint32_t payments, epochs, settled, cuts, liquidations;
} seen;

static void look(void)
{
    for (uint32_t i = 0; i < host->effect_count; i++) {
        const struct host_effect *effect = &host->effects[i];
        seen.payments += effect->code == EFFECT_funding_payment;
        seen.liquidations += effect->code == EFFECT_liquidation;
        if (effect->code == EFFECT_funding_epoch) {
            struct effect_funding_epoch body;
            memcpy(&body, effect->bytes, sizeof body);
            seen.epochs += body.open;
            CHECK(body.pool == 0);
            const struct host_effect *before = effect - 1;
            if (body.open == 0 && i != 0 && before->code == EFFECT_cash) {
                struct effect_cash row; /* the roundings of the holders */
                memcpy(&row, before->bytes, sizeof row);
                CHECK(row.kind != CASH_fund || (row.amount > 0 && row.amount < 16));
            }
        }
        if (effect->code == EFFECT_settlement) {
            struct effect_settlement body;
            memcpy(&body, effect->bytes, sizeof body);
            seen.settled++;
            seen.cuts += body.cut != 0;
            CHECK(body.cut >= 0 && (body.cut == 0 || body.cut <= body.profit));
        }
    }
}

static void set_state(uint16_t asset, uint8_t state, uint8_t force)
{
    uint8_t body[8] = { (uint8_t)asset, 0, 0, 0, state, force };
    struct host_request request = { .code = REQUEST_market_state,
                                    .body = body,
                                    .body_bytes = sizeof body,
                                    .key = host_operator_key,
                                    .key_bytes = 32 };
    (void)host_signed(host, &request);
    look();
}

static void pass_hour(void)
{
    uint64_t next = (host->clock_ns / MARKET_HOUR_NS + 1) * MARKET_HOUR_NS;

    host->clock_ns = next + rig_below(&traffic.seed, 3000) * UINT64_C(1000000);
    host_tick(host, 0);
    look();
}

/* The index of the last minute far from the mark, so that losers cannot pay, as if the closing were
 * announced now: the price is their mean (R9). */
static void far_samples(uint32_t index)
{
    uint64_t now = engine_time(host->engine) / HOST_SECOND_NS;
    uint64_t price = state_market(host->engine, index)->mark * 4 / 10 +
                     rig_below(&traffic.seed, (uint32_t)state_market(host->engine, index)->mark);

    for (uint64_t age = 0; age < SAMPLES_LEAST; age++)
        host->engine->samples.rows[index * SAMPLES_MAX + (now - age) % SAMPLES_MAX] =
            (struct sample){ now - age, price };
    state_market(host->engine, index)->announced_ns = engine_time(host->engine);
}

static void check_closed(void)
{
    for (uint32_t i = 0; i < traffic.markets; i++) {
        const struct market *market = state_market(host->engine, i);
        CHECK(market->state == MARKET_CLOSED && market->funding_pool == 0);
        CHECK(holding_next_holder(host->engine, i, 0) == HOLDING_NONE);
    }
    CHECK(host->engine->orders.count == 0 && host->engine->holdings.slots.count == 0);
    for (uint32_t i = 0; i < host->engine->portfolios.count; i++)
        CHECK(i == FUND_PORTFOLIO || state_portfolio(host->engine, i)->cash >= 0);
}

static void run(uint64_t seed, const char *overrides, uint32_t commands)
{
    static const uint8_t states[] = { 0, 0, 1, 2, 3, 4 };

    traffic_open(&traffic, seed, 3, overrides);
    for (uint32_t i = 0; i < commands; i++) {
        uint32_t kind = rig_below(&traffic.seed, 200);
        uint16_t asset = (uint16_t)(1 + rig_below(&traffic.seed, traffic.markets));
        if (kind < 2)
            pass_hour();
        else if (kind == 2)
            set_state(asset, states[rig_below(&traffic.seed, CC_COUNT(states))], 0);
        else if (kind < 10)
            set_state(asset, MARKET_ACTIVE, 0);
        else
            (void)traffic_command(&traffic);
        look();
    }
    for (uint16_t asset = 1; asset <= traffic.markets; asset++) {
        far_samples(asset - 1u);
        set_state(asset, MARKET_CLOSED, 1);
    }
    for (uint32_t i = 0; engine_has_work(host->engine); i++) {
        CHECK(i < 10000);
        host_tick(host, 1);
        look();
    }
    check_closed();
    host_close(host);
}

int main(void)
{
    for (uint64_t seed = 1; seed <= 30; seed++)
        run(seed,
            seed % 3 == 0 ? NULL : "engine.work_per_command=1\nexchange.oracle_max_age_ms=0\n",
            4000);
    printf("%u epochs, %u payments, %u positions settled, %u cuts, %u liquidations\n", seen.epochs,
           seen.payments, seen.settled, seen.cuts, seen.liquidations);
    CHECK(seen.epochs > 1000 && seen.payments > 5000 && seen.settled > 300);
    CHECK(seen.cuts > 20 && seen.liquidations > 20);
    return 0;
}
