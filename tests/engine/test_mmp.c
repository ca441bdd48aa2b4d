/* Makers' protection (codes 26 and 27; R10): the window of 64 steps, both limits, what
 * a freeze cancels and refuses, how it ends. BTC-PERP of W10 at mark 100,000.0. A window of 64 ms
 * has steps of 1 ms. */
#include "basket.h"
#include "image_copy.h"

#define M  TRADE_MARK
#define MS UINT64_C(1000000)

static struct host host;

struct set {
    uint32_t window_ms, frozen_ms;
    uint64_t quantity, net;
    uint16_t asset; /* 0: HOST_BTC */
    uint8_t pad;
};

static enum status send(uint16_t code, uint32_t n, const struct set *set)
{
    uint8_t body[48] = { 0 }, key[32];

    host_session_key(n, key);
    cc_store64(body, n);
    cc_store16(body + 16, set->asset != 0 ? set->asset : HOST_BTC);
    body[18] = set->pad;
    cc_store32(body + 20, set->window_ms);
    cc_store32(body + 24, set->frozen_ms);
    cc_store64(body + 32, set->quantity);
    cc_store64(body + 40, set->net);
    struct host_request request = { .code = code,
                                    .body = body,
                                    .body_bytes = code == REQUEST_set_mmp ? 48 : 24,
                                    .key = key,
                                    .key_bytes = sizeof key };
    return host_signed(&host, &request);
}

static enum status protect(uint32_t window_ms, uint32_t frozen_ms, uint64_t quantity, uint64_t net)
{
    return send(
        REQUEST_set_mmp, 1,
        &(struct set){
            .window_ms = window_ms, .frozen_ms = frozen_ms, .quantity = quantity, .net = net });
}

static enum status reset(void)
{
    return send(REQUEST_reset_mmp, 1, &(struct set){ 0 });
}

static struct effect_mmp told(void)
{
    struct effect_mmp body;
    const struct host_effect *effect = host_effect(&host, EFFECT_mmp, 0);

    CHECK(effect != NULL && trade_effects(&host, EFFECT_mmp) == 1);
    memcpy(&body, effect->bytes, sizeof body);
    CHECK(body.portfolio.account_id == 1 && body.asset_id == HOST_BTC);
    return body;
}

/* Account 1's resting order of this quantity is filled. */
static void fill(int64_t quantity)
{
    trade_rest(&host, 1, quantity, M);
    CHECK(trade_tif(&host, 2, -quantity, M, TRADE_IOC) == TRADE_OK);
    CHECK(trade_effects(&host, EFFECT_trade) == 1);
}

static void test_rows(void)
{
    static const struct row {
        int line;
        const char *name;
        struct set set;
        enum status want;
    } rows[] = {
        { __LINE__, "asset 0", { 1, 0, 1, 0, 0xFFFF, 1 }, STATUS_order_rejected_invalid_market },
        { __LINE__, "asset", { 1, 0, 1, 0, 9, 1 }, STATUS_rejected_market_not_found },
        { __LINE__, "pad", { 1, 0, 1, 0, 0, 1 }, STATUS_order_rejected_invalid },
        { __LINE__, "no window", { 0, 0, 1, 0, 0, 0 }, STATUS_order_rejected_invalid },
        { __LINE__, "no limit", { 1, 0, 0, 0, 0, 0 }, STATUS_order_rejected_invalid },
        { __LINE__, "frozen alone", { 0, 1, 0, 0, 0, 0 }, STATUS_order_rejected_invalid },
        { __LINE__, "off", { 0, 0, 0, 0, 0, 0 }, STATUS_request_completed },
        { __LINE__, "one limit", { 1, 0, 0, 1, 0, 0 }, STATUS_request_completed },
        { __LINE__, "longest", { UINT32_MAX, UINT32_MAX, 1, 1, 0, 0 }, STATUS_request_completed },
    };

    trade_open(&host, NULL);
    for (size_t i = 0; i < CC_COUNT(rows); i++)
        CHECK_ROW(&rows[i], send(REQUEST_set_mmp, 1, &rows[i].set) == rows[i].want);
    CHECK(send(REQUEST_reset_mmp, 1, &(struct set){ .pad = 1 }) == STATUS_order_rejected_invalid);
    CHECK(send(REQUEST_reset_mmp, 1, &(struct set){ .asset = 7 }) ==
          STATUS_rejected_market_not_found);
    CHECK(reset() == TRADE_OK && host.effect_count == 1); /* not frozen: nothing told */
    CHECK(send(REQUEST_reset_mmp, 3, &(struct set){ 0 }) == TRADE_OK); /* nothing set */
    host_close(&host);
}

/* At the limit: 2116 before 2100, post-only orders of that market go, others stay, new post-only
 * ones are refused until the time is over. */
