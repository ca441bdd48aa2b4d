/* tls_pair.h - a server's session of TLS and OpenSSL's client at its other end, in memory: what one
 * sends is moved to the other in cuts that the test chooses. */
#ifndef TESTS_NET_TLS_PAIR_H
#define TESTS_NET_TLS_PAIR_H

#include <openssl/ssl.h>

#include "net/socket/tls_session.h"

enum { TLS_PAIR_BYTES = 1 << 17 };

struct tls_pair {
    struct tls_wire wire;
    struct ssl_st *session; /* the server's */
    SSL *client;
    BIO *to_client, *from_client;     /* ciphertext */
    uint8_t received[TLS_PAIR_BYTES]; /* plaintext that the server read */
    size_t received_bytes;
    enum tls_result last; /* of the handshake, then of the reads */
    bool is_open;         /* the handshake is complete */
    bool is_full;         /* the server had no room to send */
};

/* A server with a fresh self-signed certificate of P-256, and a context of clients that do not look
 * at it. CHECKs that both are made. */
struct tls_server *tls_pair_server(void);
SSL_CTX *tls_pair_clients(void);

void tls_pair_open(struct tls_pair *pair, const struct tls_server *server, SSL_CTX *clients);
void tls_pair_close(struct tls_pair *pair);

/* Gives the server these bytes; it continues its handshake and reads until it needs more. */
void tls_pair_give(struct tls_pair *pair, const void *bytes, size_t count);

/* Moves what the client has sent to the server, at most `cut` bytes at a time. */
void tls_pair_move(struct tls_pair *pair, size_t cut);

/* The handshake in cuts of so many bytes; false if it failed at the server. */
bool tls_pair_handshake(struct tls_pair *pair, size_t cut);

#endif
