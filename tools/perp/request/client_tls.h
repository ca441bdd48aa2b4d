/* client_tls.h - TLS of a client's connection: certificate and host name are checked, and a refusal
 * says what to do about it.
 *
 * Owner. One thread.
 * Wait.  client_tls_open waits for the handshake; reading and writing never wait. */
#ifndef PERP_REQUEST_CLIENT_TLS_H
#define PERP_REQUEST_CLIENT_TLS_H

#include <sys/types.h>

#include "base/compiler.h"

struct client_tls;

enum { CLIENT_TLS_ERROR_MAX = 400 };

/* Where a connection goes, and whom it trusts. */
struct client_tls_peer {
    const char *host;      /* a name or an address without brackets: the certificate must have it */
    const char *authority; /* host:port, for people */
    const char *ca;        /* PEM file of the authorities trusted; "": those of the system */
    uint32_t timeout_ms;
};

/* Makes TLS of a connected socket that does not block; the socket stays the caller's. NULL leaves a
 * sentence in `error`. */
CC_MUST_USE struct client_tls *client_tls_open(int fd, const struct client_tls_peer *peer,
                                               char error[CLIENT_TLS_ERROR_MAX]);
void client_tls_close(struct client_tls *tls);

/* Bytes sent or received, 0 if none could be now, or -errno. The peer's end is -ECONNRESET. */
CC_MUST_USE ssize_t client_tls_send(struct client_tls *tls, const void *bytes, size_t count);
CC_MUST_USE ssize_t client_tls_receive(struct client_tls *tls, void *bytes, size_t capacity);

#endif
