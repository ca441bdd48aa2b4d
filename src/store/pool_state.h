/* pool_state.h - how far the preparation of a journal segment has come.
 *
 *   WAITING ── a .next is open ──> ZEROING ── all zeros written ──> NAMING
 *      ^──────── opened as it is, named, or given up ──────────────────┘
 *
 * Owner. The background thread, in segment_pool.c. */
#ifndef STORE_POOL_STATE_H
#define STORE_POOL_STATE_H

#include "base/compiler.h"

/* clang-format off */
/*    state     may become                   one step of it ... */
#define POOL_STATE_LIST(X)                                                                        \
    X(WAITING,  TO(ZEROING) | TO(WAITING))   /* opens what exists, or begins a .next */           \
    X(ZEROING,  TO(NAMING) | TO(WAITING))    /* writes one chunk of zeros */                      \
    X(NAMING,   TO(WAITING))                 /* header, sync, rename, sync of the folder */
/* clang-format on */

enum pool_state {
#define X(name, next) POOL_##name,
    POOL_STATE_LIST(X)
#undef X
        POOL_STATE_COUNT
};

/* The only writer of a pool's state. The table must allow the move, and a file is open in every
 * state but WAITING (INVARIANT); `has_file`: one is open now. */
void pool_state_move(enum pool_state *state, enum pool_state next, bool has_file);

#endif
