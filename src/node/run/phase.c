#include "node/run/phase.h"

void phase_init(struct phase *phase)
{
    atomic_init(&phase->now, (uint32_t)NODE_RECOVERING);
    atomic_init(&phase->exit_code, 0);
    atomic_init(&phase->failing, false);
}

enum node_phase phase_now(const struct phase *phase)
{
    /* pairs: phase_advance, phase_fail */
    return (enum node_phase)atomic_load_explicit(&phase->now, memory_order_acquire);
}

bool phase_advance(struct phase *phase, enum node_phase from, enum node_phase to)
{
    uint32_t expected = (uint32_t)from;

    /* Release: pairs with phase_now. */
    bool moved = atomic_compare_exchange_strong_explicit(
        &phase->now, &expected, (uint32_t)to, memory_order_acq_rel, memory_order_acquire);
    INVARIANT(moved || expected == NODE_FAILED);
    return moved;
}

void phase_fail(struct phase *phase, int exit_code)
{
    if (atomic_exchange_explicit(&phase->failing, true, memory_order_acq_rel))
        return;
    atomic_store_explicit(&phase->exit_code, exit_code, memory_order_relaxed); /* told by `now` */
    atomic_store_explicit(&phase->now, (uint32_t)NODE_FAILED, memory_order_release);
}

int phase_exit_code(const struct phase *phase)
{
    return atomic_load_explicit(&phase->exit_code, memory_order_relaxed); /* 0 unless it failed */
}
