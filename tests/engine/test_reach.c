/* Which portfolios and orders a session reaches with codes 0 to 5: the subaccount of its pin (R11,
 * row 3), and of the account's orders only those of the very portfolio and market that the body
 * names (rules.md R3), so that a pinned session never gets outside its subaccount. */
#include "engine/state/portfolio.h"
#include "trade.h"

enum { PINNED = 40 }; /* key of a session of account 1, pinned to subaccount 0 */

static struct host host;

/* Account 1 has 0/0 and 0/1, and subaccount 1 with 1/0. */
static void open_account(void)
{
    uint8_t body[56] = { 1 }, master[33];

    trade_open(&host, NULL);
    (void)portfolio_add(host.engine, subaccount_find(host.engine, 1, 0), "Second");
    (void)subaccount_add(host.engine, 1);
    host_master_key(1, master);
    host_session_key(PINNED, body + 8);
    struct host_request request = { .code = REQUEST_create_session,
                                    .flags = COMMAND_SESSION_KEY_VALID,
                                    .body = body,
                                    .body_bytes = sizeof body,
                                    .key = master,
                                    .key_bytes = sizeof master };
    CHECK(host_signed(&host, &request) == STATUS_session_created);
}

/* One request of the codes 0 to 5 on this portfolio; codes 1 to 3 name the order. */
static enum status ask(uint32_t key, uint16_t code, uint32_t subaccount, uint32_t portfolio,
                       struct trade_id id)
{
    static const struct {
        uint8_t bytes, asset_at;
    } bodies[] = { { 48, 44 }, { 56, 48 }, { 72, 60 }, { 40, 32 }, { 24, 16 }, { 40, 28 } };
    uint8_t body[72] = { 0 }, session[32];

    host_session_key(key, session);
    cc_store64(body, 1);
    cc_store32(body + 8, subaccount);
    cc_store32(body + 12, portfolio);
    if (code >= REQUEST_order_reduction && code <= REQUEST_order_cancel)
        memcpy(body + 16, id.bytes, sizeof id.bytes);
    if (code == REQUEST_place_limit_order) {
        cc_store64(body + 16, 980000);
        cc_store64(body + 24, 1000);
        cc_store64(body + 32, TRADE_GTC);
    } else if (code == REQUEST_order_reduction) {
        cc_store64(body + 32, 100);
    } else if (code == REQUEST_order_replacement) {
        cc_store64(body + 32, 990000);
        cc_store64(body + 40, 2000);
        cc_store64(body + 48, TRADE_GTC);
    } else if (code == REQUEST_place_market_order) {
        cc_store64(body + 16, 1000);
    }
    cc_store16(body + bodies[code].asset_at, HOST_BTC);
    struct host_request request = { .code = code,
                                    .body = body,
                                    .body_bytes = bodies[code].bytes,
                                    .key = session,
                                    .key_bytes = sizeof session };
    return host_signed(&host, &request);
}

/* R3: an order of another portfolio of the same account is not found, whoever asks. */
static void test_portfolios(void)
{
    open_account();
    struct trade_id id = trade_rest(&host, 1, 3000, 990000);
    for (uint16_t code = REQUEST_order_reduction; code <= REQUEST_order_cancel; code++) {
        CHECK(ask(1, code, 0, 1, id) == STATUS_rejected_order_not_found);
        CHECK(ask(1, code, 1, 0, id) == STATUS_rejected_order_not_found);
        CHECK(ask(1, code, 1, 1, id) == STATUS_rejected_invalid_portfolio_id);
        CHECK(trade_remaining(&host, 1, id) == 3000);
    }
    CHECK(ask(1, REQUEST_order_reduction, 0, 0, id) == TRADE_OK);
    CHECK(ask(1, REQUEST_order_replacement, 0, 0, id) == TRADE_OK);
    CHECK(trade_remaining(&host, 1, id) == 2000);
    CHECK(ask(1, REQUEST_order_cancel, 0, 0, id) == TRADE_OK);
    CHECK(trade_remaining(&host, 1, id) == 0);
    host_close(&host);
}

/* Row 3 comes before row 5: the pin decides by the index that the body names. */
static void test_pin(void)
{
    open_account();
    struct trade_id id = trade_rest(&host, 1, 3000, 990000);
    for (uint16_t code = 0; code <= REQUEST_place_market_order; code++) {
        CHECK(ask(PINNED, code, 1, 0, id) == STATUS_rejected_unauthorized);
        CHECK(ask(PINNED, code, 1, 1, id) == STATUS_rejected_unauthorized);
        CHECK(trade_remaining(&host, 1, id) == 3000);
        CHECK(host.engine->orders.count == 1);
    }
    CHECK(ask(PINNED, REQUEST_order_reduction, 0, 0, id) == TRADE_OK);
    CHECK(ask(PINNED, REQUEST_order_replacement, 0, 0, id) == TRADE_OK);
    CHECK(ask(PINNED, REQUEST_place_limit_order, 0, 0, id) == TRADE_OK);
    CHECK(ask(PINNED, REQUEST_place_market_order, 0, 0, id) == TRADE_OK);
    CHECK(ask(PINNED, REQUEST_order_cancel, 0, 0, id) == TRADE_OK);
    CHECK(ask(PINNED, REQUEST_cancel_all_orders, 0, 0, id) == TRADE_OK);
    CHECK(host.engine->orders.count == 0);
    host_close(&host);
}

int main(void)
{
    test_portfolios();
    test_pin();
    return 0;
}
