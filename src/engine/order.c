#include "engine/order.h"

size_t order_table_bytes(uint32_t slots)
{
    return ((size_t)slots + 1 + ORDER_OWN) * (sizeof(struct order) + sizeof(struct order_cold));
}

void order_table_init(struct order_table *table, void *memory, uint32_t slots)
{
    INVARIANT(slots != 0 && slots <= ORDER_SLOTS_MAX);
    INVARIANT((uintptr_t)memory % CC_CACHE_LINE == 0);
    struct order *hot = memory;
    *table = (struct order_table){
        .hot = hot,
        .cold = (struct order_cold *)(void *)(hot + slots + 1 + ORDER_OWN),
        .slots = slots,
        .limit = slots,
        .fresh = ORDER_NONE + 1,
    };
}

void order_table_set_limit(struct order_table *table, uint32_t limit)
{
    INVARIANT(limit <= table->slots);
    INVARIANT(limit >= table->count);
    table->limit = limit;
}

uint32_t order_take(struct order_table *table)
{
    if (CC_UNLIKELY(table->count >= table->limit))
        return ORDER_NONE;

    uint32_t index = table->free_head;
    if (index != ORDER_NONE)
        table->free_head = table->hot[index].next;
    else
        index = table->fresh++;
    INVARIANT(index <= table->slots);
    table->count++;
    table->hot[index] = (struct order){ 0 };
    table->cold[index] = (struct order_cold){ .state = ORDER_NEW };
    return index;
}

void order_release(struct order_table *table, uint32_t index)
{
    struct order_cold *cold = &table->cold[index];

    INVARIANT(index != ORDER_NONE && index < table->fresh);
    INVARIANT(cold->state == ORDER_NEW || order_state_is_final((enum order_state)cold->state));
    INVARIANT(table->count > 0);
    table->count--;
    cold->state = ORDER_STATE_COUNT; /* a second release is caught */
    table->hot[index].next = table->free_head;
    table->free_head = index;
}
