/* notify.h - what the service manager is told (sd_notify(3)): how far recovery is, that it serves,
 * that its roles turn, that it stops.
 *
 *   RECOVERING  STATUS, EXTEND_TIMEOUT_USEC while recovery goes on
 *   OPEN        READY=1 with the ready line; WATCHDOG=1 while matcher, journal and follower turn
 *   DRAINING on STOPPING=1, EXTEND_TIMEOUT_USEC while the last snapshot is written
 *
 * A thread of its own, and only when NOTIFY_SOCKET is set: a manager that does not read blocks a
 * sender, and no role may be blocked.
 *
 * Owner. The main thread starts and ends it; what it looks at are atomics of the node. */
#ifndef NODE_RUN_NOTIFY_H
#define NODE_RUN_NOTIFY_H

#include <pthread.h>

#include "node/run/heartbeat.h"
#include "node/run/phase.h"

struct node;

/* What it looks at, and what it has said. */
struct notify {
    struct node *node;
    struct heartbeat heartbeat;
    uint64_t watchdog_us; /* of the manager; 0: none wanted */
    uint64_t ping_ns;     /* last WATCHDOG=1, clock_monotonic_ns */
    uint64_t sent_ns;     /* last STATUS or EXTEND_TIMEOUT_USEC */
    uint64_t stopping_ns; /* STOPPING=1; 0: not yet */
    uint64_t replayed;    /* that the last EXTEND_TIMEOUT_USEC was for */
    bool ready, stopping; /* have been told */
    pthread_t thread;
    bool runs;
    _Atomic bool ends;
};

/* Starts it if somebody is to be told; a thread that the machine refuses is only logged. */
void notify_start(struct notify *notify, struct node *node);
void notify_end(struct notify *notify);

#endif
