/* The leverage of a portfolio in a market: code 2001 (wire.md W3b), its checks in their order
 * (rules.md R11), and what margin it makes (R4). Every number is worked out by hand. BTC has 50x to
 * 20 m USDC of notional; 20x when nobody has chosen. */
#include "engine/risk/margin.h"
#include "engine/state/leverage.h"
#include "engine/view/read_positions.h"
#include "keys.h"
#include "trade.h"

enum { BTC = 100000 };

#define REFUSED STATUS_order_rejected_invalid

static struct host host;
static struct keys_id keys[TRADE_ACCOUNTS + 1];

static void open(const char *overrides)
{
    trade_open(&host, overrides);
    for (uint32_t n = 1; n <= TRADE_ACCOUNTS; n++)
        keys[n] = keys_make(&host, n, KEYS_READ_WRITE, KEYS_NO_PIN);
}

static enum status set(uint32_t n, uint32_t leverage)
{
    return keys_leverage(&host, keys[n], n, HOST_BTC, leverage);
}

static int64_t initial(uint32_t n)
{
    struct row_balance row;

    CHECK(read_balance(host.engine, n, 0, 0, &row));
    trade_check_figures(&host);
    return (int64_t)row.initial_margin;
}

static bool position(uint32_t n, struct row_position *row)
{
    struct read_filter filter = {
        .account_id = n,
        .subaccount_index = QUERY_ANY_INDEX,
        .portfolio_index = QUERY_ANY_INDEX,
    };
    struct read_positions cursor;

    read_positions_begin(&cursor, host.engine, &filter);
    return read_positions_next(&cursor, host.engine, row);
}

/* Asset id n with BTC's record. */
static void define(uint32_t n)
{
    static const char name[] = "\"market\":\"BTC-PERP\",\"asset_id\":1,\"base\":\"BTC\",";
    static char text[4096];

    CHECK(strncmp(host_btc_record + 1, name, sizeof name - 1) == 0);
    snprintf(text, sizeof text, "{\"market\":\"M%u-PERP\",\"asset_id\":%u,\"base\":\"M%u\",%s", n,
             n, n, host_btc_record + sizeof name);
    CHECK(host_market(&host, text) == TRADE_OK);
}

/* R11, 2001: the conditions in their order; each row fails the ones behind it as well. */
static void test_order_of_checks(void)
{
    static const struct row {
        int line;
        const char *name;
        uint32_t account, subaccount, portfolio, leverage;
        uint16_t asset;
        uint8_t key; /* 0 unknown, 1 READ pinned, 2 READ_WRITE pinned to 1, 3 free */
        enum status status;
        uint8_t reason;
    } rows[] = {
        { __LINE__, "unknown key", 9, 7, 7, 0, 9, 0, STATUS_rejected_unauthorized, REASON_none },
        { __LINE__, "read key", 9, 7, 7, 0, 9, 1, STATUS_rejected_unauthorized,
          REASON_read_only_key },
        { __LINE__, "pinned elsewhere", 9, 7, 7, 0, 9, 2, STATUS_rejected_unauthorized,
          REASON_subaccount_not_permitted },
        { __LINE__, "foreign portfolio", 2, 0, 0, 0, 9, 3, STATUS_rejected_invalid_portfolio_id,
          REASON_none },
        { __LINE__, "no subaccount", 1, 7, 0, 0, 9, 3, STATUS_rejected_invalid_portfolio_id,
          REASON_none },
        { __LINE__, "no portfolio", 1, 0, 7, 0, 9, 3, STATUS_rejected_invalid_portfolio_id,
          REASON_none },
        { __LINE__, "no market", 1, 0, 0, 0, 9, 3, STATUS_rejected_market_not_found, REASON_none },
        { __LINE__, "zero", 1, 0, 0, 0, 1, 3, REFUSED, REASON_invalid_parameter },
        { __LINE__, "above 50", 1, 0, 0, 51, 1, 3, REFUSED, REASON_invalid_parameter },
        { __LINE__, "one", 1, 0, 0, 1, 1, 3, TRADE_OK, REASON_none },
        { __LINE__, "fifty", 1, 0, 0, 50, 1, 3, TRADE_OK, REASON_none },
    };
    struct keys_id by_kind[4] = { { { 1, 2, 3 } } };

    trade_open(&host, NULL);
    by_kind[1] = keys_make(&host, 1, KEYS_READ, 0);
    by_kind[2] = keys_make(&host, 1, KEYS_READ_WRITE, 0);
    by_kind[3] = keys_make(&host, 1, KEYS_READ_WRITE, KEYS_NO_PIN);
    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        const struct row *row = &rows[i];
        uint8_t body[40] = { 0 };
        memcpy(body, by_kind[row->key].bytes, 16);
        cc_store64(body + 16, row->account);
        cc_store32(body + 24, row->subaccount);
        cc_store32(body + 28, row->portfolio);
        cc_store32(body + 32, row->leverage);
        cc_store16(body + 36, row->asset);
        CHECK_ROW(row, host_unsigned(&host, REQUEST_set_leverage, body, 40) == row->status);
        CHECK_ROW(row, host.result.reason == row->reason);
        CHECK_ROW(row, host_effect(&host, EFFECT_answer, 0) == NULL); /* nobody signed it */
    }
    CHECK(keys_leverage(&host, by_kind[2], 1, HOST_BTC, 5) == TRADE_OK); /* its own subaccount */
    CHECK(keys_revoke(&host, 1, by_kind[3]) == TRADE_OK);
    CHECK(keys_leverage(&host, by_kind[3], 1, HOST_BTC, 5) == STATUS_rejected_unauthorized);
    trade_portfolio(&host, 1)->status = PORTFOLIO_CLOSED;
    CHECK(keys_leverage(&host, by_kind[2], 1, 9, 0) == REFUSED);
    CHECK(host.result.reason == REASON_portfolio_not_active);
    host_close(&host);
}

