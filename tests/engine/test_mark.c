/* Index and mark (rules.md R5, without premium samples and funding) and R1's mark bound. Every
 * number is worked out by hand; prices raw, BTC-PERP of W10. */
#include "engine/price/mark.h"
#include "engine/state/samples.h"
#include "engine/view/read.h"
#include "trade.h"

#define S HOST_SECOND_NS

static enum status oracle(struct host *host, uint64_t publish_ns, uint64_t price)
{
    uint8_t body[24] = { 0 };

    cc_store64(body, publish_ns);
    cc_store64(body + 8, price);
    cc_store16(body + 16, HOST_BTC);
    cc_store16(body + 20, 1); /* sources */
    struct host_request request = { .code = REQUEST_oracle_price,
                                    .body = body,
                                    .body_bytes = sizeof body,
                                    .key = host_oracle_key,
                                    .key_bytes = 32 };
    return host_signed(host, &request);
}

static uint64_t next_t(const struct host *host)
{
    return engine_time_next(host->engine, host->clock_ns);
}

/* Publish time: above the last one, within [t - 10 s, t + 1 s]; price 1 .. 2^40 - 1, first. */
static void test_time(void)
{
    static struct host host;

    trade_open(&host, NULL);
    uint64_t last = trade_market(&host)->publish_ns;
    host.clock_ns = last + 20 * S;
    CHECK(oracle(&host, 1, 0) == STATUS_rejected_invalid_price);
    CHECK(oracle(&host, next_t(&host), UINT64_C(1) << 40) == STATUS_rejected_invalid_price);
    uint64_t t = next_t(&host);
    CHECK(oracle(&host, t - 10 * S - 1, 1000001) == STATUS_order_rejected_expired);
    t = next_t(&host);
    CHECK(oracle(&host, t + S + 1, 1000001) == STATUS_order_rejected_expired);
    CHECK(trade_market(&host)->index_price == 1000000);
    t = next_t(&host);
    CHECK(oracle(&host, t - 10 * S, 1000001) == TRADE_OK);
    CHECK(oracle(&host, t - 10 * S, 1000002) == STATUS_order_rejected_expired); /* not newer */
    CHECK(trade_market(&host)->index_price == 1000001);
    t = next_t(&host);
    CHECK(oracle(&host, t + S, 1000003) == TRADE_OK);
    CHECK(trade_market(&host)->index_price == 1000003);
    CHECK(oracle(&host, t, 1000004) == STATUS_order_rejected_expired);
    host_close(&host);

    trade_open(&host, "exchange.oracle_max_age_ms=0\n"); /* never stale: only the order counts */
    last = trade_market(&host)->publish_ns;
    host.clock_ns = last + 86400 * S;
    CHECK(market_mark_is_valid(host.engine, 0));
    CHECK(oracle(&host, last + 1, 1000001) == TRADE_OK);
    CHECK(trade_limit(&host, 1, 1000, 990000) == TRADE_OK);
    /* what is no time of the exchange (2262 and later) leaves room for those to come */
    CHECK(oracle(&host, UINT64_C(1) << 63, 1000002) == STATUS_order_rejected_expired);
    CHECK(oracle(&host, UINT64_MAX, 1000002) == STATUS_order_rejected_expired);
    CHECK(oracle(&host, INT64_MAX - 1, 1000002) == TRADE_OK);
    CHECK(oracle(&host, INT64_MAX, 1000003) == TRADE_OK);
    CHECK(trade_market(&host)->index_price == 1000003);
    host_close(&host);
}

/* BTC at 100,000 with a sample of that price. */
static struct market *open_sampled(struct host *host)
{
    trade_open(host, NULL);
    host->clock_ns += 2 * S;
    host_tick(host, 0);
    CHECK(samples_reference(host->engine, 0) == 1000000);
    return trade_market(host);
}

/* R12, 2. What is more than 10 % from the reference is held, not what is so far from the last one:
 * CANCEL_ONLY; a price near the reference ends the hold at once. */
