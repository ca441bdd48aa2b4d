/* link.h - one connection to an endpoint of etcd: TCP, or TLS with certificates of both sides.
 *
 * Wait.   Nothing blocks: link_step carries a new connection on until it is ready.
 * Owner.  One thread.
 * Errors. -errno; link_why has a sentence for it. */
#ifndef REPL_LINK_H
#define REPL_LINK_H

#include <sys/socket.h>

#include "repl/etcd.h"

/* An endpoint: its address, and `host:port` as it is configured; the host is what a certificate
 * must name. */
struct link_endpoint {
    struct sockaddr_storage address;
    char name[ETCD_NAME_BYTES];
};

/* The certificates of this side and the authority of the other's. */
struct link_tls;

/* Reads the PEM files, on any thread. 0, or -EINVAL and a sentence in `why`. TLS 1.2 or later, ALPN
 * h2. */
CC_MUST_USE int link_tls_create(struct link_tls **tls, const char *ca, const char *certificate,
                                const char *key, char why[ETCD_TEXT_BYTES]);
void link_tls_destroy(struct link_tls *tls);

struct link {
    int file; /* -1: none */
    bool is_ready, wants_write;
    void *session; /* of TLS; NULL: none */
    char why[ETCD_TEXT_BYTES];
};

/* Begins to connect; `tls` NULL: plain. 0 or -errno. */
CC_MUST_USE int link_open(struct link *link, const struct link_endpoint *endpoint,
                          struct link_tls *tls);
void link_close(struct link *link);

/* Carries the connection on. 0: look at is_ready; -errno: it is over. */
CC_MUST_USE int link_step(struct link *link);

/* Bytes read or written; 0: none now; -errno: it is over (-EPIPE: the other side ended it). */
CC_MUST_USE int64_t link_read(struct link *link, void *bytes, size_t room);
CC_MUST_USE int64_t link_write(struct link *link, const void *bytes, size_t count);

/* Whether the address is of this machine alone. */
CC_MUST_USE bool link_is_loopback(const struct link_endpoint *endpoint);

/* Looks up `host:port`; blocks as long as the name service. 0, or -EINVAL: no such address. */
CC_MUST_USE int link_resolve(struct link_endpoint *endpoint, const char *text);

#endif
