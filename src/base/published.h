/* published.h - a number that one thread writes and any other reads, such as one thread's part of a
 * total on a page; and the words of a record, which its owner's version numbers prove whole.
 *
 * Order. None: both sides are relaxed, because no other memory is read through the number (pairs:
 *        published_set, published_add, published_get). Who writes words orders them by fences of
 *        its own.
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

/* Writes `count` words of 8 bytes each. */
static inline void published_words_set(_Atomic uint64_t *words, const void *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        atomic_store_explicit(&words[i], cc_load64((const uint8_t *)bytes + 8 * i),
                              memory_order_relaxed);
}

/* Reads `count` words, each of which may be of another record. */
static inline void published_words_get(const _Atomic uint64_t *words, void *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        cc_store64((uint8_t *)bytes + 8 * i, atomic_load_explicit(&words[i], memory_order_relaxed));
}

#endif
