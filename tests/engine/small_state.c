#include "small_state.h"

#include "engine/state/state.h"
#include "keys.h"
#include "passkeys.h"
#include "rig.h"

enum { SMALL_ETH = 2 };

static const char small_tables[] =
    "engine.accounts=16\nengine.portfolios=16\nengine.orders=32\nengine.positions=16\n"
    "engine.credentials=32\nengine.deposits=16\nengine.ladder_pages=64\n"
    "engine.work_per_command=1\nlimits.duplicate_slots=1024\n"
    "limits.funding_small=10\nlimits.funding_full=1000\n";

static void place(struct host *host, uint32_t n, uint64_t price, int64_t quantity, uint16_t asset)
{
    struct host_order order = {
        .price = price, .quantity = quantity, .expiry = UINT64_MAX, .asset = asset
    };

    if (quantity % 3 == 0)
        order.expiry = host->clock_ns + 3600 * HOST_SECOND_NS;
    CHECK(host_limit(host, n, &order) == STATUS_request_completed);
}

/* The BTC record as another market. */
static void define_eth(struct host *host)
{
    char text[4120];
    const char *rest = strstr(host_btc_record, ",\"price_decimals\"");

    CHECK(rest != NULL);
    snprintf(text, sizeof text, "{\"market\":\"ETH-PERP\",\"asset_id\":%d,\"base\":\"ETH\"%s",
             SMALL_ETH, rest);
    CHECK(host_market(host, text) == STATUS_request_completed);
}

/* Stricter tiers of ETH that wait for their day. */
static void announce_tiers(struct host *host)
{
    char text[4120], *at;
    const char *rest = strstr(host_btc_record, ",\"price_decimals\"");

    CHECK(rest != NULL);
    snprintf(text, sizeof text,
             "{\"market\":\"ETH-PERP\",\"asset_id\":%d,\"base\":\"ETH\",\"effective_at_ns\":%llu%s",
             SMALL_ETH, (unsigned long long)(host->clock_ns + 172800 * HOST_SECOND_NS), rest);
    at = strstr(text, "\"20000000\"");
    CHECK(at != NULL);
    memcpy(at, "\"10000000\"", 10);
    CHECK(host_market(host, text) == STATUS_request_completed);
}

static void revoke_session(struct host *host, uint32_t n)
{
    uint8_t body[40] = { 0 }, key[33];

    cc_store64(body, n);
    host_session_key(n, body + 8);
    host_master_key(n, key);
    struct host_request request = { .code = REQUEST_revoke_session,
                                    .body = body,
                                    .body_bytes = sizeof body,
                                    .key = key,
                                    .key_bytes = sizeof key };
    CHECK(host_signed(host, &request) == STATUS_session_revoked);
}

/* A body of account n, signed by its session. */
static void sign(struct host *host, uint16_t code, uint32_t n, uint8_t *body, uint32_t body_bytes)
{
    uint8_t key[32];

    cc_store64(body, n);
    host_session_key(n, key);
    struct host_request request = {
        .code = code, .body = body, .body_bytes = body_bytes, .key = key, .key_bytes = sizeof key
    };
    CHECK(host_signed(host, &request) == STATUS_request_completed);
}

/* 1,000 USDC that stay pending. */
static void withdraw(struct host *host, uint32_t n)
{
    uint8_t body[48] = { 0 };

    cc_store64(body + 16, 1000 * HOST_USDC);
    body[24] = 0xD0; /* destination */
    sign(host, REQUEST_withdraw, n, body, sizeof body);
}

/* A buy that waits for 110,000, for as long as it takes. */
static void wait_for(struct host *host, uint32_t n)
{
    enum { STOP_MARKET = 3 };
    uint8_t body[80] = { 0 };

    cc_store64(body + 16, 1100000);
    cc_store64(body + 32, 1000);
    cc_store64(body + 40, UINT64_MAX);
    body[51] = STOP_MARKET;
    cc_store16(body + 52, HOST_BTC);
    sign(host, REQUEST_place_conditional_order, n, body, sizeof body);
}

/* Makers' protection in BTC, and the disconnect of a stream of this key. */
static void protect(struct host *host, uint32_t n, struct keys_id key)
{
    uint8_t body[48] = { 0 }, arm[56] = { 0x77 };

    cc_store16(body + 16, HOST_BTC);
    cc_store32(body + 20, 1000);
    cc_store64(body + 32, 5000);
    sign(host, REQUEST_set_mmp, n, body, sizeof body);
    memcpy(arm + 16, key.bytes, sizeof key.bytes);
    cc_store64(arm + 32, n);
    arm[48] = 1;
    CHECK(host_unsigned(host, REQUEST_disconnect_arm, arm, sizeof arm) == STATUS_request_completed);
}

void small_state_open(struct host *host)
{
    host_open(host, small_tables);
    define_eth(host);
    for (uint32_t n = 1; n <= 5; n++) {
        (void)host_account(host, n);
        CHECK(host_deposit(host, n, 1000000 * HOST_USDC) == STATUS_request_completed);
    }
    CHECK(host_oracle(host, HOST_BTC, 1000000) == STATUS_request_completed);
    CHECK(host_oracle(host, SMALL_ETH, 500000) == STATUS_request_completed);
    for (uint32_t n = 1; n <= 3; n++) {
        place(host, n, 999000 - n, 1000 + n, HOST_BTC);
        place(host, n, 1001000, -1000 - (int64_t)n, HOST_BTC);
        place(host, n, 499000, 2000, SMALL_ETH);
    }
    place(host, 4, 1001000, 1500, HOST_BTC);
    announce_tiers(host);
    struct keys_id key = keys_make(host, 1, KEYS_READ_WRITE, KEYS_NO_PIN);
    struct keys_id other = keys_make(host, 2, KEYS_READ, KEYS_NO_PIN);
    CHECK(keys_revoke(host, 2, other) == STATUS_request_completed);
    CHECK(keys_leverage(host, key, 1, HOST_BTC, 5) == STATUS_request_completed);
    struct passkeys_signer passkey = { .n = 6, .sign_count = 3 };
    CHECK(passkeys_account(host, &passkey) == STATUS_account_created_with_session);
    withdraw(host, 4);
    withdraw(host, 5);
    wait_for(host, 2);
    protect(host, 1, key);
    revoke_session(host, 5);
    for (uint32_t i = 0; i < 40; i++)
        host_tick(host, HOST_SECOND_NS / 10);
    CHECK(host_oracle(host, HOST_BTC, 1000500) == STATUS_request_completed);
    CHECK(host_oracle(host, SMALL_ETH, 600000) == STATUS_request_completed); /* held */
    CHECK(host_cancel_all(host, 3, 0xFFFF, 0) == STATUS_request_completed);
    uint8_t reduce_only[8] = { HOST_BTC, 0, 0, 0, 2 };
    CHECK(host_unsigned(host, REQUEST_market_state, reduce_only, sizeof reduce_only) ==
          STATUS_request_completed);
    uint8_t boot[24] = { 2, 0, 0, 0, 0, 0, 0, 0, ENGINE_RULES_VERSION };
    cc_store64(boot + 16, 86400 * HOST_SECOND_NS); /* a start that finds its clock a day ahead */
    CHECK(host_unsigned(host, REQUEST_boot, boot, sizeof boot) == STATUS_request_completed);
    CHECK(engine_has_work(host->engine));
}
