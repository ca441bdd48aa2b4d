/* answer.h - one answer of the exchange as a load generator needs it: its length, its outcome and
 * the times of the server that it tells.
 *
 * Owner. Pure functions of the bytes, but for the words that `outcomes` takes in. */
#ifndef PERP_BENCH_ANSWER_H
#define PERP_BENCH_ANSWER_H

#include "perp/bench/outcomes.h"

/* Stages of a request in the server, in ns since it was received; json.md J4, timing_ns. */
#define ANSWER_STAGE_LIST(X) X(verified) X(sequenced) X(matched) X(ack)

enum answer_stage {
#define X(name) ANSWER_STAGE_##name,
    ANSWER_STAGE_LIST(X)
#undef X
        ANSWER_STAGE_COUNT
};

struct answer {
    uint16_t http;
    uint16_t outcome;                      /* its number of outcomes.h */
    uint32_t stage_ns[ANSWER_STAGE_COUNT]; /* 0: the answer does not say */
};

enum { ANSWER_LEADER_MAX = 64 };

const char *answer_stage_name(enum answer_stage stage);

/* Returns the bytes of the whole answer at the begin of the text; 0 when it is not whole yet. */
size_t answer_bytes(const char *text, size_t count);

/* Reads a whole answer of `bytes` bytes. `is_read`: to a request that is no signed write; its
 * outcome is "read", or a problem's code. */
void answer_accept(struct answer *answer, const char *text, size_t bytes, bool is_read,
                   struct outcomes *outcomes);

/* Whether another machine may have to finish the request (replication.md, A node). */
bool answer_is_open(const struct answer *answer);

/* The host:port of X-Leader; "": there is none. */
void answer_read_leader(const char *text, size_t bytes, char leader[ANSWER_LEADER_MAX]);

/* The sequence of an acknowledgement, JSON or binary; 0: it has none. */
uint64_t answer_read_sequence(const char *text, size_t bytes);

/* Of a request that was sent more than once: a duplicate's outcome becomes the original one, which
 * an answer in JSON repeats. */
void answer_read_original(struct answer *answer, const char *text, size_t bytes,
                          struct outcomes *outcomes);

/* Reads the JSON of an answer to a signed request whose HTTP status is known: an acknowledgement or
 * a problem. */
void answer_read_body(struct answer *answer, uint16_t http, const char *body, size_t count,
                      struct outcomes *outcomes);

#endif
