/* The rows that reads are answered with (json.md J2, J6; wire.md W7). */
#include "engine/view/read.h"
#include "host.h"
#include "rig.h"

static struct host host;

static const char btc[32] = "BTC-PERP";

static void fill(void)
{
    host_open(&host, NULL);
    for (uint32_t n = 1; n <= 2; n++) {
        (void)host_account(&host, n);
        CHECK(host_deposit(&host, n, 100000 * HOST_USDC) == STATUS_request_completed);
    }
    CHECK(host_oracle(&host, HOST_BTC, 1000000) == STATUS_request_completed);
}

static void test_order(void)
{
    struct host_order ask = { .price = 1001000, .quantity = -2000, .expiry = UINT64_MAX, .stp = 2 };
    struct row_order row;
    uint8_t id[16];

    fill();
    CHECK(host_limit(&host, 1, &ask) == STATUS_request_completed);
    memcpy(id, host.id, 16);
    uint64_t sequence = host.result.sequence, placed_ns = host.result.processed_at_ns;
    CHECK(read_order(host.engine, 1, id, -1, &row));
    CHECK(row.account_id == 1 && row.subaccount_index == 0 && row.portfolio_index == 0);
    CHECK(memcmp(row.id, id, 16) == 0 && strcmp(row.market, "BTC-PERP") == 0);
    CHECK(row.initial == 2000 && row.remaining == 2000 && row.filled == 0);
    CHECK(row.price == 1001000 && row.expiry == UINT64_MAX && row.side == 1 && row.stp == 2);
    CHECK(row.status == 0 && row.order_type == 1 && row.post_only == 0 && row.reduce_only == 0);
    CHECK(row.sequence == sequence && row.index == 0 && row.time_ns == placed_ns);
    CHECK(row.price_decimals == 1 && row.size_decimals == 5);
    struct host_order take = { .price = 1001000, .quantity = 500, .expiry = 0 };
    CHECK(host_limit(&host, 2, &take) == STATUS_request_completed);
    CHECK(read_order(host.engine, 1, id, 0, &row));
    CHECK(row.status == 5 && row.initial == 2000 && row.remaining == 1500 && row.filled == 500);
    CHECK(row.filled_notional == (int128)1001000 * 500 && row.sequence == sequence);
    CHECK(row.updated_at_ns == host.result.processed_at_ns);
    /* Keyed by (account, id); a pin of another subaccount finds nothing (W7: 404). */
    CHECK(!read_order(host.engine, 2, id, -1, &row));
    CHECK(!read_order(host.engine, 1, host.id, -1, &row));
    CHECK(!read_order(host.engine, 1, id, 1, &row));
    CHECK(!read_order(host.engine, UINT64_MAX, id, -1, &row));
    host_close(&host);
}

/* R3: from the command on at which t >= its expiry an order is EXPIRED for whoever meets it. */
static void test_expired_order(void)
{
    struct row_order row;
    uint8_t id[16];

    fill();
    struct host_order ask = { .price = 1001000, .quantity = -2000 };
    ask.expiry = host.clock_ns + 5 * HOST_SECOND_NS;
    CHECK(host_limit(&host, 1, &ask) == STATUS_request_completed);
    memcpy(id, host.id, 16);
    CHECK(read_order(host.engine, 1, id, -1, &row) && row.status == 0 && row.expiry == ask.expiry);
    host.clock_ns = ask.expiry;
    host_tick(&host, 0);
    CHECK(!read_order(host.engine, 1, id, -1, &row)); /* its timer took it out: it has ended */
    host_close(&host);
}

/* A cancel-all of more orders than a command releases: those that wait are CANCELED for a read. */
static void test_canceled_order(void)
{
    struct row_order row;
    uint8_t ids[80][16];

    fill();
    for (uint32_t i = 0; i < 80; i++) {
        struct host_order bid = { .price = 990000, .quantity = 100, .expiry = UINT64_MAX };
        CHECK(host_limit(&host, 1, &bid) == STATUS_request_completed);
        memcpy(ids[i], host.id, 16);
    }
    CHECK(host_cancel_all(&host, 1, 0xFFFF, 0) == STATUS_request_completed);
    CHECK(engine_has_work(host.engine));
    CHECK(!read_order(host.engine, 1, ids[0], -1, &row)); /* by placing sequence */
    CHECK(read_order(host.engine, 1, ids[79], -1, &row) && row.status == 2);
    CHECK(row.reason == REASON_cancel_all && row.remaining == 100);
    host_close(&host);
}

