/* The states of a market (rules.md R9) and who sets them: codes 1002 and 1008 (W3a, W3b, R11). What
 * each state lets in, what entering REDUCE_ONLY cancels and in which order, what HALTED freezes,
 * how an oracle hold ends (R5), and effect 2111. */
#include "engine/price/mark.h"
#include "engine/trade/match.h"
#include "keys.h"
#include "trade.h"

#define M   TRADE_MARK
#define S   HOST_SECOND_NS
#define ETH 2

static struct host host;

static enum status signed_body(uint16_t code, const uint8_t body[8], const uint8_t key[32])
{
    struct host_request request = {
        .code = code, .body = body, .body_bytes = 8, .key = key, .key_bytes = 32
    };
    return host_signed(&host, &request);
}

static enum status set(uint16_t asset, uint8_t state)
{
    return trade_set_state(&host, asset, state);
}

static enum status node_set(uint16_t asset, uint8_t state)
{
    uint8_t body[8] = { (uint8_t)asset, (uint8_t)(asset >> 8), 0, 0, state };
    return host_unsigned(&host, REQUEST_market_state, body, sizeof body);
}

static enum status set_all(uint8_t state)
{
    uint8_t body[8] = { state };
    return signed_body(REQUEST_halt_all, body, host_operator_key);
}

static void add_eth(void)
{
    trade_add_market(&host, "ETH", ETH);
}

static void run_work(void)
{
    while (engine_has_work(host.engine))
        host_tick(&host, 1);
}

/* --- R11: the conditions of 1002 and 1008 ----------------------------------------------------- */

/* asset, pad, state, force, pad of a 1002; what it answers; the rule that it breaks, 0: none. */
#define INVALID STATUS_order_rejected_invalid
#define ROW(name, want, rule, ...)                                  \
    {                                                               \
        __LINE__, name, { __VA_ARGS__ }, want, OPERATOR_RULE_##rule \
    }

static const struct state_row {
    int line;
    const char *name;
    uint8_t body[8];
    enum status want;
    uint8_t rule;
} state_rows[] = {
    ROW("asset 0 before pads", STATUS_order_rejected_invalid_market, asset, 0, 0, 9, 0, 9),
    ROW("all", STATUS_order_rejected_invalid_market, asset, 0xFF, 0xFF, 0, 0, 4),
    ROW("unknown before pads", STATUS_rejected_market_not_found, asset_unknown, 3, 0, 0, 1, 9),
    ROW("pad at 2", INVALID, pad, 1, 0, 1, 0, 4),
    ROW("pad at 7", INVALID, pad, 1, 0, 0, 0, 4, 0, 0, 1),
    ROW("force 2", INVALID, force, 1, 0, 0, 0, 4, 2),
    ROW("state 6", INVALID, state_code, 1, 0, 0, 0, 6),
    ROW("closed too early", INVALID, close_notice, 1, 0, 0, 0, 5),
    ROW("closed by half a force", INVALID, force, 1, 0, 0, 0, 5, 2),
    ROW("halted", TRADE_OK, none, 1, 0, 0, 0, 4),
    ROW("active by force", TRADE_OK, none, 1, 0, 0, 0, 0, 1),
};

static void test_rows_of_1002(void)
{
    struct effect_answer answer;

    trade_open(&host, NULL);
    for (size_t i = 0; i < CC_COUNT(state_rows); i++) {
        enum status got = signed_body(REQUEST_market_state, state_rows[i].body, host_operator_key);
        CHECK_ROW(&state_rows[i],
                  got == state_rows[i].want && host.result.rule == state_rows[i].rule);
        memcpy(&answer, host_effect(&host, EFFECT_answer, 0)->bytes, sizeof answer);
        CHECK_ROW(&state_rows[i], answer.rule == state_rows[i].rule); /* W3c: 2100 carries it */
    }
    CHECK(trade_market(&host)->state == MARKET_ACTIVE);
    uint8_t body[8] = { 1, 0, 0, 0, 4 };
    CHECK(signed_body(REQUEST_market_state, body, host_oracle_key) == STATUS_rejected_unauthorized);
    CHECK(signed_body(REQUEST_market_state, body, host_treasury_key) ==
          STATUS_rejected_unauthorized);
    CHECK(trade_market(&host)->state == MARKET_ACTIVE);
    trade_market(&host)->state = MARKET_CLOSED; /* test_settlement.c does it as it is done */
    CHECK(set(HOST_BTC, MARKET_ACTIVE) == STATUS_market_closed);
    CHECK(host.result.rule == OPERATOR_RULE_asset_closed);
    CHECK(set(HOST_BTC, 6) == STATUS_order_rejected_invalid); /* pads before CLOSED */
    host_close(&host);
}

