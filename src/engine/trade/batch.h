/* batch.h - code 8: up to 64 placements, amendments and cancels of one portfolio (W3; R11, Batch).
 * Owned by the engine.
 *
 *   head ── not atomic: item by item ──────────────────────┐
 *        └─ atomic: batch_atomic.h, all of them or none ───┴── results, 2100 of each item
 *
 * Order.  Items act in their order. In a batch that is not atomic an item sees the results of those
 *         before it, and the portfolio is checked after each.
 * Bound.  MESSAGE_ITEMS_MAX items, which share one engine.makers_max (applying.batch_makers). */
#ifndef ENGINE_TRADE_BATCH_H
#define ENGINE_TRADE_BATCH_H

#include "base/message.h"
#include "base/status.h"

struct engine;
struct engine_result;
struct order_request;

enum batch_op { BATCH_PLACE, BATCH_REDUCE, BATCH_REPLACE, BATCH_CANCEL, BATCH_OP_COUNT };

/* One item as in the body (W3). */
struct batch_item {
    uint8_t op; /* enum batch_op */
    uint8_t post_only, reduce_only, stp;
    uint16_t asset_id;
    uint16_t pad;
    uint64_t price;
    int64_t quantity; /* of a reduction: reduce_by */
    uint64_t expiry;
    uint8_t order_id[16]; /* of the new order, or of the target */
    uint64_t expected_remaining;
    uint64_t reserved;
};

static_assert(sizeof(struct batch_item) == 64, "W3: OrderBatch");

/* True if the body has at most MESSAGE_ITEMS_MAX items and is as long as its count says. */
CC_MUST_USE bool batch_is_whole(const struct command *command);

/* True if a whole batch has an item that may enter an order: an op 0 or 2. */
CC_MUST_USE bool batch_enters(const struct command *command);

/* Returns the number of ids that a batch adds to the duplicate set: its own and those of its
 * placements. They are reserved together (row duplicates_full). The body may have any length. */
uint32_t batch_id_count(const struct command *command);

/* Applies code 8: the rows of every item. Row portfolio has passed, which set
 * applying.portfolio. */
CC_MUST_USE enum status batch_apply(struct engine *engine, const struct command *command,
                                    struct engine_result *result);

/* --- for batch_atomic.c ----------------------------------------------------------------------- */

/* Copies item `number` of the body, which has it. */
void batch_decode(const struct command *command, uint32_t number, struct batch_item *item);

/* Returns mix_id of the command's account and the item's order_id. */
uint64_t batch_hash(const struct engine *engine, const struct batch_item *item);

/* True if the item's order_id is a UUIDv7: row target_id. */
CC_MUST_USE bool batch_has_v7(const struct batch_item *item);

/* Decides rows target_id, window and duplicate of the id of a new order: it is a UUIDv7, in the
 * window, and not seen. */
CC_MUST_USE enum status batch_check_id(const struct engine *engine, const struct command *command,
                                       const struct batch_item *item);

/* Fills the item's part of a request (ops 0 and 2). */
void batch_order_request(const struct engine *engine, const struct batch_item *item,
                         struct order_request *request);

/* True if the item is a reduction below 0: row size. Read as unsigned it would be a cancel. */
CC_MUST_USE static inline bool batch_cut_is_negative(const struct batch_item *item)
{
    return item->op == BATCH_REDUCE && item->quantity < 0;
}

/* Adds the id of a placement, which batch_check_id has let through, to the duplicate set. */
void batch_use_id(struct engine *engine, const struct batch_item *item, enum status status);

/* Emits 2100 of an item. */
void batch_emit(struct engine *engine, const struct command *command, uint32_t number,
                enum status status, uint8_t reason);

#endif
