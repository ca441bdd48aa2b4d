#include "base/arena.h"

#include <errno.h>
#include <sys/mman.h>

enum { PAGE_BYTES = 4096, HUGE_PAGE_BYTES = 2 * 1024 * 1024 };

int arena_populate(void *memory, size_t bytes)
{
    INVARIANT((uintptr_t)memory % PAGE_BYTES == 0);
    if (madvise(memory, bytes, MADV_POPULATE_WRITE) == 0)
        return 0;
    if (errno != EINVAL) /* EINVAL: the kernel does not know the advice */
        return -errno;
    for (size_t at = 0; at < bytes; at += PAGE_BYTES)
        ((volatile uint8_t *)memory)[at] = 0;
    return 0;
}

void arena_advise_huge(void *memory, size_t bytes)
{
    size_t before = -(uintptr_t)memory % HUGE_PAGE_BYTES; /* to the first whole huge page */
    if (bytes < before + HUGE_PAGE_BYTES)
        return;
    size_t whole = (bytes - before) / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES;
    int refused = madvise((uint8_t *)memory + before, whole, MADV_HUGEPAGE);
    (void)refused; /* without huge pages only page faults and address translation are slower */
}

int arena_map(enum region_part part, void **memory, size_t bytes, bool touch)
{
    void *region = region_map(part, bytes);
    if (region == NULL)
        return -ENOMEM;
    arena_advise_huge(region, bytes);
    if (touch) {
        int failed = arena_populate(region, bytes);
        if (failed != 0) {
            region_unmap(region, bytes);
            return failed;
        }
    }
    *memory = region;
    return 0;
}

void arena_unmap(void *memory, size_t bytes)
{
    region_unmap(memory, bytes);
}
