/* client.h - one blocking HTTP/1.1 keep-alive connection of a client, with pipelining.
 *
 *   client_queue() ... client_queue()     requests wait in `out`, nothing is sent
 *   client_read()                         sends what is queued, returns the oldest answer
 *
 * Sending and receiving take turns on a socket that does not block, so a long pipeline cannot lock
 * up against a server that stops reading until its answers are read.
 *
 * Owner. One thread. An answer's pointers live until the next client_read or client_close.
 * Wait.  At most timeout_ms for a connection, its TLS, and an answer, each from its beginning to
 *        its end.
 * Bound. CLIENT_ANSWER_MAX bytes an answer; answers with Content-Length only, as perpd writes them.
 *        Texts hold no control character but line ends (plain_text.h).
 */
#ifndef PERP_REQUEST_CLIENT_H
#define PERP_REQUEST_CLIENT_H

#include <signal.h>

#include "base/compiler.h"

enum {
    CLIENT_HOST_MAX = 256,
    CLIENT_ERROR_MAX = 512,
    CLIENT_HEAD_MAX = 16384,
    CLIENT_BEARER_MAX = 64,
    CLIENT_ANSWER_MAX = 16 << 20,
    CLIENT_TIMEOUT_MS = 10000,
    CLIENT_CA_MAX = 4096,
    CLIENT_LIST_MAX = 4096, /* of addresses, with commas between */
    CLIENT_LEADER_MAX = 64,
    CLIENT_ACCEPT_MAX = 32,
};

struct client_tls;

struct client_buffer {
    uint8_t *bytes;
    size_t begin, end, capacity; /* begin..end is unread or unsent */
};

struct client {
    char list[CLIENT_LIST_MAX]; /* the addresses as given */
    size_t next;                /* in it: after the one in use */
    char host[CLIENT_HOST_MAX];
    char port[8];
    char authority[CLIENT_HOST_MAX + 8]; /* host:port, for the Host header and for people */
    char bearer[CLIENT_BEARER_MAX + 1];  /* Authorization of every request; "": none */
    bool is_secure;                      /* https */
    char ca[CLIENT_CA_MAX];              /* PEM file of the authorities trusted; "": the system's */
    struct client_tls *tls;              /* of the connection, if it is secure */
    int fd;                              /* -1: not connected */
    uint32_t timeout_ms;
    uint32_t pending; /* requests queued or sent whose answers are not read */
    struct client_buffer out, in;
    size_t taken; /* bytes of `in` that the last answer covers */
    char error[CLIENT_ERROR_MAX];
};

struct client_request {
    const char *method;       /* "GET" */
    const char *target;       /* "/api/v1/time?..." */
    const char *api_key;      /* X-API-KEY, NULL: none */
    const char *headers;      /* more header lines, each ended by CR LF; NULL: none */
    const char *content_type; /* NULL: no body */
    const void *body;
    size_t body_count;
};

struct client_answer {
    uint32_t status; /* HTTP status */
    const char *body;
    size_t body_count;
    bool is_problem;                /* Content-Type: application/problem+json */
    bool is_binary;                 /* Content-Type: application/octet-stream */
    bool is_replica;                /* X-Staleness-Ms: of a node that does not lead */
    uint64_t retry_after;           /* s, 0: no such header */
    char leader[CLIENT_LEADER_MAX]; /* X-Leader: host:port; "": no such header */
    char accept[CLIENT_ACCEPT_MAX]; /* Sec-WebSocket-Accept; "": no such header */
};

/* Parses the address "http://host[:port][/]" or "https://...", or a list of them with commas
 * between, of which the first is used, without connecting. False, with `error` set, for any other
 * form. Set `ca` afterwards. */
CC_MUST_USE bool client_init(struct client *client, const char *url, uint32_t timeout_ms);

/* Whether there is a list of several addresses. */
CC_MUST_USE bool client_has_more(const struct client *client);

/* Closes the connection and goes on to the next address of the list; after the last, the first. */
void client_next(struct client *client);

/* Closes the connection and goes on to this host:port, by http or https as before. False, and
 * nothing changed, if it is none. */
CC_MUST_USE bool client_follow(struct client *client, const char *leader);

/* Reads the token of the admin pages (wire.md W10) from a data directory, for every request. False,
 * with `error` set, without it. */
CC_MUST_USE bool client_read_token(struct client *client, const char *data);

/* Connects if not connected. 0, or -errno with `error` saying what to do about it. */
CC_MUST_USE int client_connect(struct client *client);

/* Appends a request. 0 or -ENOMEM. */
CC_MUST_USE int client_queue(struct client *client, const struct client_request *request);

/* Sends everything queued and reads the oldest unread answer. 0; or -errno with `error` set and the
 * connection closed: requests whose answers were not read may or may not have been executed.
 * Informational answers (1xx) are skipped,
 * but for 101: from it on the connection is of another protocol. */
CC_MUST_USE int client_read(struct client *client, struct client_answer *answer);

/* One request, one answer, connecting first. As client_read. */
CC_MUST_USE int client_call(struct client *client, const struct client_request *request,
                            struct client_answer *answer);

/* The next three are for a connection of another protocol. Takes bytes that have come; gives how
 * many, 0: none are there. */
CC_MUST_USE size_t client_take(struct client *client, void *bytes, size_t capacity);

/* Appends bytes to be sent. 0 or -ENOMEM. */
CC_MUST_USE int client_put(struct client *client, const void *bytes, size_t count);

/* Sends what is put and waits for bytes that come, `wait_ms` at most, while the signals of `mask`
 * (NULL: those that are) are blocked. 0: some are there; -ETIMEDOUT; -EINTR: a signal; another
 * -errno with `error` set and the connection closed. */
CC_MUST_USE int client_await(struct client *client, const sigset_t *mask, uint32_t wait_ms);

/* Closes the connection and frees the buffers; the address stays. */
void client_close(struct client *client);

#endif
