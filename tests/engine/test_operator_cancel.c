/* Code 1007 (R10, R11): whom its places name, the conditions in their order, one order
 * or all, and the reason of the list; the slices of an account with many portfolios (R10).
 * BTC-PERP of W10 at mark 100,000.0. */
#include "image_copy.h"
#include "purse.h"
#include "waiting.h"

#define M   TRADE_MARK
#define ALL UINT32_MAX

static struct host host;

struct cancel {
    uint64_t account;
    uint32_t subaccount, portfolio;
    uint16_t asset;
    uint8_t pad;
};

static enum status cancel(const struct cancel *cancel, const struct trade_id *id)
{
    uint8_t body[40] = { 0 };

    cc_store64(body, cancel->account);
    cc_store32(body + 8, cancel->subaccount);
    cc_store32(body + 12, cancel->portfolio);
    if (id != NULL)
        memcpy(body + 16, id->bytes, sizeof id->bytes);
    cc_store16(body + 32, cancel->asset);
    body[39] = cancel->pad;
    struct host_request request = { .code = REQUEST_operator_cancel,
                                    .body = body,
                                    .body_bytes = sizeof body,
                                    .key = host_operator_key,
                                    .key_bytes = 32 };
    return host_signed(&host, &request);
}

static void test_rows(void)
{
    static const struct row {
        int line;
        const char *name;
        struct cancel cancel;
        bool names_order;
        enum status want;
    } rows[] = {
#define R(...) { __LINE__, __VA_ARGS__ }
        R("account", { 99, 0, 0, 0, 1 }, false, STATUS_rejected_invalid_portfolio_id),
        R("subaccount", { 1, 7, 0, 0, 1 }, false, STATUS_rejected_invalid_portfolio_id),
        R("subaccount, all of it", { 1, 7, ALL, 0, 1 }, false,
          STATUS_rejected_invalid_portfolio_id),
        R("portfolio", { 1, 0, 3, 0, 1 }, false, STATUS_rejected_invalid_portfolio_id),
        R("all subaccounts, one portfolio", { 1, ALL, 0, 0, 1 }, false,
          STATUS_rejected_invalid_portfolio_id),
        R("pad", { 1, 0, 0, 0, 1 }, false, STATUS_order_rejected_invalid),
        R("asset 0", { 1, 0, 0, 0, 0 }, false, STATUS_order_rejected_invalid_market),
        R("an order of all markets", { 1, 0, 0, 0xFFFF, 0 }, true,
          STATUS_order_rejected_invalid_market),
        R("asset", { 1, 0, 0, 9, 0 }, false, STATUS_rejected_market_not_found),
        R("another's order", { 2, ALL, ALL, 1, 0 }, true, STATUS_rejected_order_not_found),
        R("nothing to cancel", { 3, 0, 0, 0xFFFF, 0 }, false, STATUS_request_completed),
        R("the order", { 1, ALL, ALL, 1, 0 }, true, STATUS_request_completed),
        R("again", { 1, 0, 0, 1, 0 }, true, STATUS_rejected_order_not_found),
#undef R
    };

    trade_open(&host, NULL);
    struct trade_id id = trade_rest(&host, 1, 1000, M - 100);
    struct trade_id kept = trade_rest(&host, 1, 1000, M - 100);
    for (size_t i = 0; i < CC_COUNT(rows); i++)
        CHECK_ROW(&rows[i],
                  cancel(&rows[i].cancel, rows[i].names_order ? &id : NULL) == rows[i].want);
    CHECK(trade_remaining(&host, 1, kept) == 1000 && trade_order(&host, 1, id) == ORDER_NONE);
    host_close(&host);
}

static void test_one(void)
{
    trade_open(&host, NULL);
    struct trade_id id = trade_rest(&host, 1, 1000, M - 100);
    CHECK(cancel(&(struct cancel){ 1, 0, 0, HOST_BTC, 0 }, &id) == TRADE_OK);
    CHECK(trade_state(&host, 0).status == ORDER_CANCELED);
    CHECK(trade_state(&host, 0).reason == REASON_operator);
    CHECK(host.effects[host.effect_count - 1].code == EFFECT_answer); /* no deferred unit */
    host_close(&host);
}

/* All of an account, by market and without: dead at once, released with the reason. */
static void test_all(void)
{
    for (uint32_t turn = 0; turn < 2; turn++) {
        trade_open(&host, "engine.work_per_command=1\n");
        for (uint32_t k = 0; k < 3; k++)
            trade_rest(&host, 1, k == 1 ? -1000 : 1000, k == 1 ? M + 100 : M - 100);
        struct trade_id others = trade_rest(&host, 2, 1000, M - 200);
        CHECK(cancel(&(struct cancel){ 1, ALL, ALL, turn == 0 ? HOST_BTC : 0xFFFF, 0 }, NULL) ==
              TRADE_OK);
        CHECK(trade_portfolio(&host, 1)->open_order_count == 2);
        CHECK(trade_last_state(&host).reason == REASON_operator);
        /* the dead ones let a seller through to the next live price */
        CHECK(trade_tif(&host, 3, -500, M - 200, TRADE_IOC) == TRADE_OK);
        CHECK(trade_remaining(&host, 2, others) == 500 &&
              trade_state(&host, 0).reason == REASON_operator);
        struct trade_id made = trade_rest(&host, 1, 1000, M - 150);
        for (uint32_t k = 0; k < 5; k++)
            host_tick(&host, 1000);
        CHECK(trade_portfolio(&host, 1)->open_order_count == 1);
        CHECK(trade_remaining(&host, 1, made) == 1000);
        host_close(&host);
    }
}

