/* etcd_real.h - the etcd seam on etcd: gRPC over one HTTP/2 connection to one endpoint at a time.
 *
 * Endpoints are tried in order, in a circle. The next one follows when the connection ends, when
 * a request has no answer in `request_ms`, when etcd says that it cannot answer now (no leader, too
 * busy), and when it answers what is no answer. After a round of all the pause grows to 100 ms.
 * The process ignores SIGPIPE: OpenSSL writes to connections that may have ended. */
#ifndef REPL_ETCD_REAL_H
#define REPL_ETCD_REAL_H

#include "repl/etcd.h"
#include "repl/link.h"

enum { ETCD_REAL_ENDPOINTS_MAX = 9, ETCD_REAL_PAUSE_MS = 100 };

struct etcd_real_config {
    const struct link_endpoint *endpoints; /* in order of preference; copied */
    uint32_t endpoint_count;
    uint32_t request_ms;
    const char *ca, *certificate, *key; /* PEM; all empty or NULL: plain, to loopback only */
};

/* Makes the client; it connects when it is first used. 0, or -errno and a sentence in `why`:
 * -EACCES an endpoint beyond this machine without certificates, -EINVAL certificates that cannot be
 * read or no endpoint, -ENOMEM. etcd_close ends it. */
CC_MUST_USE int etcd_real_create(struct etcd **etcd, const struct etcd_real_config *config,
                                 char why[ETCD_TEXT_BYTES]);

/* Connections that open from now on have these certificates, which the client owns then; what is
 * open goes on. Of a client that has certificates. */
void etcd_real_renew(struct etcd *etcd, struct link_tls *tls);

#endif
