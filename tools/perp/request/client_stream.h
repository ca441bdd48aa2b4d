/* client_stream.h - a WebSocket on a client's connection: GET /api/v1/stream (wire.md W9).
 *
 *   client_stream_ask ──> handshake ──> answer 101 ──> client_stream_open
 *   client_stream_send ──> ops           client_stream_next ──> replies and frames, text by text
 *
 * Owner. One thread. The connection is the caller's and carries nothing else from the handshake on.
 * Wait.  client_stream_next alone.
 * Bound. CLIENT_STREAM_TEXT_MAX bytes a text: a longer one is an error. */
#ifndef PERP_REQUEST_CLIENT_STREAM_H
#define PERP_REQUEST_CLIENT_STREAM_H

#include "perp/request/client.h"

struct wslay_event_context;

enum {
    CLIENT_STREAM_TEXT_MAX = 4 << 20,
    CLIENT_STREAM_KEY_BYTES = 24, /* characters of a handshake's key */
    CLIENT_STREAM_HEADERS_MAX = 256,
    CLIENT_STREAM_REASON_MAX = 124,
};

/* The handshake of one stream. */
struct client_stream_ask {
    char key[CLIENT_STREAM_KEY_BYTES + 1];
    char headers[CLIENT_STREAM_HEADERS_MAX];
    struct client_request request; /* with those headers */
};

struct client_stream {
    struct client *client;
    struct wslay_event_context *frames; /* NULL: not open */
    char *text;                         /* the text that was read and not yet given, or NULL */
    size_t count;
    uint64_t taken;      /* bytes of the connection that were read */
    uint16_t close_code; /* of the peer's close frame; 0: none came, or it had none */
    char close_reason[CLIENT_STREAM_REASON_MAX];
    bool is_broken; /* a frame was none, or there was no memory */
};

/* Makes a handshake with a key of its own. False without random bytes. */
CC_MUST_USE bool client_stream_ask(struct client_stream_ask *ask);

/* Whether the answer agrees to this handshake. */
CC_MUST_USE bool client_stream_agrees(const struct client_stream_ask *ask,
                                      const struct client_answer *answer);

/* Begins after an answer that agrees. 0 or -ENOMEM. */
CC_MUST_USE int client_stream_open(struct client_stream *stream, struct client *client);

/* Queues one text. 0 or -ENOMEM. */
CC_MUST_USE int client_stream_send(struct client_stream *stream, const char *text, size_t count);

/* Sends what is queued and waits for the next text, `wait_ms` at most, while the signals of `mask`
 * are blocked. 0: *text, which is the caller's to free, with *count bytes and a closing zero;
 * -ETIMEDOUT; -EINTR: a signal; -ESHUTDOWN: the peer has closed the stream, see close_code;
 * -EPROTO: what came is no frame or too long; another -errno: the client's error says why. */
CC_MUST_USE int client_stream_next(struct client_stream *stream, const sigset_t *mask,
                                   uint32_t wait_ms, char **text, size_t *count);

/* Frees the stream, with a close frame if it can be sent at once; the connection is closed. */
void client_stream_close(struct client_stream *stream);

#endif
