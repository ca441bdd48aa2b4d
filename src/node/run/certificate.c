#include "node/run/certificate.h"

#include <errno.h>

#include "base/log.h"
#include "base/node_exit.h"

#define NS_PER_S      UINT64_C(1000000000)
#define SECONDS_A_DAY 86400

/* Warns when the end is near or past. */
static void look_at_end(struct certificate *certificate, const struct config *options,
                        const struct clock *clock)
{
    int64_t now_s = (int64_t)(clock_now_ns(clock) / NS_PER_S);
    int64_t left_s = certificate->server->expires_unix_s - now_s;
    const char *path = config_text(options, OPTION_net_tls_certificate);

    certificate->warned_ns = clock_monotonic_ns(clock);
    if (left_s <= 0)
        log_line(LOG_ERROR, "certificate", "%.300s has expired: clients refuse it", path);
    else if (left_s < (int64_t)CERTIFICATE_WARN_DAYS * SECONDS_A_DAY)
        log_line(LOG_WARN, "certificate", "%.300s expires in days=%ld", path,
                 left_s / SECONDS_A_DAY);
}

static int load(struct certificate *certificate, const struct config *options, char *error)
{
    struct tls_server *server;
    int failed = tls_server_load(&server, config_text(options, OPTION_net_tls_certificate),
                                 config_text(options, OPTION_net_tls_key), error);
    if (failed != 0)
        return failed;
    tls_server_free(certificate->server);
    certificate->server = server;
    published_set(&certificate->expires_unix_s, (uint64_t)server->expires_unix_s);
    return 0;
}

int certificate_open(struct certificate *certificate, const struct config *options,
                     const struct clock *clock)
{
    char error[TLS_ERROR_BYTES];

    if (config_text(options, OPTION_net_tls_certificate)[0] == '\0')
        return 0;
    int failed = load(certificate, options, error);
    if (failed != 0) {
        log_line(LOG_ERROR, "configuration", "%s", error);
        return failed == -ENOMEM ? NODE_EXIT_FAILED : NODE_EXIT_CONFIGURATION;
    }
    look_at_end(certificate, options, clock);
    return 0;
}

void certificate_close(struct certificate *certificate)
{
    tls_server_free(certificate->server);
    certificate->server = NULL;
}

void certificate_ask(struct certificate *certificate)
{
    /* relaxed: a flag that the background thread looks at. */
    atomic_store_explicit(&certificate->asked, true, memory_order_relaxed);
}

static bool mail(const struct certificate *certificate, struct certificate_mail *const *mails,
                 uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct tls_server *next = tls_server_share(certificate->server);
        if (next == NULL)
            return false;
        /* acq_rel: the net thread reads what this one wrote (pairs: certificate_deliver), and what
         * it did not take is freed here. */
        tls_server_free(atomic_exchange_explicit(&mails[i]->next, next, memory_order_acq_rel));
    }
    return true;
}

static void reload(struct certificate *certificate, const struct config *options,
                   const struct clock *clock, struct certificate_mail *const *mails, uint32_t count)
{
    char error[TLS_ERROR_BYTES] = "no memory";

    if (certificate->server == NULL) {
        log_line(LOG_INFO, "certificate", "SIGHUP: there is none, net.tls_certificate is not set");
        return;
    }
    if (load(certificate, options, error) != 0 || !mail(certificate, mails, count)) {
        published_add(&certificate->reload_failures, 1);
        log_line(LOG_ERROR, "certificate", "SIGHUP: %s; the one in force stays", error);
        return;
    }
    published_add(&certificate->reloads, 1);
    log_line(LOG_INFO, "certificate", "SIGHUP: read again, for new connections");
    look_at_end(certificate, options, clock);
}

bool certificate_step(struct certificate *certificate, const struct config *options,
                      const struct clock *clock, struct certificate_mail *const *mails,
                      uint32_t count)
{
    bool is_asked =
        atomic_exchange_explicit(&certificate->asked, false, memory_order_relaxed); /* as ask */

    if (is_asked)
        reload(certificate, options, clock, mails, count);
    else if (certificate->server != NULL &&
             clock_monotonic_ns(clock) - certificate->warned_ns >= SECONDS_A_DAY * NS_PER_S)
        look_at_end(certificate, options, clock);
    return is_asked;
}

void certificate_deliver(struct certificate_mail *mail, struct net *net)
{
    /* relaxed: a look; the exchange that follows orders. */
    if (CC_LIKELY(atomic_load_explicit(&mail->next, memory_order_relaxed) == NULL))
        return;
    /* acquire: pairs with the release in mail(). */
    struct tls_server *next = atomic_exchange_explicit(&mail->next, NULL, memory_order_acquire);
    if (next != NULL)
        net_set_certificate(net, next);
}
