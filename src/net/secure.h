/* secure.h - the connections of a listener with TLS: handshakes, ciphertext in, ciphertext out.
 *
 *   received ──> secure_receive ─┬─ handshake: kept, until secure_run takes it
 *                                └─ plaintext ──> protocol_receive
 *   conn->output ── secure_seal ──> conn->wire ──> sent
 *
 * Order. A handshake computes for 0.1 to 5 ms, an order waits microseconds: secure_run comes last
 *        in a turn. It ends with the handshake that brings its time of the turn to
 *        SECURE_TURN_NS, and while the thread has other work, handshakes get at most one part in
 *        SECURE_SHARE of its time. Connections of an address with more than SECURE_CROWD handshakes
 *        in progress have a queue of their own and, while others wait, one turn in
 *        SECURE_CROWD_SHARE. In each queue: first in, first out.
 * Owner. The net thread.
 * Bound. SECURE_HANDSHAKES_MAX handshakes at a time: for one more, the oldest of those whose
 *        address has the most is closed. Addresses share SECURE_COUNTERS counters. Ciphertext of a
 *        connection: SECURE_WIRE_BYTES and what one received buffer makes OpenSSL send. A peer that
 *        lets more wait is not read. Records that hold next to nothing cost the peer's address
 *        (charge_records), and one that waits for a token is not received from. */
#ifndef NET_SECURE_H
#define NET_SECURE_H

#include "net/protocol.h"
#include "net/socket/tls_session.h"

enum {
    SECURE_HANDSHAKES_MAX = 2048,
    SECURE_WIRE_BYTES = 32768, /* of answers, encrypted ahead of the socket */
    SECURE_HELLO_MAX = 16384,  /* bytes of a client's first message */
    SECURE_TURN_NS = 250000,
    SECURE_SHARE = 4,
    SECURE_CROWD = 4, /* handshakes of an address that are no crowd */
    SECURE_CROWD_SHARE = 4,
    SECURE_COUNTERS = 4096,  /* of handshakes by address */
    SECURE_SMALL_BYTES = 64, /* a record with less is a small one */
    SECURE_SMALL_A_TOKEN = 16,
};

struct secure {
    struct protocol *protocol;
    struct tls_server *server; /* NULL: no TLS */
    struct tls_wire wire;
    struct conn *conn;        /* whose session uses the wire */
    uint8_t *raw;             /* CONN_INPUT_BYTES: the input of a connection during its handshake */
    char *plain;              /* TLS_RECORD_MAX */
    uint64_t again_ns;        /* no handshake before, while there is other work */
    uint32_t since_crowd;     /* handshakes continued since one of the crowd's was */
    uint32_t handshake_count; /* connections that are `handshaking` */
    uint16_t counters[SECURE_COUNTERS]; /* of them, those of each address that yielded to nobody */
};

/* 0 or -ENOMEM. `server` may be NULL; the secure has a share of its own. */
CC_MUST_USE int secure_init(struct secure *secure, struct protocol *protocol,
                            const struct tls_server *server);

/* Closes all sessions of open connections and frees everything. */
void secure_free(struct secure *secure);

/* New connections get this certificate. Takes it over. */
void secure_replace(struct secure *secure, struct tls_server *server);

/* A new connection of the public listener, before its first byte. */
void secure_accept(struct secure *secure, struct conn *conn);

/* Handles received bytes of any connection, with TLS or not, as protocol_receive. */
void secure_receive(struct secure *secure, struct conn *conn, char *bytes, size_t count);

/* The peer will send nothing more, as protocol_end_of_input: after the bytes that wait. */
void secure_end_of_input(struct secure *secure, struct conn *conn);

/* Begins a turn, after protocol_turn_begin: reads what came with the end of a handshake. */
void secure_begin(struct secure *secure);

/* Ends a turn, after protocol_turn_end: continues handshakes that have bytes, as Order says.
 * Returns the work done. */
uint32_t secure_run(struct secure *secure);

/* Encrypts answers of a connection with a session, and close_notify when it is finished. */
void secure_seal(struct secure *secure, struct conn *conn);

/* Frees the session of a connection that is about to be closed. */
void secure_close(struct secure *secure, struct conn *conn);

#endif
