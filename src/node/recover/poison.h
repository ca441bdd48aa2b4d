/* poison.h - the guard against a command on which the process aborts: it is found, told and kept
 * from the engine (roles.md, Poison command).
 *
 *   crash ──> page, marked ──> the next start: log, file `poison` ──> matcher refuses the request,
 *                                                                     net refuses its type
 *
 * A fault counts once: the file names the run whose fault was noted last. A request with an id is
 * refused at the peek, with POISON_TYPE_MAX of one type the type is put off; a command without id
 * ends every start until an operator clears the file.
 *
 * Owner. Main thread; poison_watch is the matcher's. What the other roles see is constant between
 *        poison_open and poison_close. */
#ifndef NODE_RECOVER_POISON_H
#define NODE_RECOVER_POISON_H

#include "node/recover/poison_file.h"
#include "node/recover/poison_page.h"

enum { POISON_TYPE_MAX = 2 };

struct poison {
    bool is_open;
    bool noted; /* what the page said is in the file: the page may go */
    struct poison_page page;
    struct poison_file file;
    uint32_t refused_count; /* requests */
    uint32_t off_count;     /* types */
    uint16_t off[POISON_ENTRIES_MAX / POISON_TYPE_MAX];
};

/* Behind the directory's lock. Notes what the process before left and makes the rings. 0 or the
 * exit code; everything it has to say is logged. */
CC_MUST_USE int poison_open(struct poison *poison, struct disk *disk, const char *folder,
                            const uint8_t exchange_id[32], uint64_t now_ns, uint32_t ring_count,
                            uint32_t slot_count);

/* From now on faults of the calling thread, the matcher's, are marked. Again: nothing. */
void poison_watch(struct poison *poison);

/* Gives the page back; its file goes, for this process has not ended by a fault. On zeroed memory:
 * nothing. */
void poison_close(struct poison *poison);

/* The name of a request type for people; "unknown" for none. */
const char *poison_type_name(uint16_t code);

#endif
