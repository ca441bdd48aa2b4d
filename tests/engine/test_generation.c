/* An account's id is its slot and the slot's generation (account_id.h). Here every slot has had
 * another account before: whatever names an account names the whole id, and the slot alone, or the
 * former account, names nobody. */
#include "engine/state/state.h"
#include "engine/view/read.h"
#include "image_copy.h"
#include "purse.h"
#include "rig.h"
#include "trade.h"

enum { GENERATION = 7 };

#define NOBODY    STATUS_rejected_unauthorized
#define UNKNOWN   STATUS_rejected_invalid_portfolio_id
#define MAIN      ((struct purse_place){ 0, 0 })
#define ID(n)     ((uint64_t)GENERATION << 32 | (n))
#define FORMER(n) ((uint64_t)(GENERATION - 1) << 32 | (n))

static struct host host;

/* Accounts 1 to 3, as their slots would be if GENERATION accounts had been taken before. */
static void open(void)
{
    host_open(&host, "exchange.testnet=on\n");
    for (uint32_t n = 1; n <= 3; n++) {
        host.engine->accounts.rows[host_account(&host, n)].generation = GENERATION;
        CHECK(host_deposit(&host, ID(n), 100000 * HOST_USDC) == TRADE_OK);
        CHECK(purse_row(&host, 0).portfolio.account_id == ID(n));
    }
    CHECK(host_oracle(&host, HOST_BTC, TRADE_MARK) == TRADE_OK);
}

static enum status order(uint64_t id, uint32_t n, int64_t quantity, uint64_t price)
{
    uint8_t body[48] = { 0 };

    cc_store64(body, id);
    cc_store64(body + 16, price);
    cc_store64(body + 24, (uint64_t)quantity);
    cc_store64(body + 32, TRADE_GTC);
    cc_store16(body + 44, HOST_BTC);
    return purse_send(&host, PURSE_SESSION, n, REQUEST_place_limit_order, body, sizeof body);
}

static enum status cancel(uint64_t id, uint32_t n, struct trade_id target)
{
    uint8_t body[40] = { 0 };

    cc_store64(body, id);
    memcpy(body + 16, target.bytes, 16);
    cc_store16(body + 32, HOST_BTC);
    return purse_send(&host, PURSE_SESSION, n, REQUEST_order_cancel, body, sizeof body);
}

static uint64_t answered(void)
{
    const struct host_effect *effect = host_effect(&host, EFFECT_answer, 0);

    CHECK(effect != NULL);
    return cc_load64(effect->bytes + 16);
}

/* Orders, trades and their effects. */
static void test_orders(void)
{
    struct row_order row;

    open();
    CHECK(order(1, 1, 1000, TRADE_MARK) == NOBODY &&
          order(FORMER(1), 1, 1000, TRADE_MARK) == NOBODY);
    CHECK(order(ID(2), 1, 1000, TRADE_MARK) == NOBODY);
    CHECK(order(ID(1), 1, 2000, TRADE_MARK) == TRADE_OK && answered() == ID(1));
    struct trade_id first = trade_last_id(&host);
    CHECK(read_order(host.engine, ID(1), first.bytes, -1, &row) && row.account_id == ID(1));
    CHECK(!read_order(host.engine, 1, first.bytes, -1, &row));
    CHECK(!read_order(host.engine, FORMER(1), first.bytes, -1, &row));
    CHECK(order(ID(2), 2, -1000, TRADE_MARK) == TRADE_OK);
    for (uint32_t k = 0; k < 2; k++) {
        const struct host_effect *position = host_effect(&host, EFFECT_position, k);
        CHECK(position != NULL && cc_load64(position->bytes) >> 32 == GENERATION);
        CHECK(purse_row(&host, k).portfolio.account_id >> 32 == GENERATION);
    }
    CHECK(cancel(1, 1, first) == NOBODY && cancel(FORMER(1), 1, first) == NOBODY);
    CHECK(cancel(ID(1), 1, first) == TRADE_OK);
    CHECK(!read_order(host.engine, ID(1), first.bytes, -1, &row));
    host_close(&host);
}

/* The same signed bytes again: a duplicate for the account, nobody's under another generation, even
 * when its keys are the same; and what is refused so uses no id. */
