/* counter.h - a total since start, written by one thread and read by any.
 *
 * Order. Relaxed on both sides: nothing is ordered by it. */
#ifndef NODE_HISTORY_COUNTER_H
#define NODE_HISTORY_COUNTER_H

#include "base/compiler.h"

/* Adds one. Its one writer only: a plain load and store, no locked instruction. */
static inline void counter_add(_Atomic uint64_t *counter)
{
    /* relaxed: single writer, readers only show it (pairs: counter_read). */
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

static inline uint64_t counter_read(const _Atomic uint64_t *counter)
{
    return atomic_load_explicit(counter,
                                memory_order_relaxed); /* relaxed: shown, decides nothing */
}

#endif
