/* certificate.h - the files of net.tls_certificate and net.tls_key: read at the start, and again on
 * SIGHUP.
 *
 *   SIGHUP ── certificate_ask ──> background thread: certificate_step ── next ──> net threads
 *
 * A file that cannot be used leaves the certificate in force, with a line in the log and a count.
 *
 * Owner. The main thread at the start, the background thread afterwards; certificate_ask may run in
 *        a signal handler, each net thread takes its own `next`. */
#ifndef NODE_RUN_CERTIFICATE_H
#define NODE_RUN_CERTIFICATE_H

#include "base/config.h"
#include "base/published.h"
#include "net/net.h"

enum { CERTIFICATE_WARN_DAYS = 14 };

struct certificate {
    struct tls_server *server; /* in force for new connections; NULL: no TLS */
    _Atomic bool asked;        /* by SIGHUP */
    struct published expires_unix_s;
    struct published reloads, reload_failures;
    uint64_t warned_ns; /* clock_monotonic_ns of the last look at the end date */
};

/* A certificate on its way to a net thread; NULL: none. */
struct certificate_mail {
    _Atomic(struct tls_server *) next;
};

/* Reads the files. 0, also if no TLS is asked for; or the exit code, with the reason logged. */
CC_MUST_USE int certificate_open(struct certificate *certificate, const struct config *options,
                                 const struct clock *clock);
void certificate_close(struct certificate *certificate);

/* Asks for a look at the files. Safe in a signal handler. */
void certificate_ask(struct certificate *certificate);

/* Reads the files again if that was asked for, and mails the result to `count` net threads; warns
 * once a day of an end that is near. Gives whether it was asked for. */
bool certificate_step(struct certificate *certificate, const struct config *options,
                      const struct clock *clock, struct certificate_mail *const *mails,
                      uint32_t count);

/* Gives the net what was mailed to it. The net's thread calls it. */
void certificate_deliver(struct certificate_mail *mail, struct net *net);

#endif