/* Of two lists the older one gives the reason, also when it is the owner's. */
static void test_reason_of_the_older(void)
{
    trade_open(&host, "engine.work_per_command=1\n");
    for (uint32_t k = 0; k < 3; k++)
        trade_rest(&host, 1, 1000, M - 100);
    CHECK(host_cancel_all(&host, 1, 0xFFFF, 0) == TRADE_OK);
    CHECK(cancel(&(struct cancel){ 1, 0, 0, 0xFFFF, 0 }, NULL) == TRADE_OK);
    CHECK(trade_last_state(&host).reason == REASON_cancel_all);
    /* the same list renewed by the operator: the reason of the last renewal */
    CHECK(cancel(&(struct cancel){ 1, 0, 0, HOST_BTC, 0 }, NULL) == TRADE_OK);
    CHECK(trade_last_state(&host).reason == REASON_operator);
    host_close(&host);
}

/* -- an account with more than 64 portfolios -------------------------------------------------- */

enum { LARGE = 70, PLAIN = LARGE - 1 }; /* subaccounts of account 1, a portfolio each */

static const struct cancel everything = { 1, ALL, ALL, 0xFFFF, 0 };

/* Account 1 with 1,000 USDC in each of its portfolios; `units` a command. */
static void open_large(const char *units)
{
    struct purse_place from = { 0, 0 };

    trade_open(&host, units);
    for (uint32_t at = 1; at < LARGE; at++) {
        CHECK(purse_subaccount(&host, 1) == TRADE_OK);
        struct purse_place to = { at, 0 };
        CHECK(purse_transfer(&host, 1, from, to, 1000 * HOST_USDC) == TRADE_OK);
    }
}

static void place_at(uint32_t subaccount, int64_t quantity, uint64_t price)
{
    uint8_t body[48] = { 0 }, key[32];

    cc_store64(body, 1);
    cc_store32(body + 8, subaccount);
    cc_store64(body + 16, price);
    cc_store64(body + 24, (uint64_t)quantity);
    cc_store64(body + 32, TRADE_GTC);
    cc_store16(body + 44, HOST_BTC);
    host_session_key(1, key);
    struct host_request request = { .code = REQUEST_place_limit_order,
                                    .body = body,
                                    .body_bytes = sizeof body,
                                    .key = key,
                                    .key_bytes = sizeof key };
    CHECK(host_signed(&host, &request) == TRADE_OK);
}

static void place_everywhere(void)
{
    for (uint32_t at = 0; at < LARGE; at++)
        place_at(at, 100, M - 100);
}

/* Resting orders of account 1, dead ones too. */
static uint32_t resting(void)
{
    uint32_t count = 0;

    for (uint32_t at = 0; at < LARGE; at++)
        count += purse_at(&host, 1, (struct purse_place){ at, 0 })->open_order_count;
    return count;
}

/* A unit a portfolio, then one an order: of 70 + 70 the command does 10, no order; after
 * 13 more commands all are told and gone. In between nothing of it trades. */
static void test_slices(void)
{
    open_large("engine.work_per_command=10\n");
    place_everywhere();
    struct trade_id others = trade_rest(&host, 2, 100, M - 200);
    CHECK(cancel(&everything, NULL) == TRADE_OK);
    CHECK(trade_effects(&host, EFFECT_order_state) == 0 && resting() == LARGE);
    /* 10 units: it has come to portfolios 0 to 9 */
    CHECK(purse_at(&host, 1, (struct purse_place){ 9, 0 })->cancel_queued);
    CHECK(!purse_at(&host, 1, (struct purse_place){ 10, 0 })->cancel_queued);
    for (uint32_t k = 1; k < 7; k++) {
        host_tick(&host, 1000);
        CHECK(trade_effects(&host, EFFECT_order_state) == 0 && resting() == LARGE);
    }
    for (uint32_t k = 7; k < 14; k++) {
        host_tick(&host, 1000);
        CHECK(trade_effects(&host, EFFECT_order_state) == 10 && resting() == 140 - 10 * (k + 1));
        CHECK(trade_last_state(&host).status == ORDER_CANCELED);
        CHECK(trade_last_state(&host).reason == REASON_operator);
    }
    host_tick(&host, 1000);
    CHECK(!engine_has_work(host.engine) && host.engine->work.account_lists == 0);
    CHECK(trade_remaining(&host, 2, others) == 100);
    host_close(&host);
}

