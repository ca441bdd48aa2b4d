#include "perp/request/client_tls.h"

#include <arpa/inet.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "perp/request/instant.h"

enum { NAMES_MAX = 120 };

struct client_tls {
    char names[NAMES_MAX]; /* of a certificate that was refused */
    SSL_CTX *context;
    BIO_METHOD *method;
    SSL *session;
};

/* ---- the socket as OpenSSL's BIO: no SIGPIPE ------------------------------------------------- */

static int socket_of(BIO *bio)
{
    return (int)(intptr_t)BIO_get_data(bio);
}

static int finish(BIO *bio, ssize_t count, int retry)
{
    BIO_clear_retry_flags(bio);
    if (count < 0 && (errno == EAGAIN || errno == EINTR))
        BIO_set_flags(bio, retry | BIO_FLAGS_SHOULD_RETRY);
    return (int)count;
}

static int bio_write(BIO *bio, const char *bytes, int count)
{
    return finish(bio, send(socket_of(bio), bytes, (size_t)count, MSG_NOSIGNAL), BIO_FLAGS_WRITE);
}

static int bio_read(BIO *bio, char *bytes, int count)
{
    return finish(bio, recv(socket_of(bio), bytes, (size_t)count, 0), BIO_FLAGS_READ);
}

static long bio_control(BIO *bio, int command, long number, void *pointer)
{
    (void)bio, (void)number, (void)pointer;
    return command == BIO_CTRL_FLUSH;
}

static bool set_socket(struct client_tls *tls, int fd)
{
    tls->method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "perp socket");
    if (tls->method == NULL || BIO_meth_set_write(tls->method, bio_write) != 1 ||
        BIO_meth_set_read(tls->method, bio_read) != 1 ||
        BIO_meth_set_ctrl(tls->method, bio_control) != 1)
        return false;
    BIO *bio = BIO_new(tls->method);
    if (bio == NULL)
        return false;
    BIO_set_data(bio, (void *)(intptr_t)fd);
    BIO_set_init(bio, 1);
    SSL_set_bio(tls->session, bio, bio);
    return true;
}

/* ---- trust ----------------------------------------------------------------------------------- */

static const char *reason(void)
{
    const char *text = ERR_reason_error_string(ERR_peek_last_error());
    return text != NULL ? text : "the connection ended";
}

/* The names of the certificate, as far as they fit: "a, b". */
static void list_names(const X509 *certificate, char text[NAMES_MAX])
{
    size_t bytes = NAMES_MAX;
    GENERAL_NAMES *names = X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < sk_GENERAL_NAME_num(names) && used < bytes; i++) {
        const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, i);
        if (name->type != GEN_DNS)
            continue;
        used += (size_t)snprintf(text + used, bytes - used, "%s%.*s", used > 0 ? ", " : "",
                                 ASN1_STRING_length(name->d.dNSName),
                                 (const char *)ASN1_STRING_get0_data(name->d.dNSName));
    }
    GENERAL_NAMES_free(names);
    for (char *at = text; *at != '\0'; at++)
        *at = *at >= ' ' && *at <= '~' ? *at : '?';
}

/* Keeps the names of a certificate that is refused: the session has it no more afterwards. */
static int on_verdict(int is_good, X509_STORE_CTX *store)
{
    SSL *session = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
    struct client_tls *tls = SSL_get_app_data(session);
    const X509 *certificate = X509_STORE_CTX_get_current_cert(store);
    if (is_good == 0 && certificate != NULL)
        list_names(certificate, tls->names);
    return is_good;
}

static bool set_trust(struct client_tls *tls, const struct client_tls_peer *peer,
                      char error[CLIENT_TLS_ERROR_MAX])
{
    SSL_CTX_set_verify(tls->context, SSL_VERIFY_PEER, on_verdict);
    if (peer->ca[0] == '\0')
        return SSL_CTX_set_default_verify_paths(tls->context) == 1;
    if (SSL_CTX_load_verify_locations(tls->context, peer->ca, NULL) == 1)
        return true;
    snprintf(error, CLIENT_TLS_ERROR_MAX, "ca %.200s: no PEM file of certificates: %s", peer->ca,
             reason());
    return false;
}

