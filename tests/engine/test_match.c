/* Matching (rules.md R3): price-time, the four times in force, post-only, reduce-only, the four
 * self-trade modes, dead and refused makers, makers_max; rows 28 to 33 of R11. Mark 100,000.0. */
#include "engine/price/mark.h"
#include "engine/trade/match.h"
#include "trade.h"

#define M TRADE_MARK

/* A level is FIFO, a better price comes first, a trade is at the maker's price. */
static void test_priority(void)
{
    static struct host host;

    trade_open(&host, NULL);
    struct trade_id late = trade_rest(&host, 1, -1000, M + 10);
    struct trade_id first = trade_rest(&host, 2, -1000, M);
    struct trade_id second = trade_rest(&host, 3, -1000, M);
    CHECK(trade_limit(&host, 4, 1500, M + 5) == TRADE_OK);
    CHECK(trade_effects(&host, EFFECT_trade) == 2);
    CHECK(trade_trade(&host, 0).price == M && trade_trade(&host, 0).size == 1000);
    CHECK(trade_trade(&host, 1).price == M && trade_trade(&host, 1).size == 500);
    CHECK(trade_remaining(&host, 2, first) == 0);
    CHECK(trade_remaining(&host, 3, second) == 500);
    CHECK(trade_remaining(&host, 1, late) == 1000);
    /* the price of the taker's limit is not passed: 500 fill, the rest rests at M + 5 */
    struct trade_id rest = trade_rest(&host, 5, 2000, M + 5);
    CHECK(trade_remaining(&host, 5, rest) == 1500);
    CHECK(trade_last_state(&host).status == ORDER_PARTIALLY_FILLED);
    CHECK(trade_last_state(&host).filled == 500 && trade_last_state(&host).remaining == 1500);
    /* the other side, two levels, best first */
    trade_rest(&host, 6, 1000, M);
    CHECK(trade_limit(&host, 2, -2500, M) == TRADE_OK);
    CHECK(trade_trade(&host, 0).price == M + 5 && trade_trade(&host, 0).size == 1500);
    CHECK(trade_trade(&host, 1).price == M && trade_trade(&host, 1).size == 1000);
    CHECK(trade_trade(&host, 0).taker_side == ORDER_SHORT);
    host_close(&host);
}

static void test_times_in_force(void)
{
    static struct host host;

    trade_open(&host, NULL);
    /* IOC: 0 filled is still request_completed, order CANCELED */
    CHECK(trade_tif(&host, 1, 1000, M, TRADE_IOC) == TRADE_OK);
    CHECK(trade_last_state(&host).status == ORDER_CANCELED);
    CHECK(trade_last_state(&host).reason == REASON_time_in_force);
    CHECK(trade_last_state(&host).remaining == 1000);
    CHECK(host.engine->orders.count == 0 && host.engine->holdings.slots.count == 0);
    trade_rest(&host, 2, -1000, M);
    CHECK(trade_tif(&host, 1, 1500, M, TRADE_IOC) == TRADE_OK);
    CHECK(trade_last_state(&host).status == ORDER_CANCELED);
    CHECK(trade_last_state(&host).filled == 1000 && trade_last_state(&host).remaining == 500);
    /* FOK: short by one: refused, book untouched; exact: filled */
    struct trade_id maker = trade_rest(&host, 2, -1000, M);
    CHECK(trade_tif(&host, 1, 1001, M, TRADE_FOK) ==
          STATUS_rejected_f_o_k_not_fully_filled_low_liquidity);
    CHECK(trade_remaining(&host, 2, maker) == 1000);
    CHECK(trade_effects(&host, EFFECT_book_level) == 0);
    CHECK(trade_tif(&host, 1, 1000, M, TRADE_FOK) == TRADE_OK);
    CHECK(trade_last_state(&host).status == ORDER_FILLED);
    /* GTT: alive before its deadline, dead from it on, whoever meets it */
    uint64_t expiry = engine_time_next(host.engine, host.clock_ns) + 3000;
    CHECK(trade_tif(&host, 2, -1000, M, expiry) == TRADE_OK);
    struct trade_id gtt;
    memcpy(gtt.bytes, host.id, sizeof gtt.bytes);
    host.clock_ns = expiry - 1;
    CHECK(trade_tif(&host, 1, 400, M, TRADE_IOC) == TRADE_OK);
    CHECK(trade_remaining(&host, 2, gtt) == 600);
    host.clock_ns = expiry;
    CHECK(host_cancel(&host, 2, gtt.bytes) == STATUS_rejected_order_not_found);
    CHECK(trade_remaining(&host, 2, gtt) == 0); /* the timer's unit came behind the answer */
    CHECK(trade_last_state(&host).status == ORDER_EXPIRED);
    host_close(&host);
}

