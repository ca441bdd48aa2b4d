/* A gap of the clock (rules.md R9): what a 2014 with a step halts, what stands still while the gap
 * is open, and how code 1011 ends it. */
#include "engine/price/market_state.h"
#include "engine/view/read.h"
#include "image_copy.h"
#include "trade.h"

enum { ETH = 2, SOL = 3, XRP = 4, CLOCK = 5 /* the cause of 2111 */ };

#define S       HOST_SECOND_NS
#define HOUR_NS (3600 * S)
#define DAY     ((int64_t)(24 * HOUR_NS))
#define NO_AGE  "exchange.oracle_max_age_ms=0\n"

static struct host host;
static struct image_copy copy, again;

static void boot(int64_t step_ns)
{
    uint8_t body[24] = { 2, 0, 0, 0, 0, 0, 0, 0, ENGINE_RULES_VERSION };

    cc_store64(body + 16, (uint64_t)step_ns);
    CHECK(host_unsigned(&host, REQUEST_boot, body, sizeof body) == TRADE_OK);
}

static enum status confirm_with(int64_t gap_ns, uint64_t pad, const uint8_t key[32])
{
    uint8_t body[16];
    struct host_request request = { .code = REQUEST_clock_confirm,
                                    .body = body,
                                    .body_bytes = sizeof body,
                                    .key = key,
                                    .key_bytes = 32 };

    cc_store64(body, (uint64_t)gap_ns);
    cc_store64(body + 8, pad);
    return host_signed(&host, &request);
}

static enum status confirm(int64_t gap_ns)
{
    return confirm_with(gap_ns, 0, host_operator_key);
}

static void confirm_by_node(int64_t gap_ns)
{
    uint8_t body[16] = { 0 };

    cc_store64(body, (uint64_t)gap_ns);
    CHECK(host_unsigned(&host, REQUEST_clock_confirm, body, sizeof body) == TRADE_OK);
}

static uint8_t state_of(uint16_t asset)
{
    return state_market(host.engine, market_find(host.engine, asset))->state;
}

/* The k-th 2111 of the last command. */
static void check_told(uint32_t k, uint16_t asset, uint8_t state, uint8_t cause)
{
    struct effect_market_state body;

    CHECK(host_effect(&host, EFFECT_market_state, k) != NULL);
    memcpy(&body, host_effect(&host, EFFECT_market_state, k)->bytes, sizeof body);
    CHECK(body.asset_id == asset && body.state == state && body.cause == cause);
}

static uint32_t told(void)
{
    return trade_effects(&host, EFFECT_market_state);
}

static void close_by_force(uint16_t asset)
{
    uint8_t body[8] = { (uint8_t)asset, 0, 0, 0, MARKET_CLOSED, 1 };
    struct host_request request = { .code = REQUEST_market_state,
                                    .body = body,
                                    .body_bytes = sizeof body,
                                    .key = host_operator_key,
                                    .key_bytes = 32 };
    CHECK(host_signed(&host, &request) == TRADE_OK);
}

/* --- open and closed -------------------------------------------------------------------------- */

/* Four markets: ACTIVE, POST_ONLY, HALTED and CLOSED. What is not CLOSED becomes HALTED, by asset
 * id; what was HALTED is not told; the states return in the same way. A start within the gap
 * changes the step and no state, and one that finds its clock right leaves the gap to its 1011. */
static void test_states_return(void)
{
    trade_open(&host, NULL);
    trade_add_market(&host, "ETH", ETH);
    trade_add_market(&host, "SOL", SOL);
    trade_add_market(&host, "XRP", XRP);
    CHECK(trade_set_state(&host, ETH, MARKET_POST_ONLY) == TRADE_OK);
    CHECK(trade_set_state(&host, SOL, MARKET_HALTED) == TRADE_OK);
    close_by_force(XRP);
    boot(0);
    CHECK(engine_clock_gap_ns(host.engine) == 0 && told() == 0);
    boot(DAY);
    CHECK(engine_clock_gap_ns(host.engine) == DAY && told() == 2);
    check_told(0, HOST_BTC, MARKET_HALTED, CLOCK);
    check_told(1, ETH, MARKET_HALTED, CLOCK);
    CHECK(state_of(XRP) == MARKET_CLOSED);
    CHECK(read_market_state(host.engine, 0) == MARKET_ACTIVE); /* after the gap */
    CHECK(read_market_state(host.engine, 1) == MARKET_POST_ONLY);
    CHECK(trade_limit(&host, 1, 1000, TRADE_MARK) == STATUS_rejected_market_halted);

    boot(-3 * DAY);
    CHECK(engine_clock_gap_ns(host.engine) == -3 * DAY && told() == 0);
    boot(0);
    CHECK(engine_clock_gap_ns(host.engine) == -3 * DAY && told() == 0);
    CHECK(confirm(DAY) == STATUS_order_rejected_invalid && told() == 0);
    CHECK(confirm(-3 * DAY) == TRADE_OK && engine_clock_gap_ns(host.engine) == 0);
    CHECK(told() == 2);
    check_told(0, HOST_BTC, MARKET_ACTIVE, CLOCK);
    check_told(1, ETH, MARKET_POST_ONLY, CLOCK);
    CHECK(state_of(SOL) == MARKET_HALTED && state_of(XRP) == MARKET_CLOSED);
    CHECK(trade_limit(&host, 1, 1000, TRADE_MARK) == TRADE_OK);
    host_close(&host);
}