static void test_rows_of_1008(void)
{
    uint8_t pad[8] = { 4, 0, 0, 0, 0, 0, 0, 1 }, halt[8] = { 4 };

    trade_open(&host, NULL);
    trade_add_market(&host, "SOL", 9);
    add_eth();
    CHECK(set_all(MARKET_CLOSED) == STATUS_order_rejected_invalid);
    CHECK(set_all(6) == STATUS_order_rejected_invalid);
    CHECK(host.result.rule == OPERATOR_RULE_state_of_all);
    CHECK(signed_body(REQUEST_halt_all, pad, host_operator_key) == STATUS_order_rejected_invalid);
    CHECK(host.result.rule == OPERATOR_RULE_pad);
    CHECK(signed_body(REQUEST_halt_all, halt, host_oracle_key) == STATUS_rejected_unauthorized);
    CHECK(trade_effects(&host, EFFECT_market_state) == 0);
    CHECK(set_all(MARKET_HALTED) == TRADE_OK);
    CHECK(trade_effects(&host, EFFECT_market_state) == 3);
    CHECK(host_effect(&host, EFFECT_market_state, 0)->asset_id == 1); /* by asset id */
    CHECK(host_effect(&host, EFFECT_market_state, 1)->asset_id == 2);
    CHECK(host_effect(&host, EFFECT_market_state, 2)->asset_id == 9);
    state_market(host.engine, 1)->state = MARKET_CLOSED;
    CHECK(set_all(MARKET_ACTIVE) == TRADE_OK); /* every market that is not CLOSED */
    CHECK(trade_market(&host)->state == MARKET_ACTIVE);
    CHECK(state_market(host.engine, 1)->state == MARKET_CLOSED);
    host_close(&host);
}

/* --- effect 2111 (W3c) ------------------------------------------------------------------------ */

static void check_effect(uint8_t state, uint8_t cause)
{
    struct effect_market_state body;

    CHECK(trade_effects(&host, EFFECT_market_state) == 1);
    memcpy(&body, host_effect(&host, EFFECT_market_state, 0)->bytes, sizeof body);
    CHECK(body.asset_id == HOST_BTC && body.state == state && body.cause == cause);
    CHECK(body.price == 0);
}

static void test_effect(void)
{
    trade_open(&host, NULL);
    uint64_t seq = trade_market(&host)->book_seq;
    CHECK(set(HOST_BTC, MARKET_POST_ONLY) == TRADE_OK);
    check_effect(MARKET_POST_ONLY, CAUSE_OPERATOR);
    CHECK(trade_market(&host)->book_seq == seq + 1); /* each 2111 raises it (W3c) */
    CHECK(set(HOST_BTC, MARKET_POST_ONLY) == TRADE_OK);
    CHECK(trade_effects(&host, EFFECT_market_state) == 0); /* it has that state */
    CHECK(node_set(HOST_BTC, MARKET_CANCEL_ONLY) == TRADE_OK);
    check_effect(MARKET_CANCEL_ONLY, CAUSE_RESTART);
    CHECK(trade_effects(&host, EFFECT_answer) == 0); /* nobody asked */
    CHECK(node_set(HOST_BTC, MARKET_HALTED) == TRADE_OK);
    check_effect(MARKET_HALTED, CAUSE_INVARIANT);
    CHECK(node_set(HOST_BTC, MARKET_CLOSED) == STATUS_order_rejected_invalid);
    uint8_t body[8] = { MARKET_CANCEL_ONLY };
    CHECK(host_unsigned(&host, REQUEST_halt_all, body, sizeof body) == TRADE_OK);
    check_effect(MARKET_CANCEL_ONLY, CAUSE_RESTART);
    host_close(&host);
}

/* --- R9: place, replace, reduce and cancel in each state -------------------------------------- */

enum { PLAIN, POST, REDUCE, BOTH, KINDS };