/* An expired maker is passed over; it is removed, as EXPIRED, only when the taker is accepted. */
static void test_dead_makers(void)
{
    static struct host host;

    trade_open(&host, NULL);
    uint64_t expiry = engine_time_next(host.engine, host.clock_ns) + 3000;
    CHECK(trade_tif(&host, 2, -1000, M, expiry) == TRADE_OK);
    struct trade_id live = trade_rest(&host, 3, -1000, M);
    host.clock_ns = expiry;
    CHECK(trade_tif(&host, 1, 2000, M, TRADE_FOK) ==
          STATUS_rejected_f_o_k_not_fully_filled_low_liquidity);
    /* refused: the FOK left it; the timer then took it: a REJECTED and an EXPIRED order */
    CHECK(trade_effects(&host, EFFECT_timer) == 1);
    expiry = engine_time_next(host.engine, host.clock_ns) + 3000;
    CHECK(trade_tif(&host, 2, -1000, M - 5, expiry) == TRADE_OK);
    host.clock_ns = expiry;
    CHECK(trade_tif(&host, 1, 500, M, TRADE_IOC) == TRADE_OK);
    CHECK(trade_effects(&host, EFFECT_trade) == 1 && trade_trade(&host, 0).price == M);
    CHECK(trade_state(&host, 0).status == ORDER_EXPIRED); /* before the fill, in the order met */
    CHECK(trade_effects(&host, EFFECT_timer) == 0);
    CHECK(trade_remaining(&host, 3, live) == 500);
    /* post-only: the dead one at its price does not cross; it is gone before the order rests */
    CHECK(host_cancel(&host, 3, live.bytes) == TRADE_OK);
    expiry = engine_time_next(host.engine, host.clock_ns) + 3000;
    CHECK(trade_tif(&host, 2, -1000, M, expiry) == TRADE_OK);
    host.clock_ns = expiry - 1;
    CHECK(trade_post(&host, 4, 1000, M) == STATUS_rejected_post_only_would_cross_book);
    CHECK(trade_post(&host, 4, 1000, M) == TRADE_OK);
    CHECK(trade_state(&host, 0).status == ORDER_EXPIRED);
    CHECK(trade_state(&host, 1).status == ORDER_OPEN);
    host_close(&host);
}

/* Any opposite resting price at or through the limit, own orders too. */
static void test_post_only(void)
{
    static struct host host;

    trade_open(&host, NULL);
    trade_rest(&host, 1, -1000, M);
    CHECK(trade_post(&host, 2, 1000, M) == STATUS_rejected_post_only_would_cross_book);
    CHECK(trade_post(&host, 1, 1000, M + 1) == STATUS_rejected_post_only_would_cross_book);
    CHECK(trade_post(&host, 2, 1000, M - 1) == TRADE_OK);
    CHECK(trade_post(&host, 1, -1000, M - 1) == STATUS_rejected_post_only_would_cross_book);
    CHECK(trade_post(&host, 1, -1000, M) == TRADE_OK);
    host_close(&host);
}

/* Contact before any fill, and after one, in each of the four modes. Account 1 sells 1,000 at
 * M + 1; then buys 3,000 at M + 1, when `before` with 2's 500 at M in front. */
struct stp_row {
    int line;
    const char *name;
    uint8_t stp;
    uint64_t expiry;
    bool before;
    enum status want;
    enum order_state state; /* of the taker */
    uint8_t reason;
    uint64_t filled, remaining, maker; /* what is left of 1's sale */
};

static void run_stp(const struct stp_row *row)
{
    static struct host host;

    trade_open(&host, NULL);
    struct trade_id own = trade_rest(&host, 1, -1000, M + 1);
    if (row->before)
        trade_rest(&host, 2, -500, M);
    CHECK_ROW(row, trade_stp(&host, 1, 3000, M + 1, row->expiry, row->stp) == row->want);
    struct effect_order_state taker = trade_last_state(&host);
    CHECK_ROW(row, taker.status == row->state);
    CHECK_ROW(row, taker.reason == row->reason);
    CHECK_ROW(row, taker.filled == row->filled && taker.remaining == row->remaining);
    CHECK_ROW(row, trade_remaining(&host, 1, own) == row->maker);
    CHECK_ROW(row, trade_size(&host, 1) == (int64_t)row->filled);
    trade_check_figures(&host);
    host_close(&host);
}