static void test_balance(void)
{
    struct row_balance row;

    fill();
    struct host_order ask = { .price = 1001000, .quantity = -100000, .expiry = UINT64_MAX };
    CHECK(host_limit(&host, 1, &ask) == STATUS_request_completed);
    CHECK(read_balance(host.engine, 1, 0, 0, &row));
    /* R4: 1 BTC at mark 100,000 and leverage 20: IM 5,000; a sell above the mark costs nothing. */
    CHECK(row.initial_margin == (int128)(5000 * HOST_USDC) && row.maintenance_margin == 0);
    CHECK(row.withdrawable == (int64_t)(95000 * HOST_USDC));
    CHECK(row.cash_balance == row.withdrawable && row.status == 0);
    CHECK(row.equity == (int128)(100000 * HOST_USDC));
    ask.quantity = 100000;
    ask.expiry = 0;
    CHECK(host_limit(&host, 2, &ask) == STATUS_request_completed);
    CHECK(read_balance(host.engine, 2, 0, 0, &row));
    /* Bought 100 USDC above the mark, taker fee 450 ppm of 100,100: E = 100,000 - 100 - 45.045;
     * MM = 1 % of 100,000; withdrawable = cash + uPnL - IM. */
    CHECK(row.equity == INT64_C(99854955000) && row.maintenance_margin == INT64_C(1000000000));
    CHECK(row.initial_margin == INT64_C(5000000000) && row.withdrawable == INT64_C(94854955000));
    host_close(&host);
}

/* The single orders of a book as the effects 2107 say: an order's handle is the sequence of its
 * last add, and each level has them in their order. */
struct follower {
    struct row_book_order orders[64]; /* handle 0: none */
    uint8_t ids[64][16];
    uint8_t sides[64];
} seen;

static void follow(void)
{
    const struct host_effect *effect;

    for (uint32_t k = 0; (effect = host_effect(&host, EFFECT_book_order, k)) != NULL; k++) {
        struct effect_book_order body;
        uint32_t at = 0;
        memcpy(&body, effect->bytes, sizeof body);
        while (at < 64 && (seen.orders[at].handle == 0 ||
                           memcmp(seen.ids[at], body.order_id, sizeof body.order_id) != 0))
            at++;
        if (body.action == BOOK_ADD) {
            CHECK(at == 64);
            for (at = 0; seen.orders[at].handle != 0; at++)
                CHECK(at < 63);
            memcpy(seen.ids[at], body.order_id, sizeof body.order_id);
            seen.orders[at] = (struct row_book_order){ body.price, body.quantity, body.book_seq };
            seen.sides[at] = body.side;
            continue;
        }
        CHECK(at < 64);
        seen.orders[at].size -= body.quantity;
        if (seen.orders[at].size == 0)
            seen.orders[at].handle = 0;
    }
}

/* The next order of a side behind the one given: by price, then handle. */
static uint32_t behind(uint8_t side, const struct row_book_order *last)
{
    uint32_t best = 64;

    for (uint32_t i = 0; i < 64; i++) {
        const struct row_book_order *one = &seen.orders[i], *to = &seen.orders[best % 64];
        bool is_dearer = side == ORDER_LONG ? one->price < last->price : one->price > last->price;
        if (one->handle == 0 || seen.sides[i] != side ||
            !(is_dearer || (one->price == last->price && one->handle > last->handle)))
            continue;
        bool is_nearer = side == ORDER_LONG ? one->price > to->price : one->price < to->price;
        if (best == 64 || is_nearer || (one->price == to->price && one->handle < to->handle))
            best = i;
    }
    return best;
}

static void compare_side(uint8_t side, const struct row_book_order *orders, uint32_t count)
{
    struct row_book_order last = { .price = side == ORDER_LONG ? UINT64_MAX : 0 };

    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = behind(side, &last);
        CHECK(at < 64);
        last = seen.orders[at];
        CHECK(orders[i].price == last.price && orders[i].size == last.size &&
              orders[i].handle == last.handle);
    }
    CHECK(behind(side, &last) == 64);
}

