/* Cancel-on-disconnect (codes 2012 and 2011; W9; R10, arms): whose an arm is, what it replaces,
 * the rows in their order, what its end ends, and the arms that a start finds. */
#include "engine/state/disconnect.h"
#include "image_copy.h"
#include "keys.h"
#include "purse.h"
#include "trade.h"

#define M TRADE_MARK

static struct host host;
static struct keys_id keys[TRADE_ACCOUNTS + 1];

struct arm {
    uint8_t id; /* first byte of the arm's id */
    uint32_t n; /* account and key */
    uint32_t subaccount;
    uint32_t grace_ms;
    uint8_t armed;
    uint8_t pad;
};

static enum status arm(const struct arm *arm)
{
    uint8_t body[56] = { 0 };

    body[0] = arm->id;
    memcpy(body + 16, keys[arm->n].bytes, 16);
    cc_store64(body + 32, arm->n);
    cc_store32(body + 40, arm->subaccount);
    cc_store32(body + 44, arm->grace_ms);
    body[48] = arm->armed;
    body[49] = arm->pad;
    return host_unsigned(&host, REQUEST_disconnect_arm, body, sizeof body);
}

static void disconnect(uint8_t id)
{
    uint8_t body[16] = { id };

    CHECK(host_unsigned(&host, REQUEST_cancel_on_disconnect, body, sizeof body) == TRADE_OK);
}

static void open_host(const char *overrides)
{
    trade_open(&host, overrides);
    for (uint32_t n = 1; n <= TRADE_ACCOUNTS; n++)
        keys[n] =
            keys_make(&host, n, n == 5 ? KEYS_READ : KEYS_READ_WRITE, n == 4 ? 0 : KEYS_NO_PIN);
}

static uint32_t count_arms(void)
{
    struct disconnect_arm row;
    uint32_t count = 0;

    for (uint32_t at = DISCONNECT_NONE;; count++) {
        at = disconnect_next_arm(host.engine, at, &row);
        if (at == DISCONNECT_NONE)
            return count;
    }
}

static void test_rows(void)
{
    static const struct row {
        int line;
        const char *name;
        struct arm arm;
        enum status want;
        uint8_t reason;
    } rows[] = {
#define R(...) { __LINE__, __VA_ARGS__ }
        R("read key", { 9, 5, 7, 20000, 2, 1 }, STATUS_rejected_unauthorized, REASON_read_only_key),
        R("pin", { 9, 4, 7, 20000, 2, 1 }, STATUS_rejected_unauthorized,
          REASON_subaccount_not_permitted),
        R("subaccount", { 9, 1, 7, 20000, 2, 1 }, STATUS_rejected_invalid_portfolio_id, 0),
        R("armed", { 9, 1, 0, 0, 2, 0 }, STATUS_order_rejected_invalid, REASON_invalid_parameter),
        R("pad", { 9, 1, 0, 0, 1, 1 }, STATUS_order_rejected_invalid, REASON_invalid_parameter),
        R("grace", { 9, 1, 0, 10001, 1, 0 }, STATUS_order_rejected_invalid,
          REASON_invalid_parameter),
        R("longest grace", { 9, 1, 0, 10000, 1, 0 }, STATUS_request_completed, 0),
        R("another's id", { 9, 2, 0, 0, 1, 0 }, STATUS_order_rejected_invalid,
          REASON_invalid_parameter),
        R("another's disarmed", { 9, 2, 0, 0, 0, 0 }, STATUS_order_rejected_invalid,
          REASON_invalid_parameter),
        R("disarmed", { 9, 1, 0, 0, 0, 0 }, STATUS_request_completed, 0),
        R("disarmed again", { 9, 1, 0, 0, 0, 0 }, STATUS_request_completed, 0),
        R("free for another", { 9, 2, 0, 0, 1, 0 }, STATUS_request_completed, 0),
#undef R
    };

    open_host(NULL);
    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        CHECK_ROW(&rows[i], arm(&rows[i].arm) == rows[i].want);
        CHECK_ROW(&rows[i], host.result.reason == rows[i].reason);
    }
    CHECK(count_arms() == 1);
    host_close(&host);
}

/* A pinned key neither moves nor ends an arm of another subaccount of its account. */
static void test_beyond_pin(void)
{
    struct disconnect_arm row;

    open_host(NULL);
    CHECK(purse_subaccount(&host, 4) == TRADE_OK);
    struct keys_id pinned = keys[4];
    keys[4] = keys_make(&host, 4, KEYS_READ_WRITE, KEYS_NO_PIN);
    CHECK(arm(&(struct arm){ .id = 1, .n = 4, .subaccount = 1, .armed = 1 }) == TRADE_OK);
    keys[4] = pinned; /* to subaccount 0 */
    for (uint8_t armed = 0; armed <= 1; armed++) {
        CHECK(arm(&(struct arm){ .id = 1, .n = 4, .armed = armed }) ==
              STATUS_rejected_unauthorized);
        CHECK(host.result.reason == REASON_subaccount_not_permitted);
    }
    CHECK(disconnect_next_arm(host.engine, DISCONNECT_NONE, &row) != DISCONNECT_NONE);
    CHECK(row.subaccount_index == 1);
    host_close(&host);
}