/* 0.1 BTC at 100,000: N = 10,000 USDC. IM = max(N / leverage, N * 20,000 ppm): at 1x all of it, at
 * 5x 2,000, at 50x 200, without a choice 500; MM = N * 10,000 ppm = 100 at every leverage. */
static void test_margin(void)
{
    static const struct row {
        int line;
        const char *name;
        uint32_t leverage;
        int64_t initial;
    } rows[] = {
        { __LINE__, "all of it", 1, 10000 },
        { __LINE__, "a fifth", 5, 2000 },
        { __LINE__, "the tier's", 50, 200 },
        { __LINE__, "a third", 3, 3334 }, /* 3,333.333334: rounded up, see below */
        { __LINE__, "the default", 20, 500 },
    };
    struct row_position row;

    open(NULL);
    (void)trade_rest(&host, 2, -BTC / 10, TRADE_MARK);
    CHECK(trade_tif(&host, 1, BTC / 10, TRADE_MARK, TRADE_IOC) == TRADE_OK);
    CHECK(initial(1) == (int64_t)(500 * HOST_USDC));
    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        CHECK_ROW(&rows[i], set(1, rows[i].leverage) == TRADE_OK);
        int64_t want = rows[i].leverage == 3 ? 3333333334 /* cdiv(10^10, 3) micro-USDC */
                                             : rows[i].initial * (int64_t)HOST_USDC;
        CHECK_ROW(&rows[i], initial(1) == want);
        CHECK_ROW(&rows[i], position(1, &row) && row.leverage == rows[i].leverage);
        CHECK_ROW(&rows[i], row.initial_margin == want);
        CHECK_ROW(&rows[i], row.maintenance_margin == 100 * (int128)HOST_USDC);
    }
    CHECK(host.engine->leverages.slots.count == 0); /* the default is no setting */
    CHECK(initial(2) == (int64_t)(500 * HOST_USDC));
    host_close(&host);
}

/* R4: lowering must keep E >= IM. 1 BTC at 100,000: the taker has paid 45 USDC, so E = 99,955 with
 * the mark where it was. 44.999999 USDC more leave one micro-USDC to 1x; with it E = IM. */
