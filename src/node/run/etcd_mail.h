/* etcd_mail.h - certificates on their way to a client of etcd, which its own thread accepts.
 *
 *   SIGHUP ──> background thread: etcd_mail_send ── next ──> the client's thread: etcd_mail_accept
 *
 * Owner. One thread sends, the client's accepts; etcd_mail_drop after both have ended. */
#ifndef NODE_RUN_ETCD_MAIL_H
#define NODE_RUN_ETCD_MAIL_H

#include "repl/link.h"

/* NULL: none. */
struct etcd_mail {
    _Atomic(struct link_tls *) next;
};

/* The mail owns it; what was not taken before goes. */
void etcd_mail_send(struct etcd_mail *mail, struct link_tls *tls);

/* Gives the client what was sent, for connections that open from now on. */
void etcd_mail_accept(struct etcd_mail *mail, struct etcd *etcd);

void etcd_mail_drop(struct etcd_mail *mail);

#endif
