/* What an answer tells when it is asked for evidence (W5, json.md J4: X-Ack: full): the order as of
 * the end of the command, what stands before it, best prices and book sequence; and that asking
 * changes nothing. BTC-PERP of W10 at mark 100,000.0. */
#include "engine/state/evidence.h"
#include "trade.h"

#define M TRADE_MARK

enum {
    ORDER = ANSWER_HAS_ORDER,
    AHEAD = ANSWER_HAS_ORDER | ANSWER_HAS_AHEAD,
    MARKET = ANSWER_HAS_MARKET,
};

/* The members that the last answer has, and its order's figures. */
static bool has(const struct host *host, uint32_t members)
{
    return host->result.members == members;
}

static bool order_is(const struct host *host, enum order_state state, uint64_t remaining,
                     uint64_t filled, uint64_t notional)
{
    const struct engine_result *result = &host->result;

    return result->order_status == state && result->remaining == remaining &&
           result->filled == filled && result->filled_notional == notional;
}

static bool market_is(const struct host *host, uint64_t best_bid, uint64_t best_ask)
{
    const struct engine_result *result = &host->result;

    return result->best_bid == best_bid && result->best_ask == best_ask &&
           result->book_seq == trade_market(host)->book_seq && result->price_decimals == 1;
}

static void test_placements(struct host *host)
{
    uint64_t before = trade_market(host)->book_seq;

    CHECK(trade_limit(host, 1, 3000, 990000) == TRADE_OK);
    CHECK(has(host, AHEAD | MARKET) && order_is(host, ORDER_OPEN, 3000, 0, 0));
    CHECK(host->result.quantity_ahead == 0); /* "0" for the first of its level */
    CHECK(market_is(host, 990000, 0));
    CHECK(host->result.book_seq == before + 2); /* 2107 and 2106 */
    CHECK(trade_limit(host, 2, 500, 990000) == TRADE_OK);
    CHECK(host->result.quantity_ahead == 3000);
    CHECK(trade_limit(host, 3, 400, 990000) == TRADE_OK);
    CHECK(host->result.quantity_ahead == 3500);
    CHECK(trade_limit(host, 2, -1000, M) == TRADE_OK);
    CHECK(has(host, AHEAD | MARKET) && market_is(host, 990000, M));
    /* 400 of 1,000 asked: all filled; the book as it is afterwards */
    CHECK(trade_limit(host, 4, 400, M) == TRADE_OK);
    CHECK(has(host, ORDER | MARKET) && order_is(host, ORDER_FILLED, 0, 400, 400 * M));
    CHECK(market_is(host, 990000, M));
    /* 600 fill, 100 rest as the new best bid */
    CHECK(trade_limit(host, 4, 700, M) == TRADE_OK);
    CHECK(has(host, AHEAD | MARKET) && order_is(host, ORDER_PARTIALLY_FILLED, 100, 600, 600 * M));
    CHECK(host->result.quantity_ahead == 0 && market_is(host, M, 0));
    /* IOC without a fill: CANCELED */
    CHECK(trade_tif(host, 4, 700, M, TRADE_IOC) == TRADE_OK);
    CHECK(has(host, ORDER | MARKET) && order_is(host, ORDER_CANCELED, 700, 0, 0));
    /* a market order, 100 of 900 filled */
    struct host_order order = { .quantity = -900 };
    CHECK(host_cancel_all(host, 4, HOST_BTC, 0) == TRADE_OK);
    CHECK(trade_limit(host, 3, 100, 999999) == TRADE_OK);
    CHECK(trade_at_market(host, 5, &order, 1) == TRADE_OK);
    CHECK(has(host, ORDER | MARKET));
    CHECK(order_is(host, ORDER_CANCELED, 800, 100, 100 * UINT64_C(999999)));
    CHECK(market_is(host, 990000, 0));
}

/* A refusal from row 13 on makes a REJECTED order (R3); before that there is none. */
static void test_refusals(struct host *host)
{
    CHECK(trade_limit(host, 1, 5, 990000) == STATUS_rejected_invalid_size);
    CHECK(has(host, ORDER | MARKET) && order_is(host, ORDER_REJECTED, 5, 0, 0));
    CHECK(trade_stp(host, 1, 1000, 990000, TRADE_GTC, 9) == STATUS_rejected_invalid_order_flags);
    CHECK(has(host, MARKET) && market_is(host, 990000, 0));
    struct host_order order = { .price = M, .quantity = 1000, .expiry = TRADE_GTC, .asset = 77 };
    CHECK(host_limit(host, 1, &order) == STATUS_rejected_market_not_found);
    CHECK(has(host, 0)); /* no market either */
}

