/* region.h - memory that the process maps, by what it is for: who asks where the memory went
 * (/metrics, `perp doctor --memory`) gets an answer by part.
 *
 * Owner. Any thread maps, names and unmaps; no lock is held, so that a fork between two steps of
 * another thread leaves nothing behind.
 * Units. Bytes.
 * Bound. REGIONS_MAX named regions of the process; a further one is not mapped. */
#ifndef BASE_REGION_H
#define BASE_REGION_H

#include "base/compiler.h"

/*    part          what it holds */
#define REGION_PARTS(X)                                                        \
    X(engines, "state of the exchange: the matcher's and the follower's")      \
    X(history, "rows of history in memory, which the file of history has too") \
    X(events, "events that a stream can resume from")                          \
    X(rings, "commands and answers on their way between threads")              \
    X(connections, "connections and what they have sent")                      \
    X(requests, "requests that wait for their answer")                         \
    X(replies, "answers of reads on their way to their connection")            \
    X(output, "answers and events that are not sent yet")                      \
    X(keys, "multiples of the keys that sign")                                 \
    X(pairings, "pairings of devices")                                         \
    X(books, "best levels of books for streams")

enum region_part {
#define X(name, holds) REGION_##name,
    REGION_PARTS(X)
#undef X
        REGION_PARTS_COUNT
};

enum { REGIONS_MAX = 2048 };

struct region_use {
    uint64_t mapped_bytes;
    uint64_t resident_bytes; /* of whole pages within the region that are in memory */
};

/* Name of a part, and what it holds. Pure. */
const char *region_part_name(enum region_part part);
const char *region_part_holds(enum region_part part);

/* Maps zeros that take memory when they are touched. NULL: the machine gives none, or there are
 * REGIONS_MAX regions. */
CC_MUST_USE void *region_map(enum region_part part, size_t bytes);

/* Unmaps a region of region_map. NULL is allowed. */
void region_unmap(void *memory, size_t bytes);

/* Names memory of the heap that is as large as a region; region_forget before it is freed. Beyond
 * REGIONS_MAX it stays without a name. NULL is allowed in both. */
void region_name(enum region_part part, const void *memory, size_t bytes);
void region_forget(const void *memory);

/* What each part uses now: about a millisecond for 5 GiB. A region that another thread unmaps
 * meanwhile counts or does not. */
void region_uses(struct region_use uses[REGION_PARTS_COUNT]);

/* Bytes of whole pages in [memory, memory + bytes) that are in memory; of a piece that the kernel
 * says nothing of, all. */
uint64_t region_resident_bytes(const void *memory, size_t bytes);

#endif
