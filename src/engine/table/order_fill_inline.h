/* order_fill_inline.h - order_add_fill as an inline function, for fills. Owned by the engine. */
#ifndef ENGINE_TABLE_ORDER_FILL_INLINE_H
#define ENGINE_TABLE_ORDER_FILL_INLINE_H

#include "engine/table/order.h"

/* As order_add_fill (order.h). Returns the order's extras, as order_extra. */
static inline struct order_extra *order_add_fill_inline(struct order_table *table, uint32_t index,
                                                        uint64_t quantity, uint64_t notional)
{
    struct order *order = &table->hot[index];
    struct order_extra *extra =
        order->has_extra ? &table->extras[table->cold[index].extra] : order_extra(table, index);

    INVARIANT(quantity != 0);
    extra->filled += quantity;
    extra->filled_notional += notional;
    if (order->remaining == 0)
        order_move(order, extra->filled, ORDER_FILLED);
    else if (order->state != ORDER_PARTIALLY_FILLED)
        order_move(order, extra->filled, ORDER_PARTIALLY_FILLED);
    return extra;
}

#endif
