/* An atomic batch (code 8; R11, Batch): all items or none, own cancels first, margin once at
 * the end, and when it fails what each item alone would have answered. BTC-PERP of W10 at mark
 * 100,000.0; 1,000 raw is 0.01 BTC, 1,000 USDC; leverage 20: 5 % initial margin. */
#include "basket.h"
#include "engine/risk/margin.h"
#include "image_copy.h"

#define M TRADE_MARK

static struct host host;
static struct basket basket;
static struct image_copy before, after;

static void open_host(const char *overrides)
{
    trade_open(&host, overrides);
    basket = (struct basket){ .atomic = 1 };
}

/* Orders, markets and work are byte for byte what they were; `all`: the records too, in which a
 * margin test may have made a bound exact (as that of any order that is refused). */
static bool is_untouched(bool all)
{
    static const uint32_t sections[] = { IMAGE_orders, IMAGE_markets, IMAGE_work, IMAGE_portfolios,
                                         IMAGE_holdings };
    bool same = true;

    image_copy_take(&after, host.engine);
    for (size_t i = 0; i < (all ? 5 : 3); i++) {
        const struct image_part *a = image_copy_part(&before, sections[i]);
        const struct image_part *b = image_copy_part(&after, sections[i]);
        same &= a->byte_count == b->byte_count &&
                memcmp(a->bytes, b->bytes, (size_t)a->byte_count) == 0;
    }
    return same;
}

/* Sends it; it must fail with this status and leave all as it was. */
static void aborts(uint32_t n, enum status want)
{
    uint32_t count = basket.count;

    image_copy_take(&before, host.engine);
    CHECK(basket_send(&basket, &host, n) == want);
    CHECK(host.result.reason == REASON_batch_aborted && host.result.item_count == count);
    CHECK(basket_answer(&host, EFFECT_NO_ITEM).status == want);
    CHECK(basket_answer(&host, EFFECT_NO_ITEM).reason == REASON_batch_aborted);
    CHECK(host.effect_count == count + 1); /* nothing but 2100s: no REJECTED order either */
    CHECK(is_untouched(true));
    trade_check_figures(&host);
}

/* A post-only may rest where the batch's own order stood, on the other side too; a cancel comes
 * first wherever it stands. */
static void test_own_cancels_first(void)
{
    open_host(NULL);
    struct trade_id ask = trade_rest(&host, 1, -1000, M + 100);
    struct trade_id bid = basket_id(basket_post(&basket, &host, 1000, M + 100));
    basket_cancel(&basket, ask);
    CHECK(basket_send(&basket, &host, 1) == TRADE_OK);
    CHECK(basket_result(&host, 0) == TRADE_OK && basket_result(&host, 1) == TRADE_OK);
    CHECK(trade_order(&host, 1, ask) == ORDER_NONE && trade_remaining(&host, 1, bid) == 1000);
    /* the cancel's effects, the placement's, then both answers and that of the batch */
    static const uint16_t want[] = { EFFECT_order_state, EFFECT_book_order, EFFECT_book_level,
                                     EFFECT_order_state, EFFECT_book_order, EFFECT_book_level,
                                     EFFECT_answer,      EFFECT_answer,     EFFECT_answer };
    CHECK(host.effect_count == CC_COUNT(want));
    for (uint32_t i = 0; i < CC_COUNT(want); i++)
        CHECK(host.effects[i].code == want[i]);
    CHECK(trade_state(&host, 0).status == ORDER_CANCELED);

    /* the same without the cancel crosses its owner's own order */
    trade_rest(&host, 1, -1000, M + 200);
    basket_post(&basket, &host, 1000, M + 200);
    aborts(1, STATUS_rejected_post_only_would_cross_book);
    CHECK(basket_result(&host, 0) == STATUS_rejected_post_only_would_cross_book);
    host_close(&host);
}