/* One command behind it, when the list has come to 1 of 70 portfolios: a seller passes all of the
 * account's orders, each told as CANCELED by the operator, and trades with the next live one. A new
 * order of the account, in a portfolio to come, lives. */
static void test_no_trade_behind(bool one_market)
{
    open_large("engine.work_per_command=1\n");
    place_everywhere();
    struct trade_id others = trade_rest(&host, 2, 100, M - 200);
    CHECK(cancel(&(struct cancel){ 1, ALL, ALL, one_market ? HOST_BTC : 0xFFFF, 0 }, NULL) ==
          TRADE_OK);
    place_at(PLAIN, 100, M - 150);
    CHECK(trade_tif(&host, 3, -150, M - 200, TRADE_IOC) == TRADE_OK);
    CHECK(trade_effects(&host, EFFECT_trade) == 2);
    CHECK(trade_size(&host, 1) == 0 && trade_remaining(&host, 2, others) == 50);
    CHECK(purse_at(&host, 1, (struct purse_place){ PLAIN, 0 })->open_order_count == 0);
    for (uint32_t k = 0; k < LARGE; k++) {
        CHECK(trade_state(&host, k).status == ORDER_CANCELED);
        CHECK(trade_state(&host, k).reason == REASON_operator);
    }
    CHECK(resting() == 0);
    host_close(&host);
}

/* What is placed behind the command in a portfolio that the list comes to later stays. */
static void test_later_order_lives(void)
{
    open_large("engine.work_per_command=1\n");
    place_everywhere();
    CHECK(cancel(&everything, NULL) == TRADE_OK);
    place_at(PLAIN, 100, M - 100);
    for (uint32_t k = 0; k < 2 * LARGE; k++)
        host_tick(&host, 1000);
    CHECK(!engine_has_work(host.engine) && resting() == 1);
    CHECK(purse_at(&host, 1, (struct purse_place){ PLAIN, 0 })->open_order_count == 1);
    /* a list for other markets begins while one stands: it is done in its command, as for few */
    CHECK(cancel(&everything, NULL) == TRADE_OK);
    CHECK(cancel(&(struct cancel){ 1, ALL, ALL, HOST_BTC, 0 }, NULL) == TRADE_OK);
    CHECK(purse_at(&host, 1, (struct purse_place){ PLAIN, 0 })->cancel_queued);
    host_close(&host);
}

/* A stop that is covered does not fire, though its price comes before the list comes to it. */
static void test_stop_does_not_fire(void)
{
    open_large("engine.work_per_command=1\n");
    for (uint32_t k = 0; k < 3; k++)
        waiting_rest(
            &host, 1,
            &(struct waiting){
                .trigger = M + 10, .quantity = 100, .source = 1, .type = ORDER_STOP_MARKET });
    trade_rest(&host, 2, -200, M + 10);
    CHECK(cancel(&everything, NULL) == TRADE_OK);
    uint32_t fired = 0, ended = 0;
    CHECK(trade_limit(&host, 3, 100, M + 10) == TRADE_OK);
    for (uint32_t k = 0; k < 2 * LARGE; k++) {
        fired += trade_effects(&host, EFFECT_trigger);
        ended += k == 0 ? 0 : trade_effects(&host, EFFECT_order_state);
        waiting_check(&host);
        host_tick(&host, 1000);
    }
    CHECK(fired == 0 && trade_size(&host, 1) == 0 && ended == 3);
    CHECK(host.engine->conditionals.count == 0);
    host_close(&host);
}

/* A state from an image in the middle goes on alike: same effects, same image. */
static void test_image_within(void)
{
    static struct host again;
    static struct image_copy copy;
    struct image_problem problem;
    uint8_t one[32], other[32];

    open_large("engine.work_per_command=3\n");
    place_everywhere();
    CHECK(cancel(&everything, NULL) == TRADE_OK);
    CHECK(host.engine->accounts.rows[1].cancel_subaccount == 2);
    image_copy_take(&copy, host.engine);
    CHECK(image_copy_open(&copy, &again, NULL, &problem));
    again.clock_ns = host.clock_ns;
    for (uint32_t k = 0; k < 50; k++) {
        host_tick(&host, 1000);
        host_tick(&again, 1000);
        host_image_hash(&host, one);
        host_image_hash(&again, other);
        CHECK(memcmp(one, other, sizeof one) == 0);
    }
    CHECK(!engine_has_work(again.engine));
    image_copy_free(&copy);
    host_close(&again);
    host_close(&host);
}

int main(void)
{
    test_rows();
    test_one();
    test_all();
    test_reason_of_the_older();
    test_slices();
    test_no_trade_behind(false);
    test_no_trade_behind(true);
    test_later_order_lives();
    test_stop_does_not_fire();
    test_image_within();
    return 0;
}
