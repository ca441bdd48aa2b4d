/* order_state.h - the states of an order and the moves between them, as one table.
 *
 *   NEW ──> UNTRIGGERED ──trigger──> OPEN ──fill──> PARTIALLY_FILLED ──fill──> FILLED
 *    │           │                    │  └──────────── fill ─────────────────────^
 *    └───────────┴──────┬─────────────┴── cancel / expiry ──> CANCELED | EXPIRED | REJECTED
 *
 * The codes are the wire's order_status (wire.md, Enum codes). NEW never leaves the engine: an
 * order has it from order_alloc until the command decides what becomes of it. The only writer of a
 * state is order_move() in order.h.
 */
#ifndef ENGINE_TABLE_ORDER_STATE_H
#define ENGINE_TABLE_ORDER_STATE_H

#include "base/compiler.h"

/* clang-format off */
/*    state             code  sizes it goes with   may become (rules.md R3, Order states) */
#define ORDER_STATE_LIST(X)                                                                       \
    X(OPEN,             0,    REST | UNFILLED,     TO(PARTIALLY_FILLED) | TO(FILLED)              \
                                                   | TO(CANCELED) | TO(EXPIRED))                  \
    X(FILLED,           1,    NO_REST | SOME_FILL, 0)                                             \
    X(CANCELED,         2,    0,                   0)                                             \
    X(REJECTED,         3,    UNFILLED,            0)                                             \
    X(UNTRIGGERED,      4,    REST | UNFILLED,     TO(OPEN) | TO(PARTIALLY_FILLED) | TO(FILLED)   \
                                                   | TO(CANCELED) | TO(EXPIRED) | TO(REJECTED))   \
    X(PARTIALLY_FILLED, 5,    REST | SOME_FILL,    TO(FILLED) | TO(CANCELED) | TO(EXPIRED))       \
    X(EXPIRED,          6,    0,                   0)                                             \
    X(NEW,              7,    0,                   TO(OPEN) | TO(PARTIALLY_FILLED) | TO(FILLED)   \
                                                   | TO(CANCELED) | TO(UNTRIGGERED) | TO(REJECTED))
/* clang-format on */

enum order_state {
#define X(name, code, sizes, next) ORDER_##name = (code),
    ORDER_STATE_LIST(X)
#undef X
        ORDER_STATE_COUNT
};

static_assert(ORDER_STATE_COUNT == 8, "eight bytes of eight bits");

/* The table in two words. A move is bit 8 * from + to; the sizes are four bits from 4 * state. */
/* clang-format off */
enum { ORDER_SIZES_NO_REST = 1, ORDER_SIZES_REST = 2, ORDER_SIZES_UNFILLED = 4,
       ORDER_SIZES_SOME_FILL = 8 };
static const uint32_t order_state_sizes = 0
#define NO_REST                    ORDER_SIZES_NO_REST
#define REST                       ORDER_SIZES_REST
#define UNFILLED                   ORDER_SIZES_UNFILLED
#define SOME_FILL                  ORDER_SIZES_SOME_FILL
#define X(name, code, sizes, next) | (uint32_t)(sizes) << 4 * (code)
    ORDER_STATE_LIST(X);
#undef X
#undef NO_REST
#undef REST
#undef UNFILLED
#undef SOME_FILL
static const uint64_t order_state_moves = 0
#define TO(name)                   (1ull << ORDER_##name)
#define X(name, code, sizes, next) | (uint64_t)(next) << 8 * (code)
    ORDER_STATE_LIST(X);
#undef X
#undef TO
/* clang-format on */

/* The codes are dense from zero: there are as many rows as codes, so every code has its row. */
#define X(name, code, sizes, next) +1
static_assert(ORDER_STATE_COUNT == 0 ORDER_STATE_LIST(X), "order states have a hole or a repeat");
#undef X

/* True if the table allows the move. A state never becomes itself. */
CC_MUST_USE static inline bool order_state_may_become(enum order_state from, enum order_state to)
{
    INVARIANT((unsigned)from < ORDER_STATE_COUNT);
    INVARIANT((unsigned)to < ORDER_STATE_COUNT);
    return (order_state_moves >> (8 * (unsigned)from + (unsigned)to)) & 1u;
}

/* True for FILLED, CANCELED, REJECTED and EXPIRED: no move leaves them. */
CC_MUST_USE static inline bool order_state_is_final(enum order_state state)
{
    INVARIANT((unsigned)state < ORDER_STATE_COUNT);
    return ((order_state_moves >> 8 * (unsigned)state) & 0xff) == 0;
}

/* True if an order with these sizes can be in the state (the table's column of sizes). There is no
 * branch, because the next state is unpredictable. */
CC_MUST_USE static inline bool order_state_fits(enum order_state state, uint64_t remaining,
                                                uint64_t filled)
{
    uint32_t wanted = (order_state_sizes >> 4 * (unsigned)state) & 0xf;
    uint32_t given = (remaining == 0 ? ORDER_SIZES_NO_REST : ORDER_SIZES_REST) |
                     (filled == 0 ? ORDER_SIZES_UNFILLED : ORDER_SIZES_SOME_FILL);

    return (wanted & ~given) == 0;
}

#endif
