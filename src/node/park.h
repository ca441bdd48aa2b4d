/* park.h - how a thread that has nothing to do sleeps, and how another wakes it.
 *
 *   sleeper                                waker
 *   park_begin()   says that it sleeps     make work visible (ring, durable_seq)
 *   look again for work                    park_wake(): one write if somebody sleeps
 *   sleep on park_file() with a timeout
 *   park_end()
 *
 * Order.  Both ends exchange the flag (acquire and release). Of the two exchanges one comes first:
 *         the waker's, then the sleeper's second look sees the work; or the sleeper's, then the
 *         waker sees the flag. No wake-up is lost.
 * Wait.   park_wake costs one exchange when nobody sleeps, one write(2) more otherwise. */
#ifndef NODE_PARK_H
#define NODE_PARK_H

#include "base/cc.h"

struct park {
    _Atomic uint32_t sleeping;
    int file;      /* eventfd */
    uint64_t owed; /* sleeper's: ones that wakers have written or are about to, not read yet */
};

/* 0 or -errno. */
CC_MUST_USE int park_init(struct park *park);
void park_close(struct park *park);

/* Sleeper. After it the caller must look for work once more before it sleeps. */
void park_begin(struct park *park);
/* Sleeper. Awake again: takes the flag back and empties the file. */
void park_end(struct park *park);

/* Any thread, after its work was made visible. */
void park_wake(struct park *park);

#endif
