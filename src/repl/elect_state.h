/* elect_state.h - how far a node's part in an election has come. The table is the whole truth.
 *
 *   SESSION ── lease ──> FOLLOWS ── nobody leads ──> STANDS ── won ──> ELECTED ── hands ──> HANDS
 *      ^                 ^  ^  │                        │                 │                │ │
 *      └── lease ended ──┼──┼──┴────────────────────────┤                 │ another leads, │ │
 *                        │  └── another, or gave up ────┘                 v  lease ended   │ │
 *                        │                                              LOST <────────────┘ │
 *                        └───────────────────────── handed over ────────────────────────────┘
 *
 * Any state may fail. LOST and FAILED are final: the node begins another elect.
 * Owner. The thread of the elect. */
#ifndef REPL_ELECT_STATE_H
#define REPL_ELECT_STATE_H

#include "base/compiler.h"

/* clang-format off */
/*    state     may become */
#define ELECT_STATE_LIST(X)                                                                        \
    X(SESSION,  TO(FOLLOWS) | TO(FAILED)) /* no session yet, or none any more */                   \
    X(FOLLOWS,  TO(SESSION) | TO(STANDS) | TO(FAILED)) /* watches who leads */                     \
    /* nobody leads, and this node may: an election is under way */                                \
    X(STANDS,   TO(SESSION) | TO(FOLLOWS) | TO(ELECTED) | TO(FAILED))                              \
    X(ELECTED,  TO(HANDS) | TO(LOST) | TO(FAILED)) /* it leads; nothing written yet */             \
    X(HANDS,    TO(FOLLOWS) | TO(LOST) | TO(FAILED)) /* it gives the lead away */                  \
    X(LOST,     TO(FAILED)) /* it led, and does so no more */                                      \
    X(FAILED,   TO(FAILED)) /* the newest reason counts */
/* clang-format on */

enum elect_state {
#define X(name, next) ELECT_##name,
    ELECT_STATE_LIST(X)
#undef X
        ELECT_STATE_COUNT
};

/* The only writer of an elect's state. The table must allow the move; a node has a lease in
 * FOLLOWS, STANDS, ELECTED and HANDS, and none in SESSION (INVARIANT). `has_lease`: now. */
void elect_state_move(enum elect_state *state, enum elect_state next, bool has_lease);

#endif