/* R11's rows of 1011, each with the rule that it breaks. */
static void test_rows(void)
{
    trade_open(&host, NULL);
    CHECK(confirm(0) == STATUS_order_rejected_invalid);
    CHECK(host.result.rule == OPERATOR_RULE_gap_none);
    boot(DAY);
    CHECK(confirm_with(DAY, 1, host_operator_key) == STATUS_order_rejected_invalid);
    CHECK(host.result.rule == OPERATOR_RULE_pad);
    CHECK(confirm_with(DAY, UINT64_C(1) << 63, host_operator_key) == STATUS_order_rejected_invalid);
    CHECK(confirm(DAY + 1) == STATUS_order_rejected_invalid);
    CHECK(host.result.rule == OPERATOR_RULE_gap_other);
    CHECK(confirm(-DAY) == STATUS_order_rejected_invalid && confirm(0) != TRADE_OK);
    CHECK(confirm_with(DAY, 0, host_oracle_key) == STATUS_rejected_unauthorized);
    CHECK(confirm_with(DAY, 0, host_treasury_key) == STATUS_rejected_unauthorized);
    CHECK(engine_clock_gap_ns(host.engine) == DAY && state_of(HOST_BTC) == MARKET_HALTED);
    CHECK(confirm(DAY) == TRADE_OK);
    CHECK(confirm(DAY) == STATUS_order_rejected_invalid); /* it is closed */
    host_close(&host);
}

/* --- what stands still ------------------------------------------------------------------------ */

/* Accounts 1 and 2 are long and short 1 BTC; 3 has a bid for an hour. */
static void open_holders(void)
{
    struct host_order bid = { .price = 990000, .quantity = 1000 };

    trade_open(&host, NO_AGE);
    trade_rest(&host, 2, -100000, TRADE_MARK);
    CHECK(trade_tif(&host, 1, 100000, TRADE_MARK, TRADE_IOC) == TRADE_OK);
    bid.expiry = host.clock_ns + HOUR_NS;
    CHECK(host_limit(&host, 3, &bid) == TRADE_OK);
    CHECK(trade_size(&host, 1) == 100000);
}

/* Nothing is due in the gap, whatever t is. After it the order has expired, and the hours between
 * are passed over; the next one is charged. */
static void test_nothing_is_due(void)
{
    open_holders();
    int64_t cash = trade_cash(&host, 1);
    boot(DAY);
    CHECK(engine_next_deadline(host.engine) == UINT64_MAX);
    for (uint32_t i = 0; i < 3; i++) {
        host_tick(&host, 2 * HOUR_NS);
        CHECK(host.effect_count == 0);
    }
    CHECK(trade_cash(&host, 1) == cash);
    CHECK(confirm(DAY) == TRADE_OK && engine_next_deadline(host.engine) != UINT64_MAX);
    host_tick(&host, 18 * HOUR_NS);
    CHECK(trade_effects(&host, EFFECT_funding_epoch) == 0);
    CHECK(trade_state(&host, 0).status == ORDER_EXPIRED);
    CHECK(trade_cash(&host, 1) == cash && trade_effects(&host, EFFECT_cash) == 0);
    host_tick(&host, HOUR_NS); /* the first hour after the gap */
    CHECK(trade_effects(&host, EFFECT_funding_epoch) == 2);
    CHECK(trade_cash(&host, 1) == cash - 1250000); /* 100,000 USDC * 0.00125 % */
    host_close(&host);
}

/* A clock that was behind goes on from the last t: no hour is passed over by the operator's word.
 * The node's own word comes with a clock that has jumped. */
static void test_behind(void)
{
    for (uint32_t is_node = 0; is_node < 2; is_node++) {
        open_holders();
        host.clock_ns = (host.clock_ns / HOUR_NS + 1) * HOUR_NS - S / 2;
        host_tick(&host, 0);
        boot(-DAY);
        if (is_node != 0)
            confirm_by_node(-DAY);
        else
            CHECK(confirm(-DAY) == TRADE_OK);
        CHECK(state_of(HOST_BTC) == MARKET_ACTIVE);
        host_tick(&host, S);
        CHECK(trade_effects(&host, EFFECT_funding_epoch) == (is_node != 0 ? 0 : 2));
        host_close(&host);
    }
}

/* --- states that are set in the gap ----------------------------------------------------------- */

/* A 1002 or 1008 sets what the gap returns to. A closing cannot be announced; CLOSED by force is
 * final at once. A market that is defined is HALTED like the others. */
