/* topology.h - which roles run on which threads, and on which CPUs (roles.md, Threads and budgets).
 *
 *   shared      main: net, matcher            journal: journal, follower
 *   dedicated   main: net 0, net 1 ... n-1    matcher     journal     follower
 *   one CPU     main: net, matcher, journal, follower
 *
 * engine.core pins the matcher's thread to a CPU. Every other thread then stays off that CPU,
 * unless it is the only one. The main thread is always the first and always has net 0.
 *
 * Owner. Made once at start, read-only afterwards. */
#ifndef NODE_RUN_TOPOLOGY_H
#define NODE_RUN_TOPOLOGY_H

#include <sched.h>

#include "base/config.h"

enum {
    TOPOLOGY_NETS_MAX = 32,
    TOPOLOGY_THREADS_MAX = TOPOLOGY_NETS_MAX + 3,
    TOPOLOGY_DEDICATED_CPUS = 4, /* with at least these, `auto` is dedicated (roles.md) */
    TOPOLOGY_NAME_BYTES = 20,
    TOPOLOGY_ERROR_BYTES = 200,
};

enum role { ROLE_NET = 1, ROLE_MATCHER = 2, ROLE_JOURNAL = 4, ROLE_FOLLOWER = 8 };

struct topology_thread {
    uint32_t roles; /* enum role bits */
    uint32_t net;   /* ROLE_NET: which one */
    bool spins;     /* without work it looks again instead of sleeping */
    char
        name[TOPOLOGY_NAME_BYTES]; /* in /metrics; "perpd-" and this, cut to 15, names the thread */
};

struct topology {
    const char *name; /* "shared" or "dedicated" */
    struct topology_thread threads[TOPOLOGY_THREADS_MAX];
    uint32_t thread_count;
    uint32_t net_count;
    bool pinned;      /* engine.core is set */
    uint32_t core;    /* CPU of the matcher's thread */
    cpu_set_t others; /* where every other thread may run */
    char error[TOPOLOGY_ERROR_BYTES];
};

/* Makes the table for these options and the CPUs `allowed` (sched_getaffinity). False, with the
 * reason in `error`, if the options cannot be met. */
CC_MUST_USE bool topology_make(struct topology *topology, const struct config *options,
                               const cpu_set_t *allowed);

/* The number of the thread that has the role; for ROLE_NET, that of net 0. */
uint32_t topology_thread_of(const struct topology *topology, enum role role);

/* Moves the calling thread to its CPUs; `matches`: it has the matcher. 0 or -errno. Does nothing if
 * engine.core is not set. */
CC_MUST_USE int topology_bind(const struct topology *topology, bool matches);

#endif
