/* arena.h - memory of a role: one region sized at start, handed out in pieces, never taken back.
 *
 * The size is found by a dry run: the same sequence of arena_take on an arena without memory gives
 * NULL each time and counts the bytes; then the region is mapped and the sequence runs again.
 * arena_take is pure (the engine lays itself out with it); arena_map asks the kernel.
 *
 * Owner. The thread that lays out. Pieces live as long as the region.
 * Units. Bytes. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include "base/cc.h"

struct arena {
    uint8_t *memory; /* NULL: count only */
    size_t capacity;
    size_t used;
};

static inline void arena_init(struct arena *arena, void *memory, size_t capacity)
{
    *arena = (struct arena){ .memory = memory, .capacity = capacity };
}

/* The next `count` items of `size` bytes at a multiple of `align` (a power of two); NULL in a dry
 * run. Taking more than the dry run counted is our fault (INVARIANT). */
static inline void *arena_take(struct arena *arena, size_t count, size_t size, size_t align)
{
    size_t start = (arena->used + align - 1) & ~(align - 1);
    INVARIANT(size == 0 || count <= (SIZE_MAX / 2 - start) / size);
    arena->used = start + count * size;
    if (arena->memory == NULL)
        return NULL;
    INVARIANT(arena->used <= arena->capacity);
    return arena->memory + start;
}

/* Maps zeroed anonymous memory and, with `touch`, faults every page in (huge pages are asked for).
 * 0 or -errno. */
CC_MUST_USE int arena_map(void **memory, size_t bytes, bool touch);

/* Faults every page of a piece of such a region in. 0 or -errno: the machine has no more memory. */
CC_MUST_USE int arena_populate(void *memory, size_t bytes);

/* Gives a region of arena_map back; NULL is allowed. */
void arena_unmap(void *memory, size_t bytes);

#endif