/* Two placements of one batch that would cross each other; alone each would rest. */
static void test_items_cross(void)
{
    open_host(NULL);
    basket_post(&basket, &host, 1000, M + 100);
    basket_post(&basket, &host, -1000, M + 100);
    aborts(1, STATUS_rejected_post_only_would_cross_book);
    CHECK(basket_result(&host, 0) == TRADE_OK && basket_result(&host, 1) == TRADE_OK);
    /* a replacement that moved away leaves room for one that comes */
    struct trade_id ask = trade_rest(&host, 1, -1000, M + 100);
    basket_replace(&basket, ask, -1000, M + 300);
    struct trade_id bid = basket_id(basket_post(&basket, &host, 1000, M + 200));
    CHECK(basket_send(&basket, &host, 1) == TRADE_OK);
    CHECK(trade_remaining(&host, 1, ask) == 1000 && trade_remaining(&host, 1, bid) == 1000);
    /* and the other way round it does not */
    basket_replace(&basket, bid, 1000, M + 400);
    basket_replace(&basket, ask, -1000, M + 500);
    aborts(1, STATUS_rejected_post_only_would_cross_book);
    CHECK(basket_result(&host, 0) == STATUS_rejected_post_only_would_cross_book);
    CHECK(basket_result(&host, 1) == TRADE_OK);
    basket_replace(&basket, ask, -1000, M + 500);
    basket_replace(&basket, bid, 1000, M + 400);
    CHECK(basket_send(&basket, &host, 1) == TRADE_OK);
    trade_check_figures(&host);
    host_close(&host);
}

/* The ack carries the status of the first item that fails, `results` what each alone would say. */
static void test_aborted(void)
{
    open_host(NULL);
    struct trade_id bid = trade_rest(&host, 1, 3000, M - 100);
    basket_cut(&basket, bid, 1000);                            /* 0: would do */
    basket_post(&basket, &host, 1000, M - 200);                /* 1: would do */
    basket_cut(&basket, bid, 1000)->expected_remaining = 3000; /* 2: alone it would do */
    basket_cancel(&basket, trade_last_id(&host)); /* 3: the same order: it is gone first */
    basket_post(&basket, &host, 0, M);            /* 4: fails anyhow */
    aborts(1, STATUS_rejected_order_not_found);   /* item 0, whose target item 3 has canceled */
    CHECK(basket_result(&host, 0) == TRADE_OK && basket_result(&host, 1) == TRADE_OK);
    CHECK(basket_result(&host, 2) == TRADE_OK && basket_result(&host, 3) == TRADE_OK);
    CHECK(basket_result(&host, 4) == STATUS_rejected_size_zero);

    basket_cut(&basket, bid, 1000);
    basket_cut(&basket, bid, 1000)->expected_remaining = 3000; /* it has 2,000 by then */
    aborts(1, STATUS_rejected_size_not_equal);
    basket_cut(&basket, bid, 1000);
    basket_cut(&basket, bid, 1000)->expected_remaining = 2000;
    basket_replace(&basket, bid, 500, M - 100);
    CHECK(basket_send(&basket, &host, 1) == TRADE_OK && trade_remaining(&host, 1, bid) == 500);
    host_close(&host);
}

/* An order that an item gives an expiry is met again by the items behind it: alive, for it had none
 * and the new one is to come, whether it has ever changed before (partly filled) or not. */
