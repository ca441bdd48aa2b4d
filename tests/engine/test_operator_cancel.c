/* Code 1007 (R10, R11, decision 55): whom its places name, the conditions in their order, one order
 * or all, and the reason of the list. BTC-PERP of W10 at mark 100,000.0. */
#include "trade.h"

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

int main(void)
{
    test_rows();
    test_one();
    test_all();
    test_reason_of_the_older();
    return 0;
}
