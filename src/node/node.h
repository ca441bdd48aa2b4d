/* node.h - perpd's roles on threads: topology `shared`, two threads and a background one.
 *
 *   T0 (main)    net_step, core_match        parks on sockets and its wake file
 *   T1           recovery, then              parks on the disk's completions and its wake file
 *                core_journal, core_follow
 *   background   core_prepare                sleeps between pieces
 *
 * With one CPU there is no T1: T0 takes all steps in turn and parks briefly while writes are out.
 *
 * Owner. node_run is the main thread's; node_ask_stop may be called from a signal handler. */
#ifndef NODE_NODE_H
#define NODE_NODE_H

#include "base/config.h"
#include "net/net.h"
#include "node/core.h"
#include "node/park.h"
#include "node/phase.h"

/* Exit codes of perpd (architecture.md, Configuration). */
enum node_exit {
    NODE_EXIT_CLEAN = 0,
    NODE_EXIT_FAILED = 1,
    NODE_EXIT_CONFIGURATION = 2,
    NODE_EXIT_REFUSED = 3,
    NODE_EXIT_KERNEL = 4,
};

struct node {
    const struct config *options;
    struct clock clock;
    struct disk *disk;
    struct core core;
    struct net *net;
    struct park net_park;     /* T0 sleeps on it */
    struct park journal_park; /* T1 sleeps on it */
    void *ring_memory;
    size_t ring_bytes;
    struct ring commands, answers, queries, replies;
    struct reply_pool pool;
    void *pool_memory;
    bool one_thread;
    bool announced;                /* the ready line is out */
    uint64_t started_monotonic_ns; /* for the wait for the clock */
    uint64_t stop_end_ns;          /* clock_monotonic_ns; T0 writes it before NODE_STOPPING */
    struct refusal refusal;
    struct phase phase;
    _Atomic bool stop_asked;
};

/* Starts, serves until node_ask_stop, stops. Gives the exit code; everything it has to say is
 * logged, and `ready http://HOST:PORT` is printed on standard output when it serves. */
int node_run(struct node *node, const struct config *options);

/* Asks for a clean stop. Safe in a signal handler. */
void node_ask_stop(struct node *node);

#endif
