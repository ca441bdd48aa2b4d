#include "basket.h"

#include "base/uuid.h"

static struct batch_item *add(struct basket *basket, enum batch_op op)
{
    CHECK(basket->count < MESSAGE_ITEMS_MAX);
    struct batch_item *item = &basket->items[basket->count++];
    *item = (struct batch_item){ .op = (uint8_t)op, .asset_id = HOST_BTC };
    return item;
}

struct batch_item *basket_place(struct basket *basket, struct host *host, int64_t quantity,
                                uint64_t price)
{
    struct batch_item *item = add(basket, BATCH_PLACE);
    uint8_t random[10] = { 0 };

    cc_store64(random, ++host->id_count);
    struct uuid id =
        uuid_make_v7(engine_time_next(host->engine, host->clock_ns) / UINT64_C(1000000), random);
    memcpy(item->order_id, id.bytes, sizeof item->order_id);
    item->quantity = quantity;
    item->price = price;
    item->expiry = TRADE_GTC;
    return item;
}

struct batch_item *basket_post(struct basket *basket, struct host *host, int64_t quantity,
                               uint64_t price)
{
    struct batch_item *item = basket_place(basket, host, quantity, price);

    item->post_only = 1;
    return item;
}

struct batch_item *basket_cut(struct basket *basket, struct trade_id id, uint64_t reduce_by)
{
    struct batch_item *item = add(basket, BATCH_REDUCE);

    memcpy(item->order_id, id.bytes, sizeof item->order_id);
    item->quantity = (int64_t)reduce_by;
    return item;
}

struct batch_item *basket_replace(struct basket *basket, struct trade_id id, int64_t quantity,
                                  uint64_t price)
{
    struct batch_item *item = add(basket, BATCH_REPLACE);

    memcpy(item->order_id, id.bytes, sizeof item->order_id);
    item->quantity = quantity;
    item->price = price;
    item->expiry = TRADE_GTC;
    item->post_only = basket->atomic;
    return item;
}

struct batch_item *basket_cancel(struct basket *basket, struct trade_id id)
{
    struct batch_item *item = add(basket, BATCH_CANCEL);

    memcpy(item->order_id, id.bytes, sizeof item->order_id);
    return item;
}

struct trade_id basket_id(const struct batch_item *item)
{
    struct trade_id id;

    memcpy(id.bytes, item->order_id, sizeof id.bytes);
    return id;
}

enum status basket_send(struct basket *basket, struct host *host, uint32_t n)
{
    static uint8_t body[24 + sizeof basket->items];
    uint8_t key[32];

    memset(body, 0, sizeof body);
    cc_store64(body, n);
    cc_store16(body + 16, (uint16_t)basket->count);
    body[18] = basket->atomic;
    body[23] = basket->pad;
    memcpy(body + 24, basket->items, basket->count * sizeof basket->items[0]);
    host_session_key(n, key);
    struct host_request request = {
        .code = REQUEST_order_batch,
        .body = body,
        .body_bytes = 24 + basket->count * (uint32_t)sizeof basket->items[0],
        .key = key,
        .key_bytes = sizeof key,
    };
    enum status status = host_signed(host, &request);
    CHECK(host->result.item_count == 0 || host->result.item_count == basket->count);
    CHECK(host->result.members == 0 || host->result.item_count == 0);
    basket->count = 0;
    return status;
}

enum status basket_result(const struct host *host, uint32_t k)
{
    CHECK(k < host->result.item_count);
    return (enum status)host->result.results[k];
}

struct effect_answer basket_answer(const struct host *host, uint32_t k)
{
    struct effect_answer body, found = { 0 };
    uint32_t count = 0;

    for (uint32_t i = 0; i < host->effect_count; i++) {
        if (host->effects[i].code != EFFECT_answer)
            continue;
        memcpy(&body, host->effects[i].bytes, sizeof body);
        if (body.item != k)
            continue;
        found = body;
        count++;
    }
    CHECK(count == 1);
    CHECK(memcmp(found.request_id, host->id, sizeof found.request_id) == 0);
    return found;
}
