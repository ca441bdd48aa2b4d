/* basket.h - batches (code 8) put together item by item, for tests. */
#ifndef TESTS_ENGINE_BASKET_H
#define TESTS_ENGINE_BASKET_H

#include "engine/trade/batch.h"
#include "trade.h"

struct basket {
    uint32_t count;
    uint8_t atomic;
    uint8_t pad;
    struct batch_item items[MESSAGE_ITEMS_MAX];
};

/* Items at the end of the basket; the pointer is for the fields that a test wants otherwise. A
 * placement is GTC and gets a fresh id, which trade_id_of names. */
struct batch_item *basket_place(struct basket *basket, struct host *host, int64_t quantity,
                                uint64_t price);
struct batch_item *basket_post(struct basket *basket, struct host *host, int64_t quantity,
                               uint64_t price);
struct batch_item *basket_cut(struct basket *basket, struct trade_id id, uint64_t reduce_by);
struct batch_item *basket_replace(struct basket *basket, struct trade_id id, int64_t quantity,
                                  uint64_t price);
struct batch_item *basket_cancel(struct basket *basket, struct trade_id id);

struct trade_id basket_id(const struct batch_item *item);

/* Account n signs it. CHECKs that the answer tells of each item, or of none. */
enum status basket_send(struct basket *basket, struct host *host, uint32_t n);

/* The answer's k-th result. */
enum status basket_result(const struct host *host, uint32_t k);

/* The 2100 of item k (EFFECT_NO_ITEM: of the batch). CHECKs that there is one, and one alone. */
struct effect_answer basket_answer(const struct host *host, uint32_t k);

#endif