static void test_amendments(struct host *host)
{
    struct trade_id first = trade_rest(host, 1, 3000, 980000);
    struct trade_id second = trade_rest(host, 2, 2000, 980000);

    CHECK(trade_cut(host, 2, second, 500, 0) == TRADE_OK);
    CHECK(has(host, AHEAD | MARKET) && order_is(host, ORDER_OPEN, 1500, 0, 0));
    CHECK(host->result.quantity_ahead == 3000);
    /* refused: the order was found, and stands as it stood */
    CHECK(trade_cut(host, 2, second, 500, 2000) == STATUS_rejected_size_not_equal);
    CHECK(has(host, AHEAD | MARKET) && order_is(host, ORDER_OPEN, 1500, 0, 0));
    CHECK(host->result.quantity_ahead == 3000);
    struct host_order order = { .price = 980000, .quantity = 3001, .expiry = TRADE_GTC };
    CHECK(trade_replace(host, 1, first, &order, 0) == TRADE_OK); /* to the back */
    CHECK(has(host, AHEAD | MARKET) && order_is(host, ORDER_OPEN, 3001, 0, 0));
    CHECK(host->result.quantity_ahead == 1500);
    CHECK(trade_cut(host, 2, second, 9999, 0) == TRADE_OK);
    CHECK(has(host, ORDER | MARKET) && order_is(host, ORDER_CANCELED, 1500, 0, 0));
    CHECK(trade_cut(host, 2, second, 1, 0) == STATUS_rejected_order_not_found);
    CHECK(has(host, MARKET));
    CHECK(host_cancel(host, 1, first.bytes) == TRADE_OK);
    CHECK(has(host, ORDER | MARKET) && order_is(host, ORDER_CANCELED, 3001, 0, 0));
    CHECK(market_is(host, 990000, 0));
    CHECK(host_cancel(host, 1, first.bytes) == STATUS_rejected_order_not_found);
    CHECK(has(host, MARKET));
    /* cancel-all: no single order; all markets: no market */
    CHECK(host_cancel_all(host, 1, HOST_BTC, 0) == TRADE_OK && has(host, MARKET));
    CHECK(market_is(host, 990000, 0)); /* of 2 and 3, behind the deferred work */
    CHECK(host_cancel_all(host, 1, 0xFFFF, 0) == TRADE_OK && has(host, 0));
}

/* Answers of the peek show the market as it is, and no order: nothing was made or found. */
static void test_peeked(struct host *host)
{
    struct host_order order = { .price = 970000, .quantity = 1000, .expiry = TRADE_GTC };
    uint8_t id[16], key[32], body[48] = { 1 };

    CHECK(host_limit(host, 1, &order) == TRADE_OK);
    memcpy(id, host->id, sizeof id);
    cc_store64(body + 16, order.price);
    cc_store64(body + 24, 1000);
    cc_store64(body + 32, TRADE_GTC);
    cc_store16(body + 44, HOST_BTC);
    host_session_key(1, key);
    struct host_request again = { .code = REQUEST_place_limit_order,
                                  .body = body,
                                  .body_bytes = sizeof body,
                                  .key = key,
                                  .key_bytes = sizeof key,
                                  .id = id };
    CHECK(host_signed(host, &again) == STATUS_duplicate_request_id && host->is_peeked);
    CHECK(has(host, ANSWER_HAS_ORIGINAL | MARKET) && market_is(host, 990000, 0));
    uint8_t old[16];
    memcpy(old, id, sizeof old);
    old[0] ^= 0x40; /* dated far away */
    again.id = old;
    CHECK(host_signed(host, &again) == STATUS_request_dropped && host->is_peeked);
    CHECK(has(host, MARKET) && market_is(host, 990000, 0));
}