static void test_hold(void)
{
    static struct host host;

    struct market *market = open_sampled(&host);
    CHECK(oracle(&host, next_t(&host), 1099000) == TRADE_OK); /* 9.9 % */
    CHECK(market->index_price == 1099000 && market->state == MARKET_ACTIVE);
    host.clock_ns += S / 1000;
    CHECK(oracle(&host, next_t(&host), 1207800) == TRADE_OK); /* 20.8 %, 9.9 % of the last */
    CHECK(market->index_price == 1099000 && market->state == MARKET_CANCEL_ONLY);
    CHECK(!market_mark_is_valid(host.engine, 0) && market->hold_count == 1);
    struct effect_market_state state;
    memcpy(&state, host_effect(&host, EFFECT_market_state, 0)->bytes, sizeof state);
    CHECK(state.state == MARKET_CANCEL_ONLY && state.cause == CAUSE_ORACLE);
    struct effect_mark mark;
    memcpy(&mark, host_effect(&host, EFFECT_mark, 0)->bytes, sizeof mark);
    CHECK(mark.valid == 0 && mark.mark == market->mark && mark.index == 1099000);
    CHECK(trade_limit(&host, 1, 1000, 990000) == STATUS_rejected_market_cancel_only);
    host.clock_ns += S / 1000;
    CHECK(oracle(&host, next_t(&host), 1099000) == TRADE_OK);
    CHECK(market->hold_count == 0 && market->state == MARKET_ACTIVE);
    CHECK(market_mark_is_valid(host.engine, 0) && market->index_price == 1099000);
    /* the bound: exactly 10 % is taken */
    CHECK(oracle(&host, next_t(&host), 1100000) == TRADE_OK && market->hold_count == 0);
    CHECK(oracle(&host, next_t(&host), 899999) == TRADE_OK && market->hold_count == 1);
    host_close(&host);
}

static enum status accept_index(struct host *host, uint64_t price)
{
    uint8_t body[16] = { 0 };

    cc_store64(body, price);
    cc_store16(body + 8, HOST_BTC);
    struct host_request request = { .code = REQUEST_index_accept,
                                    .body = body,
                                    .body_bytes = sizeof body,
                                    .key = host_operator_key,
                                    .key_bytes = sizeof host_operator_key };
    return host_signed(host, &request);
}

/* R12, 3. A run of two seconds is taken within 20 % of the anchor; beyond it the operator alone
 * ends the hold, within 2 % of the newest price. */
static void test_run(void)
{
    static struct host host;

    struct market *market = open_sampled(&host);
    CHECK(accept_index(&host, 1000000) == STATUS_order_rejected_invalid); /* not held */
    for (uint32_t i = 0; i < 5; i++) {
        CHECK(oracle(&host, next_t(&host), 850000) == TRADE_OK); /* at 0, 0.5, ... 2.0 s */
        CHECK((market->hold_count == 0) == (i == 4));
        host.clock_ns += S / 2;
    }
    CHECK(market->index_price == 850000 && market->state == MARKET_ACTIVE);
    for (uint32_t i = 0; i < 6; i++) { /* 15.3 % of 85,000, 28 % of the anchor */
        CHECK(oracle(&host, next_t(&host), 720000) == TRADE_OK);
        CHECK(market->hold_count != 0 && market->index_price == 850000);
        host.clock_ns += S;
    }
    CHECK(accept_index(&host, 740000) == STATUS_rejected_invalid_price); /* 2.8 % */
    CHECK(accept_index(&host, 725000) == TRADE_OK);
    CHECK(market->index_price == 720000 && market->state == MARKET_ACTIVE);
    CHECK(accept_index(&host, 725000) == STATUS_order_rejected_invalid);
    host_close(&host);
}

/* A held update more than 2 % from any of the run begins it anew. */
static void test_run_anew(void)
{
    static struct host host;

    struct market *market = open_sampled(&host);
    CHECK(oracle(&host, next_t(&host), 1150000) == TRADE_OK);
    host.clock_ns += S;
    CHECK(oracle(&host, next_t(&host), 1173000) == TRADE_OK && market->hold_count == 2);
    host.clock_ns += S;
    CHECK(oracle(&host, next_t(&host), 1149999) == TRADE_OK); /* 23,001 > 2 % of 1,149,999 */
    CHECK(market->hold_count == 1 && market->index_price == 1000000);
    host_close(&host);
}

