#include "base/region.h"

#include <stdatomic.h>
#include <sys/mman.h>

enum { PAGE_BYTES = 4096, PAGES_A_LOOK = 8192 };

enum { FREE = 0, TAKEN = 1 }; /* values of region.start that are no address */

struct region {
    _Atomic uintptr_t start;
    _Atomic size_t bytes;
    _Atomic unsigned part;
};

static struct region regions[REGIONS_MAX];

static const struct {
    const char *name, *holds;
} PARTS[REGION_PARTS_COUNT] = {
#define X(name, holds) { #name, holds },
    REGION_PARTS(X)
#undef X
};

const char *region_part_name(enum region_part part)
{
    INVARIANT(part < REGION_PARTS_COUNT);
    return PARTS[part].name;
}

const char *region_part_holds(enum region_part part)
{
    INVARIANT(part < REGION_PARTS_COUNT);
    return PARTS[part].holds;
}

static bool add(enum region_part part, const void *memory, size_t bytes)
{
    INVARIANT(part < REGION_PARTS_COUNT);
    for (size_t i = 0; i < REGIONS_MAX; i++) {
        struct region *region = &regions[i];
        uintptr_t expected = FREE;
        /* relaxed: what the row says is published below. */
        if (!atomic_compare_exchange_strong_explicit(&region->start, &expected, TAKEN,
                                                     memory_order_relaxed, memory_order_relaxed))
            continue;
        atomic_store_explicit(&region->bytes, bytes, memory_order_relaxed);
        atomic_store_explicit(&region->part, part, memory_order_relaxed);
        /* pairs: region_uses */
        atomic_store_explicit(&region->start, (uintptr_t)memory, memory_order_release);
        return true;
    }
    return false;
}

void region_name(enum region_part part, const void *memory, size_t bytes)
{
    if (memory != NULL)
        (void)add(part, memory, bytes);
}

void region_forget(const void *memory)
{
    for (size_t i = 0; memory != NULL && i < REGIONS_MAX; i++) {
        uintptr_t expected = (uintptr_t)memory;
        /* relaxed: a row that is free says nothing. */
        if (atomic_compare_exchange_strong_explicit(&regions[i].start, &expected, FREE,
                                                    memory_order_relaxed, memory_order_relaxed))
            return;
    }
}

void *region_map(enum region_part part, size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (memory == MAP_FAILED)
        return NULL;
    if (add(part, memory, bytes))
        return memory;
    (void)munmap(memory, bytes);
    return NULL;
}

void region_unmap(void *memory, size_t bytes)
{
    if (memory == NULL)
        return;
    region_forget(memory);
    (void)munmap(memory, bytes);
}

uint64_t region_resident_bytes(const void *memory, size_t bytes)
{
    unsigned char pages[PAGES_A_LOOK];
    uintptr_t start = ((uintptr_t)memory + PAGE_BYTES - 1) & ~(uintptr_t)(PAGE_BYTES - 1);
    uintptr_t end = ((uintptr_t)memory + bytes) & ~(uintptr_t)(PAGE_BYTES - 1);
    uint64_t resident = 0;

    for (uintptr_t at = start; at < end;) {
        size_t left = (end - at) / PAGE_BYTES;
        size_t count = left < PAGES_A_LOOK ? left : PAGES_A_LOOK;
        bool is_told = mincore((void *)at, count * PAGE_BYTES, pages) == 0;
        for (size_t page = 0; page < count; page++)
            resident += is_told ? pages[page] & 1 : 1;
        at += count * PAGE_BYTES;
    }
    return resident * PAGE_BYTES;
}

void region_uses(struct region_use uses[REGION_PARTS_COUNT])
{
    for (size_t part = 0; part < REGION_PARTS_COUNT; part++)
        uses[part] = (struct region_use){ 0 };
    for (size_t i = 0; i < REGIONS_MAX; i++) {
        uintptr_t start = atomic_load_explicit(&regions[i].start, memory_order_acquire);
        if (start == FREE || start == TAKEN)
            continue;
        size_t bytes = atomic_load_explicit(&regions[i].bytes, memory_order_relaxed);
        unsigned part = atomic_load_explicit(&regions[i].part, memory_order_relaxed);
        uses[part].mapped_bytes += bytes;
        uses[part].resident_bytes += region_resident_bytes((const void *)start, bytes);
    }
}
