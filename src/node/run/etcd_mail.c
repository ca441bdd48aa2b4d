#include "node/run/etcd_mail.h"

#include "repl/etcd_real.h"

void etcd_mail_send(struct etcd_mail *mail, struct link_tls *tls)
{
    /* acq_rel: the client's thread reads what this one wrote (pairs: etcd_mail_accept), and what it
     * did not take is freed here. */
    link_tls_destroy(atomic_exchange_explicit(&mail->next, tls, memory_order_acq_rel));
}

void etcd_mail_accept(struct etcd_mail *mail, struct etcd *etcd)
{
    /* relaxed: a look; the exchange that follows orders. */
    if (CC_LIKELY(atomic_load_explicit(&mail->next, memory_order_relaxed) == NULL))
        return;
    /* acquire: pairs with the release in etcd_mail_send. */
    struct link_tls *tls = atomic_exchange_explicit(&mail->next, NULL, memory_order_acquire);
    if (tls != NULL)
        etcd_real_renew(etcd, tls);
}

void etcd_mail_drop(struct etcd_mail *mail)
{
    etcd_mail_send(mail, NULL);
}