static void test_states_in_the_gap(void)
{
    uint8_t announcement[8] = { HOST_BTC, 0, 0, 0, MARKET_REDUCE_ONLY, 1 }, all[8] = { 2 };
    struct host_request request = { .code = REQUEST_market_state,
                                    .body = announcement,
                                    .body_bytes = sizeof announcement,
                                    .key = host_operator_key,
                                    .key_bytes = 32 };

    trade_open(&host, NULL);
    trade_add_market(&host, "ETH", ETH);
    boot(DAY);
    CHECK(host_signed(&host, &request) == STATUS_order_rejected_invalid);
    CHECK(host.result.rule == OPERATOR_RULE_clock_announce);
    CHECK(trade_market(&host)->announced_ns == 0);
    CHECK(trade_set_state(&host, HOST_BTC, MARKET_CANCEL_ONLY) == TRADE_OK && told() == 0);
    CHECK(state_of(HOST_BTC) == MARKET_HALTED);
    CHECK(market_state_next_open(host.engine, 0) == ETH); /* for the node, that lacks room */
    CHECK(market_state_unhalted(host.engine, 1) == ETH);
    CHECK(trade_set_state(&host, ETH, MARKET_HALTED) == TRADE_OK && told() == 0);
    CHECK(market_state_next_open(host.engine, 0) == 0);
    CHECK(market_state_unhalted(host.engine, 1) == 0);
    CHECK(host_unsigned(&host, REQUEST_halt_all, all, sizeof all) == TRADE_OK && told() == 0);
    close_by_force(ETH);
    CHECK(told() == 1 && state_of(ETH) == MARKET_CLOSED);
    trade_add_market(&host, "SOL", SOL);
    CHECK(state_of(SOL) == MARKET_HALTED);
    CHECK(confirm(DAY) == TRADE_OK && told() == 2);
    check_told(0, HOST_BTC, MARKET_REDUCE_ONLY, CLOCK);
    check_told(1, SOL, MARKET_ACTIVE, CLOCK);
    CHECK(state_of(ETH) == MARKET_CLOSED);
    host_close(&host);
}

/* Holds and the gap keep states of their own: a hold that ends in the gap returns to what it has
 * kept, one that begins in it is CANCEL_ONLY after the gap. */
static void test_holds(void)
{
    trade_open(&host, NULL);
    trade_add_market(&host, "ETH", ETH);
    CHECK(host_oracle(&host, HOST_BTC, 1200000) == TRADE_OK); /* held */
    CHECK(state_of(HOST_BTC) == MARKET_CANCEL_ONLY);
    boot(DAY);
    CHECK(host_oracle(&host, ETH, 1200000) == TRADE_OK); /* held in the gap */
    CHECK(state_market(host.engine, 1)->hold_count == 1 && told() == 0);
    CHECK(host_oracle(&host, HOST_BTC, 1010000) == TRADE_OK); /* no longer */
    CHECK(trade_market(&host)->hold_count == 0 && told() == 0);
    CHECK(state_of(HOST_BTC) == MARKET_HALTED && trade_market(&host)->mark == TRADE_MARK);
    CHECK(confirm(DAY) == TRADE_OK && told() == 2);
    check_told(0, HOST_BTC, MARKET_ACTIVE, CLOCK);
    check_told(1, ETH, MARKET_CANCEL_ONLY, CLOCK);
    CHECK(trade_market(&host)->mark == 1010000); /* a market that leaves HALTED has its index's */
    CHECK(host_oracle(&host, ETH, 1010000) == TRADE_OK && told() == 1);
    check_told(0, ETH, MARKET_ACTIVE, 1);
    host_close(&host);
}

/* --- the image -------------------------------------------------------------------------------- */

/* A state in the gap is made again from its image, with the states that it keeps; an image in which
 * gap and markets do not agree is refused. */
static void test_image(void)
{
    static struct host loaded;
    struct image_problem problem;

    trade_open(&host, NULL);
    trade_add_market(&host, "ETH", ETH);
    CHECK(trade_set_state(&host, ETH, MARKET_CANCEL_ONLY) == TRADE_OK);
    boot(DAY);
    image_copy_take(&copy, host.engine);
    CHECK(image_copy_open(&copy, &loaded, NULL, &problem));
    CHECK(engine_clock_gap_ns(loaded.engine) == DAY);
    CHECK(read_market_state(loaded.engine, 0) == MARKET_ACTIVE);
    CHECK(read_market_state(loaded.engine, 1) == MARKET_CANCEL_ONLY);
    image_copy_take(&again, loaded.engine);
    CHECK(image_copy_equal(&copy, &again));
    host.engine->clock_step_ns = 0; /* kept states without a gap */
    image_copy_take(&copy, host.engine);
    CHECK(!image_copy_reopen(&copy, &loaded, &problem) && problem.section == IMAGE_markets);
    host.engine->clock_step_ns = DAY;
    state_market(host.engine, 0)->state = MARKET_ACTIVE; /* a gap with a market that trades */
    image_copy_take(&copy, host.engine);
    CHECK(!image_copy_reopen(&copy, &loaded, &problem) && problem.section == IMAGE_markets);
    host_close(&loaded);
    host_close(&host);
    image_copy_free(&copy);
    image_copy_free(&again);
}

int main(void)
{
    test_states_return();
    test_rows();
    test_nothing_is_due();
    test_behind();
    test_states_in_the_gap();
    test_holds();
    test_image();
    return 0;
}
