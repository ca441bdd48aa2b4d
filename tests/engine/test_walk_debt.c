/* Refused walks (wire.md W8): what refusals have met beyond 16 makers their account owes, and who
 * owes too much enters no order. Expected values are worked out by hand. Mark 100,000.0. */
#include "basket.h"
#include "image_copy.h"

#define M     TRADE_MARK
#define MS    UINT64_C(1000000)
#define SHORT STATUS_rejected_f_o_k_not_fully_filled_low_liquidity
#define LATE  STATUS_rejected_rate_limited

enum { MAKERS = 116 };

static struct host host;
static struct basket basket;

static void fill_book(uint32_t count)
{
    host.skip_audit = true;
    for (uint32_t k = 0; k < count; k++)
        trade_rest(&host, 2 + k % 5, -100, M);
}

/* When the time of the account has paid, seen from t. */
static int64_t owed_ns(uint32_t n)
{
    return (int64_t)(host.engine->accounts.rows[n].walk_paid_ns - engine_time(host.engine));
}

static enum status refuse(uint32_t n)
{
    return trade_tif(&host, n, 10000000, M, TRADE_FOK);
}

/* A batch of 64 that the walk refuses: 64 * 116 makers, of which one batch meets 4,096. */
static enum status refuse_batch(uint32_t n)
{
    basket = (struct basket){ 0 };
    for (uint32_t k = 0; k < MESSAGE_ITEMS_MAX; k++)
        basket_place(&basket, &host, 10000000, M)->expiry = TRADE_FOK;
    return basket_send(&basket, &host, n);
}

/* What is met and refused, and nothing else, is owed: 0.25 ms a maker of a full account. */
static void test_what_is_owed(void)
{
    struct host_order order = { .price = M, .quantity = INT64_C(10000000), .expiry = TRADE_GTC };

    trade_open(&host, NULL);
    fill_book(MAKERS);
    CHECK(refuse(1) == SHORT && owed_ns(1) == 100 * 250000); /* 116 - 16 */
    host.clock_ns += HOST_SECOND_NS;
    CHECK(trade_limit(&host, 1, 1600, M) == TRADE_OK);                  /* 16 fills */
    CHECK(trade_tif(&host, 1, 10000000, M - 1, TRADE_IOC) == TRADE_OK); /* meets nobody */
    CHECK(owed_ns(1) < 0);
    /* without the margin: 100 makers are left, row 32 */
    CHECK(trade_limit(&host, 1, INT64_C(10000000), M) == STATUS_insufficient_margin_to_trade);
    CHECK(owed_ns(1) == 84 * 250000);
    /* a replacement that would take them */
    host.clock_ns += HOST_SECOND_NS;
    struct trade_id rests = trade_rest(&host, 1, 100, M - 100);
    CHECK(trade_replace(&host, 1, rests, &order, 0) == STATUS_insufficient_margin_to_trade);
    CHECK(owed_ns(1) == 84 * 250000);
    /* what is owed adds up, less the time between */
    CHECK(refuse(1) == SHORT && owed_ns(1) == 2 * 84 * 250000 - 1);
    CHECK(owed_ns(2) < 0);
    host_close(&host);
}

/* A look over dead orders that refuses: row 28 in a batch, row 22. */
static void test_looks(void)
{
    struct host_order order = { .quantity = 100, .asset = HOST_BTC };

    trade_open(&host, "engine.work_per_command=1\n");
    host.skip_audit = true;
    uint64_t expiry = engine_time_next(host.engine, host.clock_ns) + 1000;
    for (uint32_t k = 0; k < 100; k++)
        CHECK(trade_tif(&host, 2, -100, M, expiry) == TRADE_OK);
    trade_rest(&host, 3, -100, M + 50000); /* 5 % away: beyond the slippage */
    host.clock_ns = expiry;
    /* one unit of work behind each command releases one, before: none */
    CHECK(trade_at_market(&host, 1, &order, 1000) == STATUS_rejected_slippage_exceeds_maximum);
    CHECK(owed_ns(1) == 84 * 250000);
    host.clock_ns += HOST_SECOND_NS;
    CHECK(trade_post(&host, 1, 100, M + 50000) == STATUS_rejected_post_only_would_cross_book);
    CHECK(owed_ns(1) == 83 * 250000);
    host.clock_ns += HOST_SECOND_NS;
    /* each item of the check, and each alone: 98 * 4 */
    for (uint32_t k = 0; k < 2; k++)
        basket_post(&basket, &host, 100, M + 50000);
    basket.atomic = 1;
    CHECK(basket_send(&basket, &host, 1) == STATUS_rejected_post_only_would_cross_book);
    CHECK(owed_ns(1) == (98 * 4 - 16) * 250000);
    host.clock_ns += HOST_SECOND_NS;
    CHECK(trade_post(&host, 1, 100, M) == TRADE_OK); /* the dead go: nothing is owed */
    CHECK(owed_ns(1) < 0);
    host_close(&host);
}