static void test_lowering(void)
{
    open(NULL);
    (void)trade_rest(&host, 2, -BTC, TRADE_MARK);
    CHECK(trade_tif(&host, 1, BTC, TRADE_MARK, TRADE_IOC) == TRADE_OK);
    CHECK(host_deposit(&host, 1, 44999999) == TRADE_OK);
    CHECK(set(1, 1) == REFUSED);
    CHECK(host.result.reason == REASON_insufficient_free_equity);
    CHECK(host.engine->leverages.slots.count == 0);
    CHECK(initial(1) == (int64_t)(5000 * HOST_USDC));
    CHECK(host_deposit(&host, 1, 1) == TRADE_OK);
    CHECK(set(1, 1) == TRADE_OK);
    CHECK(initial(1) == (int64_t)(100000 * HOST_USDC));
    CHECK(!trade_portfolio(&host, 1)->flagged); /* E < IM flags, E = IM does not */
    host_close(&host);
}

/* Keeping and raising ask for no equity. Short 1 BTC at 1x with 100,000 USDC: a mark of 100,100
 * leaves E = 99,900 of IM = 100,100; at 2x it would be 50,050. */
static void test_raising(void)
{
    open(NULL);
    (void)trade_rest(&host, 2, BTC, TRADE_MARK);
    CHECK(trade_tif(&host, 1, -BTC, TRADE_MARK, TRADE_IOC) == TRADE_OK);
    CHECK(host_deposit(&host, 1, 45 * HOST_USDC) == TRADE_OK);
    CHECK(set(1, 1) == TRADE_OK);
    CHECK(host_oracle(&host, HOST_BTC, TRADE_MARK + 1000) == TRADE_OK);
    CHECK(initial(1) == (int64_t)(100100 * HOST_USDC));
    CHECK(trade_portfolio(&host, 1)->flagged);
    CHECK(set(1, 1) == TRADE_OK);
    CHECK(set(1, 2) == TRADE_OK);
    CHECK(initial(1) == (int64_t)(50050 * HOST_USDC));
    CHECK(!trade_portfolio(&host, 1)->flagged);
    CHECK(set(1, 1) == REFUSED);
    host_close(&host);
}

/* Resting orders have their margin too: 1 BTC bid at the mark is 5,000 USDC at 20x and 100,000 at
 * 1x, all there is; bid 1,000 above the mark it has 1,000 of open loss besides. */
static void test_open_orders(void)
{
    open(NULL);
    (void)trade_rest(&host, 1, BTC, TRADE_MARK);
    CHECK(set(1, 1) == TRADE_OK);
    CHECK(initial(1) == (int64_t)(100000 * HOST_USDC));
    CHECK(trade_limit(&host, 1, 10, TRADE_MARK) == STATUS_insufficient_margin_to_place);
    (void)trade_rest(&host, 2, BTC, 1010000);
    CHECK(initial(2) == (int64_t)(6000 * HOST_USDC));
    CHECK(set(2, 1) == REFUSED); /* 101,000 */
    CHECK(set(2, 2) == TRADE_OK);
    CHECK(initial(2) == (int64_t)(51000 * HOST_USDC));
    host_close(&host);
}

/* A setting without position or orders decides about the first order: the taker test of R4 knows
 * no record yet. 100,000 USDC at 1x: 1 BTC, and not a lot more. */
static void test_first_order(void)
{
    open(NULL);
    CHECK(set(1, 1) == TRADE_OK);
    CHECK(host.engine->holdings.slots.count == 0); /* no record for a setting */
    CHECK(trade_limit(&host, 1, BTC + 1, TRADE_MARK) == STATUS_insufficient_margin_to_place);
    (void)trade_rest(&host, 1, BTC, TRADE_MARK);
    CHECK(set(3, 50) == TRADE_OK); /* 50 BTC: 5 m at 50x, all of it */
    CHECK(trade_limit(&host, 3, 50 * BTC + 1, TRADE_MARK - 1) ==
          STATUS_insufficient_margin_to_place);
    (void)trade_rest(&host, 3, 50 * BTC, TRADE_MARK - 1);
    trade_check_figures(&host);
    host_close(&host);
}