/* A hold never loosens a state: a market that is HALTED stays so, and comes back HALTED. */
static void test_hold_of_halted(void)
{
    static struct host host;

    trade_open(&host, NULL);
    struct market *market = trade_market(&host);
    market->state = MARKET_HALTED;
    for (uint32_t i = 0; i < 3; i++) {
        CHECK(oracle(&host, next_t(&host), 1180000) == TRADE_OK);
        CHECK(market->state == MARKET_HALTED);
        host.clock_ns += S;
    }
    CHECK(market->hold_count == 0 && market->index_price == 1180000);
    CHECK(market->mark == 1000000); /* HALTED: the mark is not recomputed */
    host_close(&host);
}

/* third: of best bid, best ask and last those that exist. */
static void test_median(void)
{
    static struct host host;

    trade_open(&host, NULL);
    struct market *market = trade_market(&host);
    /* none: the mean of index and index + ema, floored */
    market->ema = INT64_C(101) << 20;
    CHECK(oracle(&host, next_t(&host), 1000000) == TRADE_OK);
    CHECK(market->mark == 1000050); /* (1,000,000 + 1,000,101) / 2 = 1,000,050.5 */
    market->ema = -(INT64_C(101) << 20);
    CHECK(oracle(&host, next_t(&host), 1000000) == TRADE_OK);
    CHECK(market->mark == 999949); /* 999,949.5 */
    market->ema = -1;              /* -1 >> 20 = -1 */
    CHECK(oracle(&host, next_t(&host), 1000000) == TRADE_OK);
    CHECK(market->mark == 999999); /* (2,000,000 - 1) / 2, floored */
    market->ema = INT64_C(100) << 20;
    /* one: a bid at 999,000: median of 1,000,000, 1,000,100, 999,000 */
    struct trade_id bid = trade_rest(&host, 1, 1000, 999000);
    CHECK(oracle(&host, next_t(&host), 1000000) == TRADE_OK && market->mark == 1000000);
    /* two: (999,000 + 1,001,101) / 2 = 1,000,050.5: between */
    struct trade_id ask = trade_rest(&host, 2, -1000, 1001101);
    CHECK(oracle(&host, next_t(&host), 1000000) == TRADE_OK && market->mark == 1000050);
    /* three: last 1,001,101, bid 999,000, ask 1,001,110: their median 1,001,101; then the median of
     * 1,000,000, 1,000,100, 1,001,101 */
    CHECK(trade_tif(&host, 3, 1000, 1001101, TRADE_IOC) == TRADE_OK);
    trade_rest(&host, 2, -1000, 1001110);
    CHECK(trade_remaining(&host, 2, ask) == 0);
    CHECK(oracle(&host, next_t(&host), 1000000) == TRADE_OK && market->mark == 1000100);
    /* one of last alone: the median with 1,001,101 is the same */
    CHECK(host_cancel(&host, 1, bid.bytes) == TRADE_OK);
    CHECK(host_cancel_all(&host, 2, HOST_BTC, 0) == TRADE_OK);
    CHECK(oracle(&host, next_t(&host), 1000000) == TRADE_OK && market->mark == 1000100);
    /* clamp: index * (1 +- 0.25 %), inside: 1,000,001 * 1.0025 = 1,002,501.0025, * 0.9975 =
     * 997,500.9975 */
    market->ema = INT64_C(90000) << 20;
    market->last_price = 1080000;
    CHECK(oracle(&host, next_t(&host), 1000001) == TRADE_OK && market->mark == 1002501);
    market->ema = -(INT64_C(90000) << 20);
    market->last_price = 920000;
    CHECK(oracle(&host, next_t(&host), 1000001) == TRADE_OK && market->mark == 997501);
    host_close(&host);
}

