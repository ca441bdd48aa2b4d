/* conn_phase.h - what a connection reads now. The table is the whole truth.
 *
 *   accepted ──┬─────────────────────────────────> HEAD ──> BODY ──> HEAD, the next request
 *              ├──────────────────> HANDSHAKE ──────^         └────> STREAM
 *              └──> PROXY ──────────────^───────────^
 *
 * A connection of which nothing more is read goes to HEAD, from wherever it is: no request is under
 * way there. Owner. The net thread of the connection. */
#ifndef NET_CONN_CONN_PHASE_H
#define NET_CONN_CONN_PHASE_H

#include "base/compiler.h"

/* clang-format off */
/*    phase       may become */
#define CONN_PHASE_LIST(X)                                                                         \
    X(HEAD,       TO(HEAD) | TO(BODY) | TO(PROXY) | TO(HANDSHAKE)) /* of a request */              \
    X(BODY,       TO(HEAD) | TO(STREAM))                                                           \
    X(PROXY,      TO(HEAD) | TO(HANDSHAKE)) /* the header of a proxy (net.proxy_from) */           \
    X(HANDSHAKE,  TO(HEAD)) /* of TLS: the input keeps what the peer sends, as it is */            \
    X(STREAM,     TO(HEAD)) /* frames of a WebSocket */
/* clang-format on */

enum conn_phase {
#define X(name, next) CONN_##name,
    CONN_PHASE_LIST(X)
#undef X
        CONN_PHASE_COUNT
};

/* The only writer of a connection's phase. The table must allow the move (INVARIANT). */
static inline void conn_phase_move(uint8_t *phase, enum conn_phase next)
{
#define TO(name)             (1U << CONN_##name)
#define X(name, next_phases) next_phases,
    static const uint8_t allowed[CONN_PHASE_COUNT] = { CONN_PHASE_LIST(X) };
#undef X
#undef TO

    INVARIANT(*phase < CONN_PHASE_COUNT && (unsigned)next < CONN_PHASE_COUNT);
    INVARIANT((allowed[*phase] >> next & 1U) != 0);
    *phase = (uint8_t)next;
}

#endif
