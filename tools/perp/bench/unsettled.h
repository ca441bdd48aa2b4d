/* unsettled.h - requests to an exchange of several machines that no answer has settled: their
 * bytes, which go to another one as they were first made.
 *
 *   kept  --(settled)--> free
 *     '--(421, 503, request_dropped, retry_required, no answer)--> waits, oldest first --> kept
 *
 * Owner. One thread.
 * Bound. As many requests as there are places for them in flight. */
#ifndef PERP_BENCH_UNSETTLED_H
#define PERP_BENCH_UNSETTLED_H

#include "perp/bench/load.h"

#define UNSETTLED_NONE UINT32_MAX

enum { UNSETTLED_HOST_MAX = 272, UNSETTLED_MORE = UNSETTLED_HOST_MAX + 48 };

struct unsettled_request {
    uint64_t first_ns; /* when it was sent first */
    uint32_t row, count;
    uint32_t next;
    uint8_t bytes[LOAD_REQUEST_MAX];
};

struct unsettled {
    struct unsettled_request *requests;
    uint32_t free, first, last; /* lists, by number */
    uint32_t waiting;
};

/* Room for so many. False without memory. */
CC_MUST_USE bool unsettled_init(struct unsettled *unsettled, uint32_t places);
void unsettled_free(struct unsettled *unsettled);

/* Keeps a request that is sent now; gives its number. There is room: the caller counts. */
uint32_t unsettled_keep(struct unsettled *unsettled, uint32_t row, uint64_t now_ns,
                        const struct load_request *request);
void unsettled_settle(struct unsettled *unsettled, uint32_t number);

/* It waits to be sent again, behind the others that do. */
void unsettled_wait(struct unsettled *unsettled, uint32_t number);

/* The oldest that waits, which is kept again; UNSETTLED_NONE. */
uint32_t unsettled_next(struct unsettled *unsettled);

/* Writes a kept request for the machine `host`: its Host line is that one's, and a read asks for
 * what follows `at_least` (X-Min-Sequence; 0: nothing was acknowledged yet). The rest is as it was
 * made. Gives its bytes, at most LOAD_REQUEST_MAX + UNSETTLED_MORE. */
size_t unsettled_write(const struct unsettled *unsettled, uint32_t number, const char *host,
                       uint64_t at_least, uint8_t *out);

#endif
