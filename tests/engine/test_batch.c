/* A batch that is not atomic (code 8; R11, Batch): each item is what a command of its own
 * would be, in item order, and the answer tells what became of each. BTC-PERP of W10 at mark
 * 100,000.0: price 1,000,000 raw; quantity 1,000 raw is 0.01 BTC, 1,000 USDC. */
#include "basket.h"
#include "image_copy.h"

#define M TRADE_MARK

static struct host host;
static struct basket basket;

static void open_host(const char *overrides)
{
    trade_open(&host, overrides);
    basket = (struct basket){ 0 };
}

/* --- the head --------------------------------------------------------------------------------- */

static void test_head(void)
{
    open_host(NULL);
    CHECK(basket_send(&basket, &host, 1) == STATUS_order_rejected_invalid); /* count 0 */
    CHECK(host.result.item_count == 0 && trade_effects(&host, EFFECT_answer) == 1);
    basket_place(&basket, &host, 1000, M - 100);
    basket.atomic = 2;
    CHECK(basket_send(&basket, &host, 1) == STATUS_order_rejected_invalid);
    basket.atomic = 0;
    basket.pad = 1;
    struct trade_id id = basket_id(basket_place(&basket, &host, 1000, M - 100));
    CHECK(basket_send(&basket, &host, 1) == STATUS_order_rejected_invalid);
    CHECK(host.result.item_count == 0);
    basket.pad = 0;
    /* a batch that was refused as a whole has used no id of an item */
    memcpy(basket_place(&basket, &host, 1000, M - 100)->order_id, id.bytes, sizeof id.bytes);
    CHECK(basket_send(&basket, &host, 1) == TRADE_OK && basket_result(&host, 0) == TRADE_OK);
    CHECK(trade_remaining(&host, 1, id) == 1000);
    host_close(&host);
}

/* A body that is not as long as its count says is no command of this engine. */
static void test_length(void)
{
    uint8_t space[sizeof(struct command) + 512] = { 0 };
    struct command *command = (void *)space;
    uint8_t *body = command->bytes + REQUEST_BODY_AT;

    command->code = REQUEST_order_batch;
    command->kind = COMMAND_SIGNED;
    command->payload_bytes = REQUEST_BODY_AT + 24 + 2 * 64;
    for (uint16_t count = 0; count < 70; count++) {
        cc_store16(body + 16, count);
        CHECK(batch_is_whole(command) == (count == 2));
    }
    cc_store16(body + 16, 2);
    CHECK(batch_id_count(command) == 3); /* its own, and two items of op 0 */
    body[24] = BATCH_CANCEL;
    CHECK(batch_id_count(command) == 2);
    command->payload_bytes = REQUEST_BODY_AT + 16;
    CHECK(!batch_is_whole(command) && batch_id_count(command) == 1);
}

/* --- the items -------------------------------------------------------------------------------- */

/* Five ops in one batch, each on what those before it left. */
static void test_each(void)
{
    open_host(NULL);
    struct trade_id old = trade_rest(&host, 1, 5000, M - 300);
    struct trade_id gone = trade_rest(&host, 1, 5000, M - 400);
    struct trade_id kept = trade_rest(&host, 1, 5000, M - 500);

    struct trade_id made = basket_id(basket_place(&basket, &host, 2000, M - 100));
    basket_cut(&basket, old, 1000);
    basket_replace(&basket, kept, 3000, M - 600);
    basket_cancel(&basket, gone);
    basket_cancel(&basket, made); /* what item 0 placed */
    basket_cancel(&basket, gone); /* and what item 3 canceled */
    CHECK(basket_send(&basket, &host, 1) == TRADE_OK);
    for (uint32_t k = 0; k < 5; k++)
        CHECK(basket_result(&host, k) == TRADE_OK);
    CHECK(basket_result(&host, 5) == STATUS_rejected_order_not_found);
    CHECK(host.result.reason == REASON_none && host.result.item_count == 6);
    CHECK(trade_remaining(&host, 1, old) == 4000 && trade_remaining(&host, 1, kept) == 3000);
    CHECK(trade_order(&host, 1, made) == ORDER_NONE && trade_order(&host, 1, gone) == ORDER_NONE);
    CHECK(trade_portfolio(&host, 1)->open_order_count == 2);
    host_close(&host);
}