/* impact_notional 20,000 USDC. Bids 0.1 BTC at 100,000 and 0.15 at 99,900 (24,985 USDC): the first
 * gives 10,000, the rest 10,000 / 99,900 = 0.1001001 BTC: average 20,000 / 0.2001001 =
 * 99,949.9749..., down to 99,949.9. Asks 0.1 at 100,100 and 0.15 at 100,200: 10,010, then
 * 9,990 / 100,200 = 0.0997006: 20,000 / 0.1997006 = 100,149.925..., up to 100,150.0. */
static uint64_t impact(struct host *host, bool bids)
{
    host_tick(host, MARK_REST_NS + S / 1000); /* each order has rested by then */
    return mark_impact(host->engine, 0, bids);
}

static void test_impact(void)
{
    static struct host host;

    trade_open(&host, NULL);
    trade_rest(&host, 1, 10000, 1000000);
    CHECK(impact(&host, true) == 0); /* not enough depth */
    trade_rest(&host, 1, 15000, 999000);
    CHECK(impact(&host, true) == 999499);
    CHECK(impact(&host, false) == 0);
    trade_rest(&host, 2, -10000, 1001000);
    trade_rest(&host, 2, -15000, 1002000);
    CHECK(impact(&host, false) == 1001500);
    /* exactly the notional at one price is that price */
    CHECK(host_cancel_all(&host, 1, HOST_BTC, 0) == TRADE_OK);
    trade_rest(&host, 1, 20000, 1000000);
    CHECK(impact(&host, true) == 1000000);
    /* reduce-only orders add nothing, nor one that was reduce-only in this place */
    CHECK(trade_tif(&host, 2, -100, 1000000, TRADE_IOC) == TRADE_OK);
    CHECK(impact(&host, true) == 0); /* 0.199 BTC are left */
    CHECK(trade_reduce(&host, 2, 1000000, 1000000, TRADE_GTC) == TRADE_OK);
    struct trade_id turned = trade_last_id(&host);
    CHECK(impact(&host, true) == 0);
    struct host_order plain = { .price = 1000000, .quantity = 1000000, .expiry = TRADE_GTC };
    CHECK(trade_replace(&host, 2, turned, &plain, 0) == TRADE_OK);
    CHECK(impact(&host, true) == 0);
    plain.quantity = 1000100; /* it enters again */
    CHECK(trade_replace(&host, 2, turned, &plain, 0) == TRADE_OK);
    CHECK(impact(&host, true) == 1000000);
    host_close(&host);

    /* within makers_max orders: two of 0.1 BTC suffice, the third is not looked at */
    trade_open(&host, "engine.makers_max=2\n");
    trade_rest(&host, 1, 10000, 1000000);
    trade_rest(&host, 1, 9999, 1000000);
    trade_rest(&host, 1, 10000, 1000000);
    CHECK(impact(&host, true) == 0);
    trade_rest(&host, 2, -10000, 1001000);
    trade_rest(&host, 2, -10000, 1001000);
    trade_rest(&host, 2, -10000, 1001000);
    CHECK(impact(&host, false) == 1001000);
    /* of a level that has only young ones the first is looked at */
    trade_rest(&host, 2, -10, 1000500);
    trade_rest(&host, 2, -10, 1000500);
    CHECK(mark_impact(host.engine, 0, false) == 0);
    host_close(&host);
}

/* An order counts that has rested for 250 ms; a new price or a larger size begins anew, a smaller
 * size does not, nor does a fill. */