static struct host_order order_of(unsigned kind, uint64_t price, int64_t quantity)
{
    return (struct host_order){
        .price = price,
        .quantity = quantity,
        .expiry = UINT64_MAX,
        .post_only = kind == POST || kind == BOTH,
        .reduce_only = kind == REDUCE || kind == BOTH,
    };
}

static void test_table(void)
{
    enum {
        OK = STATUS_request_completed,
        PO = STATUS_rejected_market_post_only,
        RO = STATUS_rejected_market_reduce_only,
        CO = STATUS_rejected_market_cancel_only,
        HA = STATUS_rejected_market_halted,
    };
    static const struct state_row {
        int line;
        const char *name;
        uint8_t state;
        uint8_t want[KINDS]; /* plain, post-only, reduce-only, both */
    } rows[] = {
        { __LINE__, "ACTIVE", MARKET_ACTIVE, { OK, OK, OK, OK } },
        { __LINE__, "POST_ONLY", MARKET_POST_ONLY, { PO, OK, PO, OK } },
        { __LINE__, "REDUCE_ONLY", MARKET_REDUCE_ONLY, { RO, RO, OK, OK } },
        { __LINE__, "CANCEL_ONLY", MARKET_CANCEL_ONLY, { CO, CO, CO, CO } },
        { __LINE__, "HALTED", MARKET_HALTED, { HA, HA, HA, HA } },
    };

    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        trade_open(&host, NULL);
        trade_rest(&host, 1, 10000, M);
        CHECK(trade_limit(&host, 2, -10000, M) == TRADE_OK);
        struct host_order far = order_of(BOTH, 950000, 1000);
        CHECK(host_limit(&host, 2, &far) == TRADE_OK); /* 2 is short: it reduces */
        struct trade_id target = trade_last_id(&host);
        CHECK_ROW(&rows[i], set(HOST_BTC, rows[i].state) == TRADE_OK);
        for (unsigned kind = 0; kind < KINDS; kind++) {
            struct host_order order = order_of(kind, 960000, 1000);
            CHECK_ROW(&rows[i], host_limit(&host, 2, &order) == rows[i].want[kind]);
            order.quantity = 999;
            order.price = 950000;
            CHECK_ROW(&rows[i], trade_replace(&host, 2, target, &order, 0) == rows[i].want[kind]);
        }
        struct host_order market = { .quantity = 1000, .reduce_only = 1 };
        enum status at_market = trade_at_market(&host, 2, &market, 0);
        CHECK_ROW(&rows[i], at_market == rows[i].want[REDUCE]);
        CHECK_ROW(&rows[i], trade_cut(&host, 2, target, 100, 0) == TRADE_OK);
        CHECK_ROW(&rows[i], host_cancel(&host, 2, target.bytes) == TRADE_OK);
        CHECK_ROW(&rows[i], host_cancel_all(&host, 2, HOST_BTC, 0) == TRADE_OK);
        CHECK_ROW(&rows[i], trade_portfolio(&host, 2)->open_order_count == 0);
        host_close(&host);
    }
}

/* REDUCE_ONLY matches: a reduce-only order trades with a resting reduce-only one. */
static void test_reduce_only_matches(void)
{
    trade_open(&host, NULL);
    trade_rest(&host, 1, 10000, M);
    CHECK(trade_limit(&host, 2, -10000, M) == TRADE_OK);
    CHECK(set(HOST_BTC, MARKET_REDUCE_ONLY) == TRADE_OK);
    CHECK(trade_reduce(&host, 1, -4000, M, TRADE_GTC) == TRADE_OK);
    CHECK(trade_reduce(&host, 2, 3000, M, TRADE_IOC) == TRADE_OK);
    CHECK(trade_size(&host, 1) == 7000 && trade_size(&host, 2) == -7000);
    host_close(&host);
}

/* --- entering REDUCE_ONLY --------------------------------------------------------------------- */

/* 1 long, 2 and 3 short; each has a plain order, 1 and 2 a reduce-only one before or behind it. */
static struct trade_id plain[4], reducing[4];