/* The setting outlives what it was made for. */
static void test_outlives(void)
{
    struct row_position row;

    open(NULL);
    CHECK(set(1, 5) == TRADE_OK);
    for (uint32_t k = 0; k < 2; k++) {
        (void)trade_rest(&host, 2, -BTC / 10, TRADE_MARK);
        CHECK(trade_tif(&host, 1, BTC / 10, TRADE_MARK, TRADE_IOC) == TRADE_OK);
        CHECK(position(1, &row) && row.leverage == 5);
        CHECK(initial(1) == (int64_t)(2000 * HOST_USDC));
        (void)trade_rest(&host, 2, BTC / 10, TRADE_MARK);
        CHECK(trade_tif(&host, 1, -BTC / 10, TRADE_MARK, TRADE_IOC) == TRADE_OK);
        CHECK(host.engine->holdings.slots.count == 0 && initial(1) == 0);
    }
    CHECK(host.engine->leverages.slots.count == 1);
    host_close(&host);
}

/* R4: a lower leverage needs E - stress >= IM after it. A bid of 9 BTC in a market whose index is
 * older than 10 s: stress = 10 % of 900,000, so 10,000 are left; IM is 45,000 at 20x, 18,000 at
 * 50x, which is no lower leverage. In a market where the portfolio has nothing IM does not change,
 * and the stress counts all the same. Without stress 100,000 cover the 90,000 of 10x. */
static void test_marks(void)
{
    open("exchange.oracle_max_age_ms=10000\n");
    define(2); /* no index, ever */
    CHECK(keys_leverage(&host, keys[1], 1, 2, 7) == TRADE_OK);
    (void)trade_rest(&host, 1, 9 * BTC, 999000);
    host_tick(&host, 11 * HOST_SECOND_NS); /* the index of BTC is too old */
    CHECK(set(1, 19) == REFUSED && host.result.reason == REASON_insufficient_free_equity);
    CHECK(keys_leverage(&host, keys[1], 1, 2, 6) == REFUSED);
    CHECK(keys_leverage(&host, keys[1], 1, 2, 8) == TRADE_OK);
    CHECK(set(1, 50) == TRADE_OK);
    CHECK(set(1, 10) == REFUSED);
    CHECK(set(2, 10) == TRADE_OK); /* it has nothing anywhere */
    CHECK(host_oracle(&host, HOST_BTC, TRADE_MARK) == TRADE_OK);
    CHECK(set(1, 10) == TRADE_OK);
    host_close(&host);
}

/* A market that allows less than was chosen: what it allows counts (R4: 1..market max). */
static void test_market_allows_less(void)
{
    struct market market = { .record.max_leverage = 25 };

    CHECK(leverage_in_force(&market, 50) == 25);
    CHECK(leverage_in_force(&market, 25) == 25);
    CHECK(leverage_in_force(&market, 24) == 24);
    CHECK(leverage_in_force(&market, 0) == 20);
    market.record.max_leverage = 10;
    CHECK(leverage_in_force(&market, 50) == 10);
    CHECK(leverage_in_force(&market, 0) == 10);
}

/* A full table, and the room that a dropped setting gives back; a 2013 below what is set is
 * refused. */
static void test_capacity(void)
{
    open(NULL);
    host.engine->share.tables[SHARE_leverages].bound[SHARE_CLASS_full] = 3;
    for (uint32_t n = 1; n <= 3; n++)
        CHECK(set(n, 10) == TRADE_OK);
    CHECK(set(4, 10) == REFUSED && host.result.reason == REASON_limit_reached);
    CHECK(set(4, 20) == TRADE_OK); /* the default needs no room */
    CHECK(set(2, 11) == TRADE_OK);
    CHECK(set(2, 20) == TRADE_OK);
    CHECK(set(4, 10) == TRADE_OK);
    host_close(&host);

    uint8_t body[4120];
    open(NULL);
    define(2);
    define(3);
    for (uint32_t i = 0; i < 17; i++)
        CHECK(keys_leverage(&host, keys[1 + i % 6], 1 + i % 6, (uint16_t)(1 + i / 6), 7) ==
              TRADE_OK);
    uint32_t bytes = host_configuration("engine.positions=16\n", body);
    CHECK(host_unsigned(&host, REQUEST_configuration, body, bytes) == REFUSED);
    CHECK(keys_leverage(&host, keys[1], 1, HOST_BTC, 20) == TRADE_OK);
    CHECK(host_unsigned(&host, REQUEST_configuration, body, bytes) == TRADE_OK);
    host_close(&host);
}

