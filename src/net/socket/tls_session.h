/* tls_session.h - the TLS of one connection: ciphertext in and out by its net thread's tls_wire.
 *
 * A session reads ciphertext from the span that the wire shows it, all of it, and hands ciphertext
 * to the wire's `send`. It keeps at most one record that is not complete.
 *
 * Owner. The net thread. One tls_wire serves all sessions of the thread, one after the other.
 * Bound. A session has OpenSSL's memory: docs/performance.md has the bytes. */
#ifndef NET_SOCKET_TLS_SESSION_H
#define NET_SOCKET_TLS_SESSION_H

#include "net/socket/tls_server.h"

struct ssl_st;

enum {
    TLS_RECORD_MAX = 16384,   /* bytes of plaintext in a record */
    TLS_RECORD_OVERHEAD = 64, /* at most, of ciphertext: head, nonce, type, tag */
    TLS_UPKEEP_MAX = 32,      /* key updates and warnings of a session, after which it ends */
};

struct tls_wire {
    const uint8_t *bytes; /* received, not read yet */
    size_t count;
    uint32_t records; /* whose heads were read since the owner last set it to 0 */
    /* Takes ciphertext to send. False: no room; the session fails. */
    bool (*send)(void *context, const void *bytes, size_t count);
    void *context;
};

enum tls_result {
    TLS_DONE,
    TLS_MORE,   /* needs more bytes of the peer */
    TLS_ENDED,  /* the peer sends nothing more: close_notify */
    TLS_FAILED, /* the alert, if there is one, is with `send` */
};

/* Makes what all sessions share; before threads start. False: no memory. */
CC_MUST_USE bool tls_session_prepare(void);

/* Opens a session whose ciphertext goes through *wire, which outlives it. NULL: no memory. */
CC_MUST_USE struct ssl_st *tls_session_open(const struct tls_server *server, struct tls_wire *wire);
void tls_session_close(struct ssl_st *session);

/* Continues the handshake. TLS_DONE, TLS_MORE or TLS_FAILED. */
CC_MUST_USE enum tls_result tls_session_handshake(struct ssl_st *session);

/* Reads at most `capacity` bytes of plaintext. *count has their number, which is above 0 with
 * TLS_DONE and 0 with all others. */
CC_MUST_USE enum tls_result tls_session_read(struct ssl_st *session, void *bytes, size_t capacity,
                                             size_t *count);

/* Sends 1 to TLS_RECORD_MAX bytes of plaintext as one record. */
CC_MUST_USE bool tls_session_write(struct ssl_st *session, const void *bytes, size_t count);

/* Sends close_notify. Without a complete handshake nothing is sent. */
void tls_session_end(struct ssl_st *session);

#endif
