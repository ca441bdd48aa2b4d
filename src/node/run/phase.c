#include "node/run/phase.h"

void phase_init(struct phase *phase)
{
    atomic_init(&phase->now, (uint32_t)PHASE_RECOVERING);
    atomic_init(&phase->exit_code, 0);
    atomic_init(&phase->failing, false);
}

enum phase_name phase_now(const struct phase *phase)
{
    /* pairs: move */
    return (enum phase_name)atomic_load_explicit(&phase->now, memory_order_acquire);
}

/* The only writer of `now`. False when another move came first: *from gets the phase it led to. */
static bool move(struct phase *phase, enum phase_name *from, enum phase_name to)
{
#define TO(name)      (1U << PHASE_##name)
#define X(name, next) next,
    static const unsigned allowed[PHASE_COUNT] = { PHASE_LIST(X) };
#undef X
#undef TO
    uint32_t expected = (uint32_t)*from;

    INVARIANT((unsigned)*from < PHASE_COUNT && (unsigned)to < PHASE_COUNT);
    INVARIANT((allowed[*from] >> to & 1U) != 0);
    INVARIANT(to != PHASE_FAILED || atomic_load_explicit(&phase->failing, memory_order_relaxed));
    /* Release: pairs with phase_now. */
    bool moved = atomic_compare_exchange_strong_explicit(
        &phase->now, &expected, (uint32_t)to, memory_order_acq_rel, memory_order_acquire);
    *from = (enum phase_name)expected;
    return moved;
}

bool phase_advance(struct phase *phase, enum phase_name from, enum phase_name to)
{
    INVARIANT(to != PHASE_FAILED); /* that is phase_fail's */
    bool moved = move(phase, &from, to);
    INVARIANT(moved || from == PHASE_FAILED);
    return moved;
}

void phase_fail(struct phase *phase, int exit_code)
{
    if (atomic_exchange_explicit(&phase->failing, true, memory_order_acq_rel))
        return;
    /* relaxed: published by the move. */
    atomic_store_explicit(&phase->exit_code, exit_code, memory_order_relaxed);
    enum phase_name from = phase_now(phase);
    while (!move(phase, &from, PHASE_FAILED)) /* moves are rare: it ends */
        continue;
}

int phase_exit_code(const struct phase *phase)
{
    return atomic_load_explicit(&phase->exit_code, memory_order_relaxed); /* 0 unless it failed */
}