static void test_rest(void)
{
    static struct host host;
    struct host_order bid = { .price = 1000000, .quantity = 30000, .expiry = TRADE_GTC };

    trade_open(&host, NULL);
    struct trade_id id = trade_rest(&host, 1, 30000, 999000);
    uint64_t entered_ns = host.engine->t_ns;
    host_tick(&host, entered_ns + MARK_REST_NS - 1 - host.clock_ns);
    CHECK(mark_impact(host.engine, 0, true) == 0);
    host_tick(&host, 1);
    CHECK(host.engine->t_ns == entered_ns + MARK_REST_NS);
    CHECK(mark_impact(host.engine, 0, true) == 999000);
    CHECK(trade_cut(&host, 1, id, 5000, 0) == TRADE_OK);
    CHECK(trade_tif(&host, 2, -1000, 999000, TRADE_IOC) == TRADE_OK);
    CHECK(mark_impact(host.engine, 0, true) == 999000);
    CHECK(trade_replace(&host, 1, id, &bid, 0) == TRADE_OK);
    CHECK(mark_impact(host.engine, 0, true) == 0);
    CHECK(impact(&host, true) == 1000000);
    bid.quantity++; /* a lot more */
    CHECK(trade_replace(&host, 1, id, &bid, 0) == TRADE_OK);
    CHECK(mark_impact(host.engine, 0, true) == 0);
    CHECK(impact(&host, true) == 1000000);
    host_close(&host);
}

/* R12, 1. A book moves the mark by b at most, and by a 150th of it in a second. */
static void test_book_bound(void)
{
    static struct host host;

    trade_open(&host, NULL);
    struct market *market = trade_market(&host);
    trade_rest(&host, 1, 100000, 1004000);
    trade_rest(&host, 2, -100000, 1006000);
    host.clock_ns = market->second_ns + S;
    host_tick(&host, 0);
    CHECK(market->ema == 17476266); /* (2,500 << 20) / 150 */
    CHECK(market->mark == 1000016); /* median of 1,000,000, 1,000,016 and 1,002,500 */
    char symbol[32] = "BTC-PERP";
    struct row_mark row;
    CHECK(read_mark(host.engine, symbol, &row) && row.mark_price == 1000016 && row.valid);
    CHECK(row.book_term == 16 && row.third_price == 1002500 && row.clamp_ppm == 2500);
    CHECK(!row.in_gap);
    work_queue_begin_gap(host.engine, 0);
    market->state = MARKET_POST_ONLY;
    CHECK(read_mark(host.engine, symbol, &row) && row.third_price == 0 && row.in_gap);
    host_close(&host);
}

/* ema += tdiv((x << 20) - ema, 150) at each full second, once however many have passed. */
static void test_ema(void)
{
    static struct host host;

    trade_open(&host, NULL);
    struct market *market = trade_market(&host);
    trade_rest(&host, 1, 30000, 1000000);
    trade_rest(&host, 2, -30000, 1000301); /* mid 1,000,150.5 -> 1,000,150: x = 150 */
    uint64_t second = market->second_ns;
    host_tick(&host, second + S - host.clock_ns - 1); /* not yet */
    CHECK(market->ema == 0);
    host.clock_ns = second + S;
    host_tick(&host, 0);
    CHECK(market->second_ns == second + S);
    CHECK(market->ema == INT64_C(1) << 20); /* 150 << 20 / 150 */
    CHECK(trade_effects(&host, EFFECT_mark) == 1);
    CHECK(market->mark == 1000001);         /* median of 1,000,000, 1,000,001, 1,000,150 */
    host.clock_ns = second + 5 * S + S / 2; /* four seconds passed over: one step */
    host_tick(&host, 0);
    /* (157,286,400 - 1,048,576) / 150 = 1,041,585.4933 */
    CHECK(market->ema == (INT64_C(1) << 20) + 1041585);
    CHECK(market->second_ns == second + 5 * S);
    host_tick(&host, S / 4);
    CHECK(trade_effects(&host, EFFECT_mark) == 0);
    /* a side without orders: ema += tdiv(-ema, 150): 2,090,161 / 150 = 13,934.4 */
    CHECK(host_cancel_all(&host, 2, HOST_BTC, 0) == TRADE_OK);
    host.clock_ns = second + 6 * S;
    host_tick(&host, 0);
    CHECK(market->ema == 2090161 - 13934);
    /* toward zero below 0 as well: -2,090,161: + 13,934 */
    market->ema = -2090161;
    host.clock_ns = second + 7 * S;
    host_tick(&host, 0);
    CHECK(market->ema == -2090161 + 13934);
    /* the impact mid comes first: bids average 99,949.9, asks 100,150.0 (see above): mid 100,049.95
     * raw (999,499 + 1,001,500) / 2 = 1,000,499; x = 499: (499 << 20) / 150 = 3,488,262.8 */
    CHECK(host_cancel_all(&host, 1, HOST_BTC, 0) == TRADE_OK);
    trade_rest(&host, 1, 10000, 1000000);
    trade_rest(&host, 1, 15000, 999000);
    trade_rest(&host, 2, -10000, 1001000);
    trade_rest(&host, 2, -15000, 1002000);
    market->ema = 0;
    host.clock_ns = second + 8 * S;
    host_tick(&host, 0);
    CHECK(market->ema == 3488262);
    /* while the index is not valid ema stays, and the mark; its loss is told once */
    host.clock_ns = second + 30 * S;
    host_tick(&host, 0);
    CHECK(market->ema == 3488262 && trade_effects(&host, EFFECT_mark) == 1);
    CHECK(!market->mark_valid);
    host_tick(&host, S);
    CHECK(market->ema == 3488262 && trade_effects(&host, EFFECT_mark) == 0);
    host_close(&host);
}