static void fill_book(const char *options)
{
    trade_open(&host, options);
    trade_rest(&host, 1, 20000, M);
    CHECK(trade_limit(&host, 2, -10000, M) == TRADE_OK);
    CHECK(trade_limit(&host, 3, -10000, M) == TRADE_OK);
    run_work();
    plain[3] = trade_rest(&host, 3, 1003, 970000); /* placed before those of 1 and 2 */
    CHECK(trade_reduce(&host, 1, -2001, 1050000, TRADE_GTC) == TRADE_OK);
    reducing[1] = trade_last_id(&host);
    plain[1] = trade_rest(&host, 1, 1001, 990000);
    plain[2] = trade_rest(&host, 2, 1002, 980000);
    CHECK(trade_reduce(&host, 2, 2002, 960000, TRADE_GTC) == TRADE_OK);
    reducing[2] = trade_last_id(&host);
    plain[0] = trade_rest(&host, 1, 1000, 985000);
    run_work();
}

/* Dead at once, released in slices: by portfolio, of one portfolio by placing sequence. */
static void test_list(void)
{
    static const uint64_t order[] = { 1001, 1000, 1002, 1003 };
    uint32_t seen = 0, passed;

    fill_book("engine.work_per_command=1\n");
    CHECK(set(HOST_BTC, MARKET_REDUCE_ONLY) == TRADE_OK);
    /* none of them can be met any more, whatever has been released yet */
    CHECK(host_cancel(&host, 3, plain[3].bytes) == STATUS_rejected_order_not_found);
    CHECK(trade_remaining(&host, 3, plain[3]) == 1003); /* until removed it counts in the sums */
    CHECK(match_best_live(host.engine, 0, ORDER_LONG, &passed) == 960000 && passed == 2);
    host_close(&host);
    fill_book("engine.work_per_command=1\n");
    CHECK(set(HOST_BTC, MARKET_REDUCE_ONLY) == TRADE_OK);
    for (uint32_t commands = 0; seen < CC_COUNT(order) && commands < 20; commands++) {
        if (trade_effects(&host, EFFECT_order_state) != 0) {
            CHECK(trade_effects(&host, EFFECT_order_state) == 1); /* one unit a command */
            struct effect_order_state state = trade_last_state(&host);
            CHECK(state.remaining == order[seen] && state.status == ORDER_CANCELED);
            CHECK(state.reason == REASON_market_state);
            seen++;
        }
        host_tick(&host, 1);
    }
    CHECK(seen == CC_COUNT(order));
    run_work();
    CHECK(trade_effects(&host, EFFECT_order_state) == 0);
    CHECK(trade_remaining(&host, 1, reducing[1]) == 2001); /* reduce-only ones stay */
    CHECK(trade_remaining(&host, 2, reducing[2]) == 2002);
    CHECK(trade_market(&host)->cancel_sequence == 0);     /* the list is done with */
    CHECK(set(HOST_BTC, MARKET_REDUCE_ONLY) == TRADE_OK); /* nothing is entered */
    CHECK(trade_market(&host)->cancel_sequence == 0 && !engine_has_work(host.engine));
    host_close(&host);
}

/* The market opens again while its list is worked off: what the list covers stays dead for takers,
 * what is placed behind it lives; entered a second time, the list takes that too. */
static void test_list_and_takers(void)
{
    struct engine *engine;

    fill_book("engine.work_per_command=1\n");
    engine = host.engine;
    CHECK(set(HOST_BTC, MARKET_REDUCE_ONLY) == TRADE_OK);
    CHECK(set(HOST_BTC, MARKET_ACTIVE) == TRADE_OK);
    CHECK(trade_market(&host)->cancel_sequence != 0 && trade_remaining(&host, 3, plain[3]) != 0);
    struct trade_id later = trade_rest(&host, 4, 500, 965000);
    CHECK(trade_tif(&host, 5, -700, 961000, TRADE_IOC) == TRADE_OK);
    CHECK(trade_effects(&host, EFFECT_trade) == 1 && trade_trade(&host, 0).size == 500);
    CHECK(trade_remaining(&host, 4, later) == 0);
    while (engine->work.lists[0].portfolio < 2) /* the list is done with account 1 */
        host_tick(&host, 1);
    CHECK(engine_has_work(engine));
    later = trade_rest(&host, 4, 600, 965000);
    struct trade_id passed = trade_rest(&host, 1, 700, 965000);
    CHECK(set(HOST_BTC, MARKET_REDUCE_ONLY) == TRADE_OK);
    run_work();
    CHECK(trade_remaining(&host, 4, later) == 0 && trade_remaining(&host, 1, passed) == 0);
    CHECK(engine->orders.count == 2); /* the two reduce-only ones */
    host_close(&host);
}

