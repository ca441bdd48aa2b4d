/* poison_page.h - the command rings and the fault mark, in a memory file that survives the process
 * but not the machine (roles.md, Poison command).
 *
 *   FOLDER/perpd-EXCHANGE_ID     0 page: head, mark (fault.h)     4096 ring 0, ring 1, ...
 *
 * Order.  open locks the file, read reads what an earlier process left, map starts afresh.
 * Owner.  One process: the lock refuses a second one of the same exchange. The contents were
 *         written by another process: they are checked and bounded, never trusted.
 * Bound.  poison_page_map allocates and faults in all of it, so that no later write can fail. */
#ifndef NODE_RECOVER_POISON_PAGE_H
#define NODE_RECOVER_POISON_PAGE_H

#include "base/message.h"
#include "node/recover/fault.h"

enum { POISON_PATH_BYTES = 4224, POISON_RINGS_MAX = 64 };

struct poison_page {
    int file; /* -1: not open */
    char path[POISON_PATH_BYTES];
    uint8_t exchange_id[32];
    uint8_t *memory; /* NULL: not mapped */
    size_t bytes;
    size_t ring_bytes; /* of one ring, whole pages */
};

/* What a process left behind that faulted while it applied a command. */
struct poison_fault {
    uint64_t run;     /* of that process (poison_page_map) */
    uint64_t account; /* W5: key of the duplicate set; with has_id */
    uint8_t id[16];   /* with has_id */
    uint32_t signal;  /* number */
    uint32_t ring;    /* with from_ring */
    uint32_t slot;
    uint16_t code;  /* POISON_CODE_UNKNOWN: the location or its contents are invalid */
    bool from_ring; /* else the node authored it */
    bool has_id;
    uint16_t payload_bytes; /* 0: unknown */
    uint8_t payload[REQUEST_PAYLOAD_MAX];
};

enum { POISON_CODE_UNKNOWN = 0xFFFF };

/* Opens or creates the file in a folder (run_folder.h), mode 0600, and locks it. Waits at most a
 * second for a process that is ending. 0 or -errno: -EWOULDBLOCK if a process of the same exchange
 * runs, -EPERM if the file is another user's or others may use it. */
CC_MUST_USE int poison_page_open(struct poison_page *page, const char *folder,
                                 const uint8_t exchange_id[32]);

/* True: *fault has the previous process's fault. False: there is none, or the file has another
 * layout. */
CC_MUST_USE bool poison_page_read(const struct poison_page *page, struct poison_fault *fault);

/* Empties the file, allocates the rings, each of `slot_count` slots, and maps it. `run` identifies
 * this process. 0 or -errno. */
CC_MUST_USE int poison_page_map(struct poison_page *page, uint32_t ring_count, uint32_t slot_count,
                                uint64_t run);

/* Return the fault mark and a ring of the mapped page: memory of the page, until it is closed. */
struct fault_mark *poison_page_mark(const struct poison_page *page);
void *poison_page_ring(const struct poison_page *page, uint32_t ring);

/* Unmaps and closes it; `remove` also removes the file. Works in every state, also before
 * poison_page_open if file is -1. */
void poison_page_close(struct poison_page *page, bool remove);

#endif
