/* poison_page.h - the command rings and the fault mark, in a file in memory that survives the
 * process but not the machine (roles.md, Poison command).
 *
 *   FOLDER/perpd-EXCHANGE_ID     0 page: head, mark (fault.h)     4096 ring 0, ring 1, ...
 *
 * Order.  open takes the file's lock, read looks at what an earlier process left, map begins anew.
 * Owner.  One process: the lock refuses a second one of the same exchange. What stands in the file
 *         is another process's word: it is checked and bounded, never followed.
 * Bound.  Its room is taken and faulted in by poison_page_map: no later write can fail. */
#ifndef NODE_RECOVER_POISON_PAGE_H
#define NODE_RECOVER_POISON_PAGE_H

#include "base/message.h"
#include "node/recover/fault.h"

enum { POISON_PATH_BYTES = 160, POISON_RINGS_MAX = 64 };

#define POISON_FOLDER "/dev/shm"

struct poison_page {
    int file; /* -1: not open */
    char path[POISON_PATH_BYTES];
    uint8_t exchange_id[32];
    uint8_t *memory; /* NULL: not mapped */
    size_t bytes;
    size_t ring_bytes; /* of one ring, whole pages */
};

/* What a process left that found a fault while it applied a command. */
struct poison_fault {
    uint64_t run;     /* of that process (poison_page_map) */
    uint64_t account; /* W5: key of the duplicate set; with has_id */
    uint8_t id[16];   /* with has_id */
    uint32_t signal;  /* number */
    uint32_t ring;    /* with from_ring */
    uint32_t slot;
    uint16_t code;  /* POISON_CODE_UNKNOWN: the place, or what stood there, makes no sense */
    bool from_ring; /* else the node authored it */
    bool has_id;
    uint16_t payload_bytes; /* 0: it is not known */
    uint8_t payload[REQUEST_PAYLOAD_MAX];
};

enum { POISON_CODE_UNKNOWN = 0xFFFF };

/* Opens or makes the file, mode 0600, and locks it; waits a second at most for a process that ends.
 * 0 or -errno: -EWOULDBLOCK when one of the same exchange runs, -EPERM when the file is somebody
 * else's or others may use it. */
CC_MUST_USE int poison_page_open(struct poison_page *page, const char *folder,
                                 const uint8_t exchange_id[32]);

/* True: *fault says what the process before found. False: nothing, or a file of another layout. */
CC_MUST_USE bool poison_page_read(const struct poison_page *page, struct poison_fault *fault);

/* Empties the file, takes its room for the rings, each of `slot_count` slots, and maps it. `run`
 * names this process among those before. 0 or -errno. */
CC_MUST_USE int poison_page_map(struct poison_page *page, uint32_t ring_count, uint32_t slot_count,
                                uint64_t run);

struct fault_mark *poison_page_mark(const struct poison_page *page);
void *poison_page_ring(const struct poison_page *page, uint32_t ring);

/* Gives it back; with `remove` the file goes. In every state, also before poison_page_open if file
 * is -1. */
void poison_page_close(struct poison_page *page, bool remove);

#endif