/* A cancel-all before it keeps its reason, and both lists come to the end. */
static void test_list_meets_list(void)
{
    uint32_t by_all = 0, by_state = 0;

    fill_book("engine.work_per_command=1\n");
    CHECK(host_cancel_all(&host, 1, HOST_BTC, 0) == TRADE_OK); /* of 1: 1001, 1000 and 2001 */
    for (bool is_first = true; is_first || engine_has_work(host.engine); is_first = false) {
        if (is_first)
            CHECK(set(HOST_BTC, MARKET_REDUCE_ONLY) == TRADE_OK);
        else
            host_tick(&host, 1);
        for (uint32_t k = 0; k < trade_effects(&host, EFFECT_order_state); k++) {
            by_all += trade_state(&host, k).reason == REASON_cancel_all;
            by_state += trade_state(&host, k).reason == REASON_market_state;
        }
    }
    CHECK(by_all == 2 && by_state == 2); /* the first of 1 went with the cancel-all's command */
    CHECK(host.engine->orders.count == 1 && trade_remaining(&host, 2, reducing[2]) == 2002);
    host_close(&host);
}

/* A reduce-only order that turns plain keeps its place (R3), but for the time in which the list
 * that spared it is worked off: then it is entered anew, and stays alive. */
static void test_turns_plain(void)
{
    struct host_order as_plain = order_of(PLAIN, 960000, 2002);

    for (unsigned during = 0; during < 2; during++) {
        fill_book("engine.work_per_command=1\n");
        CHECK(set(HOST_BTC, MARKET_REDUCE_ONLY) == TRADE_OK);
        if (!during)
            run_work();
        CHECK(set(HOST_BTC, MARKET_ACTIVE) == TRADE_OK);
        struct trade_id behind = trade_rest(&host, 4, 100, 960000);
        CHECK((trade_market(&host)->cancel_sequence != 0) == (during == 1));
        CHECK(trade_replace(&host, 2, reducing[2], &as_plain, 0) == TRADE_OK);
        run_work();
        CHECK(trade_remaining(&host, 2, reducing[2]) == 2002);
        CHECK(trade_tif(&host, 5, -100, 960000, TRADE_IOC) == TRADE_OK);
        CHECK(trade_remaining(&host, 4, behind) == (during ? 0 : 100));
        host_close(&host);
    }
}

/* A follower comes to the same effects and the same image in every slice. */
static void test_replica(void)
{
    static struct host mirror;
    uint8_t own[32], other[32];

    host_open_bare(&mirror, "engine.work_per_command=1\n");
    host_open_bare(&host, "engine.work_per_command=1\n");
    host.mirror = &mirror;
    uint8_t body[4120], boot[24] = { 1, 0, 0, 0, 0, 0, 0, 0, ENGINE_RULES_VERSION };
    CHECK(host_unsigned(&host, REQUEST_boot, boot, sizeof boot) == TRADE_OK);
    uint32_t bytes = host_configuration("engine.work_per_command=1\n", body);
    CHECK(host_unsigned(&host, REQUEST_configuration, body, bytes) == TRADE_OK);
    CHECK(host_market(&host, host_btc_record) == TRADE_OK);
    for (uint32_t n = 1; n <= 3; n++) {
        CHECK(host_account(&host, n) == n);
        CHECK(host_deposit(&host, n, TRADE_CASH) == TRADE_OK);
    }
    CHECK(host_oracle(&host, HOST_BTC, M) == TRADE_OK);
    for (uint32_t n = 1; n <= 3; n++) {
        (void)trade_rest(&host, n, 1000, 990000 - n);
        (void)trade_rest(&host, n, 2000, 980000 - n);
    }
    CHECK(set(HOST_BTC, MARKET_REDUCE_ONLY) == TRADE_OK);
    for (uint32_t slices = 0; slices == 0 || engine_has_work(host.engine); slices++) {
        host_image_hash(&host, own);
        host_image_hash(&mirror, other);
        CHECK(memcmp(own, other, sizeof own) == 0);
        if (engine_has_work(host.engine)) { /* where the list stands is in the image */
            struct work_list *list = &host.engine->work.lists[0];
            list->portfolio ^= 64;
            uint8_t inside = list->inside;
            list->inside = 0;
            host_image_hash(&host, other);
            CHECK(memcmp(own, other, sizeof own) != 0);
            list->portfolio ^= 64;
            list->inside = inside;
        }
        host_tick(&host, 1);
    }
    CHECK(host.engine->orders.count == 0);
    host.mirror = NULL;
    host_close(&host);
    host_close(&mirror);
}