static void test_expiry_given(void)
{
    open_host(NULL);
    struct trade_id bid = trade_rest(&host, 1, 3000, M - 100);
    struct trade_id ask = trade_rest(&host, 1, -3000, M + 100);
    trade_rest(&host, 2, -1000, M - 100); /* the bid has 2,000 left */
    CHECK(trade_remaining(&host, 1, bid) == 2000);
    basket_replace(&basket, bid, 2000, M - 100)->expiry = host.clock_ns + HOST_SECOND_NS;
    basket_cut(&basket, bid, 500);
    basket_replace(&basket, ask, -3000, M + 100)->expiry = host.clock_ns + HOST_SECOND_NS;
    basket_cut(&basket, ask, 500);
    basket_post(&basket, &host, 1000, M + 100); /* the ask is in its way */
    aborts(1, STATUS_rejected_post_only_would_cross_book);
    for (uint32_t i = 0; i < 4; i++)
        CHECK(basket_result(&host, i) == TRADE_OK);

    basket_replace(&basket, bid, 2000, M - 100)->expiry = host.clock_ns + HOST_SECOND_NS;
    basket_cut(&basket, bid, 500);
    basket_replace(&basket, ask, -3000, M + 100)->expiry = host.clock_ns + HOST_SECOND_NS;
    basket_cut(&basket, ask, 500);
    CHECK(basket_send(&basket, &host, 1) == TRADE_OK);
    CHECK(trade_remaining(&host, 1, bid) == 1500 && trade_remaining(&host, 1, ask) == 2500);
    trade_check_figures(&host);
    host_close(&host);
}

/* What an order may be here: row 9 of everything else. */
static void test_forbidden(void)
{
    open_host(NULL);
    struct trade_id bid = trade_rest(&host, 1, 3000, M - 100);
    basket_place(&basket, &host, 1000, M - 200);
    aborts(1, STATUS_order_rejected_invalid);
    CHECK(basket_result(&host, 0) == STATUS_order_rejected_invalid);
    basket_replace(&basket, bid, 1000, M - 200)->post_only = 0;
    aborts(1, STATUS_order_rejected_invalid);
    basket_post(&basket, &host, 1000, M - 200)->post_only = 2;
    aborts(1, STATUS_order_rejected_invalid);
    basket_post(&basket, &host, 1000, M - 200)->op = 4;
    aborts(1, STATUS_order_rejected_invalid);
    basket_post(&basket, &host, 1000, M - 200)->expiry = TRADE_IOC;
    aborts(1, STATUS_rejected_invalid_order_flags);
    basket_post(&basket, &host, 1000, M - 200)->order_id[6] = 0x40;
    aborts(1, STATUS_rejected_invalid_uuid);
    struct batch_item item = *basket_post(&basket, &host, 1000, M - 200);
    *basket_post(&basket, &host, 1000, M - 200) = item;
    aborts(1, STATUS_duplicate_request_id);
    CHECK(basket_result(&host, 0) == TRADE_OK && basket_result(&host, 1) == TRADE_OK);
    *basket_post(&basket, &host, 1000, M - 200) = item; /* used by the batch that was aborted */
    aborts(1, STATUS_duplicate_request_id);
    CHECK(basket_result(&host, 0) == STATUS_duplicate_request_id);
    /* an item finds no order that its own batch places */
    struct trade_id made = basket_id(basket_post(&basket, &host, 1000, M - 200));
    basket_cut(&basket, made, 100);
    aborts(1, STATUS_rejected_order_not_found);
    CHECK(basket_result(&host, 1) == STATUS_rejected_order_not_found);
    host_close(&host);
}

/* Margin once, of the final state. 100,000 USDC at 20x carry 2,000,000 USDC: 2,000,000 raw at M. */
static void test_margin(void)
{
    open_host(NULL);
    struct trade_id big = trade_rest(&host, 1, 1900000, M);
    /* each step alone would pass; both together need 105,000 */
    basket_post(&basket, &host, 100000, M);
    basket_post(&basket, &host, 100000, M);
    aborts(1, STATUS_insufficient_margin_to_place);
    CHECK(basket_result(&host, 0) == TRADE_OK && basket_result(&host, 1) == TRADE_OK);
    /* the larger one first would fail by itself; behind the reduction of item 1 it fits */
    basket_post(&basket, &host, 300000, M);
    basket_cut(&basket, big, 200000);
    CHECK(basket_send(&basket, &host, 1) == TRADE_OK);
    CHECK(trade_remaining(&host, 1, big) == 1700000);
    /* that is all there is: 1 more is too much, and a move to 10 % above the mark adds open loss */
    basket_post(&basket, &host, 1000, M);
    aborts(1, STATUS_insufficient_margin_to_place);
    CHECK(basket_result(&host, 0) == STATUS_insufficient_margin_to_place);
    basket_replace(&basket, big, 1700000, M + 1);
    aborts(1, STATUS_insufficient_margin_to_place);
    /* sales reserve nothing beside larger buys (worst = the larger side), open loss apart */
    basket_post(&basket, &host, -1000000, M + 100);
    CHECK(basket_send(&basket, &host, 1) == TRADE_OK);
    trade_check_figures(&host);
    host_close(&host);
}