/* 2011 ends what rests in the subaccount, tells 2115 of its portfolio, and is spent. */
static void test_end(void)
{
    struct effect_timer timer;

    open_host(NULL);
    trade_rest(&host, 1, 1000, M - 100);
    trade_rest(&host, 1, -1000, M + 100);
    struct trade_id others = trade_rest(&host, 2, 1000, M - 100);
    CHECK(arm(&(struct arm){ .id = 1, .n = 1, .armed = 1 }) == TRADE_OK);
    CHECK(arm(&(struct arm){ .id = 2, .n = 2, .armed = 1 }) == TRADE_OK);
    disconnect(3); /* nobody's */
    CHECK(host.effect_count == 0);
    disconnect(1);
    memcpy(&timer, host_effect(&host, EFFECT_timer, 0)->bytes, sizeof timer);
    CHECK(timer.kind == TIMER_DISCONNECT && timer.portfolio.account_id == 1);
    CHECK(host.effects[0].code == EFFECT_timer && trade_effects(&host, EFFECT_timer) == 1);
    CHECK(trade_portfolio(&host, 1)->open_order_count == 0);
    CHECK(trade_state(&host, 0).reason == REASON_disconnect);
    CHECK(trade_remaining(&host, 2, others) == 1000 && count_arms() == 1);
    trade_rest(&host, 1, 1000, M - 100);
    disconnect(1);
    CHECK(host.effect_count == 0 && trade_portfolio(&host, 1)->open_order_count == 1);
    host_close(&host);
}

/* 256 arms an account; arming one of them again takes no place. */
static void test_bound(void)
{
    uint8_t body[56] = { 0 };

    open_host(NULL);
    memcpy(body + 16, keys[1].bytes, 16);
    cc_store64(body + 32, 1);
    body[48] = 1;
    for (uint32_t k = 0; k < DISCONNECT_ARMS_MAX; k++) {
        cc_store32(body, k);
        CHECK(host_unsigned(&host, REQUEST_disconnect_arm, body, sizeof body) == TRADE_OK);
    }
    CHECK(host_unsigned(&host, REQUEST_disconnect_arm, body, sizeof body) == TRADE_OK);
    cc_store32(body, DISCONNECT_ARMS_MAX);
    CHECK(host_unsigned(&host, REQUEST_disconnect_arm, body, sizeof body) ==
          STATUS_order_rejected_invalid);
    CHECK(host.result.reason == REASON_limit_reached && count_arms() == DISCONNECT_ARMS_MAX);
    CHECK(arm(&(struct arm){ .id = 1, .n = 2, .armed = 1 }) == STATUS_order_rejected_invalid);
    host_close(&host);
}

/* A start finds the arms in the order of arming, one that was armed again at the end. */
static void test_image(void)
{
    static const uint8_t want[] = { 2, 3, 1 };
    static struct image_copy copy;
    static struct host loaded;
    struct image_problem problem;
    struct disconnect_arm row, found;
    uint32_t at = DISCONNECT_NONE;

    open_host(NULL);
    for (uint8_t k = 1; k <= 3; k++)
        CHECK(arm(&(struct arm){ .id = k, .n = k, .grace_ms = k, .armed = 1 }) == TRADE_OK);
    CHECK(arm(&(struct arm){ .id = 1, .n = 1, .grace_ms = 77, .armed = 1 }) == TRADE_OK);
    image_copy_take(&copy, host.engine);
    CHECK(image_copy_open(&copy, &loaded, NULL, &problem));
    for (uint32_t k = 0; k < CC_COUNT(want); k++) {
        at = disconnect_next_arm(loaded.engine, at, &row);
        CHECK(at != DISCONNECT_NONE && row.id[0] == want[k]);
        CHECK(row.grace_ms == (want[k] == 1 ? 77 : want[k]));
        CHECK(disconnect_find_arm(loaded.engine, row.id, &found));
        CHECK(found.armed_sequence == row.armed_sequence && found.grace_ms == row.grace_ms);
    }
    CHECK(disconnect_next_arm(loaded.engine, at, &row) == DISCONNECT_NONE);
    row.id[0] = 4; /* nobody's */
    CHECK(!disconnect_find_arm(loaded.engine, row.id, &found));
    host_close(&loaded);
    image_copy_free(&copy);
    host_close(&host);
}

int main(void)
{
    test_rows();
    test_beyond_pin();
    test_end();
    test_bound();
    test_image();
    return 0;
}