static void test_self_trade(void)
{
    enum { STP = STATUS_self_trade_prevention };
    static const struct stp_row rows[] = {
        { __LINE__, "taker, first", 0, TRADE_GTC, false, STATUS_self_trade_prevention,
          ORDER_REJECTED, STP, 0, 3000, 1000 },
        { __LINE__, "taker, after a fill", 0, TRADE_GTC, true, TRADE_OK, ORDER_CANCELED, STP, 500,
          2500, 1000 },
        { __LINE__, "taker, FOK after a fill", 0, TRADE_FOK, true, STATUS_self_trade_prevention,
          ORDER_REJECTED, STP, 0, 3000, 1000 },
        { __LINE__, "maker, first", 1, TRADE_GTC, false, TRADE_OK, ORDER_OPEN, 0, 0, 3000, 0 },
        { __LINE__, "maker, after a fill", 1, TRADE_GTC, true, TRADE_OK, ORDER_PARTIALLY_FILLED, 0,
          500, 2500, 0 },
        { __LINE__, "maker, FOK: it counts 0", 1, TRADE_FOK, true,
          STATUS_rejected_f_o_k_not_fully_filled_low_liquidity, ORDER_REJECTED,
          STATUS_rejected_f_o_k_not_fully_filled_low_liquidity, 0, 3000, 1000 },
        { __LINE__, "both, first", 2, TRADE_GTC, false, TRADE_OK, ORDER_CANCELED, STP, 0, 3000, 0 },
        { __LINE__, "both, after a fill", 2, TRADE_GTC, true, TRADE_OK, ORDER_CANCELED, STP, 500,
          2500, 0 },
        { __LINE__, "both, FOK first", 2, TRADE_FOK, false, STATUS_self_trade_prevention,
          ORDER_REJECTED, STP, 0, 3000, 1000 },
        { __LINE__, "decrement, first: it rests OPEN", 3, TRADE_GTC, false, TRADE_OK, ORDER_OPEN, 0,
          0, 2000, 0 },
        { __LINE__, "decrement, after a fill", 3, TRADE_GTC, true, TRADE_OK, ORDER_PARTIALLY_FILLED,
          0, 500, 1500, 0 },
        { __LINE__, "decrement, FOK is a short walk", 3, TRADE_FOK, false,
          STATUS_rejected_f_o_k_not_fully_filled_low_liquidity, ORDER_REJECTED,
          STATUS_rejected_f_o_k_not_fully_filled_low_liquidity, 0, 3000, 1000 },
    };

    for (size_t i = 0; i < CC_COUNT(rows); i++)
        run_stp(&rows[i]);
}

/* DECREMENT, the taker smaller and equal: the smaller is CANCELED as it stands. */
static void test_decrement(void)
{
    static struct host host;

    trade_open(&host, NULL);
    struct trade_id own = trade_rest(&host, 1, -3000, M);
    CHECK(trade_stp(&host, 1, 1000, M, TRADE_GTC, STP_DECREMENT) == TRADE_OK);
    CHECK(trade_last_state(&host).status == ORDER_CANCELED);
    CHECK(trade_last_state(&host).remaining == 1000);
    CHECK(trade_last_state(&host).reason == STATUS_self_trade_prevention);
    CHECK(trade_remaining(&host, 1, own) == 2000);
    /* the maker is told first: OPEN with what is left, a reduction by 1,000 */
    CHECK(trade_state(&host, 0).status == ORDER_OPEN && trade_state(&host, 0).remaining == 2000);
    struct effect_book_order change;
    memcpy(&change, host_effect(&host, EFFECT_book_order, 0)->bytes, sizeof change);
    CHECK(change.action == BOOK_REDUCE && change.quantity == 1000);
    CHECK(trade_stp(&host, 1, 2000, M, TRADE_GTC, STP_DECREMENT) == TRADE_OK);
    CHECK(trade_state(&host, 0).status == ORDER_CANCELED &&
          trade_state(&host, 0).remaining == 2000);
    CHECK(trade_last_state(&host).status == ORDER_CANCELED);
    CHECK(trade_last_state(&host).remaining == 2000);
    CHECK(host.engine->orders.count == 0 && trade_effects(&host, EFFECT_trade) == 0);
    host_close(&host);
}

