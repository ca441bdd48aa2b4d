#include "repl/link.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct link_tls {
    SSL_CTX *context;
};

/* The newest reason of OpenSSL's, which is then empty. */
static const char *tls_reason(void)
{
    unsigned long code = ERR_peek_last_error();
    const char *reason = code == 0 ? NULL : ERR_reason_error_string(code);
    ERR_clear_error();
    return reason == NULL ? "no reason given" : reason;
}

/* NULL, with a sentence in `why`. */
static SSL_CTX *read_files(const char *ca, const char *certificate, const char *key,
                           char why[ETCD_TEXT_BYTES])
{
    static const uint8_t h2[] = { 2, 'h', '2' };
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    const char *wrong = NULL;
    if (context == NULL || SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) != 1 ||
        SSL_CTX_set_alpn_protos(context, h2, sizeof h2) != 0)
        wrong = "TLS";
    else if (SSL_CTX_load_verify_file(context, ca) != 1)
        wrong = ca;
    else if (SSL_CTX_use_certificate_chain_file(context, certificate) != 1)
        wrong = certificate;
    else if (SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) != 1 ||
             SSL_CTX_check_private_key(context) != 1)
        wrong = key;
    if (wrong != NULL) {
        (void)snprintf(why, ETCD_TEXT_BYTES, "%s: %s", wrong, tls_reason());
        SSL_CTX_free(context);
        return NULL;
    }
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    return context;
}

int link_tls_create(struct link_tls **tls, const char *ca, const char *certificate, const char *key,
                    char why[ETCD_TEXT_BYTES])
{
    SSL_CTX *context = read_files(ca, certificate, key, why);
    *tls = context == NULL ? NULL : calloc(1, sizeof **tls);
    if (*tls == NULL) {
        if (context != NULL)
            (void)snprintf(why, ETCD_TEXT_BYTES, "TLS: no memory");
        SSL_CTX_free(context);
        return -EINVAL;
    }
    (*tls)->context = context;
    return 0;
}

void link_tls_destroy(struct link_tls *tls)
{
    if (tls != NULL)
        SSL_CTX_free(tls->context);
    free(tls);
}

/* Splits "host:port" or "[v6]:port". False: it is neither. */
static bool split(const char *text, char host[ETCD_NAME_BYTES], const char **port)
{
    const char *colon = strrchr(text, ':');
    if (colon == NULL || colon == text || colon[1] == 0 || colon - text >= ETCD_NAME_BYTES)
        return false;
    size_t count = (size_t)(colon - text);
    const char *from = text;
    if (text[0] == '[') {
        if (count < 3 || text[count - 1] != ']')
            return false;
        from++;
        count -= 2;
    }
    memcpy(host, from, count);
    host[count] = 0;
    *port = colon + 1;
    return true;
}

int link_resolve(struct link_endpoint *endpoint, const char *text)
{
    char host[ETCD_NAME_BYTES];
    const char *port = NULL;
    if (strlen(text) >= sizeof endpoint->name || !split(text, host, &port))
        return -EINVAL;
    const struct addrinfo hints = { .ai_family = AF_UNSPEC,
                                    .ai_socktype = SOCK_STREAM,
                                    .ai_flags = AI_NUMERICSERV };
    struct addrinfo *found = NULL;
    if (getaddrinfo(host, port, &hints, &found) != 0)
        return -EINVAL;
    *endpoint = (struct link_endpoint){ 0 };
    memcpy(&endpoint->address, found->ai_addr, found->ai_addrlen);
    (void)snprintf(endpoint->name, sizeof endpoint->name, "%s", text);
    freeaddrinfo(found);
    return 0;
}

bool link_is_loopback(const struct link_endpoint *endpoint)
{
    const struct sockaddr_storage *address = &endpoint->address;
    if (address->ss_family == AF_INET) {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)address;
        return ntohl(v4->sin_addr.s_addr) >> 24 == 127;
    }
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)address;
    return address->ss_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
}

static int over(struct link *link, int error, const char *text)
{
    (void)snprintf(link->why, sizeof link->why, "%s", text);
    return error;
}

/* TLS with the name that the certificate must bear. */
static int open_tls(struct link *link, const char *name, struct link_tls *tls)
{
    char host[ETCD_NAME_BYTES];
    const char *port = NULL;
    SSL *session = SSL_new(tls->context);
    if (session == NULL || !split(name, host, &port))
        goto failed;
    struct in6_addr address;
    bool is_address =
        inet_pton(AF_INET, host, &address) == 1 || inet_pton(AF_INET6, host, &address) == 1;
    if (is_address) {
        if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session), host) != 1)
            goto failed;
    } else if (SSL_set1_host(session, host) != 1 || SSL_set_tlsext_host_name(session, host) != 1) {
        goto failed;
    }
    if (SSL_set_fd(session, link->file) != 1)
        goto failed;
    SSL_set_connect_state(session);
    link->session = session;
    return 0;