/* An order of the batch loses against the mark as one that rests. E 100,000; 1.5 m at 20x: IM
 * 75,000. A bid of 0.4 BTC at 105,000.0 adds 40,000 / 20 = 2,000 and 0.4 * 5,000 = 2,000 of open
 * loss; five of them make 95,000, six 99,000, seven 103,000. */
static void test_open_loss(void)
{
    open_host(NULL);
    trade_rest(&host, 1, 1500000, M - 200);
    for (uint32_t k = 0; k < 7; k++)
        basket_post(&basket, &host, 40000, M + 50000);
    aborts(1, STATUS_insufficient_margin_to_place);
    CHECK(basket_result(&host, 6) == TRADE_OK);
    for (uint32_t k = 0; k < 6; k++)
        basket_post(&basket, &host, 40000, M + 50000);
    CHECK(basket_send(&basket, &host, 1) == TRADE_OK);
    struct margin_view view;
    margin_view(host.engine, 1, &view);
    CHECK(view.initial == 99000 * (int128)HOST_USDC);
    trade_check_figures(&host);
    host_close(&host);
}

/* Short of margin already, what needs no more passes and what needs more does not. */
static void test_under_water(void)
{
    open_host(NULL);
    struct trade_id own = trade_rest(&host, 1, 1900000, M - 200); /* IM 95,000 */
    trade_index(&host, M + 100000);                               /* IM 104,500 > E */
    basket_cut(&basket, own, 900000);
    basket_post(&basket, &host, 900000, M - 300);
    CHECK(basket_send(&basket, &host, 1) == TRADE_OK);
    basket_cut(&basket, own, 1000);
    basket_post(&basket, &host, 2000, M - 300);
    aborts(1, STATUS_insufficient_margin_to_place);
    host_close(&host);
}

/* R1's bounds and row 26 see what the batch has done so far. */
static void test_counts(void)
{
    open_host("limits.open_orders=2\n");
    struct trade_id first = trade_rest(&host, 1, 1000, M - 100);
    trade_rest(&host, 1, 1000, M - 100);
    basket_post(&basket, &host, 1000, M - 200);
    aborts(1, STATUS_rejected_max_open_orders_exceeded);
    basket_post(&basket, &host, 1000, M - 200);
    basket_cancel(&basket, first);
    CHECK(basket_send(&basket, &host, 1) == TRADE_OK);
    basket_cancel(&basket, trade_last_id(&host));
    aborts(1, STATUS_rejected_order_not_found);
    host_close(&host);
}

/* Row 26 as if nothing left: the table is full, though the batch frees as much as it takes. */
static void test_room(void)
{
    open_host("engine.orders=1024\n");
    struct trade_id own = trade_rest(&host, 1, 1000, M - 100);
    for (uint32_t k = 0; k < 1023; k++)
        trade_rest(&host, 2 + k % 5, 100, M - 200);
    basket_cancel(&basket, own);
    basket_post(&basket, &host, 1000, M - 300);
    aborts(1, STATUS_rejected_max_open_orders_exceeded);
    CHECK(basket_result(&host, 0) == TRADE_OK);
    CHECK(basket_result(&host, 1) == STATUS_rejected_max_open_orders_exceeded);
    basket_replace(&basket, own, 900, M - 300); /* brings its own slot */
    CHECK(basket_send(&basket, &host, 1) == TRADE_OK);
    host_close(&host);
}