/* J4: the queue is walked 2,048 orders a way and no farther; dead ones count (R3). */
static void test_queue(void)
{
    static struct host host;
    struct trade_id ids[4100];

    trade_open(&host, "engine.work_per_command=1\nlimits.open_orders=100000\n");
    host.skip_audit = true;
    host.wants_evidence = true;
    for (uint32_t n = 1; n <= 2; n++)
        CHECK(host_deposit(&host, n, 10000000 * HOST_USDC) == TRADE_OK);
    for (uint32_t i = 0; i < 4100; i++) {
        host.clock_ns += 100000; /* the ids of a millisecond are few */
        ids[i] = trade_rest(&host, 1 + i % 2, 20 + (int64_t)i, 990000);
    }
    /* of the k-th (from 0): k are ahead, the sum of 20 .. 20 + k - 1, and 4,099 - k behind */
    static const struct queue_row {
        int line;
        const char *name;
        uint32_t k;
        bool known;
    } rows[] = {
        { __LINE__, "first", 0, true },
        { __LINE__, "2,048 ahead", 2048, true },
        { __LINE__, "2,049 ahead, 2,050 behind", 2049, false },
        { __LINE__, "2,050 ahead, 2,049 behind", 2050, false },
        { __LINE__, "2,048 behind", 2051, true },
        { __LINE__, "last", 4099, true },
    };
    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        uint64_t k = rows[i].k;
        CHECK_ROW(&rows[i], trade_cut(&host, 1 + k % 2, ids[k], 1, 1) ==
                                STATUS_rejected_size_not_equal); /* found, left as it is */
        CHECK_ROW(&rows[i], has(&host, rows[i].known ? AHEAD | MARKET : ORDER | MARKET));
        CHECK_ROW(&rows[i],
                  host.result.quantity_ahead == (rows[i].known ? 20 * k + k * (k - 1) / 2 : 0));
    }
    /* dead, not yet removed: still ahead */
    CHECK(host_cancel_all(&host, 1, HOST_BTC, 0) == TRADE_OK);
    uint64_t level = book_quantity(&trade_market(&host)->book, ORDER_LONG,
                                   book_tick(&trade_market(&host)->book, ORDER_LONG, 990000));
    CHECK(trade_limit(&host, 2, 1000, 990000) == TRADE_OK);
    CHECK(has(&host, AHEAD | MARKET));
    CHECK(host.result.quantity_ahead == level - 22); /* less what this command's work released */
    host_close(&host);
}

/* Two engines, one asked and one not, tell the same and are the same. */
static void test_changes_nothing(void)
{
    static struct host asked, quiet;
    uint8_t a[32], b[32];

    trade_open(&asked, NULL);
    trade_open(&quiet, NULL);
    asked.wants_evidence = true;
    struct host *both[] = { &asked, &quiet };
    for (uint32_t i = 0; i < 2; i++) {
        struct host *host = both[i];
        struct trade_id bid = trade_rest(host, 1, 3000, 990000);
        struct trade_id ask = trade_rest(host, 2, -3000, 1010000);
        struct host_order order = { .price = 1010000, .quantity = 1000, .expiry = TRADE_GTC };
        CHECK(trade_replace(host, 1, bid, &order, 0) == TRADE_OK);
        CHECK(trade_cut(host, 2, ask, 500, 0) == TRADE_OK);
        order.quantity = 500;
        CHECK(trade_at_market(host, 3, &order, 0) == TRADE_OK);
        CHECK(trade_limit(host, 3, 5, 990000) == STATUS_rejected_invalid_size);
        CHECK(host_cancel(host, 2, ask.bytes) == TRADE_OK);
        CHECK(host_cancel_all(host, 2, HOST_BTC, 0) == TRADE_OK);
    }
    CHECK(memcmp(asked.engine->effects.lanes, quiet.engine->effects.lanes,
                 sizeof asked.engine->effects.lanes) == 0);
    host_image_hash(&asked, a);
    host_image_hash(&quiet, b);
    CHECK(memcmp(a, b, sizeof a) == 0);
    CHECK(has(&asked, MARKET) && has(&quiet, 0)); /* and nobody is told unasked */
    host_close(&asked);
    host_close(&quiet);
}

int main(void)
{
    static struct host host;

    trade_open(&host, NULL);
    host.wants_evidence = true;
    test_placements(&host);
    test_refusals(&host);
    test_amendments(&host);
    test_peeked(&host);
    host_close(&host);
    test_queue();
    test_changes_nothing();
    return 0;
}
