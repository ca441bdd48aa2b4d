/* h2.h - one HTTP/2 connection of gRPC calls: bytes in, bytes out, messages. It knows no socket.
 *
 *   h2_start(call, message) --> h2_output --> the connection
 *   h2_pop(call) <------------ h2_receive <- the connection
 *
 * Order.  Messages of one call come in order; calls end in any order.
 * Owner.  One thread. The message given to h2_start stays lent until the call is dropped; one that
 *         h2_pop returns is the caller's, for free().
 * Bound.  A message has at most ETCD_ANSWER_BYTES: a longer one ends its call. All that wait, and
 *         what has come of others, have at most H2_BUFFERED_MAX. Beyond it, and after bytes that
 *         are no HTTP/2 or gRPC, the connection is over (-EPROTO), and every later call says so. */
#ifndef REPL_H2_H
#define REPL_H2_H

#include "repl/etcd.h"

enum {
    H2_CALLS_MAX = ETCD_REQUESTS_MAX + 8, /* those in flight, and those whose answers are lent */
    H2_PREFIX_BYTES = 5,                  /* before each message: compressed or not, its bytes */
    H2_BUFFERED_MAX = 32 << 20,
    H2_WINDOW_BYTES = ETCD_ANSWER_BYTES + 65536
};

/* How a call ended: a code of gRPC, or one of these. */
enum h2_status {
    H2_OK = 0,
    H2_INVALID = 3,
    H2_NOT_FOUND = 5,
    H2_DENIED = 7,
    H2_EXHAUSTED = 8,
    H2_PRECONDITION = 9,
    H2_OUT_OF_RANGE = 11,
    H2_UNIMPLEMENTED = 12,
    H2_UNAVAILABLE = 14,
    H2_UNAUTHENTICATED = 16,
    H2_TOO_LARGE = 100 /* a message was beyond ETCD_ANSWER_BYTES */
};

/* One message of an answer. */
struct h2_message {
    struct h2_message *next;
    size_t count;
    uint8_t bytes[];
};

struct h2;

/* A connection that sends its preface first. `authority` is copied; NULL without memory. */
CC_MUST_USE struct h2 *h2_create(const char *authority, bool is_secure);
void h2_destroy(struct h2 *h2);

/* Writes the prefix of a message of `count` bytes. */
void h2_prefix(uint8_t prefix[H2_PREFIX_BYTES], size_t count);

/* Starts a call in slot `call`, which is free; `message` begins with its prefix. With `is_open` the
 * sending side stays open: the call goes on until it is dropped. 0, -EPROTO or -ENOMEM. */
CC_MUST_USE int h2_start(struct h2 *h2, uint32_t call, const char *path, const uint8_t *message,
                         size_t count, bool is_open);

/* Ends a call, if it is going on, and frees its slot and its messages. */
void h2_drop(struct h2 *h2, uint32_t call);

/* The next whole message of a call; NULL: none yet. */
CC_MUST_USE struct h2_message *h2_pop(struct h2 *h2, uint32_t call);

/* Whether the call has ended (messages may still wait), how, and etcd's words (borrowed until the
 * call is dropped). */
CC_MUST_USE bool h2_is_ended(const struct h2 *h2, uint32_t call, int *status, const char **text);

/* Takes bytes of the connection. 0 or -EPROTO. */
CC_MUST_USE int h2_receive(struct h2 *h2, const uint8_t *bytes, size_t count);

/* The next bytes for the connection, valid until the next call; 0: none now; -EPROTO. */
CC_MUST_USE int64_t h2_output(struct h2 *h2, const uint8_t **bytes);

/* Asks the other side for a sign of life. */
CC_MUST_USE int h2_ping(struct h2 *h2);

/* Whether the other side takes no new calls (GOAWAY). */
CC_MUST_USE bool h2_is_leaving(const struct h2 *h2);

#endif
