/* The dead-man (code 25; R10): range of its deadline, orders dead from it on, one
 * firing, what enters behind it, reasons and images. BTC-PERP of W10 at mark 100,000.0. */
#include "image_copy.h"
#include "trade.h"

#define M      TRADE_MARK
#define SECOND HOST_SECOND_NS

static struct host host;

static enum status schedule(uint32_t n, uint64_t deadline_ns)
{
    uint8_t body[24] = { 0 }, key[32];

    host_session_key(n, key);
    cc_store64(body, n);
    cc_store64(body + 16, deadline_ns);
    struct host_request request = { .code = REQUEST_schedule_cancel_all,
                                    .body = body,
                                    .body_bytes = sizeof body,
                                    .key = key,
                                    .key_bytes = sizeof key };
    return host_signed(&host, &request);
}

/* t of the next command. */
static uint64_t next_t(void)
{
    return engine_time_next(host.engine, host.clock_ns);
}

static void test_range(void)
{
    trade_open(&host, NULL);
    CHECK(schedule(1, next_t() + SECOND - 1) == STATUS_order_rejected_invalid);
    CHECK(schedule(1, next_t() + SECOND) == TRADE_OK);
    CHECK(schedule(1, next_t() + 86400 * SECOND + 1) == STATUS_order_rejected_invalid);
    CHECK(schedule(1, next_t() + 86400 * SECOND) == TRADE_OK);
    CHECK(schedule(1, next_t() - 1) == STATUS_order_rejected_invalid);
    CHECK(trade_portfolio(&host, 1)->dead_man_ns != 0);
    CHECK(schedule(1, 0) == TRADE_OK && trade_portfolio(&host, 1)->dead_man_ns == 0);
    CHECK(trade_effects(&host, EFFECT_answer) == 1 && host.effect_count == 1);
    host_close(&host);
}

/* A tick at the deadline: 2115, then every resting order, reduce-only ones too; once. */
static void test_fires_once(void)
{
    struct effect_timer timer;

    trade_open(&host, NULL);
    trade_rest(&host, 2, -1000, M);
    CHECK(trade_limit(&host, 1, 1000, M) == TRADE_OK);
    trade_rest(&host, 1, 1000, M - 500);
    CHECK(trade_reduce(&host, 1, -1000, M + 500, TRADE_GTC) == TRADE_OK);
    struct trade_id other = trade_rest(&host, 2, 1000, M - 500);
    uint64_t deadline = host.clock_ns + 2 * SECOND;
    CHECK(schedule(1, deadline) == TRADE_OK);
    host_tick(&host, deadline - host.clock_ns - 1);
    CHECK(trade_portfolio(&host, 1)->open_order_count == 2);
    CHECK(engine_next_deadline(host.engine) <= deadline);
    host_tick(&host, 1);
    CHECK(trade_effects(&host, EFFECT_timer) == 1);
    memcpy(&timer, host_effect(&host, EFFECT_timer, 0)->bytes, sizeof timer);
    CHECK(timer.kind == TIMER_DEAD_MAN && timer.portfolio.account_id == 1 && timer.asset_id == 0);
    CHECK(trade_portfolio(&host, 1)->open_order_count == 0);
    for (uint32_t k = 0; k < 2; k++)
        CHECK(trade_state(&host, k).status == ORDER_CANCELED &&
              trade_state(&host, k).reason == REASON_dead_man);
    CHECK(trade_remaining(&host, 2, other) == 1000);
    CHECK(trade_portfolio(&host, 1)->dead_man_ns == 0);
    trade_rest(&host, 1, 1000, M - 500);
    host_tick(&host, 5 * SECOND);
    CHECK(trade_portfolio(&host, 1)->open_order_count == 1);
    host_close(&host);
}

/* Before the timer has its unit, the order is dead for everybody who meets it: a taker passes it,
 * its owner does not find it. Work of other commands stands before the timers here. */
static void test_dead_before_it_fires(void)
{
    trade_open(&host, "engine.work_per_command=1\n");
    for (uint32_t k = 0; k < 10; k++)
        trade_rest(&host, 3, 100, M - 600); /* a list that takes ten units */
    struct trade_id dead = trade_rest(&host, 1, 1000, M - 100);
    struct trade_id alive = trade_rest(&host, 2, 1000, M - 200);
    CHECK(schedule(1, host.clock_ns + 2 * SECOND) == TRADE_OK);
    CHECK(host_cancel_all(&host, 3, 0xFFFF, 0) == TRADE_OK);
    host.clock_ns += 3 * SECOND;
    CHECK(trade_cut(&host, 1, dead, 100, 0) == STATUS_rejected_order_not_found);
    CHECK(trade_tif(&host, 4, -500, M - 200, TRADE_IOC) == TRADE_OK);
    CHECK(trade_remaining(&host, 2, alive) == 500); /* the better price was dead */
    CHECK(trade_state(&host, 0).reason == REASON_dead_man);
    CHECK(memcmp(trade_state(&host, 0).order_id, dead.bytes, 16) == 0);
    CHECK(trade_effects(&host, EFFECT_timer) == 0 && trade_portfolio(&host, 1)->dead_man_ns != 0);
    host_close(&host);
}

