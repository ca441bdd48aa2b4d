/* park.h - how an idle thread sleeps, and how another wakes it.
 *
 *   sleeper                                   waker
 *   park_begin(wanted)  announces the sleep   make work visible (ring, durable_seq)
 *   look again for work                       park_wake(causes): one write if the other sleeps
 *   sleep on `file` with a timeout                               and wants one of them
 *   park_end()
 *
 * Order.  Every call but park_init changes the flag by a read-modify-write (acquire and release).
 *         If the waker's comes first, the sleeper's second look sees the work. If the sleeper's
 *         comes first, the waker sees the flag. So no wake-up is lost.
 * Meeting. Sometimes work is of use only under a condition that a third thread makes true: an
 *         answer may leave once its sequence is durable. The waker then calls park_wanted first and
 *         tests the condition after it. Either it finds the condition true, or the third thread's
 *         park_wake comes later and the woken thread sees the work.
 * Wait.   park_wake costs one exchange if the other is awake, and one write(2) more otherwise. */
#ifndef NODE_RUN_PARK_H
#define NODE_RUN_PARK_H

#include "base/compiler.h"

/* The causes of a wake-up. A sleeper names those that it wants. */
enum park_cause {
    PARK_ALWAYS = 1,   /* the phase moved or a stop was requested: always wanted */
    PARK_INPUT = 2,    /* messages in its rings */
    PARK_RECORDS = 4,  /* records in the journal's buffer */
    PARK_BULK = 8,     /* enough records to start a frame beside those in flight */
    PARK_DURABLE = 16, /* durable_seq moved, or the journal's buffer has room again */
};

struct park {
    _Atomic uint32_t wanted; /* 0: awake; else the causes that end the sleep */
    int file;                /* eventfd */
    uint64_t owed;           /* sleeper's: unread writes that wakers have made or will make */
};

/* 0 or -errno. */
CC_MUST_USE int park_init(struct park *park);
void park_close(struct park *park);

/* Sleeper. After it the caller must look for work once more before it sleeps. PARK_ALWAYS is
 * implied. */
void park_begin(struct park *park, uint32_t wanted);
/* Sleeper, awake again: clears the flag and empties the file. */
void park_end(struct park *park);

/* Any thread, after it made its work visible: the causes that the sleeper wants (see Meeting). 0:
 * it is awake and will look again. */
CC_MUST_USE uint32_t park_wanted(struct park *park);

/* Any thread, after it made its work visible. */
void park_wake(struct park *park, uint32_t causes);

#endif