/* A record that was made for the check alone is gone when the batch is aborted. */
static void test_no_record_left(void)
{
    open_host(NULL);
    uint32_t records = host.engine->holdings.slots.count;
    basket_post(&basket, &host, 1000, M - 100);
    basket_post(&basket, &host, 0, M - 100);
    aborts(1, STATUS_rejected_size_zero);
    CHECK(host.engine->holdings.slots.count == records &&
          trade_portfolio(&host, 1)->holding_count == 0);
    host_close(&host);
}

/* A dead order in the way: the batch removes it as a placement would. */
static void test_dead_in_the_way(void)
{
    open_host(NULL);
    CHECK(trade_tif(&host, 2, -1000, M + 100, host.clock_ns + 5 * HOST_SECOND_NS) == TRADE_OK);
    host.clock_ns += 6 * HOST_SECOND_NS;
    CHECK(host_oracle(&host, HOST_BTC, M) ==
          TRADE_OK); /* its unit may have removed it: then again */
    struct trade_id bid = basket_id(basket_post(&basket, &host, 1000, M + 100));
    CHECK(basket_send(&basket, &host, 1) == TRADE_OK && trade_remaining(&host, 1, bid) == 1000);
    CHECK(trade_portfolio(&host, 2)->open_order_count == 0);
    host_close(&host);
}

/* --- against the other way to do the same ---------------------------------------------------- */

static struct host single;

/* The item as a command of its own, of the same id. */
static enum status apply_single(const struct batch_item *item)
{
    struct trade_id id;
    uint8_t body[48] = { 0 }, key[32];
    struct host_order order = {
        .price = item->price, .quantity = item->quantity, .expiry = item->expiry, .post_only = 1
    };

    memcpy(id.bytes, item->order_id, sizeof id.bytes);
    if (item->op == BATCH_CANCEL)
        return host_cancel(&single, 1, id.bytes);
    if (item->op == BATCH_REDUCE)
        return trade_cut(&single, 1, id, (uint64_t)item->quantity, item->expected_remaining);
    if (item->op == BATCH_REPLACE)
        return trade_replace(&single, 1, id, &order, item->expected_remaining);
    host_session_key(1, key);
    cc_store64(body, 1);
    cc_store64(body + 16, item->price);
    cc_store64(body + 24, (uint64_t)item->quantity);
    cc_store64(body + 32, item->expiry);
    body[40] = 1;
    cc_store16(body + 44, HOST_BTC);
    struct host_request request = { .code = REQUEST_place_limit_order,
                                    .body = body,
                                    .body_bytes = sizeof body,
                                    .key = key,
                                    .key_bytes = sizeof key,
                                    .id = id.bytes };
    return host_signed(&single, &request);
}

/* In the order in which the batch acts. */
static void apply_singles(const struct basket *sent)
{
    for (uint32_t k = 0; k < sent->count; k++)
        if (sent->items[k].op == BATCH_CANCEL)
            CHECK(apply_single(&sent->items[k]) == TRADE_OK);
    for (uint32_t k = 0; k < sent->count; k++)
        if (sent->items[k].op != BATCH_CANCEL)
            CHECK(apply_single(&sent->items[k]) == TRADE_OK);
}

/* None, or one that this test does not reach. */
static uint64_t random_expiry(uint64_t *seed)
{
    return rig_below(seed, 2) == 0 ? TRADE_GTC : host.clock_ns + 3600 * HOST_SECOND_NS;
}