/* Above 16 s no order enters, with the time until one may; whatever ends orders is spared, and
 * other accounts are. What is owed is in the image. */
static void test_wait(void)
{
    static struct host loaded;
    static struct image_copy copy;
    struct image_problem problem;
    struct host_order order = { .price = M - 100, .quantity = 100, .expiry = TRADE_GTC };

    trade_open(&host, NULL);
    fill_book(MAKERS);
    struct trade_id rests[2] = { trade_rest(&host, 1, 200, M - 100),
                                 trade_rest(&host, 1, 200, M - 100) };
    for (uint32_t k = 0; k < 16; k++) /* 4,080 * 0.25 ms = 1.02 s each */
        CHECK(refuse_batch(1) == TRADE_OK && basket_result(&host, 63) == SHORT);
    CHECK(owed_ns(1) == INT64_C(16320) * (int64_t)MS - 15);
    uint64_t before = engine_sequence(host.engine);
    CHECK(refuse_batch(1) == LATE && host.is_peeked && host.result.retry_after_ms == 320);
    CHECK(refuse(1) == LATE && trade_replace(&host, 1, rests[0], &order, 0) == LATE);
    CHECK(trade_at_market(&host, 1, &order, 0) == LATE && host.is_peeked);
    CHECK(engine_sequence(host.engine) == before);
    image_copy_take(&copy, host.engine);
    CHECK(image_copy_open(&copy, &loaded, NULL, &problem));
    loaded.clock_ns = host.clock_ns;
    CHECK(trade_limit(&loaded, 1, 100, M - 200) == LATE && loaded.result.retry_after_ms == 320);
    host_close(&loaded);
    image_copy_free(&copy);
    CHECK(trade_cut(&host, 1, rests[0], 100, 0) == TRADE_OK);
    basket = (struct basket){ 0 };
    basket_cut(&basket, rests[0], 50);
    basket_cancel(&basket, rests[1]);
    CHECK(basket_send(&basket, &host, 1) == TRADE_OK && basket_result(&host, 1) == TRADE_OK);
    CHECK(host_cancel(&host, 1, rests[0].bytes) == TRADE_OK);
    CHECK(refuse(2) == STATUS_self_trade_prevention); /* another's, whatever he does */
    CHECK(trade_limit(&host, 3, 100, M - 200) == TRADE_OK);
    host.clock_ns = engine_time(host.engine) + 319 * MS;
    CHECK(trade_limit(&host, 1, 100, M - 200) == LATE && host.result.retry_after_ms == 1);
    host.clock_ns += MS;
    CHECK(trade_limit(&host, 1, 100, M - 200) == TRADE_OK);
    host_close(&host);
}

static void join(uint32_t n, uint64_t usdc)
{
    uint64_t id = host_account(&host, n);

    if (usdc != 0)
        CHECK(host_deposit(&host, id, usdc * HOST_USDC) == TRADE_OK);
}

/* 2 ms a maker of a small account, 16 ms of an unfunded one; all unfunded ones together owe 8 us a
 * maker and have 1 s. */
static void test_classes(void)
{
    enum { SMALL = TRADE_ACCOUNTS + 1, POOR };

    trade_open(&host, "limits.funding_small=10\nlimits.funding_full=1000\n"
                      "engine.makers_max=65536\n");
    fill_book(1008);
    join(SMALL, 999);
    for (uint32_t n = POOR; n < POOR + 4; n++)
        join(n, 9);
    CHECK(refuse(SMALL) == SHORT && owed_ns(SMALL) == 992 * 2 * (int64_t)MS);
    CHECK(refuse(POOR) == SHORT && owed_ns(POOR) == 992 * 16 * (int64_t)MS);
    CHECK(owed_ns(0) == 992 * 8000 && owed_ns(POOR + 1) < 0);
    CHECK(refuse(POOR) == SHORT); /* 15.872 s, behind it twice */
    CHECK(refuse(POOR) == LATE && host.result.retry_after_ms == 15744);
    /* (64 * 1,008 - 16) * 8 us = 0.515968 s each, with the 0.015872 of the first: 1.047808 s */
    CHECK(refuse_batch(POOR + 1) == TRADE_OK && refuse_batch(POOR + 2) == TRADE_OK);
    CHECK(trade_limit(&host, POOR + 3, 100, M - 200) == LATE);
    CHECK(host.result.retry_after_ms == 48);
    CHECK(trade_limit(&host, SMALL, 100, M - 200) == TRADE_OK);
    host.clock_ns = engine_time(host.engine) + 48 * MS;
    CHECK(trade_limit(&host, POOR + 3, 100, M - 200) == TRADE_OK);
    CHECK(refuse(1) == SHORT); /* funded ones have no part in it */
    CHECK(owed_ns(0) <= (int64_t)(1000 * MS));
    host_close(&host);
}

int main(void)
{
    test_what_is_owed();
    test_looks();
    test_wait();
    test_classes();
    return 0;
}
