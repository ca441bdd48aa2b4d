/* published.h - a number that one thread writes and any other reads, such as one thread's part of a
 * total on a page.
 *
 * Order. None: both sides are relaxed, because no other memory is read through the number (pairs:
 *        published_set, published_add, published_get).
 * Owner. The writer is one thread. */
#ifndef BASE_PUBLISHED_H
#define BASE_PUBLISHED_H

#include "base/compiler.h"

struct published {
    _Atomic uint64_t value;
};

static inline void published_set(struct published *published, uint64_t value)
{
    atomic_store_explicit(&published->value, value, memory_order_relaxed);
}

/* Adds to the number, by a plain load and store: there is one writer. */
static inline void published_add(struct published *published, uint64_t change)
{
    published_set(published,
                  atomic_load_explicit(&published->value, memory_order_relaxed) + change);
}

CC_MUST_USE static inline uint64_t published_get(const struct published *published)
{
    return atomic_load_explicit(&published->value, memory_order_relaxed);
}

#endif