static void test_freeze(void)
{
    struct host_order order = { .price = M - 200, .quantity = 1000, .expiry = TRADE_GTC };

    trade_open(&host, NULL);
    CHECK(protect(1000, 5000, 3000, 0) == TRADE_OK);
    struct trade_id plain = trade_rest(&host, 1, 1000, M - 300);
    CHECK(trade_post(&host, 1, 1000, M - 400) == TRADE_OK);
    struct trade_id post = trade_last_id(&host);
    CHECK(trade_post(&host, 3, 1000, M - 400) == TRADE_OK);
    struct trade_id others = trade_last_id(&host);
    fill(2990);
    CHECK(trade_effects(&host, EFFECT_mmp) == 0 && trade_remaining(&host, 1, post) == 1000);
    trade_rest(&host, 1, 1000, M);
    CHECK(trade_tif(&host, 2, -10, M, TRADE_IOC) == TRADE_OK);
    uint64_t t = host.clock_ns;
    CHECK(told().frozen_until == t + 5000 * MS);
    const struct host_effect *mmp = host_effect(&host, EFFECT_mmp, 0);
    const struct host_effect *answer = host_effect(&host, EFFECT_answer, 0);
    CHECK(mmp->index + 1 == answer->index && host.effect_count > answer->index + 1);
    CHECK(trade_last_state(&host).reason == REASON_mmp);
    CHECK(memcmp(trade_last_state(&host).order_id, post.bytes, 16) == 0);
    CHECK(trade_order(&host, 1, post) == ORDER_NONE && trade_remaining(&host, 1, plain) == 1000);
    CHECK(trade_remaining(&host, 3, others) == 1000);

    CHECK(trade_post(&host, 1, 1000, M - 400) == STATUS_order_rejected_invalid);
    CHECK(host.result.reason == REASON_mmp_frozen && trade_effects(&host, EFFECT_order_state) == 0);
    CHECK(trade_limit(&host, 1, 1000, M - 500) == TRADE_OK);
    order.post_only = 1;
    CHECK(trade_replace(&host, 1, plain, &order, 0) == STATUS_order_rejected_invalid);
    CHECK(host.result.reason == REASON_mmp_frozen);
    host.clock_ns = t + 5000 * MS - 2;
    CHECK(host_oracle(&host, HOST_BTC, M) == TRADE_OK); /* t = the last ns of it, less one */
    CHECK(trade_post(&host, 1, 1000, M - 400) == STATUS_order_rejected_invalid);
    CHECK(trade_post(&host, 1, 1000, M - 400) == TRADE_OK); /* t = frozen_until */
    CHECK(trade_effects(&host, EFFECT_timer) == 1 && told().frozen_until == 0);
    host_close(&host);
}

/* Any other refusal carries no reason of it: rows 7 and 8 come before anything is known. */
static void test_no_reason(void)
{
    struct host_order order = { .price = M, .quantity = 1000, .expiry = TRADE_GTC, .post_only = 1 };

    trade_open(&host, NULL);
    CHECK(protect(60000, 0, 1000, 0) == TRADE_OK);
    fill(1000);
    CHECK(trade_post(&host, 1, 1000, M - 400) == STATUS_order_rejected_invalid);
    CHECK(host.result.reason == REASON_mmp_frozen);
    for (uint32_t k = 0; k < 2; k++) {
        order.asset = k == 0 ? 0xFFFF : 9;
        CHECK(host_limit(&host, 1, &order) != TRADE_OK && host.result.reason == REASON_none);
        CHECK(trade_at_market(&host, 1, &order, 0) != TRADE_OK);
        CHECK(host.result.reason == REASON_none);
    }
    host_close(&host);
}

/* The window slides in 64 steps: the current one and the 63 before it. */
static void test_window(void)
{
    trade_open(&host, NULL);
    host.clock_ns = (host.clock_ns / MS + 100) * MS; /* the beginning of a step */
    CHECK(protect(64, 0, 2000, 0) == TRADE_OK);
    host.clock_ns += 10 * MS;
    uint64_t step = host.clock_ns / MS;
    fill(1000);
    host.clock_ns = (step + 63) * MS;
    fill(990);
    CHECK(trade_effects(&host, EFFECT_mmp) == 0);
    host.clock_ns = (step + 64) * MS; /* the first fill is out of it */
    fill(1000);
    CHECK(trade_effects(&host, EFFECT_mmp) == 0);
    host.clock_ns = (step + 126) * MS; /* 990 is in its 64th step */
    fill(10);
    CHECK(told().frozen_until == UINT64_MAX);
    host_close(&host);
}

/* |net| counts signed fills; the sum of quantities does not fall by the other side. */
static void test_net(void)
{
    trade_open(&host, NULL);
    CHECK(protect(60000, 0, 0, 1000) == TRADE_OK);
    for (uint32_t k = 0; k < 5; k++) {
        fill(990);
        fill(-1980); /* net -990 */
        fill(990);
        CHECK(trade_effects(&host, EFFECT_mmp) == 0);
    }
    fill(-990);
    fill(-10);
    CHECK(told().frozen_until == UINT64_MAX);
    host_close(&host);
}

