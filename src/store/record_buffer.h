/* record_buffer.h - the bytes of published records on their way to the disk: a ring of words.
 *
 *   matcher: record_buffer_put(position) ──> journal thread: measure, copy
 *                                       └──> follower: length, load, while the words may change
 *
 * Positions are bytes since the start; the words of a position are those of position modulo size.
 * Order.  put stores each word with release, length and load load it with acquire: journal.c says
 *         which positions are there, and how a reader learns that it was overtaken.
 * Wait.   Nothing blocks. */
#ifndef STORE_RECORD_BUFFER_H
#define STORE_RECORD_BUFFER_H

#include "base/compiler.h"

struct record_buffer {
    _Atomic uint64_t *words;
    uint64_t mask;  /* of word numbers */
    uint64_t bytes; /* a power of two */
};

/* Allocates `bytes` and touches them. False without memory. */
CC_MUST_USE bool record_buffer_make(struct record_buffer *buffer, uint64_t bytes);
void record_buffer_free(struct record_buffer *buffer);

/* Writes `count` bytes, a multiple of 8, at `position`. */
static inline void record_buffer_put(struct record_buffer *buffer, uint64_t position,
                                     const uint8_t *bytes, uint32_t count)
{
    uint64_t word = position / 8;

    for (uint32_t i = 0; i < count; i += 8)
        atomic_store_explicit(&buffer->words[word++ & buffer->mask], cc_load64(bytes + i),
                              memory_order_release);
}

/* Returns the bytes of the records from `position` to at most `tail` that fit in `limit`, and their
 * number. The caller has loaded `tail` with acquire. */
CC_MUST_USE uint32_t record_buffer_measure(const struct record_buffer *buffer, uint64_t position,
                                           uint64_t tail, uint32_t limit, uint32_t *count);

/* Copies `count` bytes from `position` on, which nobody overwrites meanwhile. */
void record_buffer_copy(const struct record_buffer *buffer, uint64_t position, uint8_t *out,
                        uint32_t count);

/* Returns the length that the record at `position` has, or nonsense when it was overwritten. */
CC_MUST_USE uint32_t record_buffer_length(const struct record_buffer *buffer, uint64_t position);

/* Copies `count` bytes word by word; they may be overwritten meanwhile. */
void record_buffer_load(const struct record_buffer *buffer, uint64_t position, uint8_t *out,
                        uint32_t count);

#endif