/* A reduction of more than the rest is a cancel, one below 0 nothing (it would cancel too). */
static void test_cut(void)
{
    open_host(NULL);
    struct trade_id first = trade_rest(&host, 1, 5000, M - 300);
    struct trade_id second = trade_rest(&host, 1, 5000, M - 300);

    basket_cut(&basket, first, 6000);
    basket_cut(&basket, second, (uint64_t)-1000);
    basket_cut(&basket, second, 0);
    basket_cut(&basket, second, 1000)->expected_remaining = 4999;
    CHECK(basket_send(&basket, &host, 1) == TRADE_OK);
    CHECK(basket_result(&host, 0) == TRADE_OK);
    CHECK(basket_result(&host, 1) == STATUS_rejected_invalid_size);
    CHECK(basket_result(&host, 2) == STATUS_rejected_size_zero);
    CHECK(basket_result(&host, 3) == STATUS_rejected_size_not_equal);
    CHECK(trade_order(&host, 1, first) == ORDER_NONE && trade_remaining(&host, 1, second) == 5000);
    host_close(&host);
}

/* Rows 6 to 9 of an item: each broken item fails alone, in the order of the rows. */
static void test_rows(void)
{
    static const struct row {
        int line;
        const char *name;
        uint8_t op, version;
        uint16_t asset, pad;
        uint64_t reserved;
        enum status want;
    } rows[] = {
#define R(...) { __LINE__, __VA_ARGS__ }
        R("place, no v7", BATCH_PLACE, 0x40, 9, 1, 1, STATUS_rejected_invalid_uuid),
        R("cancel, no v7", BATCH_CANCEL, 0x40, 9, 1, 1, STATUS_rejected_invalid_uuid),
        R("unknown op, no v7", 4, 0x40, 9, 1, 1, STATUS_rejected_invalid_uuid),
        R("asset 0", BATCH_PLACE, 0x70, 0, 1, 1, STATUS_order_rejected_invalid_market),
        R("all assets", BATCH_CANCEL, 0x70, 0xFFFF, 1, 1, STATUS_order_rejected_invalid_market),
        R("unknown asset", BATCH_REDUCE, 0x70, 9, 1, 1, STATUS_rejected_market_not_found),
        R("unknown asset, op", 200, 0x70, 9, 1, 1, STATUS_rejected_market_not_found),
        R("pad", BATCH_PLACE, 0x70, 1, 1, 0, STATUS_order_rejected_invalid),
        R("pad", BATCH_REDUCE, 0x70, 1, 1, 0, STATUS_order_rejected_invalid),
        R("reserved", BATCH_REPLACE, 0x70, 1, 0, 1, STATUS_order_rejected_invalid),
        R("reserved", BATCH_CANCEL, 0x70, 1, 0, UINT64_C(1) << 63, STATUS_order_rejected_invalid),
        R("unknown op", 4, 0x70, 1, 0, 0, STATUS_order_rejected_invalid),
        R("nothing wrong", BATCH_PLACE, 0x70, 1, 0, 0, STATUS_request_completed),
        R("nothing there", BATCH_REPLACE, 0x70, 1, 0, 0, STATUS_rejected_order_not_found),
#undef R
    };

    open_host(NULL);
    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        struct batch_item *item = basket_place(&basket, &host, 1000, M - 100);
        item->op = rows[i].op;
        item->order_id[6] = (uint8_t)((item->order_id[6] & 0x0F) | rows[i].version);
        item->asset_id = rows[i].asset;
        item->pad = rows[i].pad;
        item->reserved = rows[i].reserved;
    }
    CHECK(basket_send(&basket, &host, 1) == TRADE_OK);
    for (size_t i = 0; i < CC_COUNT(rows); i++)
        CHECK_ROW(&rows[i], basket_result(&host, (uint32_t)i) == rows[i].want);
    host_close(&host);
}

