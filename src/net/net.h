/* net.h - one network thread: connections, HTTP, signed requests, reads, the admin pages.
 *
 *   clients <── sockets ──> net ── commands ──> matcher        net ── queries ──> follower
 *                            ^ <── answers ────                 ^ <── replies ───
 *
 * Order.  As roles.md, Order within a connection: commands enter their ring in the order
 *         received, answers leave in request order and only when durable() >= release_sequence, a
 *         read behind a write is dispatched when that write's answer is released.
 * Wait.   net_step never blocks; net_wait sleeps in the kernel until a socket, the wake file or the
 *         timeout ends it. To wake a sleeping net thread write to `wake_file`, an eventfd of the
 *         node, which says when it sleeps and empties the file when it wakes.
 * Owner.  net_create may run on any thread; the thread of the first net_step owns it from then on
 *         (the kernel holds it to that) and makes every later call that is not said to be others'.
 * Units.  Times are unix ns of the node clock; timeouts ns.
 * Bound.  NET_CONNECTIONS_MAX connections, `output_pool_bytes` unsent bytes; all memory is mapped
 *         by net_create and nothing is allocated afterwards. */
#ifndef NET_NET_H
#define NET_NET_H

#include "net/conn/net_config.h"
#include "net/conn/net_metrics.h"

/* Why net_create failed, for the operator: what is missing and how to mend it. */
struct net_diagnosis {
    bool kernel_lacks; /* io_uring refused: perpd exits 4 */
    bool bad_address;  /* an option is no address:port: perpd exits 2; else 1 */
    char text[400];
};

struct net;

/* Binds the addresses and maps all memory. 0, or -errno with *diagnosis filled and nothing kept.
 * ed25519_init and secp256k1_init must have succeeded before. */
CC_MUST_USE int net_create(struct net **net, const struct net_config *config,
                           struct net_diagnosis *diagnosis);

/* Closes every connection at once and gives everything back. Its thread makes this call, or any
 * other once that thread has ended. */
void net_destroy(struct net *net);

/* One turn: answers, replies, received bytes, signatures, sends. The work done; 0: nothing. */
unsigned net_step(struct net *net);

/* When the next thing is due by the clock alone (a credit wait, a time-out), clock_monotonic_ns;
 * UINT64_MAX: never. */
uint64_t net_deadline_ns(const struct net *net);

/* Sleeps until a socket or the wake file is readable, or at most timeout_ns, or until
 * net_deadline_ns. Returns at once when a turn would find work. */
void net_wait(struct net *net, uint64_t timeout_ns);

/* Stops accepting and begins to close: idle connections at once, the others when the requests they
 * have sent are answered. */
void net_drain(struct net *net);

/* True when no request is in flight and no byte unsent: after net_drain, or while idle. */
CC_MUST_USE bool net_drained(const struct net *net);

/* The ports bound; 0 for no admin listener. */
uint16_t net_port(const struct net *net);
uint16_t net_admin_port(const struct net *net);

/* The address of the public listener as a URL host: "127.0.0.1" or "[::1]". */
const char *net_host(const struct net *net);

/* Is a command sent whose answer was not taken: then durable() moving is of use to a sleeper. */
CC_MUST_USE bool net_awaits_answers(const struct net *net);

/* The other net threads, whose counters and stages this one's metrics page adds to its own; before
 * the first net_step, and they live as long as this net is stepped. */
void net_show_others(struct net *net, const struct net *const *others, uint32_t count);

/* Adds what the net thread has counted, as of its last turn that had work. Any thread. */
void net_add_counters(const struct net *net, struct net_counters *sum);

/* Written by the net thread, readable anywhere through histogram_merge. */
const struct histogram *net_stage(const struct net *net, enum net_stage stage);

#endif
