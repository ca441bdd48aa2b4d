/* conn_state.h - one connection: the request being read, its transport, its TLS, what it waits for.
 *
 * Owner. The net thread.
 * Units. Times are clock_monotonic_ns. */
#ifndef NET_CONN_CONN_STATE_H
#define NET_CONN_CONN_STATE_H

#include "base/client_rate.h"
#include "net/conn/conn_phase.h"
#include "net/conn/output.h"
#include "net/http/http.h"
#include "net/http/problem_detail.h"
#include "net/http/route.h"

#define CONN_NONE UINT32_MAX

enum conn_time {
    CONN_TIME_IDLE,
    CONN_TIME_HANDSHAKE,
    CONN_TIME_HEAD,
    CONN_TIME_BODY,
    CONN_TIME_LINGER,
    CONN_TIMES,
};

enum { CONN_OUTPUT_PAUSE = 256 * 1024 }; /* unsent bytes above which a connection is not read */

#define CONN_SECOND_NS UINT64_C(1000000000)
#define CONN_DEAF_NS   (75 * CONN_SECOND_NS) /* a peer that reads nothing for so long is gone */

struct ssl_st;
struct stream;

struct conn {
    /* The request being read. */
    struct http_head head;
    struct route route;
    struct problem_detail early; /* known from the head, answered when the body is read */
    const char *allow;           /* with an early 405, and with OPTIONS */
    uint8_t origin;              /* index in net.cors_origins (base/origin.h) */
    struct http_chunked chunked;
    uint32_t body_bytes; /* chunked: decoded so far */
    uint32_t body_limit;
    uint32_t complete_bytes; /* not 0: the whole request is in the input and waits for room */
    uint32_t scanned;        /* bytes of the head that were scanned */
    uint8_t phase;           /* enum conn_phase, written by conn_phase_move() */

    bool open;
    bool admin;               /* accepted from admin.listen */
    bool admitted;            /* counted for its address (entrance.h) */
    bool has_proved;          /* a key that the exchange knows */
    bool last;                /* reads no further request: closes when all are answered */
    bool broken;              /* closes at once */
    bool slow_job;            /* a slow signature of this connection waits (job.h) */
    bool last_signature_bad;  /* a signature was bad, and none sent after it good yet */
    bool last_signature_good; /* else: the newest was good, under a known key */
    int8_t turns;             /* requests that it may still bring in this round (protocol.h) */
    bool continue_due;        /* send 100 Continue after the answers before it */
    bool blocked;             /* has input that could not be parsed yet */

    uint16_t queued; /* bits of enum conn_queue_kind; kept when the connection closes */

    /* Rates (charge.h). */
    bool is_charged;               /* for a signed request that waits to be accepted */
    bool has_token;                /* of pause_kind: it waited for one, and has not used it */
    uint8_t pause_kind;            /* enum client_rate_kind */
    uint64_t pause_ns;             /* it is not read on before; 0: it is not paused */
    struct client_rate_state rate; /* the bucket that the request being read was charged to */

    /* Transport. */
    bool receiving;  /* a receive is armed */
    bool cancelling; /* and a cancel of it is sent */
    bool bulk;       /* the peer sent more than is kept: one receive at a time from now on */
    bool sending;
    bool ended;     /* the peer sent its last byte */
    bool aborted;   /* shut down in both directions */
    bool lingering; /* our last byte is sent; waits for the peer's last */
    bool discards;  /* it sends although its last answer is written: read on when that is sent */
    int32_t file;

    /* TLS (secure.h). */
    bool secure;          /* of a listener with TLS */
    bool handshaking;     /* its handshake is not complete */
    uint16_t tls_count;   /* 1 + index of the counter (secure.h) that has its handshake; 0: none */
    bool tls_ended;       /* close_notify is in `wire`, or none can be sent */
    struct ssl_st *tls;   /* from the first byte of the handshake */
    int8_t small_records; /* since the address last paid for such (secure.c) */
    bool owes_records;    /* it waits, unread, since its address could not pay for them */
    struct output wire;   /* unsent ciphertext; the answers are in `output` */

    struct stream *stream; /* of a WebSocket (stream.h); NULL: the connection speaks HTTP */

    uint32_t index;
    uint32_t input_start, input_end;
    uint32_t input_high; /* highest use since the memory was returned */
    bool spilled;
    uint16_t room; /* with `spilled`: its slot among the large inputs */

    uint32_t pending_head, pending_tail; /* requests in flight, oldest first (pending.h) */
    uint32_t pending_count;
    struct output output;
    uint32_t expected_bytes; /* upper bound of the answers to reads sent and not answered */
    bool reads_held;         /* a read waits until more of the output is sent */
    bool waits_sequence;     /* its newest read waits (sequence_wait.h); it is not parsed */
    uint64_t received_ticks; /* of the newest bytes */
    uint64_t address;        /* of the peer (rate_limit.h), or what its proxy says */

    uint8_t time; /* enum conn_time, CONN_TIMES: none */
    uint64_t deadline_ns;
    uint32_t time_previous, time_next;

    uint32_t crowd_row; /* of its address (crowd.h); CONN_NONE: it is not counted there */
    uint32_t crowd_previous, crowd_next;
    uint8_t crowd_kind; /* enum crowd_kind: its list */
};

#endif
