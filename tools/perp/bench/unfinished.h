/* unfinished.h - requests to an exchange of several machines that no answer has finished: their
 * bytes, which go to another one as they were first made.
 *
 *   kept  --(finished)--> free
 *     '--(421, 503, request_dropped, retry_required, no answer)--> waits, oldest first --> kept
 *
 * Owner. One thread.
 * Bound. As many requests as there are places for them in flight. */
#ifndef PERP_BENCH_UNFINISHED_H
#define PERP_BENCH_UNFINISHED_H

#include "perp/bench/load.h"

#define UNFINISHED_NONE UINT32_MAX

enum { UNFINISHED_HOST_MAX = 272, UNFINISHED_MORE = UNFINISHED_HOST_MAX + 48 };

struct unfinished_request {
    uint64_t first_ns; /* when it was sent first */
    uint32_t row, count;
    uint32_t next;
    uint8_t bytes[LOAD_REQUEST_MAX];
};

struct unfinished {
    struct unfinished_request *requests;
    uint32_t free, first, last; /* lists, by number */
    uint32_t waiting;
};

/* Room for so many. False without memory. */
CC_MUST_USE bool unfinished_init(struct unfinished *unfinished, uint32_t places);
void unfinished_free(struct unfinished *unfinished);

/* Keeps a request that is sent now; gives its number. There is room: the caller counts. */
uint32_t unfinished_keep(struct unfinished *unfinished, uint32_t row, uint64_t now_ns,
                         const struct load_request *request);
void unfinished_drop(struct unfinished *unfinished, uint32_t number);

/* It waits to be sent again, behind the others that do. */
void unfinished_wait(struct unfinished *unfinished, uint32_t number);

/* The oldest that waits, which is kept again; UNFINISHED_NONE. */
uint32_t unfinished_next(struct unfinished *unfinished);

/* Writes a kept request for the machine `host`: its Host line is that one's, and a read asks for
 * what follows `at_least` (X-Min-Sequence; 0: nothing was acknowledged yet). The rest is as it was
 * made. Gives its bytes, at most LOAD_REQUEST_MAX + UNFINISHED_MORE. */
size_t unfinished_write(const struct unfinished *unfinished, uint32_t number, const char *host,
                        uint64_t at_least, uint8_t *out);

#endif