static void test_single_orders(void)
{
    struct row_book row;
    struct row_book_order orders[128];
    uint64_t seed = 7;
    uint32_t most = 0;

    fill();
    for (uint32_t i = 0; i < 4000; i++) {
        uint32_t n = 1 + rig_below(&seed, 2);
        struct host_order order = { .price = 999995 + rig_below(&seed, 10),
                                    .quantity = 100 * (1 + (int64_t)rig_below(&seed, 3)),
                                    .expiry = UINT64_MAX,
                                    .stp = (uint8_t)rig_below(&seed, 4) };
        uint32_t known = rig_below(&seed, 64);
        if (rig_below(&seed, 2) == 0)
            order.quantity = -order.quantity;
        if (rig_below(&seed, 3) == 0 && seen.orders[known].handle != 0)
            (void)host_cancel(&host, n, seen.ids[known]);
        else
            (void)host_limit(&host, n, &order);
        follow();
        CHECK(read_book_orders(host.engine, btc, 64, &row, orders));
        compare_side(ORDER_LONG, orders, row.bid_count);
        compare_side(ORDER_SHORT, orders + row.bid_count, row.ask_count);
        most = row.bid_count > most ? row.bid_count : most;
        if (row.bid_count + row.ask_count > 40) {
            CHECK(host_cancel_all(&host, n, HOST_BTC, 0) == STATUS_request_completed);
            follow();
        }
    }
    CHECK(most > 5);
    CHECK(read_book_orders(host.engine, btc, 1, &row, orders));
    CHECK(row.bid_count <= 1 && row.ask_count <= 1);
    char other[32] = "ETH-PERP";
    CHECK(!read_book_orders(host.engine, other, 1, &row, orders));
    host_close(&host);
}

static void test_book_and_account(void)
{
    struct row_book row;
    struct row_level levels[8];
    struct row_account account;

    fill();
    CHECK(read_book(host.engine, btc, 4, &row, levels));
    CHECK(row.bid_count == 0 && row.ask_count == 0);
    for (uint32_t i = 0; i < 6; i++) {
        struct host_order bid = { .price = 990000 + i % 3, .quantity = 100, .expiry = UINT64_MAX };
        struct host_order ask = { .price = 1010000 + i, .quantity = -200, .expiry = UINT64_MAX };
        CHECK(host_limit(&host, 1, &bid) == STATUS_request_completed);
        CHECK(host_limit(&host, 1, &ask) == STATUS_request_completed);
    }
    CHECK(read_book(host.engine, btc, 4, &row, levels));
    CHECK(row.bid_count == 3 && row.ask_count == 4 && strcmp(row.market, "BTC-PERP") == 0);
    for (uint32_t i = 0; i < 3; i++)
        CHECK(levels[i].price == 990002 - i && levels[i].size == 200);
    for (uint32_t i = 0; i < 4; i++)
        CHECK(levels[3 + i].price == 1010000 + i && levels[3 + i].size == 200);
    uint64_t seq = row.book_seq;
    struct host_order take = { .price = 1010000, .quantity = 200, .expiry = 0 };
    CHECK(host_limit(&host, 2, &take) == STATUS_request_completed);
    CHECK(read_book(host.engine, btc, 1, &row, levels));
    CHECK(row.bid_count == 1 && row.ask_count == 1 && levels[1].price == 1010001);
    CHECK(row.book_seq > seq && row.price_decimals == 1 && row.size_decimals == 5);
    char other[32] = "ETH-PERP";
    CHECK(!read_book(host.engine, other, 1, &row, levels));

    CHECK(read_account(host.engine, 2, &account) && account.account_id == 2);
    CHECK(account.fee_tier == 0 && account.maker_fee_ppm == 150 && account.taker_fee_ppm == 450);
    CHECK(account.volume_14d == (int128)1010000 * 200 && account.status == 0);
    CHECK(!read_account(host.engine, 3, &account));
    host_close(&host);
}

int main(void)
{
    test_order();
    test_expired_order();
    test_canceled_order();
    test_balance();
    test_book_and_account();
    test_single_orders();
    return 0;
}