/* --- HALTED ----------------------------------------------------------------------------------- */

/* R5: the mark stays, the index is taken; row 19 and leverage look at the state; an order that
 * expires does so all the same (R9 freezes funding and liquidation, not time). */
static void test_halted(void)
{
    trade_open(&host, NULL);
    add_eth();
    struct keys_id key = keys_make(&host, 1, KEYS_READ_WRITE, KEYS_NO_PIN);
    CHECK(trade_tif(&host, 1, 1000, 990000, host.clock_ns + 2 * S) == TRADE_OK);
    struct trade_id timed = trade_last_id(&host);
    CHECK(set(HOST_BTC, MARKET_HALTED) == TRADE_OK);
    CHECK(host_oracle(&host, HOST_BTC, M + 5000) == TRADE_OK);
    CHECK(trade_market(&host)->mark == M && trade_market(&host)->index_price == M + 5000);
    host_tick(&host, S);
    CHECK(trade_market(&host)->mark == M);
    /* 1 has an order in the halted market: that forbids nothing in ETH (R5) */
    struct host_order eth = order_of(PLAIN, 990000, 1000);
    eth.asset = ETH;
    CHECK(host_limit(&host, 1, &eth) == TRADE_OK);
    CHECK(host_limit(&host, 2, &eth) == TRADE_OK);
    CHECK(keys_leverage(&host, key, 1, ETH, 5) == TRADE_OK);
    host_tick(&host, S);
    CHECK(trade_remaining(&host, 1, timed) == 0 && trade_last_state(&host).status == ORDER_EXPIRED);
    CHECK(set(HOST_BTC, MARKET_ACTIVE) == TRADE_OK);
    CHECK(trade_market(&host)->mark == M + 5000); /* at once (R5) */
    host_close(&host);
}

/* --- R5: an oracle hold ----------------------------------------------------------------------- */

/* Holds BTC: a jump of 18 %. */
static void hold(void)
{
    trade_open(&host, NULL);
    CHECK(host_oracle(&host, HOST_BTC, 1180000) == TRADE_OK);
    CHECK(trade_market(&host)->hold_count == 1 && !market_mark_is_valid(host.engine, 0));
    CHECK(host_oracle(&host, HOST_BTC, 1185000) == TRADE_OK);
    CHECK(trade_market(&host)->state == MARKET_CANCEL_ONLY);
    CHECK(trade_market(&host)->index_price == M);
}

/* The third update of the run, two seconds after its first: it is taken. */
static void end_hold(void)
{
    host.clock_ns += 2 * HOST_SECOND_NS;
    CHECK(host_oracle(&host, HOST_BTC, 1186000) == TRADE_OK);
    CHECK(trade_market(&host)->hold_count == 0 && trade_market(&host)->index_price == 1186000);
}

/* The operator's state takes no price: by 1002 and by 1008 the hold goes on and returns to it; the
 * market is the stricter of CANCEL_ONLY and that state meanwhile. */
static void test_operator_in_hold(void)
{
    for (unsigned way = 0; way < 3; way++) {
        hold();
        CHECK((way == 0   ? set(HOST_BTC, MARKET_POST_ONLY)
               : way == 1 ? set_all(MARKET_ACTIVE)
                          : set(HOST_BTC, MARKET_HALTED)) == TRADE_OK);
        CHECK(trade_effects(&host, EFFECT_market_state) == (way == 2 ? 1 : 0));
        const struct market *market = trade_market(&host);
        CHECK(market->state == (way == 2 ? MARKET_HALTED : MARKET_CANCEL_ONLY));
        CHECK(market->hold_count == 2 && market->index_price == M && market->mark == M);
        CHECK(!market_mark_is_valid(host.engine, 0) && !market->mark_valid);
        end_hold();
        CHECK(market->state == (way == 0   ? MARKET_POST_ONLY
                                : way == 1 ? MARKET_ACTIVE
                                           : MARKET_HALTED));
        host_close(&host);
    }
}