/* Mostly of an order that rests, on its side; mostly where it does not cross. */
static void random_item(uint64_t *seed, struct trade_id *ids, int64_t *signs, uint32_t count)
{
    uint32_t slot = rig_below(seed, count), op = rig_below(seed, 8);

    for (uint32_t k = 0; k < 3 && op > 2 && trade_order(&host, 1, ids[slot]) == ORDER_NONE; k++)
        slot = rig_below(seed, count);
    if (signs[slot] == 0 || (op > 2 && trade_order(&host, 1, ids[slot]) == ORDER_NONE && (op & 1)))
        op = 0;
    int64_t sign = op < 3 ? (int64_t)(rig_below(seed, 2) * 2) - 1 : signs[slot];
    int64_t quantity = 1000 * (int64_t)(1 + rig_below(seed, 250));
    uint64_t price = M - (uint64_t)(sign * 10 * ((int64_t)rig_below(seed, 60) - 2));
    if (op < 3) {
        signs[slot] = sign;
        struct batch_item *item = basket_post(&basket, &host, sign * quantity, price);
        item->expiry = random_expiry(seed);
        ids[slot] = basket_id(item);
    } else if (op < 5) {
        basket_cut(&basket, ids[slot], (uint64_t)quantity / 4000 * 1000);
    } else if (op < 7) {
        basket_replace(&basket, ids[slot], sign * quantity, price)->expiry = random_expiry(seed);
    } else {
        basket_cancel(&basket, ids[slot]);
    }
}

/* An atomic batch that completes leaves what its items leave as commands of their own, in the order
 * in which it acts, to an account with cash for everything in between; one that fails leaves
 * nothing. */
static void test_random(void)
{
    struct trade_id ids[24] = { 0 };
    int64_t signs[24] = { 0 };
    uint64_t seed = 7;
    uint32_t completed = 0, aborted = 0, of_margin = 0;

    open_host(NULL);
    trade_open(&single, NULL);
    single.id_count = UINT64_C(1) << 40; /* its own ids are none of the items' */
    CHECK(host_deposit(&single, 1, TRADE_CASH * 1000) == TRADE_OK);
    for (uint32_t turn = 0; turn < 2000; turn++) {
        struct trade_id ids_before[CC_COUNT(ids)];
        int64_t signs_before[CC_COUNT(ids)];
        memcpy(ids_before, ids, sizeof ids);
        memcpy(signs_before, signs, sizeof signs);
        for (uint32_t k = 1 + rig_below(&seed, 4); k != 0; k--)
            random_item(&seed, ids, signs, CC_COUNT(ids));
        struct basket sent = basket;
        image_copy_take(&before, host.engine);
        enum status status = basket_send(&basket, &host, 1);
        trade_check_figures(&host);
        if (status != TRADE_OK) {
            CHECK(is_untouched(false));
            memcpy(ids, ids_before, sizeof ids);
            memcpy(signs, signs_before, sizeof signs);
            of_margin += status == STATUS_insufficient_margin_to_place;
            aborted++;
            continue;
        }
        completed++;
        single.clock_ns = host.clock_ns + 1;
        apply_singles(&sent);
        host.clock_ns = single.clock_ns;
        const struct portfolio *a = trade_portfolio(&host, 1), *b = trade_portfolio(&single, 1);
        CHECK(a->open_order_count == b->open_order_count);
        for (uint32_t k = 0; k < CC_COUNT(ids); k++)
            CHECK(trade_remaining(&host, 1, ids[k]) == trade_remaining(&single, 1, ids[k]));
        for (uint32_t side = 0; side < 2 && a->open_order_count != 0; side++)
            CHECK(state_holding(host.engine, a->holding_head)->sides[side].notional ==
                  state_holding(single.engine, b->holding_head)->sides[side].notional);
    }
    CHECK(completed > 300 && aborted > 300 && of_margin > 10);
    host_close(&single);
    host_close(&host);
}

int main(void)
{
    test_own_cancels_first();
    test_items_cross();
    test_aborted();
    test_expiry_given();
    test_forbidden();
    test_margin();
    test_open_loss();
    test_under_water();
    test_counts();
    test_room();
    test_no_record_left();
    test_dead_in_the_way();
    test_random();
    image_copy_free(&before);
    image_copy_free(&after);
    return 0;
}
