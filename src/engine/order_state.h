/* order_state.h - the life of an order. The table is the whole truth; code asks, never decides.
 *
 *   NEW ──> UNTRIGGERED ──trigger──> OPEN ──fill──> PARTIALLY_FILLED ──fill──> FILLED
 *    │           │                    │  └──────────── fill ─────────────────────^
 *    └───────────┴──────┬─────────────┴── cancel / expiry ──> CANCELED | EXPIRED | REJECTED
 *
 * The codes are the wire's order_status (wire.md, Enum codes); NEW never leaves the engine: it is
 * the state of an order that was taken from the table and whose fate the command has not told yet.
 * The only writer of a state is order_move() in order.h.
 */
#ifndef ENGINE_ORDER_STATE_H
#define ENGINE_ORDER_STATE_H

#include "base/cc.h"

/* clang-format off */
/*    state             code  may become (rules.md R3, Order states) */
#define ORDER_STATE_LIST(X)                                                                    \
    X(OPEN,             0,    TO(PARTIALLY_FILLED) | TO(FILLED) | TO(CANCELED) | TO(EXPIRED))  \
    X(FILLED,           1,    0)                                                               \
    X(CANCELED,         2,    0)                                                               \
    X(REJECTED,         3,    0)                                                               \
    X(UNTRIGGERED,      4,    TO(OPEN) | TO(PARTIALLY_FILLED) | TO(FILLED) | TO(CANCELED)      \
                              | TO(EXPIRED) | TO(REJECTED))                                    \
    X(PARTIALLY_FILLED, 5,    TO(FILLED) | TO(CANCELED) | TO(EXPIRED))                         \
    X(EXPIRED,          6,    0)                                                               \
    X(NEW,              7,    TO(OPEN) | TO(PARTIALLY_FILLED) | TO(FILLED) | TO(CANCELED)      \
                              | TO(UNTRIGGERED) | TO(REJECTED))
/* clang-format on */

enum order_state {
#define X(name, code, next) ORDER_##name = (code),
    ORDER_STATE_LIST(X)
#undef X
        ORDER_STATE_COUNT
};

/* Whether the table allows the move. A state never "becomes" itself. */
CC_MUST_USE bool order_state_may_become(enum order_state from, enum order_state to);

/* FILLED, CANCELED, REJECTED, EXPIRED: nothing follows. */
CC_MUST_USE bool order_state_is_final(enum order_state state);

/* The state's word as in the table. Static storage, never NULL. */
const char *order_state_name(enum order_state state);

#endif
