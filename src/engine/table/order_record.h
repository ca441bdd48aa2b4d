/* order_record.h - the fields of an order that an image keeps outside its hot line. Pure.
 *
 * order_record_of gathers them from the arrays of the order table; order_record_put writes them
 * back.
 *
 * Units.  As in order.h. */
#ifndef ENGINE_TABLE_ORDER_RECORD_H
#define ENGINE_TABLE_ORDER_RECORD_H

#include "engine/table/order.h"

struct order_record {
    uint64_t expiry_ns; /* order_expiry */
    uint64_t filled;
    uint64_t filled_notional;
    uint64_t placed_ns;
    uint64_t updated_ns;
    uint64_t placed_sequence; /* with `index`: order_rank */
    uint16_t index;
    uint8_t state;
    uint8_t order_type;
    uint8_t reason;
    uint8_t zero[3];
};

/* Returns the record of a live order. */
/* clang-format off */
/* The fields of an order in the image. The order of rows gives the position in the queue, and the
 * portfolio gives the holding. */
#define IMAGE_ORDER_FIELDS(X) \
    X(tick) X(remaining) X(id) X(stamp) X(market) X(side) X(flags) X(account)
#define IMAGE_ORDER_CACHES(X) X(next) X(prev) X(map_slot) X(holding) X(has_extra)
/* The other fields, gathered in a struct order_record. */
#define IMAGE_ORDER_GATHERED(X) X(state) X(order_type) X(reason)
#define IMAGE_ORDER_RECORD_FIELDS(X) \
    X(expiry_ns) X(filled) X(filled_notional) X(placed_ns) X(updated_ns) X(placed_sequence) \
    X(index) X(state) X(order_type) X(reason)
/* clang-format on */

/* Returns the record of a live order, extras included. */
CC_MUST_USE struct order_record order_record_of(const struct order_table *table, uint32_t index);

/* Writes a record to a new order whose stamp and flags are set. Makes extras only if the order
 * needs them. False: the record's expiry does not fit the order's time in force. */
CC_MUST_USE bool order_record_put(struct order_table *table, uint32_t index,
                                  const struct order_record *record);

/* Returns t of the order's last entry into a queue: it rises with the stamps of a level. */
static inline uint64_t order_entered_ns(const struct order_table *table, uint32_t index)
{
    const struct order_cold *cold = &table->cold[index];

    return table->hot[index].has_extra ? table->extras[cold->extra].entered_ns : cold->placed_ns;
}

#endif