/* Reduce-only: clipped to the position; what is left dies with the position. */
static void test_reduce_only_taker(void)
{
    static struct host host;

    trade_open(&host, NULL);
    trade_rest(&host, 2, -1000, M);
    CHECK(trade_limit(&host, 1, 1000, M) == TRADE_OK); /* 1 is long 1,000 */
    trade_rest(&host, 3, 5000, M);
    CHECK(trade_reduce(&host, 1, -3000, M, TRADE_GTC) == TRADE_OK);
    CHECK(trade_size(&host, 1) == 0);
    CHECK(trade_last_state(&host).status == ORDER_CANCELED);
    CHECK(trade_last_state(&host).reason == REASON_reduce_only);
    CHECK(trade_last_state(&host).filled == 1000 && trade_last_state(&host).remaining == 2000);
    host_close(&host);
}

/* Two reduce-only sales of one portfolio (long 1,000) in front of another seller: the first is
 * clipped to the position, the second counts 0; both are CANCELED in passing. */
static void test_reduce_only_makers(void)
{
    static struct host host;

    trade_open(&host, NULL);
    trade_rest(&host, 2, -1000, M);
    CHECK(trade_limit(&host, 1, 1000, M) == TRADE_OK);
    CHECK(trade_reduce(&host, 1, -1500, M + 1, TRADE_GTC) == TRADE_OK);
    struct trade_id clipped, second;
    memcpy(clipped.bytes, host.id, sizeof clipped.bytes);
    CHECK(trade_reduce(&host, 1, -700, M + 2, TRADE_GTC) == TRADE_OK);
    memcpy(second.bytes, host.id, sizeof second.bytes);
    struct trade_id other = trade_rest(&host, 3, -1000, M + 3);
    /* FOK is exact: 1,000 + 0 + 1,000 */
    CHECK(trade_tif(&host, 4, 2001, M + 3, TRADE_FOK) ==
          STATUS_rejected_f_o_k_not_fully_filled_low_liquidity);
    CHECK(trade_remaining(&host, 1, clipped) == 1500 && trade_remaining(&host, 1, second) == 700);
    CHECK(trade_tif(&host, 4, 2000, M + 3, TRADE_FOK) == TRADE_OK);
    CHECK(trade_effects(&host, EFFECT_trade) == 2);
    CHECK(trade_trade(&host, 0).size == 1000 && trade_trade(&host, 1).size == 1000);
    CHECK(trade_size(&host, 1) == 0 && trade_size(&host, 4) == 2000);
    CHECK(trade_remaining(&host, 1, clipped) == 0 && trade_remaining(&host, 1, second) == 0);
    CHECK(trade_remaining(&host, 3, other) == 0);
    /* PARTIALLY_FILLED, then CANCELED with 500 left; the second CANCELED with all of it */
    CHECK(trade_state(&host, 0).status == ORDER_PARTIALLY_FILLED);
    CHECK(trade_state(&host, 1).status == ORDER_CANCELED && trade_state(&host, 1).remaining == 500);
    CHECK(trade_state(&host, 1).reason == REASON_reduce_only);
    CHECK(trade_state(&host, 2).status == ORDER_CANCELED && trade_state(&host, 2).remaining == 700);
    host_close(&host);
}

/* A position that flips kills the reduce-only orders of that (portfolio, market) at once: they are
 * not met by the next taker, though the deferred work has not removed them yet. */
static void test_flip_kills(void)
{
    static struct host host;

    trade_open(&host, "engine.work_per_command=1\n");
    trade_rest(&host, 2, -1000, M);
    CHECK(trade_limit(&host, 1, 1000, M) == TRADE_OK);
    for (uint32_t i = 0; i < 5; i++)
        CHECK(trade_reduce(&host, 1, -100, M + 10, TRADE_GTC) == TRADE_OK);
    trade_rest(&host, 3, 3000, M - 1);
    CHECK(trade_limit(&host, 1, -2000, M - 1) == TRADE_OK); /* flips to short 1,000 */
    CHECK(trade_size(&host, 1) == -1000);
    CHECK(host.engine->orders.count == 1 + 4); /* 3's rest and four dead ones: one unit was done */
    CHECK(engine_has_work(host.engine));
    CHECK(trade_tif(&host, 4, 100, M + 10, TRADE_IOC) == TRADE_OK);
    CHECK(trade_effects(&host, EFFECT_trade) == 0 && host.engine->orders.count == 1);
    CHECK(trade_state(&host, 0).reason == REASON_reduce_only);
    host_close(&host);
}