/* --- effects ---------------------------------------------------------------------------------- */

/* The effects of an item, its 2100 with the number, at the end that of the batch. */
static void test_told(void)
{
    open_host(NULL);
    basket_place(&basket, &host, 2000, M - 100);
    basket_place(&basket, &host, 0, M); /* row 15: kept as REJECTED, has no place in the book */
    basket_place(&basket, &host, 1000, M - 100)->asset_id = 77; /* row 8: not kept */
    CHECK(basket_send(&basket, &host, 1) == TRADE_OK);
    static const uint16_t want[] = { EFFECT_order_state, EFFECT_book_order,  EFFECT_book_level,
                                     EFFECT_answer,      EFFECT_order_state, EFFECT_answer,
                                     EFFECT_answer,      EFFECT_answer };
    CHECK(host.effect_count == CC_COUNT(want));
    for (uint32_t i = 0; i < CC_COUNT(want); i++)
        CHECK(host.effects[i].code == want[i]);
    CHECK(trade_state(&host, 1).status == ORDER_REJECTED);
    CHECK(trade_state(&host, 1).reason == STATUS_rejected_size_zero);
    CHECK(basket_answer(&host, 0).status == TRADE_OK && basket_answer(&host, 0).account_id == 1);
    CHECK(basket_answer(&host, 1).status == STATUS_rejected_size_zero);
    CHECK(basket_answer(&host, 2).status == STATUS_rejected_market_not_found);
    CHECK(basket_answer(&host, EFFECT_NO_ITEM).status == TRADE_OK);
    host_close(&host);
}

/* Two orders that an item each fills: ids of fills count through the command (R3), and the second
 * meets what the first left. */
static void test_fills(void)
{
    open_host(NULL);
    trade_rest(&host, 2, -3000, M);
    struct trade_id first = basket_id(basket_place(&basket, &host, 2000, M));
    struct trade_id second = basket_id(basket_place(&basket, &host, 2000, M));
    CHECK(basket_send(&basket, &host, 1) == TRADE_OK);
    CHECK(trade_effects(&host, EFFECT_trade) == 2 && trade_trade(&host, 1).size == 1000);
    CHECK(trade_order(&host, 1, first) == ORDER_NONE && trade_remaining(&host, 1, second) == 1000);
    CHECK(trade_size(&host, 1) == 3000 && trade_size(&host, 2) == -3000);
    uint32_t indexes[4];
    for (uint32_t k = 0; k < 4; k++) {
        struct effect_fill fill;
        memcpy(&fill, host_effect(&host, EFFECT_fill, k)->bytes, sizeof fill);
        indexes[k] = fill.index;
    }
    /* maker's fill 0, its position 1, taker's fill 2, its position 3; then fills alone */
    CHECK(indexes[0] == 0 && indexes[1] == 2 && indexes[2] == 4 && indexes[3] == 5);
    trade_check_figures(&host);
    host_close(&host);
}

/* --- ids (W5) --------------------------------------------------------------------------------- */

