#include "engine/table/order_state.h"

static const char *const order_state_names[ORDER_STATE_COUNT] = {
#define X(name, code, sizes, next) [ORDER_##name] = #name,
    ORDER_STATE_LIST(X)
#undef X
};

/* The codes are dense from zero: there are as many rows as codes, so every code has its row. */
#define X(name, code, sizes, next) +1
static_assert(ORDER_STATE_COUNT == 0 ORDER_STATE_LIST(X), "order states have a hole or a repeat");
#undef X

const char *order_state_name(enum order_state state)
{
    INVARIANT((unsigned)state < ORDER_STATE_COUNT);
    return order_state_names[state];
}