static bool set_name(struct client_tls *tls, const char *host)
{
    uint8_t address[16];
    X509_VERIFY_PARAM *parameters = SSL_get0_param(tls->session);
    X509_VERIFY_PARAM_set_hostflags(parameters, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    if (inet_pton(AF_INET, host, address) == 1 || inet_pton(AF_INET6, host, address) == 1)
        return X509_VERIFY_PARAM_set1_ip_asc(parameters, host) == 1;
    return SSL_set_tlsext_host_name(tls->session, host) == 1 &&
           SSL_set1_host(tls->session, host) == 1;
}

/* Why a certificate was refused, and what to do about it. */
static void explain_certificate(struct client_tls *tls, const struct client_tls_peer *peer,
                                long verdict, char error[CLIENT_TLS_ERROR_MAX])
{
    switch (verdict) {
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
        snprintf(error, CLIENT_TLS_ERROR_MAX,
                 "the certificate of %.100s is not for '%.60s'; its names: %s: use one in the url",
                 peer->authority, peer->host, tls->names[0] != '\0' ? tls->names : "none");
        break;
    case X509_V_ERR_CERT_HAS_EXPIRED:
        snprintf(error, CLIENT_TLS_ERROR_MAX,
                 "the certificate of %.100s has expired: its operator must renew it; or this "
                 "machine's clock is wrong",
                 peer->authority);
        break;
    case X509_V_ERR_CERT_NOT_YET_VALID:
        snprintf(error, CLIENT_TLS_ERROR_MAX,
                 "the certificate of %.100s is not valid yet: is this machine's clock right?",
                 peer->authority);
        break;
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
        snprintf(error, CLIENT_TLS_ERROR_MAX,
                 "the certificate of %.100s is of an issuer that %s does not have: pass --ca FILE "
                 "with the issuer's certificate, if you trust it",
                 peer->authority, peer->ca[0] != '\0' ? peer->ca : "this machine");
        break;
    default:
        snprintf(error, CLIENT_TLS_ERROR_MAX, "the certificate of %.100s is refused: %s",
                 peer->authority, X509_verify_cert_error_string(verdict));
        break;
    }
}

static bool explain(struct client_tls *tls, const struct client_tls_peer *peer,
                    char error[CLIENT_TLS_ERROR_MAX])
{
    long verdict = SSL_get_verify_result(tls->session);
    if (verdict != X509_V_OK)
        explain_certificate(tls, peer, verdict, error);
    else if (ERR_GET_REASON(ERR_peek_last_error()) == SSL_R_WRONG_VERSION_NUMBER)
        snprintf(error, CLIENT_TLS_ERROR_MAX, "%.100s speaks no TLS: use http://", peer->authority);
    else
        snprintf(error, CLIENT_TLS_ERROR_MAX, "no TLS with %.100s: %s", peer->authority, reason());
    return false;
}

/* ---- the connection -------------------------------------------------------------------------- */

static bool handshake(struct client_tls *tls, int fd, const struct client_tls_peer *peer,
                      char error[CLIENT_TLS_ERROR_MAX])
{
    uint64_t until_ns = instant_monotonic_ns() + (uint64_t)peer->timeout_ms * 1000000;
    for (;;) {
        ERR_clear_error();
        int returned = SSL_connect(tls->session);
        if (returned == 1)
            return true;
        int wanted = SSL_get_error(tls->session, returned);
        if (wanted != SSL_ERROR_WANT_READ && wanted != SSL_ERROR_WANT_WRITE)
            return explain(tls, peer, error);
        struct pollfd poll_fd = { .fd = fd,
                                  .events = wanted == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT };
        uint64_t now_ns = instant_monotonic_ns();
        uint64_t left_ms = now_ns < until_ns ? (until_ns - now_ns + 999999) / 1000000 : 0;
        int ready = left_ms != 0 ? poll(&poll_fd, 1, (int)left_ms) : 0;
        if (ready > 0 || (ready < 0 && errno == EINTR))
            continue;
        snprintf(error, CLIENT_TLS_ERROR_MAX, "%.100s did not complete a TLS handshake in %u ms",
                 peer->authority, peer->timeout_ms);
        return false;
    }
}

struct client_tls *client_tls_open(int fd, const struct client_tls_peer *peer,
                                   char error[CLIENT_TLS_ERROR_MAX])
{
    static const uint8_t http[] = "\x08http/1.1";
    struct client_tls *tls = calloc(1, sizeof *tls);
    snprintf(error, CLIENT_TLS_ERROR_MAX, "no memory for TLS");
    if (tls == NULL)
        return NULL;
    tls->context = SSL_CTX_new(TLS_client_method());
    bool is_made = tls->context != NULL &&
                   SSL_CTX_set_min_proto_version(tls->context, TLS1_2_VERSION) == 1 &&
                   set_trust(tls, peer, error);
    if (is_made) {
        (void)SSL_CTX_set_mode(tls->context,
                               SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
        tls->session = SSL_new(tls->context);
    }
    is_made = tls->session != NULL && SSL_set_app_data(tls->session, tls) == 1 &&
              set_socket(tls, fd) && set_name(tls, peer->host) &&
              SSL_set_alpn_protos(tls->session, http, sizeof http - 1) == 0;
    if (is_made && handshake(tls, fd, peer, error))
        return tls;
    client_tls_close(tls);
    return NULL;
}

void client_tls_close(struct client_tls *tls)
{
    if (tls == NULL)
        return;
    SSL_free(tls->session);
    SSL_CTX_free(tls->context);
    BIO_meth_free(tls->method);
    free(tls);
}

/* Why nothing was sent or received. */
static ssize_t refusal(struct client_tls *tls, int done)
{
    int wanted = SSL_get_error(tls->session, done);
    if (wanted == SSL_ERROR_WANT_READ || wanted == SSL_ERROR_WANT_WRITE)
        return 0;
    return -ECONNRESET;
}

ssize_t client_tls_send(struct client_tls *tls, const void *bytes, size_t count)
{
    size_t sent = 0;
    ERR_clear_error();
    int done = SSL_write_ex(tls->session, bytes, count, &sent);
    return done == 1 ? (ssize_t)sent : refusal(tls, done);
}

ssize_t client_tls_receive(struct client_tls *tls, void *bytes, size_t capacity)
{
    size_t received = 0;
    ERR_clear_error();
    int done = SSL_read_ex(tls->session, bytes, capacity, &received);
    return done == 1 ? (ssize_t)received : refusal(tls, done);
}