static void test_ids(void)
{
    open_host(NULL);
    struct trade_id used = basket_id(basket_place(&basket, &host, 1000, M - 100));
    struct batch_item *twin = basket_place(&basket, &host, 1000, M - 100);
    memcpy(twin->order_id, used.bytes, sizeof used.bytes);
    struct batch_item *late = basket_place(&basket, &host, 1000, M - 100);
    late->order_id[3] ^= 1; /* 2^16 ms and more away */
    struct trade_id refused = basket_id(basket_place(&basket, &host, 0, M - 100));
    CHECK(basket_send(&basket, &host, 1) == TRADE_OK);
    CHECK(basket_result(&host, 0) == TRADE_OK);
    CHECK(basket_result(&host, 1) == STATUS_duplicate_request_id);
    CHECK(basket_result(&host, 2) == STATUS_request_dropped);
    CHECK(basket_result(&host, 3) == STATUS_rejected_size_zero);
    CHECK(trade_effects(&host, EFFECT_order_state) == 2); /* none of a seen or a dropped id */
    CHECK(trade_portfolio(&host, 1)->open_order_count == 1);

    /* the id of an item is used: as that of a request, and of another batch's item */
    uint8_t body[48] = { 0 }, key[32];
    host_session_key(1, key);
    cc_store64(body, 1);
    struct host_request request = { .code = REQUEST_place_limit_order,
                                    .body = body,
                                    .body_bytes = sizeof body,
                                    .key = key,
                                    .key_bytes = sizeof key,
                                    .id = used.bytes };
    CHECK(host_signed(&host, &request) == STATUS_duplicate_request_id);
    CHECK(host.is_peeked && host.result.original_status == TRADE_OK);
    request.id = refused.bytes;
    CHECK(host_signed(&host, &request) == STATUS_duplicate_request_id);
    CHECK(host.result.original_status == STATUS_rejected_size_zero);
    memcpy(basket_place(&basket, &host, 1000, M - 100)->order_id, used.bytes, sizeof used.bytes);
    CHECK(basket_send(&basket, &host, 1) == TRADE_OK);
    CHECK(basket_result(&host, 0) == STATUS_duplicate_request_id);
    /* another account may use the same one */
    memcpy(basket_place(&basket, &host, 1000, M - 100)->order_id, used.bytes, sizeof used.bytes);
    CHECK(basket_send(&basket, &host, 2) == TRADE_OK && basket_result(&host, 0) == TRADE_OK);
    host_close(&host);
}

/* The batch's own id is no item's. */
static void test_own_id(void)
{
    static uint8_t body[24 + 64];
    uint8_t key[32];

    open_host(NULL);
    struct batch_item item = *basket_place(&basket, &host, 1000, M - 100);
    basket.count = 0;
    host_session_key(1, key);
    for (uint8_t atomic = 0; atomic < 2; atomic++) {
        cc_store64(body, 1);
        cc_store16(body + 16, 1);
        body[18] = atomic;
        item.post_only = 1;
        item.order_id[15] = atomic;
        memcpy(body + 24, &item, sizeof item);
        struct host_request request = { .code = REQUEST_order_batch,
                                        .body = body,
                                        .body_bytes = sizeof body,
                                        .key = key,
                                        .key_bytes = sizeof key,
                                        .id = item.order_id };
        CHECK(host_signed(&host, &request) ==
              (atomic ? STATUS_duplicate_request_id : STATUS_request_completed));
        CHECK(basket_result(&host, 0) == STATUS_duplicate_request_id);
    }
    host_close(&host);
}

/* Row 2: a batch and its placements are reserved together. */
static void test_reserved(void)
{
    open_host("limits.duplicate_slots=1024\n");
    const struct duplicate *set = &host.engine->duplicates;
    const uint32_t kept = set->limit / 8; /* for cancels; a batch is none */
    while (set->limit - set->count > 60 + kept) {
        for (uint32_t k = 0; k < 32; k++)
            basket_place(&basket, &host, 0, M); /* row 15: the id is used */
        CHECK(basket_send(&basket, &host, 1) == TRADE_OK);
    }
    uint32_t room = set->limit - set->count - kept;
    CHECK(room > 20);
    for (uint32_t k = 0; k < room; k++)
        basket_place(&basket, &host, 1000, M - 100);
    CHECK(basket_send(&basket, &host, 1) == STATUS_retry_required && host.is_peeked);
    for (uint32_t k = 0; k + 1 < room; k++)
        basket_place(&basket, &host, 1000, M - 100);
    basket_cancel(&basket, trade_last_id(&host)); /* takes no id */
    CHECK(basket_send(&basket, &host, 1) == TRADE_OK && set->count == set->limit - kept);
    host_close(&host);
}

/* --- age (R3, the age of an order) ------------------------------------------------------------ */