/* R7: the slacks of a scan bound what a move costs at a low leverage as well. Short 0.5 BTC at 2x:
 * IM = 25,000; a mark 1,000 higher costs 500 of equity and 250 more of margin, 1.5 times the
 * move. */
static void test_scan(void)
{
    open(NULL);
    (void)trade_rest(&host, 2, BTC / 2, TRADE_MARK);
    CHECK(trade_tif(&host, 1, -BTC / 2, TRADE_MARK, TRADE_IOC) == TRADE_OK);
    CHECK(set(1, 2) == TRADE_OK);
    for (uint64_t price = TRADE_MARK; price < 1400000; price += 10000) {
        struct margin_view view;
        const struct portfolio *portfolio = trade_portfolio(&host, 1);
        CHECK(host_oracle(&host, HOST_BTC, price) == TRADE_OK);
        while (engine_has_work(host.engine))
            host_tick(&host, 1000);
        margin_view(host.engine, portfolio_find(host.engine, 1, 0, 0), &view);
        CHECK(portfolio->slack_initial <= view.equity - view.initial);
        CHECK(portfolio->flagged == (view.equity < view.initial));
    }
    host_close(&host);
}

/* The table against a plain array: settings of 6 portfolios in 20 markets, made, changed and
 * dropped in any order. */
static void test_random(void)
{
    enum { MARKETS = 20, STEPS = 3000 };
    uint32_t want[TRADE_ACCOUNTS + 1][MARKETS + 1] = { { 0 } };
    uint64_t seed = 8;

    open(NULL);
    for (uint32_t asset = MARKETS; asset > 1; asset--)
        define(asset);
    host.skip_audit = true;
    for (uint32_t step = 0; step < STEPS; step++) {
        uint32_t n = 1 + rig_below(&seed, TRADE_ACCOUNTS), asset = 1 + rig_below(&seed, MARKETS);
        uint32_t leverage = rig_below(&seed, 3) == 0 ? 20 : 1 + rig_below(&seed, 50);
        CHECK(keys_leverage(&host, keys[n], n, (uint16_t)asset, leverage) == TRADE_OK);
        want[n][asset] = leverage == 20 ? 0 : leverage;
        uint32_t count = 0;
        for (n = 1; n <= TRADE_ACCOUNTS; n++)
            for (asset = 1; asset <= MARKETS; asset++) {
                uint32_t portfolio = portfolio_find(host.engine, n, 0, 0);
                CHECK(leverage_setting(host.engine, portfolio, market_find(host.engine, asset)) ==
                      want[n][asset]);
                count += want[n][asset] != 0;
            }
        CHECK(host.engine->leverages.slots.count == count);
    }
    host_close(&host);
}

/* journal.md: equal settings give equal images, in whatever order they were made. */
static void test_image(void)
{
    static const uint32_t settings[2][4][2] = { { { 1, 5 }, { 2, 7 }, { 3, 9 }, { 3, 20 } },
                                                { { 3, 9 }, { 2, 7 }, { 3, 20 }, { 1, 5 } } };
    uint8_t hashes[2][32];

    for (uint32_t k = 0; k < 2; k++) {
        open(NULL);
        define(2);
        for (uint32_t i = 0; i < 4; i++)
            CHECK(set(settings[k][i][0], settings[k][i][1]) == TRADE_OK);
        CHECK(keys_leverage(&host, keys[1], 1, k == 0 ? 2 : HOST_BTC, 5) == TRADE_OK);
        CHECK(keys_leverage(&host, keys[1], 1, k == 0 ? HOST_BTC : 2, 5) == TRADE_OK);
        host_image_hash(&host, hashes[k]);
        host_close(&host);
    }
    CHECK(memcmp(hashes[0], hashes[1], 32) == 0);
}

int main(void)
{
    test_order_of_checks();
    test_margin();
    test_lowering();
    test_raising();
    test_open_orders();
    test_first_order();
    test_outlives();
    test_marks();
    test_market_allows_less();
    test_capacity();
    test_scan();
    test_random();
    test_image();
    return 0;
}
