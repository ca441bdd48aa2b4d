/* notify.h - reports to the service manager (sd_notify(3)): progress of recovery, readiness, the
 * watchdog, the stop.
 *
 *   RECOVERING  STATUS, EXTEND_TIMEOUT_USEC while recovery goes on
 *   OPEN        READY=1 with the ready line; WATCHDOG=1 while matcher, journal and follower turn
 *   DRAINING on STOPPING=1, EXTEND_TIMEOUT_USEC while the last snapshot is written
 *
 * It has a thread of its own, which runs only if NOTIFY_SOCKET is set: a manager that does not read
 * blocks the sender, and no role may block.
 *
 * Owner. The main thread starts and ends it. It reads atomics of the node. */
#ifndef NODE_RUN_NOTIFY_H
#define NODE_RUN_NOTIFY_H

#include <pthread.h>

#include "node/run/heartbeat.h"
#include "node/run/phase.h"

struct node;

/* What it reads, and what it has sent. */
struct notify {
    struct node *node;
    struct heartbeat heartbeat;
    uint64_t watchdog_us; /* of the manager; 0: no watchdog */
    uint64_t ping_ns;     /* last WATCHDOG=1, clock_monotonic_ns */
    uint64_t sent_ns;     /* last STATUS or EXTEND_TIMEOUT_USEC */
    uint64_t stopping_ns; /* STOPPING=1; 0: not yet */
    uint64_t replayed;    /* sequence of the last EXTEND_TIMEOUT_USEC */
    bool ready, stopping; /* were sent */
    pthread_t thread;
    bool runs;
    _Atomic bool ends;
};

/* Starts it if there is a manager. A thread that the machine refuses is only logged. */
void notify_start(struct notify *notify, struct node *node);
void notify_end(struct notify *notify);

#endif