/* Item 0 turns the position, so reduce-only orders are canceled; item 1 sets a new one, which the
 * list of its own command does not cover. */
static void test_list_of_own_command(void)
{
    open_host(NULL);
    trade_rest(&host, 2, -1000, M);
    CHECK(trade_limit(&host, 1, 1000, M) == TRADE_OK); /* long 1,000 */
    CHECK(trade_reduce(&host, 1, -1000, M + 500, TRADE_GTC) == TRADE_OK);
    struct trade_id old = trade_last_id(&host);
    trade_rest(&host, 2, 3000, M - 100);

    basket_place(&basket, &host, -3000, M - 100)->expiry = TRADE_IOC; /* short 2,000 */
    struct batch_item *stop = basket_place(&basket, &host, 2000, M - 200);
    stop->reduce_only = 1;
    struct trade_id set = basket_id(stop);
    CHECK(basket_send(&basket, &host, 1) == TRADE_OK);
    CHECK(basket_result(&host, 0) == TRADE_OK && basket_result(&host, 1) == TRADE_OK);
    CHECK(trade_size(&host, 1) == -2000);
    CHECK(trade_order(&host, 1, old) == ORDER_NONE);
    CHECK(trade_last_state(&host).reason == REASON_reduce_only);
    CHECK(trade_remaining(&host, 1, set) == 2000);
    trade_limit(&host, 2, -1000, M - 200); /* it is no dead order: it fills */
    CHECK(trade_size(&host, 1) == -1000 && trade_remaining(&host, 1, set) == 1000);
    host_close(&host);
}

/* Orders of one command stand in item order: in their queue, and in lists and images. */
static void test_queue(void)
{
    static struct image_copy copy;
    static struct host loaded;
    struct image_problem problem;
    struct trade_id ids[3];

    open_host("engine.work_per_command=1\n");
    for (uint32_t k = 0; k < 3; k++)
        ids[k] = basket_id(basket_place(&basket, &host, 1000, M - 100));
    CHECK(basket_send(&basket, &host, 1) == TRADE_OK);
    image_copy_take(&copy, host.engine);
    CHECK(image_copy_open(&copy, &loaded, NULL, &problem));
    host_close(&loaded);
    CHECK(trade_tif(&host, 2, -1500, M - 100, TRADE_IOC) == TRADE_OK);
    CHECK(trade_order(&host, 1, ids[0]) == ORDER_NONE && trade_remaining(&host, 1, ids[1]) == 500);
    CHECK(trade_remaining(&host, 1, ids[2]) == 1000);
    /* one unit a command: the older of the two is released first, also by a state from an image */
    CHECK(host_cancel_all(&host, 1, 0xFFFF, 0) == TRADE_OK);
    CHECK(trade_order(&host, 1, ids[1]) == ORDER_NONE && engine_has_work(host.engine));
    image_copy_take(&copy, host.engine);
    CHECK(image_copy_open(&copy, &loaded, NULL, &problem));
    host_tick(&loaded, 1000);
    CHECK(loaded.effect_count == 3 && trade_last_state(&loaded).reason == REASON_cancel_all);
    CHECK(memcmp(trade_last_state(&loaded).order_id, ids[2].bytes, 16) == 0);
    host_close(&loaded);
    image_copy_free(&copy);
    host_close(&host);
}

/* A batch of 64 that all cross: together they meet makers_max makers. */
static void test_worst(void)
{
    open_host("engine.makers_max=2\n");
    for (uint32_t k = 0; k < 100; k++)
        trade_rest(&host, 2 + k % 5, -100, M);
    for (uint32_t k = 0; k < MESSAGE_ITEMS_MAX; k++)
        basket_place(&basket, &host, 1000, M);
    CHECK(basket_send(&basket, &host, 1) == TRADE_OK);
    for (uint32_t k = 0; k < MESSAGE_ITEMS_MAX; k++)
        CHECK(basket_result(&host, k) == TRADE_OK);
    CHECK(trade_last_state(&host).reason == REASON_match_limit);
    /* the first takes two makers, the others would cross and meet nobody: none of them rests */
    CHECK(trade_effects(&host, EFFECT_trade) == 2 && trade_size(&host, 1) == 200);
    CHECK(trade_portfolio(&host, 1)->open_order_count == 0);
    trade_check_figures(&host);
    host_close(&host);
}

