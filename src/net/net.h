/* net.h - one network thread: connections, HTTP, signed requests, reads, the admin pages.
 *
 *   clients <── sockets ──> net ── commands ──> matcher        net ── queries ──> follower
 *                            ^ <── answers ────                 ^ <── replies ───
 *
 * Order.  As roles.md, Order within a connection: commands enter their ring in the order received;
 *         answers leave in request order, and only when durable() >= release_sequence; a read after
 *         a write is sent when the write's answer is released.
 * Wait.   net_step never blocks. net_wait sleeps in the kernel until a socket, the wake file or the
 *         timeout ends it. To wake a sleeping net thread, write to `wake_file`, an eventfd of the
 *         node. The node knows when the thread sleeps, and empties the file when it wakes.
 * Owner.  net_create may run on any thread. The thread of the first net_step owns the net from then
 *         on (the kernel enforces it) and makes all later calls, unless a function says otherwise.
 * Units.  Times are unix ns of the node clock; timeouts are ns.
 * Bound.  NET_CONNECTIONS_MAX connections, `output_pool_bytes` unsent bytes. All memory is taken by
 *         net_create: what grows with these two is mapped (region.h), tables of one size are on
 *         the heap. Nothing is allocated afterwards but the sessions of TLS (secure.h) and streams
 *         (stream.h). */
#ifndef NET_NET_H
#define NET_NET_H

#include "net/conn/net_config.h"
#include "net/conn/net_metrics.h"

/* Whether this build has the files of the web console. */
CC_MUST_USE bool net_has_console(void);

/* Why net_create failed: what is missing and how the operator can fix it. */
struct net_diagnosis {
    bool kernel_lacks; /* io_uring refused: perpd exits 4 */
    bool bad_address;  /* an option is no address:port: perpd exits 2; else 1 */
    char text[400];
};

struct net;

/* Binds the addresses and maps all memory. 0; or -errno with *diagnosis filled and everything
 * undone. ed25519_init and secp256k1_init must have succeeded before. */
CC_MUST_USE int net_create(struct net **net, const struct net_config *config,
                           struct net_diagnosis *diagnosis);

/* Locks the memory of its keys: secret_hold. */
CC_MUST_USE int net_hold_secrets(struct net *net);

/* Closes every connection and frees everything. Call it on the owning thread, or on any thread
 * after that one has ended. */
void net_destroy(struct net *net);

/* One turn: answers, replies, received bytes, signatures, sends. Returns the work done; 0: none. */
unsigned net_step(struct net *net);

/* Sleeps until a socket or the wake file is readable, timeout_ns have passed, or something is due
 * by the clock (a credit wait, a time-out). Returns immediately if a turn would find work. */
void net_wait(struct net *net, uint64_t timeout_ns);

/* Stops accepting and begins to close: idle connections now, others when their requests are
 * answered. */
void net_drain(struct net *net);

/* Connections accepted from now on get this certificate; open ones keep theirs. Takes it over. The
 * net was made with a certificate. */
void net_set_certificate(struct net *net, struct tls_server *tls);

/* Whether no request is in flight and no byte unsent. */
CC_MUST_USE bool net_drained(const struct net *net);

/* The bound ports; 0: no admin listener. */
uint16_t net_port(const struct net *net);
uint16_t net_admin_port(const struct net *net);

/* The address of the public listener as a URL host: "127.0.0.1" or "[::1]". */
const char *net_host(const struct net *net);

/* True while a command awaits its answer, or a read a sequence; a sleeping thread must then be
 * woken when durable() advances. */
CC_MUST_USE bool net_awaits_answers(const struct net *net);

/* Whether the net has streams; it must then be woken when the follower has added events. Any
 * thread. */
CC_MUST_USE bool net_has_streams(const struct net *net);

/* Sets the other net threads: those of `all` but this one, whose counters and stages its pages add.
 * Call it before the first net_step; the others must outlive the last one. */
void net_show_others(struct net *net, const struct net *const *all, uint32_t count);

#endif
