/* duty.h - the loop of one thread: the steps of its roles in turn, sleeping and waking.
 *
 *   net ── commands ──> matcher ── records ──> journal ── durable ──> follower
 *    ^ <── answers that may leave ──┘             │                      │
 *    ^ <── durable moved ─────────────────────────┴──> matcher (room)    │
 *    ^ <── replies ──────────────────────────────────────────────────────┘
 *
 * Each arrow is at most one park_wake a turn, to a thread that sleeps and wants that cause. Roles
 * of the same thread need none: a thread sleeps only if none of its roles had work.
 *
 * Wait.  Sleeps in the io_uring of its net; in the disk's if it has the journal; else on its
 *        eventfd. Never while a role has work. A thread that spins never sleeps.
 * Owner. The thread. Wakers also use `park`; other threads read `cpu_clock` and `turns`. */
#ifndef NODE_RUN_DUTY_H
#define NODE_RUN_DUTY_H

#include <pthread.h>

#include "base/published.h"
#include "node/run/park.h"
#include "node/run/topology.h"

struct node;

struct duty {
    struct node *node;
    const struct topology_thread *plan;
    uint32_t live; /* roles that have not finished */
    bool draining; /* its net is draining */
    CC_NO_SHARE struct park park;
    pthread_t thread;
    bool joinable;
    _Atomic clockid_t cpu_clock; /* 0: has not run yet */
    struct published turns;      /* of its loop: for the watchdog */
    uint64_t turns_seen;         /* by the journal's thread, in a cluster; and when they changed */
    uint64_t turned_ns;
};

enum { DUTY_NO_CLOCK = 0 }; /* CLOCK_REALTIME: no thread's clock */

/* 0 or -errno. */
CC_MUST_USE int duty_init(struct duty *duty, struct node *node, const struct topology_thread *plan);
void duty_free(struct duty *duty);

/* Runs the loop on the calling thread until each of its roles has finished or the node has
 * failed. */
void duty_run(struct duty *duty);

/* The CPU-time clock of the calling thread, for /metrics. */
clockid_t duty_cpu_clock(void);

#endif
