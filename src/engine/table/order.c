#include "engine/table/order.h"

#include "engine/table/order_fill_inline.h"

/* Rows of each of the three arrays. */
static size_t order_rows(uint32_t slots)
{
    return (size_t)slots + 1 + ORDER_OWN;
}

size_t order_table_bytes(uint32_t slots)
{
    return order_rows(slots) *
           (sizeof(struct order) + sizeof(struct order_cold) + sizeof(struct order_extra));
}

void order_table_init(struct order_table *table, void *memory, uint32_t slots)
{
    INVARIANT(slots != 0 && slots <= ORDER_SLOTS_MAX);
    INVARIANT((uintptr_t)memory % CC_CACHE_LINE == 0);
    struct order *hot = memory;
    struct order_extra *extras = (struct order_extra *)(void *)(hot + order_rows(slots));
    *table = (struct order_table){
        .hot = hot,
        .cold = (struct order_cold *)(void *)(extras + order_rows(slots)),
        .extras = extras, /* before the cold rows, which need less alignment */
        .slots = slots,
        .limit = slots,
        .fresh = ORDER_NONE + 1,
        .extra_fresh = 1,
    };
}

void order_table_set_limit(struct order_table *table, uint32_t limit)
{
    INVARIANT(limit <= table->slots);
    INVARIANT(limit >= table->count);
    table->limit = limit;
}

uint32_t order_alloc(struct order_table *table)
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
    table->hot[index] = (struct order){ .state = ORDER_NEW };
    return index;
}

void order_release(struct order_table *table, uint32_t index)
{
    struct order *order = &table->hot[index];

    INVARIANT(index != ORDER_NONE && index < table->fresh);
    INVARIANT(order->state == ORDER_NEW || order_state_is_final((enum order_state)order->state));
    INVARIANT(table->count > 0);
    table->count--;
    if (order->has_extra)
        order_forget(table, index);
    order->state = ORDER_STATE_COUNT; /* a second release is caught */
    order->next = table->free_head;
    table->free_head = index;
}

struct order_extra *order_extra(struct order_table *table, uint32_t index)
{
    struct order *order = &table->hot[index];

    if (order->has_extra)
        return &table->extras[table->cold[index].extra];
    uint32_t at = table->extra_free;
    if (at != 0)
        table->extra_free = (uint32_t)table->extras[at].filled;
    else
        at = table->extra_fresh++;
    INVARIANT(at < order_rows(table->slots));
    table->extras[at] = (struct order_extra){
        .updated_ns = table->cold[index].placed_ns,
        .placed_rank = order->stamp,
        .entered_ns = table->cold[index].placed_ns,
    };
    table->cold[index].extra = at;
    order->has_extra = true;
    return &table->extras[at];
}

void order_forget(struct order_table *table, uint32_t index)
{
    uint32_t extra = order_extra_row(table, index);

    if (extra == 0)
        return;
    table->extras[extra].filled = table->extra_free;
    table->extra_free = extra;
    table->hot[index].has_extra = false;
}

void order_add_fill(struct order_table *table, uint32_t index, uint64_t quantity, uint64_t notional)
{
    (void)order_add_fill_inline(table, index, quantity, notional);
}

uint64_t order_expiry(const struct order_table *table, uint32_t index)
{
    const struct order *order = &table->hot[index];

    switch (order_tif(order)) {
    case ORDER_IOC:
        return ORDER_EXPIRY_IOC;
    case ORDER_FOK:
        return ORDER_EXPIRY_FOK;
    case ORDER_GTC:
        return ORDER_EXPIRY_GTC;
    case ORDER_GTT:
        break;
    }
    INVARIANT(order->has_extra);
    return table->extras[table->cold[index].extra].expiry_ns;
}
