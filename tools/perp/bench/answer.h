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

const char *answer_stage_name(enum answer_stage stage);

/* Returns the bytes of the whole answer at the begin of the text; 0 when it is not whole yet. */
size_t answer_bytes(const char *text, size_t count);

/* Reads a whole answer of `bytes` bytes. `is_read`: to a request that is no signed write; its
 * outcome is "read", or a problem's code. */
void answer_accept(struct answer *answer, const char *text, size_t bytes, bool is_read,
                   struct outcomes *outcomes);

/* Reads the JSON of an answer to a signed request whose HTTP status is known: an acknowledgement or
 * a problem. */
void answer_read_body(struct answer *answer, uint16_t http, const char *body, size_t count,
                      struct outcomes *outcomes);

#endif
