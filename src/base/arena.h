/* arena.h - memory of a role: one region, sized at start and handed out in pieces that live as
 * long.
 *
 * A dry run finds the size: on an arena without memory every arena_alloc returns NULL and only
 * counts the bytes. The caller then maps the region and repeats the same sequence of calls.
 * arena_alloc is pure: the engine lays itself out with it. The others (arena_map, arena_populate,
 * arena_advise_huge, arena_unmap) are system calls.
 *
 * Owner. The thread that lays out. A piece cannot be given back; it lives until arena_unmap.
 * Units. Bytes. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include "base/compiler.h"
#include "base/region.h"

struct arena {
    uint8_t *memory; /* NULL: count only */
    size_t capacity;
    size_t used;
};

static inline void arena_init(struct arena *arena, void *memory, size_t capacity)
{
    *arena = (struct arena){ .memory = memory, .capacity = capacity };
}

/* Returns the next `count` items of `size` bytes, aligned to `align` (a power of two); NULL in a
 * dry run. The memory is not cleared. Taking more than the dry run counted fails an INVARIANT. */
static inline void *arena_alloc(struct arena *arena, size_t count, size_t size, size_t align)
{
    INVARIANT(align != 0 && (align & (align - 1)) == 0);
    size_t start = (arena->used + align - 1) & ~(align - 1);
    INVARIANT(size == 0 || count <= (SIZE_MAX / 2 - start) / size);
    arena->used = start + count * size;
    if (arena->memory == NULL)
        return NULL;
    INVARIANT(arena->used <= arena->capacity);
    return arena->memory + start;
}

/* Maps `bytes` of zeroed memory for a part of the process (region_map), advises huge pages and
 * stores the address in *memory; with `touch` it also faults every page in. Returns 0 or -errno;
 * after an error nothing is mapped and *memory is unchanged. */
CC_MUST_USE int arena_map(enum region_part part, void **memory, size_t bytes, bool touch);

/* Faults in every page of a part of such a region. Returns 0, or -errno when the machine has no
 * more memory; the pages faulted in before the error stay. */
CC_MUST_USE int arena_populate(void *memory, size_t bytes);

/* Asks the kernel to back the whole huge pages within any memory, before its first use, with huge
 * pages: 2 MiB are then one page fault, not 512. A refusal changes nothing but the time. */
void arena_advise_huge(void *memory, size_t bytes);

/* Unmaps a region of arena_map. NULL is allowed. */
void arena_unmap(void *memory, size_t bytes);

#endif
