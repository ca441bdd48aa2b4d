#include "engine/table/order_record.h"

struct order_record order_record_of(const struct order_table *table, uint32_t index)
{
    const struct order *order = &table->hot[index];
    uint64_t rank = order_rank(table, index);

    return (struct order_record){
        .expiry_ns = order_expiry(table, index),
        .filled = order_filled(table, index),
        .filled_notional = order_filled_notional(table, index),
        .placed_ns = table->cold[index].placed_ns,
        .updated_ns = order_updated_ns(table, index),
        .placed_sequence = rank >> ORDER_STAMP_BITS,
        .index = (uint16_t)rank,
        .state = order->state,
        .order_type = order->order_type,
        .reason = order->reason,
    };
}

bool order_record_put(struct order_table *table, uint32_t index, const struct order_record *record)
{
    struct order *order = &table->hot[index];
    uint64_t rank = record->placed_sequence << ORDER_STAMP_BITS | record->index;
    bool expires = order_tif(order) == ORDER_GTT;

    order->state = record->state;
    order->order_type = record->order_type;
    order->reason = record->reason;
    table->cold[index].placed_ns = record->placed_ns;
    table->cold[index].handle = 0;
    table->cold[index].list_next = table->cold[index].list_prev = ORDER_NONE;
    if (expires || rank != order->stamp || record->updated_ns != record->placed_ns ||
        record->filled != 0 || record->filled_notional != 0)
        *order_extra(table, index) = (struct order_extra){
            .expiry_ns = record->expiry_ns,
            .filled = record->filled,
            .filled_notional = record->filled_notional,
            .updated_ns = record->updated_ns,
            .placed_rank = rank,
            .entered_ns = record->placed_ns,
        };
    return expires || record->expiry_ns == order_expiry(table, index);
}