/* What the items of a batch share of makers_max: filled makers, those of a refused walk, dead ones
 * that a post-only order has passed. */
static void test_share_of_makers(void)
{
    struct batch_item *item;

    open_host("engine.makers_max=6\n");
    for (uint32_t k = 0; k < 9; k++)
        trade_rest(&host, 2, -100, M + 10);
    uint64_t expiry = engine_time_next(host.engine, host.clock_ns) + 100;
    for (uint32_t k = 0; k < 2; k++)
        CHECK(trade_tif(&host, 3, -100, M, expiry) == TRADE_OK);
    host.clock_ns = expiry;
    basket_post(&basket, &host, 100, M); /* passes 2 dead ones: 4 are left */
    item = basket_place(&basket, &host, 200, M + 10);
    item->expiry = TRADE_FOK; /* 2 are left */
    item = basket_place(&basket, &host, 300, M + 10);
    item->expiry = TRADE_FOK; /* met 2 of the 3 that it wanted */
    item = basket_place(&basket, &host, 100, M + 10);
    item->expiry = TRADE_IOC;
    basket_place(&basket, &host, 100, M + 10);
    basket_place(&basket, &host, 100, M + 9); /* would not cross */
    basket_post(&basket, &host, 100, M + 10); /* the first that it would meet is alive */
    CHECK(basket_send(&basket, &host, 1) == TRADE_OK);
    static const enum status wanted[] = { TRADE_OK,
                                          TRADE_OK,
                                          STATUS_rejected_f_o_k_not_fully_filled_low_liquidity,
                                          TRADE_OK,
                                          TRADE_OK,
                                          TRADE_OK,
                                          STATUS_rejected_post_only_would_cross_book };
    for (uint32_t k = 0; k < CC_COUNT(wanted); k++)
        CHECK(basket_result(&host, k) == wanted[k]);
    CHECK(trade_effects(&host, EFFECT_trade) == 2 && trade_size(&host, 1) == 200);
    CHECK(trade_portfolio(&host, 1)->open_order_count == 2);
    /* the next command has all six again */
    CHECK(trade_tif(&host, 4, 600, M + 10, TRADE_FOK) == TRADE_OK);
    host_close(&host);
}

/* The same of an atomic batch: its items share one, however often they pass the same dead ones. */
static void test_share_of_atomic(void)
{
    for (uint32_t dead = 3; dead <= 4; dead++) {
        open_host("engine.makers_max=6\n");
        uint64_t expiry = engine_time_next(host.engine, host.clock_ns) + 100;
        for (uint32_t k = 0; k < dead; k++)
            CHECK(trade_tif(&host, 3, -100, M, expiry) == TRADE_OK);
        host.clock_ns = expiry;
        for (uint32_t k = 0; k < 2; k++)
            basket_post(&basket, &host, 100, M + k);
        basket.atomic = 1;
        enum status wanted = 2 * dead <= 6 ? TRADE_OK : STATUS_rejected_post_only_would_cross_book;
        CHECK(basket_send(&basket, &host, 1) == wanted);
        CHECK(basket_result(&host, 0) == TRADE_OK && basket_result(&host, 1) == wanted);
        CHECK(trade_portfolio(&host, 1)->open_order_count == (wanted == TRADE_OK ? 2 : 0));
        host_close(&host);
    }
}

int main(void)
{
    test_head();
    test_length();
    test_each();
    test_cut();
    test_rows();
    test_told();
    test_fills();
    test_ids();
    test_own_id();
    test_reserved();
    test_list_of_own_command();
    test_queue();
    test_worst();
    test_share_of_makers();
    test_share_of_atomic();
    return 0;
}
