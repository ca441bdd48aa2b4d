/* park.h - how a thread that has nothing to do sleeps, and how another wakes it.
 *
 *   sleeper                                   waker
 *   park_begin(wanted)  says that it sleeps   make work visible (ring, durable_seq)
 *   look again for work                       park_wake(causes): one write if somebody sleeps
 *   sleep on `file` with a timeout                               and wants one of them
 *   park_end()
 *
 * Order.  Every call but park_init changes the flag by a read-modify-write (acquire and release).
 *         Of sleeper's and waker's one comes first: the waker's, then the sleeper's second look
 *         sees the work; or the sleeper's, then the waker sees the flag. No wake-up is lost.
 * Meeting. A waker whose work is of use only when something else holds that a third thread makes
 *         true (an answer, once its sequence is durable) asks park_wanted first and looks at that
 *         something afterwards: either it sees it, or the third thread's park_wake comes later and
 *         the woken thread sees the work.
 * Wait.   park_wake costs one exchange when nobody sleeps, one write(2) more otherwise. */
#ifndef NODE_RUN_PARK_H
#define NODE_RUN_PARK_H

#include "base/compiler.h"

/* Why a thread is woken; a sleeper says which of them are of use to it. */
enum park_cause {
    PARK_ALWAYS = 1,   /* the phase moved, or a stop was asked: always wanted */
    PARK_INPUT = 2,    /* messages in its rings */
    PARK_RECORDS = 4,  /* records in the journal's buffer */
    PARK_BULK = 8,     /* so many records that a frame beside those in flight is worth it */
    PARK_DURABLE = 16, /* durable_seq moved, or room was made in the journal's buffer */
};

struct park {
    _Atomic uint32_t wanted; /* 0: awake; else the causes that end the sleep */
    int file;                /* eventfd */
    uint64_t owed;           /* sleeper's: ones that wakers have written or are about to, unread */
};

/* 0 or -errno. */
CC_MUST_USE int park_init(struct park *park);
void park_close(struct park *park);

/* Sleeper. After it the caller must look for work once more before it sleeps. PARK_ALWAYS need not
 * be named. */
void park_begin(struct park *park, uint32_t wanted);
/* Sleeper. Awake again: takes the flag back and empties the file. */
void park_end(struct park *park);

/* Any thread, after its work was made visible: does the other sleep, and until what (see Meeting).
 * 0: it is awake and will look again. */
CC_MUST_USE uint32_t park_wanted(struct park *park);

/* Any thread, after its work was made visible. */
void park_wake(struct park *park, uint32_t causes);

#endif