/* An order that enters behind the deadline lives: the touch of its portfolio fires first. */
static void test_enters_behind(void)
{
    trade_open(&host, "engine.work_per_command=1\n");
    for (uint32_t k = 0; k < 10; k++)
        trade_rest(&host, 3, 100, M - 600);
    struct trade_id dead = trade_rest(&host, 1, 1000, M - 100);
    CHECK(schedule(1, host.clock_ns + 2 * SECOND) == TRADE_OK);
    CHECK(host_cancel_all(&host, 3, 0xFFFF, 0) == TRADE_OK);
    host.clock_ns += 3 * SECOND;
    CHECK(host_oracle(&host, HOST_BTC, M) == TRADE_OK);
    CHECK(trade_portfolio(&host, 1)->dead_man_ns != 0); /* waits behind the list */
    struct trade_id made = trade_rest(&host, 1, 1000, M - 100);
    CHECK(host.effects[0].code == EFFECT_timer); /* first of all */
    CHECK(trade_portfolio(&host, 1)->dead_man_ns == 0);
    for (uint32_t k = 0; k < 20; k++)
        host_tick(&host, 1000);
    CHECK(trade_order(&host, 1, dead) == ORDER_NONE && trade_remaining(&host, 1, made) == 1000);
    CHECK(trade_tif(&host, 4, -500, M - 100, TRADE_IOC) == TRADE_OK);
    CHECK(trade_remaining(&host, 1, made) == 500);
    host_close(&host);
}

/* Code 25 behind a deadline that has come does not save the orders. */
static void test_too_late(void)
{
    trade_open(&host, NULL);
    struct trade_id dead = trade_rest(&host, 1, 1000, M - 100);
    CHECK(schedule(1, host.clock_ns + 2 * SECOND) == TRADE_OK);
    host.clock_ns += 2 * SECOND;
    CHECK(schedule(1, host.clock_ns + 9 * SECOND) == TRADE_OK);
    CHECK(host.effects[0].code == EFFECT_timer);
    CHECK(trade_order(&host, 1, dead) == ORDER_NONE);
    CHECK(trade_portfolio(&host, 1)->dead_man_ns != 0); /* the new one */
    /* and one that is moved in time saves them */
    struct trade_id kept = trade_rest(&host, 1, 1000, M - 100);
    CHECK(schedule(1, 0) == TRADE_OK);
    host_tick(&host, 20 * SECOND);
    CHECK(trade_remaining(&host, 1, kept) == 1000);
    host_close(&host);
}

/* A list that was made before gives the reason, and the deadline comes before an expiry. */
static void test_reasons(void)
{
    trade_open(&host, "engine.work_per_command=1\n");
    CHECK(trade_tif(&host, 1, 1000, M - 100, host.clock_ns + 3 * SECOND) == TRADE_OK);
    struct trade_id timed = trade_last_id(&host);
    CHECK(schedule(1, host.clock_ns + 4 * SECOND) == TRADE_OK);
    for (uint32_t k = 0; k < 10; k++)
        trade_rest(&host, 3, 100, M - 600);
    CHECK(host_cancel_all(&host, 3, 0xFFFF, 0) == TRADE_OK);
    host.clock_ns += 4 * SECOND; /* expired before, but it is on the dead-man's list by rule */
    CHECK(trade_tif(&host, 4, -500, M - 100, TRADE_IOC) == TRADE_OK);
    CHECK(memcmp(trade_state(&host, 0).order_id, timed.bytes, 16) == 0);
    CHECK(trade_state(&host, 0).status == ORDER_CANCELED);
    CHECK(trade_state(&host, 0).reason == REASON_dead_man);
    host_close(&host);

    trade_open(&host, "engine.work_per_command=1\n");
    trade_rest(&host, 1, 1000, M - 300);
    trade_rest(&host, 1, 1000, M - 100);
    CHECK(schedule(1, host.clock_ns + 2 * SECOND) == TRADE_OK);
    CHECK(host_cancel_all(&host, 1, 0xFFFF, 0) == TRADE_OK); /* releases one */
    CHECK(trade_portfolio(&host, 1)->open_order_count == 1);
    host.clock_ns += 2 * SECOND;
    CHECK(trade_tif(&host, 4, -500, M - 300, TRADE_IOC) == TRADE_OK);
    CHECK(trade_state(&host, 0).reason == REASON_cancel_all);
    host_close(&host);
}

/* Two of one deadline fire by portfolio; an image in between fires the same. */
static void test_image(void)
{
    static struct image_copy copy;
    static struct host loaded;
    struct image_problem problem;
    struct effect_timer timer;

    trade_open(&host, "engine.work_per_command=1\n");
    uint64_t deadline = host.clock_ns + 3 * SECOND;
    CHECK(schedule(4, deadline) == TRADE_OK && schedule(2, deadline) == TRADE_OK);
    CHECK(schedule(3, deadline - 1) == TRADE_OK);
    image_copy_take(&copy, host.engine);
    CHECK(image_copy_open(&copy, &loaded, NULL, &problem));
    static const uint64_t want[] = { 3, 2, 4 };
    uint32_t fired = 0;
    host.mirror = &loaded;
    host_tick(&host, deadline - host.clock_ns);
    for (uint32_t k = 0; k < 12; k++) {
        if (trade_effects(&host, EFFECT_timer) != 0) {
            memcpy(&timer, host_effect(&host, EFFECT_timer, 0)->bytes, sizeof timer);
            CHECK(timer.portfolio.account_id == want[fired++]);
        }
        host_tick(&host, 1000);
    }
    CHECK(fired == 3);
    host.mirror = NULL;
    host_close(&loaded);
    image_copy_free(&copy);
    host_close(&host);
}

int main(void)
{
    test_range();
    test_fires_once();
    test_dead_before_it_fires();
    test_enters_behind();
    test_too_late();
    test_reasons();
    test_image();
    return 0;
}
