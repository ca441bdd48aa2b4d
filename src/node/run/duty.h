/* duty.h - one thread of the node: the steps of its roles in turn, sleeping and waking.
 *
 *   net ── commands ──> matcher ── records ──> journal ── durable ──> follower
 *    ^ <── answers that may leave ──┘             │                      │
 *    ^ <── durable moved ─────────────────────────┴──> matcher (room)    │
 *    ^ <── replies ──────────────────────────────────────────────────────┘
 *
 * Each arrow is one park_wake at most a turn, to a thread that said that it sleeps and wants that
 * cause; between roles of the same thread there is none: it sleeps only when no role had work.
 *
 * Wait.  Sleeps in the io_uring of its net, in the disk's if it has the journal, else on its
 *        eventfd; never while a role has work. One that spins never sleeps.
 * Owner. The thread; `park` is also its wakers', `cpu_clock` and `turns` are read by others. */
#ifndef NODE_RUN_DUTY_H
#define NODE_RUN_DUTY_H

#include <pthread.h>

#include "node/run/park.h"
#include "node/run/topology.h"

struct node;

struct duty {
    struct node *node;
    const struct topology_thread *plan;
    uint32_t live; /* roles that have not ended */
    bool draining; /* its net was told to */
    CC_NO_SHARE struct park park;
    pthread_t thread;
    bool joinable;
    _Atomic clockid_t cpu_clock; /* 0: has not run yet */
    _Atomic uint64_t turns;      /* of its loop: for the watchdog */
};

enum { DUTY_NO_CLOCK = 0 }; /* CLOCK_REALTIME: no thread's clock */

/* 0 or -errno. */
CC_MUST_USE int duty_init(struct duty *duty, struct node *node, const struct topology_thread *plan);
void duty_free(struct duty *duty);

/* The calling thread does it until every role of it has ended or the node has failed. */
void duty_run(struct duty *duty);

/* The clock of the calling thread's CPU time, for /metrics. */
clockid_t duty_cpu_clock(void);

#endif