static void test_duplicate(void)
{
    uint8_t key[32], body[24] = { 0 };

    open();
    cc_store64(body, ID(1));
    cc_store32(body + 12, UINT32_MAX);
    cc_store16(body + 16, UINT16_MAX);
    host_session_key(1, key);
    struct host_request request = { .code = REQUEST_cancel_all_orders,
                                    .body = body,
                                    .body_bytes = sizeof body,
                                    .key = key,
                                    .key_bytes = sizeof key };
    CHECK(host_signed(&host, &request) == TRADE_OK);
    struct trade_id id = trade_last_id(&host);
    request.id = id.bytes;
    CHECK(host_signed(&host, &request) == STATUS_duplicate_request_id && host.is_peeked);
    uint32_t kept = host.engine->duplicates.count;
    host.engine->accounts.rows[1].generation++; /* taken, and the same keys signed up again */
    CHECK(host_signed(&host, &request) == NOBODY && !host.is_peeked);
    CHECK(host.engine->duplicates.count == kept);
    cc_store64(body, ID(1) + (UINT64_C(1) << 32));
    CHECK(host_signed(&host, &request) == TRADE_OK); /* the new owner's own id */
    CHECK(host_signed(&host, &request) == STATUS_duplicate_request_id && host.is_peeked);
    host_close(&host);
}

/* Money, the operator, and API keys. */
static void test_others(void)
{
    uint8_t sweep[40] = { 0 }, body[40] = { 0 };

    open();
    CHECK(host_deposit(&host, 1, HOST_USDC) == UNKNOWN);
    CHECK(host_deposit(&host, FORMER(1), HOST_USDC) == UNKNOWN);
    CHECK(purse_suspend(&host, 1, true) == UNKNOWN &&
          purse_suspend(&host, FORMER(1), true) == UNKNOWN);
    CHECK(purse_suspend(&host, ID(3), true) == TRADE_OK);
    CHECK(purse_told(&host, 0).account_id == ID(3));
    cc_store32(sweep + 8, UINT32_MAX);
    cc_store32(sweep + 12, UINT32_MAX);
    cc_store16(sweep + 32, UINT16_MAX);
    const uint64_t ids[] = { 1, FORMER(1), ID(1) };
    for (uint32_t i = 0; i < CC_COUNT(ids); i++) {
        cc_store64(sweep, ids[i]);
        CHECK(purse_send(&host, PURSE_OPERATOR, 0, REQUEST_operator_cancel, sweep, sizeof sweep) ==
              (ids[i] == ID(1) ? TRADE_OK : UNKNOWN));
    }
    for (uint32_t i = 0; i < CC_COUNT(ids); i++) {
        cc_store64(body, ids[i]);
        cc_store64(body + 16, ids[i]);
        cc_store32(body + 28, 1); /* to its portfolio 1, which is not there */
        cc_store64(body + 32, 1);
        CHECK(purse_send(&host, PURSE_SESSION, 1, REQUEST_transfer, body, sizeof body) ==
              (ids[i] == ID(1) ? UNKNOWN : NOBODY));
    }
    host_close(&host);
}

/* Reads, and a state made of an image: the generation is in it. */
static void test_image(void)
{
    static struct image_copy copy, again;
    static struct host loaded;
    struct image_problem problem = { 0 };
    struct row_account account;
    struct row_balance balance;
    uint64_t id;

    open();
    CHECK(order(ID(1), 1, 2000, TRADE_MARK) == TRADE_OK);
    struct trade_id first = trade_last_id(&host);
    image_copy_take(&copy, host.engine);
    CHECK(image_copy_open(&copy, &loaded, NULL, &problem));
    image_copy_take(&again, loaded.engine);
    CHECK(image_copy_equal(&copy, &again));
    host_close(&loaded);
    CHECK(image_copy_reopen(&copy, &host, &problem));
    CHECK(read_account(host.engine, ID(1), &account) && account.account_id == ID(1));
    CHECK(!read_account(host.engine, 1, &account) &&
          !read_account(host.engine, FORMER(1), &account));
    CHECK(read_balance(host.engine, ID(1), 0, 0, &balance));
    CHECK(!read_balance(host.engine, 1, 0, 0, &balance));
    CHECK(read_account_at(host.engine, 1, &id) && id == ID(1));
    CHECK(!read_account_at(host.engine, 4, &id));
    CHECK(read_account_has_gone(host.engine, FORMER(1)) &&
          !read_account_has_gone(host.engine, ID(1)));
    CHECK(cancel(FORMER(1), 1, first) == NOBODY && cancel(ID(1), 1, first) == TRADE_OK);
    image_copy_free(&copy);
    image_copy_free(&again);
    host_close(&host);
}

int main(void)
{
    test_orders();
    test_duplicate();
    test_others();
    test_image();
    return 0;
}