/* R1: a mark that would bring mark * max|s| above 2^60 is not taken; the market goes HALTED. */
static void test_bound(void)
{
    static struct host host;

    trade_open(&host, NULL);
    struct market *market = trade_market(&host);
    trade_rest(&host, 1, 2000, 1000000);
    CHECK(trade_limit(&host, 2, -3000, 1000000) == TRADE_OK);
    CHECK(market->max_abs_size == 2000);
    CHECK(host_cancel_all(&host, 2, HOST_BTC, 0) == TRADE_OK);
    /* 2^60 / 1,010,000 = 1,141,506,440,204.8 */
    market->max_abs_size = 1141506440204;
    CHECK(oracle(&host, next_t(&host), 1010000) == TRADE_OK);
    CHECK(market->mark == 1010000 && market->state == MARKET_ACTIVE);
    CHECK(market->max_abs_size == 2000); /* the scan of the move made it exact */
    market->max_abs_size = 1141506440205;
    CHECK(oracle(&host, next_t(&host), 1010000) == TRADE_OK);
    CHECK(market->state == MARKET_HALTED);
    CHECK(market->mark == 1010000 && market->index_price == 1010000);
    struct effect_market_state state;
    memcpy(&state, host_effect(&host, EFFECT_market_state, 0)->bytes, sizeof state);
    CHECK(state.state == MARKET_HALTED && state.cause == CAUSE_ORACLE);
    CHECK(trade_limit(&host, 1, 1000, 1000000) == STATUS_rejected_market_halted);
    host_close(&host);
}

/* R9, who sets a state: an index that is valid again brings a look at every holder, also when the
 * mark is the number that it was: who may not be liquidated meanwhile waits for it (R5). */
static void test_valid_again(void)
{
    static struct host host;

    trade_open(&host, "engine.work_per_command=1\n");
    trade_rest(&host, 1, 1000, 1000000);
    CHECK(trade_limit(&host, 2, -1000, 1000000) == TRADE_OK);
    while (engine_has_work(host.engine))
        host_tick(&host, 1);
    const struct work_scan *scan = &host.engine->work.scans[0];
    CHECK(oracle(&host, next_t(&host), 1000000) == TRADE_OK);
    CHECK(!scan->queued); /* nothing moved, nothing was lost */
    host_tick(&host, 12 * S);
    CHECK(!trade_market(&host)->mark_valid && !scan->queued);
    CHECK(oracle(&host, next_t(&host), 1000000) == TRADE_OK);
    CHECK(trade_market(&host)->mark_valid && trade_market(&host)->mark == 1000000);
    CHECK(scan->queued);
    host_close(&host);
}

int main(void)
{
    test_time();
    test_hold();
    test_run();
    test_run_anew();
    test_hold_of_halted();
    test_median();
    test_impact();
    test_rest();
    test_book_bound();
    test_ema();
    test_bound();
    test_valid_again();
    return 0;
}