/* A taker's fills, another market's and another portfolio's do not count. */
static void test_what_counts(void)
{
    trade_open(&host, NULL);
    CHECK(protect(60000, 0, 1000, 0) == TRADE_OK);
    trade_rest(&host, 2, -5000, M);
    CHECK(trade_limit(&host, 1, 5000, M) == TRADE_OK && trade_size(&host, 1) == 5000);
    CHECK(trade_effects(&host, EFFECT_mmp) == 0);
    trade_rest(&host, 3, 5000, M);
    CHECK(trade_tif(&host, 2, -5000, M, TRADE_IOC) == TRADE_OK);
    CHECK(trade_effects(&host, EFFECT_mmp) == 0);
    fill(1000);
    CHECK(trade_effects(&host, EFFECT_mmp) == 1);
    host_close(&host);
}

/* What ends a freeze: 27, all zeros of 26; other settings do not, nor does the window begin anew by
 * itself. */
static void test_ends(void)
{
    trade_open(&host, NULL);
    CHECK(protect(60000, 0, 1000, 0) == TRADE_OK);
    fill(1000);
    CHECK(trade_post(&host, 1, 1000, M - 400) == STATUS_order_rejected_invalid);
    CHECK(protect(60000, 1000, 1000, 0) == TRADE_OK && trade_effects(&host, EFFECT_mmp) == 0);
    CHECK(trade_post(&host, 1, 1000, M - 400) == STATUS_order_rejected_invalid);
    CHECK(reset() == TRADE_OK && told().frozen_until == 0);
    CHECK(host_effect(&host, EFFECT_mmp, 0)->index == 0);
    CHECK(trade_post(&host, 1, 1000, M - 400) == TRADE_OK);
    fill(1000); /* an empty window: reached again at its limit */
    CHECK(told().frozen_until == host.clock_ns + 1000 * MS);
    fill(1000); /* frozen: counted, and nothing is reached */
    CHECK(trade_effects(&host, EFFECT_mmp) == 0);
    host_tick(&host, 1000 * MS);
    CHECK(told().frozen_until == 0 && trade_effects(&host, EFFECT_timer) == 1);
    fill(10); /* the window of a minute still holds 2,000 */
    CHECK(trade_effects(&host, EFFECT_mmp) == 1);
    CHECK(protect(0, 0, 0, 0) == TRADE_OK && told().frozen_until == 0);
    CHECK(trade_post(&host, 1, 1000, M - 400) == TRADE_OK);
    fill(9000);
    CHECK(trade_effects(&host, EFFECT_mmp) == 0);
    host_close(&host);
}

/* Reached by one item, taken back by the next: the end of the command freezes all the same, and
 * not before: item 1 still meets the post-only order. */
static void test_end_of_command(void)
{
    static struct basket basket;

    trade_open(&host, NULL);
    CHECK(protect(60000, 0, 0, 1000) == TRADE_OK);
    CHECK(trade_post(&host, 1, 1000, M - 100) == TRADE_OK);
    CHECK(trade_post(&host, 1, -1000, M + 100) == TRADE_OK);
    CHECK(trade_post(&host, 1, -1000, M + 200) == TRADE_OK);
    basket_place(&basket, &host, -1000, M - 100)->expiry = TRADE_IOC;
    basket_place(&basket, &host, 1000, M + 100)->expiry = TRADE_IOC;
    CHECK(basket_send(&basket, &host, 2) == TRADE_OK);
    CHECK(trade_effects(&host, EFFECT_trade) == 2 && trade_size(&host, 1) == 0);
    CHECK(told().frozen_until == UINT64_MAX);
    CHECK(trade_portfolio(&host, 1)->open_order_count == 0);
    host_close(&host);
}

/* The setting outlives position and orders, and an image carries window, limits and freeze. */
static void test_image(void)
{
    static struct image_copy copy;
    static struct host loaded;
    struct image_problem problem;

    trade_open(&host, NULL);
    CHECK(send(REQUEST_set_mmp, 3, &(struct set){ .window_ms = 9, .quantity = 5 }) == TRADE_OK);
    CHECK(protect(60000, 2000, 2000, 0) == TRADE_OK);
    fill(1500);
    CHECK(trade_tif(&host, 1, -1500, M - 900, TRADE_IOC) == TRADE_OK);
    fill(-400); /* 1,900 */
    image_copy_take(&copy, host.engine);
    CHECK(image_copy_open(&copy, &loaded, NULL, &problem));
    host.mirror = &loaded; /* the same effects from here on */
    fill(100);
    CHECK(told().frozen_until == host.clock_ns + 2000 * MS);
    host_close(&loaded);
    image_copy_take(&copy, host.engine);
    CHECK(image_copy_open(&copy, &loaded, NULL, &problem));
    CHECK(trade_post(&host, 1, 1000, M - 400) == STATUS_order_rejected_invalid);
    host_tick(&host, 2000 * MS);
    CHECK(told().frozen_until == 0);
    host.mirror = NULL;
    host_close(&loaded);
    image_copy_free(&copy);
    host_close(&host);
}

int main(void)
{
    test_rows();
    test_freeze();
    test_no_reason();
    test_window();
    test_net();
    test_what_counts();
    test_ends();
    test_end_of_command();
    test_image();
    return 0;
}