/* The node's 1002 is no judgement of the price: the hold goes on, and returns to that state. */
static void test_node_in_hold(void)
{
    static const uint8_t states[] = { MARKET_CANCEL_ONLY, MARKET_HALTED, MARKET_POST_ONLY };
    static const uint8_t meanwhile[] = { MARKET_CANCEL_ONLY, MARKET_HALTED, MARKET_CANCEL_ONLY };

    for (size_t i = 0; i < CC_COUNT(states); i++) {
        hold();
        CHECK(node_set(HOST_BTC, states[i]) == TRADE_OK);
        CHECK(trade_market(&host)->hold_count == 2 && !market_mark_is_valid(host.engine, 0));
        CHECK(trade_market(&host)->state == meanwhile[i]);
        end_hold();
        CHECK(trade_market(&host)->state == states[i]);
        host_close(&host);
    }
}

/* As a deficit does it, within a command. */
static void tighten(void)
{
    host.engine->applying.sink = &host.sink;
    host.effect_count = host.engine->effects.count = 0;
    market_tighten(host.engine, 0, MARKET_REDUCE_ONLY, CAUSE_FUND);
    host.engine->applying.sink = NULL;
}

/* R7; R9, who sets a state: what is looser becomes REDUCE_ONLY, what is stricter stays, and a held
 * market returns to no looser state. */
static void test_tighten(void)
{
    static const uint8_t after[] = { MARKET_REDUCE_ONLY, MARKET_REDUCE_ONLY, MARKET_REDUCE_ONLY,
                                     MARKET_CANCEL_ONLY, MARKET_HALTED };

    for (uint8_t state = 0; state < CC_COUNT(after); state++) {
        trade_open(&host, NULL);
        CHECK(set(HOST_BTC, state) == TRADE_OK);
        tighten();
        CHECK(trade_market(&host)->state == after[state]);
        host_close(&host);
    }
    hold();
    tighten();
    CHECK(trade_market(&host)->state == MARKET_CANCEL_ONLY);
    end_hold();
    CHECK(trade_market(&host)->state == MARKET_REDUCE_ONLY);
    host_close(&host);
}

/* R9, moves: the operator takes a market from every state but CLOSED to every state, from CLOSED to
 * none. */
static void test_moves(void)
{
    for (uint8_t from = 0; from < MARKET_STATE_COUNT; from++)
        for (uint8_t to = 0; to < MARKET_STATE_COUNT; to++) {
            const uint8_t first[8] = { HOST_BTC, 0, 0, 0, from, from == MARKET_CLOSED };
            const uint8_t second[8] = { HOST_BTC, 0, 0, 0, to, to == MARKET_CLOSED };
            bool is_final = from == MARKET_CLOSED;
            trade_open(&host, NULL);
            CHECK(signed_body(REQUEST_market_state, first, host_operator_key) == TRADE_OK);
            CHECK(trade_market(&host)->state == from);
            CHECK(signed_body(REQUEST_market_state, second, host_operator_key) ==
                  (is_final ? STATUS_market_closed : TRADE_OK));
            CHECK(trade_market(&host)->state == (is_final ? from : to));
            host_close(&host);
        }
}

/* The middle columns of R9's table: where orders meet, conditionals fire and L1 sells. */
static void test_matches(void)
{
    static const bool matches[MARKET_STATE_COUNT] = {
        [MARKET_ACTIVE] = true, [MARKET_REDUCE_ONLY] = true
    };

    trade_open(&host, NULL);
    for (uint8_t state = 0; state < MARKET_STATE_COUNT; state++) {
        trade_market(&host)->state = state;
        CHECK(market_matches(trade_market(&host)) == matches[state]);
    }
    host_close(&host);
}

int main(void)
{
    test_rows_of_1002();
    test_rows_of_1008();
    test_effect();
    test_table();
    test_reduce_only_matches();
    test_list();
    test_list_and_takers();
    test_list_meets_list();
    test_turns_plain();
    test_replica();
    test_halted();
    test_operator_in_hold();
    test_node_in_hold();
    test_tighten();
    test_matches();
    test_moves();
    return 0;
}