/* makers_max: filled, dead and own makers count. */
static void test_makers_max(void)
{
    static struct host host;

    trade_open(&host, "engine.makers_max=3\n");
    for (uint32_t i = 0; i < 5; i++)
        trade_rest(&host, 2, -100, M);
    CHECK(trade_tif(&host, 1, 400, M, TRADE_FOK) ==
          STATUS_rejected_f_o_k_not_fully_filled_low_liquidity);
    CHECK(trade_tif(&host, 1, 300, M, TRADE_FOK) == TRADE_OK);
    for (uint32_t i = 0; i < 2; i++)
        trade_rest(&host, 2, -100, M);
    CHECK(trade_limit(&host, 1, 1000, M) == TRADE_OK); /* does not rest: it would cross */
    CHECK(trade_last_state(&host).status == ORDER_CANCELED);
    CHECK(trade_last_state(&host).reason == REASON_match_limit);
    CHECK(trade_last_state(&host).filled == 300 && trade_last_state(&host).remaining == 700);
    /* row 28: three dead ones are counted and passed, a fourth makes it cross */
    CHECK(host_cancel_all(&host, 2, HOST_BTC, 0) == TRADE_OK);
    uint64_t expiry = engine_time_next(host.engine, host.clock_ns) + 100;
    for (uint32_t i = 0; i < 4; i++)
        CHECK(trade_tif(&host, 2, -100, M, expiry) == TRADE_OK);
    host.clock_ns = expiry;
    CHECK(trade_post(&host, 1, 100, M) == STATUS_rejected_post_only_would_cross_book);
    CHECK(host.engine->orders.count == 0); /* the timers came behind the answer */
    for (uint32_t i = 0; i < 3; i++)
        CHECK(trade_tif(&host, 2, -100, M, host.clock_ns + 50) == TRADE_OK);
    host.clock_ns += 60;
    CHECK(trade_post(&host, 1, 100, M) == TRADE_OK);
    host_close(&host);
}

/* More makers than a walk notes for its execution: 4,106 dead ones at 16 prices, passed by a
 * post-only order and by one that would take; each makes them EXPIRED and rests. */
static void test_longer_than_the_path(void)
{
    static struct host host;
    enum { DEAD = STATE_PATH_MAX + 10 };

    trade_open(&host, "engine.makers_max=8192\n");
    for (uint32_t posts = 0; posts < 2; posts++) {
        uint64_t expiry = engine_time_next(host.engine, host.clock_ns) + 100000000;
        for (uint32_t i = 0; i < DEAD; i++)
            CHECK(trade_tif(&host, 2 + i % 5, -100, M + i % 16, expiry) == TRADE_OK);
        host.clock_ns = expiry;
        CHECK((posts ? trade_post(&host, 1, 100, M + 16) : trade_limit(&host, 1, 100, M + 16)) ==
              TRADE_OK);
        CHECK(trade_effects(&host, EFFECT_order_state) == DEAD + 1);
        CHECK(trade_effects(&host, EFFECT_trade) == 0);
        CHECK(trade_state(&host, 0).status == ORDER_EXPIRED);
        CHECK(trade_state(&host, DEAD - 1).status == ORDER_EXPIRED);
        CHECK(trade_state(&host, DEAD).status == ORDER_OPEN);
        CHECK(host.engine->orders.count == 1);
        CHECK(host_cancel_all(&host, 1, HOST_BTC, 0) == TRADE_OK);
        CHECK(host.engine->orders.count == 0);
    }
    host_close(&host);
}

int main(void)
{
    test_priority();
    test_times_in_force();
    test_dead_makers();
    test_post_only();
    test_self_trade();
    test_decrement();
    test_reduce_only_taker();
    test_reduce_only_makers();
    test_flip_kills();
    test_makers_max();
    test_longer_than_the_path();
    return 0;
}
