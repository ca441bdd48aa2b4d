/* poison.h - the guard against commands on which the process aborts: it finds them, reports them
 * and keeps them from the engine (roles.md, Poison command).
 *
 *   crash ──> page, marked ──> the next start: log, file `poison` ──> matcher refuses the request,
 *                                                                     net refuses its type
 *
 * A fault counts once: the file names the run whose fault was recorded last. A request with an id
 * is refused at the peek. After POISON_TYPE_MAX faults on one type, the whole type is refused. A
 * command without an id prevents every start until an operator clears the file.
 *
 * Owner. Main thread; poison_watch is the matcher's, and `file` from then on. What other roles read
 *        does not change between poison_open and poison_close. */
#ifndef NODE_RECOVER_POISON_H
#define NODE_RECOVER_POISON_H

#include "node/recover/poison_file.h"
#include "node/recover/poison_page.h"

enum { POISON_TYPE_MAX = 2 };

struct poison {
    bool is_open;
    bool noted;       /* the page's fault is in the file: the page may be removed */
    bool was_damaged; /* the file, which is poison.damaged now */
    struct poison_page page;
    struct poison_file file;
    uint32_t refused_count; /* requests */
    uint32_t off_count;     /* types */
    uint16_t off[POISON_ROWS_MAX / POISON_TYPE_MAX];
};

/* Call it with the directory locked. `page_id` names the page: the exchange's id, or that of one of
 * its nodes. Records the previous process's fault and makes the rings. 0 or
 * the exit code; the reasons are logged. */
CC_MUST_USE int poison_open(struct poison *poison, struct disk *disk, const char *folder,
                            const uint8_t exchange_id[32], const uint8_t page_id[32],
                            uint64_t now_ns, uint32_t ring_count, uint32_t slot_count);

/* Marks faults of the calling thread, the matcher's, from now on. A second call does nothing. */
void poison_watch(struct poison *poison);

/* Closes the page and removes its file, since this process did not end by a fault. Does nothing on
 * zeroed memory. */
void poison_close(struct poison *poison);

/* The name of a request type for people; "unknown" if there is none. */
const char *poison_type_name(uint16_t code);

#endif
