#include "store/pool_state.h"

void pool_state_move(enum pool_state *state, enum pool_state next, bool has_file)
{
#define TO(name)             (1U << POOL_##name)
#define X(name, next_states) next_states,
    static const unsigned allowed[POOL_STATE_COUNT] = { POOL_STATE_LIST(X) };
#undef X
#undef TO

    INVARIANT((unsigned)*state < POOL_STATE_COUNT && (unsigned)next < POOL_STATE_COUNT);
    INVARIANT((allowed[*state] >> next & 1U) != 0);
    INVARIANT(has_file == (next != POOL_WAITING));
    *state = next;
}
