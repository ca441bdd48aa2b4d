/* pending_state.h - the life of a request in flight. The table is the whole truth; code asks, never
 * decides.
 *
 *   write  FREE ──> QUEUED ──> SENT ──┬──────────────────────> DONE ──> FREE
 *                                     v (shows a balance)        ^
 *   read   FREE ──────────────────> HELD ──┬──> CREDIT ──┬──> ASKED
 *                                          └─────────────┘
 *   local  FREE ──> DONE ──> FREE, or HELD before DONE if it waits for a sequence
 *
 * A refusal goes to DONE from wherever it is decided. When its connection closes, a request that
 * nobody works on is FREE at once, any other when its answer comes.
 *
 * The only writer of a state is pending_move() in pending.h. */
#ifndef NET_CONN_PENDING_STATE_H
#define NET_CONN_PENDING_STATE_H

#include "base/compiler.h"

enum pending_kind {
    PENDING_WRITE,   /* `answer`, written in `ack_form` */
    PENDING_READ,    /* `query`, then `reply` */
    PENDING_LOCAL,   /* `local`: a read that the net thread answers itself */
    PENDING_PROBLEM, /* `problem` */
};

enum { PENDING_KINDS = PENDING_PROBLEM + 1 };

/* `kinds`: the kinds that a request in the state can have. `conn`: YES, its connection is open; NO,
 * it has none; ANY, its connection may have closed. */
/* clang-format off */
/*    state   kinds         conn  may become */
#define PENDING_STATE_LIST(X)                                                                      \
    X(FREE,   ALL,          NO,   TO(QUEUED) | TO(HELD) | TO(DONE))                                \
    X(QUEUED, KIND(WRITE),  ANY,  TO(SENT) | TO(DONE) | TO(FREE))  /* awaits signature, credit */  \
    X(SENT,   KIND(WRITE),  ANY,  TO(DONE) | TO(HELD) | TO(FREE))  /* a command is on its way */   \
    X(HELD,   KIND(READ) | KIND(LOCAL), YES,                                                       \
      TO(CREDIT) | TO(ASKED) | TO(DONE) | TO(FREE)) /* after a write, or for a sequence */         \
    X(CREDIT, KIND(READ),   YES,  TO(ASKED) | TO(DONE) | TO(FREE)) /* waits for a buffer */        \
    X(ASKED,  KIND(READ),   ANY,  TO(DONE) | TO(FREE))             /* a query is on its way */     \
    X(DONE,   ALL,          YES,  TO(FREE))                        /* the outcome is known */
/* clang-format on */

enum pending_state {
#define X(name, kinds, conn, next) PENDING_##name,
    PENDING_STATE_LIST(X)
#undef X
        PENDING_STATE_COUNT
};

/* Whether the table allows the move. A state never becomes itself. */
CC_MUST_USE static inline bool pending_state_may_become(enum pending_state from,
                                                        enum pending_state to)
{
    static const uint8_t moves[PENDING_STATE_COUNT] = {
#define TO(name)                   (1u << PENDING_##name)
#define X(name, kinds, conn, next) [PENDING_##name] = (uint8_t)(next),
        PENDING_STATE_LIST(X)
#undef X
#undef TO
    };
    INVARIANT((unsigned)from < PENDING_STATE_COUNT && (unsigned)to < PENDING_STATE_COUNT);
    return (moves[from] >> to & 1u) != 0;
}

/* Whether a request of this kind, with or without its connection, can be in the state. */
CC_MUST_USE static inline bool pending_state_fits(enum pending_state state, enum pending_kind kind,
                                                  bool has_conn)
{
    enum { NO, YES, ANY };
    static const struct {
        uint8_t kinds, conn;
    } rows[PENDING_STATE_COUNT] = {
#define ALL                                0xff
#define KIND(name)                         (1u << PENDING_##name)
#define X(name, its_kinds, its_conn, next) [PENDING_##name] = { its_kinds, its_conn },
        PENDING_STATE_LIST(X)
#undef X
#undef KIND
#undef ALL
    };
    INVARIANT((unsigned)state < PENDING_STATE_COUNT && (unsigned)kind < PENDING_KINDS);
    return (rows[state].kinds >> kind & 1u) != 0 &&
           (rows[state].conn == ANY || rows[state].conn == (has_conn ? YES : NO));
}

#endif
