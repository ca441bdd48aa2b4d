#include "repl/elect_state.h"

void elect_state_move(enum elect_state *state, enum elect_state next, bool has_lease)
{
#define TO(name)             (1U << ELECT_##name)
#define X(name, next_states) next_states,
    static const unsigned allowed[ELECT_STATE_COUNT] = { ELECT_STATE_LIST(X) };
#undef X
#undef TO

    INVARIANT((unsigned)*state < ELECT_STATE_COUNT && (unsigned)next < ELECT_STATE_COUNT);
    INVARIANT((allowed[*state] >> next & 1U) != 0);
    INVARIANT(next == ELECT_LOST || next == ELECT_FAILED || has_lease == (next != ELECT_SESSION));
    *state = next;
}
