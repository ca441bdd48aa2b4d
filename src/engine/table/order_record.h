/* order_record.h - what an image says of an order beside its hot line: gathered from the arrays of
 * the order table and put back into them. Pure.
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

CC_MUST_USE struct order_record order_record_of(const struct order_table *table, uint32_t index);

/* Into a taken order whose stamp and flags are set. False: its expiry is not that of its time in
 * force. The row of extras is made only if the order needs one. */
CC_MUST_USE bool order_record_put(struct order_table *table, uint32_t index,
                                  const struct order_record *record);

#endif
