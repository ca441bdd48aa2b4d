#include "engine/order_state.h"

static const struct {
    const char *name;
    uint32_t next;
} order_states[ORDER_STATE_COUNT] = {
#define TO(name)            (1u << ORDER_##name)
#define X(name, code, next) [ORDER_##name] = { #name, next },
    ORDER_STATE_LIST(X)
#undef X
#undef TO
};

/* Dense from zero: as many rows as codes, so that every code below the count has its row. */
#define X(name, code, next) +1
static_assert(ORDER_STATE_COUNT == 0 ORDER_STATE_LIST(X), "order states have a hole or a repeat");
#undef X

bool order_state_may_become(enum order_state from, enum order_state to)
{
    INVARIANT(from < ORDER_STATE_COUNT);
    INVARIANT(to < ORDER_STATE_COUNT);
    return (order_states[from].next >> to) & 1u;
}

bool order_state_is_final(enum order_state state)
{
    INVARIANT(state < ORDER_STATE_COUNT);
    return order_states[state].next == 0;
}

const char *order_state_name(enum order_state state)
{
    INVARIANT(state < ORDER_STATE_COUNT);
    return order_states[state].name;
}
