#include "net/socket/tls_session.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

/* ---- the wire as OpenSSL's BIO --------------------------------------------------------------- */

static int wire_read(BIO *bio, char *bytes, int capacity)
{
    struct tls_wire *wire = BIO_get_data(bio);
    size_t count = wire->count < (size_t)capacity ? wire->count : (size_t)capacity;
    BIO_clear_retry_flags(bio);
    if (count == 0) {
        BIO_set_retry_read(bio);
        return -1;
    }
    memcpy(bytes, wire->bytes, count);
    wire->bytes += count;
    wire->count -= count;
    return (int)count;
}

static int wire_write(BIO *bio, const char *bytes, int count)
{
    struct tls_wire *wire = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    if (count <= 0)
        return 0;
    return wire->send(wire->context, bytes, (size_t)count) ? count : -1;
}

static long wire_control(BIO *bio, int command, long number, void *pointer)
{
    (void)bio, (void)number, (void)pointer;
    return command == BIO_CTRL_FLUSH;
}

static int wire_create(BIO *bio)
{
    BIO_set_init(bio, 1);
    return 1;
}

static BIO_METHOD *wire_method; /* made by the start, before there are threads */

bool tls_session_prepare(void)
{
    if (wire_method != NULL)
        return true;
    BIO_METHOD *method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "perpd wire");
    if (method == NULL || BIO_meth_set_read(method, wire_read) != 1 ||
        BIO_meth_set_write(method, wire_write) != 1 ||
        BIO_meth_set_ctrl(method, wire_control) != 1 ||
        BIO_meth_set_create(method, wire_create) != 1) {
        BIO_meth_free(method);
        return false;
    }
    wire_method = method;
    return true;
}

/* ---- one session ----------------------------------------------------------------------------- */

/* The application data of a session: 0 in its handshake, then 1 and the number of messages that a
 * peer could send without end: key updates of TLS 1.3, and alerts, with which renegotiation is
 * declined. */
static void on_message(int is_sent, int version, int type, const void *bytes, size_t count,
                       SSL *session, void *context)
{
    (void)version, (void)bytes, (void)count, (void)context;
    if (type == SSL3_RT_HEADER && is_sent == 0) {
        struct tls_wire *wire = BIO_get_data(SSL_get_rbio(session));
        wire->records++;
    }
    uintptr_t upkeep = (uintptr_t)SSL_get_app_data(session);
    if (upkeep > 0 && (type == SSL3_RT_ALERT || (type == SSL3_RT_HANDSHAKE && is_sent == 0)))
        (void)SSL_set_app_data(session, (void *)(upkeep + 1));
}

static bool asks_too_much(const SSL *session)
{
    return (uintptr_t)SSL_get_app_data(session) > 1 + TLS_UPKEEP_MAX;
}

struct ssl_st *tls_session_open(const struct tls_server *server, struct tls_wire *wire)
{
    INVARIANT(wire_method != NULL);
    SSL *session = SSL_new(server->context);
    BIO *bio = session != NULL ? BIO_new(wire_method) : NULL;
    if (bio == NULL) {
        SSL_free(session);
        ERR_clear_error();
        return NULL;
    }
    BIO_set_data(bio, wire);
    SSL_set_bio(session, bio, bio);
    SSL_set_msg_callback(session, on_message);
    SSL_set_accept_state(session);
    return session;
}

void tls_session_close(struct ssl_st *session)
{
    SSL_free(session);
}

static enum tls_result result_of(SSL *session, int returned)
{
    int error = SSL_get_error(session, returned);
    ERR_clear_error();
    if (asks_too_much(session))
        return TLS_FAILED;
    if (error == SSL_ERROR_WANT_READ)
        return TLS_MORE;
    return error == SSL_ERROR_ZERO_RETURN ? TLS_ENDED : TLS_FAILED;
}

enum tls_result tls_session_handshake(struct ssl_st *session)
{
    ERR_clear_error();
    int returned = SSL_do_handshake(session);
    if (returned != 1)
        return result_of(session, returned);
    (void)SSL_set_app_data(session, (void *)(uintptr_t)1);
    return TLS_DONE;
}

enum tls_result tls_session_read(struct ssl_st *session, void *bytes, size_t capacity,
                                 size_t *count)
{
    *count = 0;
    ERR_clear_error();
    int returned = SSL_read_ex(session, bytes, capacity, count);
    if (returned != 1)
        return result_of(session, returned);
    if (!asks_too_much(session))
        return TLS_DONE;
    *count = 0;
    return TLS_FAILED;
}

bool tls_session_write(struct ssl_st *session, const void *bytes, size_t count)
{
    size_t written = 0;
    ERR_clear_error();
    bool is_written = SSL_write_ex(session, bytes, count, &written) == 1 && written == count;
    ERR_clear_error();
    return is_written;
}

void tls_session_end(struct ssl_st *session)
{
    ERR_clear_error();
    if (SSL_is_init_finished(session) != 0)
        (void)SSL_shutdown(session);
    ERR_clear_error();
}