failed:
    SSL_free(session);
    return over(link, -EINVAL, tls_reason());
}

int link_open(struct link *link, const struct link_endpoint *endpoint, struct link_tls *tls)
{
    const struct sockaddr_storage *address = &endpoint->address;
    socklen_t bytes =
        address->ss_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
    *link = (struct link){ .wants_write = true };
    link->file = socket(address->ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (link->file < 0)
        return over(link, -errno, "no socket");
    int on = 1;
    (void)setsockopt(link->file, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    int error = 0;
    if (connect(link->file, (const struct sockaddr *)address, bytes) != 0 && errno != EINPROGRESS)
        error = over(link, -errno, "refused");
    if (error == 0 && tls != NULL)
        error = open_tls(link, endpoint->name, tls);
    if (error != 0)
        link_close(link);
    return error;
}

void link_close(struct link *link)
{
    SSL_free(link->session);
    ERR_clear_error();
    if (link->file >= 0)
        (void)close(link->file);
    link->file = -1;
    link->session = NULL;
    link->is_ready = link->wants_write = false;
}

/* What a call of TLS that gave `result` means: 0 try again later, or over. */
static int tls_verdict(struct link *link, int result)
{
    int error = SSL_get_error(link->session, result);
    if (error == SSL_ERROR_WANT_READ)
        return 0;
    if (error == SSL_ERROR_WANT_WRITE) {
        link->wants_write = true;
        return 0;
    }
    long verdict = SSL_get_verify_result(link->session);
    if (verdict != X509_V_OK) {
        ERR_clear_error();
        return over(link, -EPROTO, X509_verify_cert_error_string(verdict));
    }
    if (error == SSL_ERROR_ZERO_RETURN)
        return over(link, -EPIPE, "the endpoint ended the connection");
    return over(link, -EPROTO, tls_reason());
}

static int step_tls(struct link *link)
{
    link->wants_write = false;
    int result = SSL_do_handshake(link->session);
    if (result != 1)
        return tls_verdict(link, result);
    const uint8_t *protocol = NULL;
    unsigned count = 0;
    SSL_get0_alpn_selected(link->session, &protocol, &count);
    if (count != 2 || memcmp(protocol, "h2", 2) != 0)
        return over(link, -EPROTO, "the endpoint does not offer h2");
    link->is_ready = true;
    return 0;
}

int link_step(struct link *link)
{
    if (link->is_ready)
        return 0;
    int error = 0;
    socklen_t bytes = sizeof error;
    if (getsockopt(link->file, SOL_SOCKET, SO_ERROR, &error, &bytes) != 0)
        error = errno;
    if (error != 0)
        return over(link, -error, error == ECONNREFUSED ? "refused" : "no connection");
    struct sockaddr_storage peer;
    bytes = sizeof peer;
    if (getpeername(link->file, (struct sockaddr *)&peer, &bytes) != 0)
        return 0;
    if (link->session != NULL)
        return step_tls(link);
    link->wants_write = false;
    link->is_ready = true;
    return 0;
}

int64_t link_read(struct link *link, void *bytes, size_t room)
{
    if (link->session != NULL) {
        int result = SSL_read(link->session, bytes, room < INT_MAX ? (int)room : INT_MAX);
        return result > 0 ? result : tls_verdict(link, result);
    }
    ssize_t count = recv(link->file, bytes, room, 0);
    if (count > 0)
        return count;
    if (count == 0)
        return over(link, -EPIPE, "the endpoint ended the connection");
    if (errno == EAGAIN || errno == EINTR)
        return 0;
    return over(link, -errno, "the connection broke");
}

int64_t link_write(struct link *link, const void *bytes, size_t count)
{
    link->wants_write = false;
    if (link->session != NULL) {
        int result = SSL_write(link->session, bytes, count < INT_MAX ? (int)count : INT_MAX);
        return result > 0 ? result : tls_verdict(link, result);
    }
    ssize_t sent = send(link->file, bytes, count, MSG_NOSIGNAL);
    if (sent >= 0)
        return sent;
    if (errno != EAGAIN && errno != EINTR)
        return over(link, -errno, "the connection broke");
    link->wants_write = true;
    return 0;
}
