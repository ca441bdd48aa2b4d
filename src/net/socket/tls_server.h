/* tls_server.h - the certificate of the public listener, its key, and the terms of TLS: versions,
 * ciphers, what is off.
 *
 * TLS 1.3 and 1.2 with forward secrecy and AEAD ciphers; ALPN http/1.1. Off: 0-RTT, resumption,
 * renegotiation, compression, client certificates.
 *
 * Owner. One thread has a tls_server; tls_server_share makes another thread its own. The key is in
 *        memory of OpenSSL, and is never written to a log. */
#ifndef NET_SOCKET_TLS_SERVER_H
#define NET_SOCKET_TLS_SERVER_H

#include "base/compiler.h"

struct ssl_ctx_st;

enum {
    TLS_CERTIFICATE_FILE_MAX = 1 << 20, /* bytes of a certificate with its chain */
    TLS_KEY_FILE_MAX = 1 << 16,
    TLS_CHAIN_MAX = 10, /* certificates after the first */
    TLS_ERROR_BYTES = 700,
};

struct tls_server {
    struct ssl_ctx_st *context;
    int64_t expires_unix_s; /* of the certificate: its notAfter */
};

/* Reads both PEM files and checks that they belong together. 0; or -EINVAL (a file says something
 * wrong, or its mode is too open), -ENOMEM, or -errno of a file that cannot be read, with the
 * reason in `error`, which names the files. */
CC_MUST_USE int tls_server_load(struct tls_server **server, const char *certificate_path,
                                const char *key_path, char error[TLS_ERROR_BYTES]);

/* The same certificate for another thread; NULL: no memory. */
CC_MUST_USE struct tls_server *tls_server_share(const struct tls_server *server);

/* Frees it; sessions that were opened with it continue. NULL is ignored. */
void tls_server_free(struct tls_server *server);

#endif
