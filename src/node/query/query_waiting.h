/* query_waiting.h - ended rows that wait for the file, in the order in which they were placed.
 *
 *   ring, in the order of ends ──> the newest placings below a location, some at a time
 *
 * A row that ends is written to where it was placed (history_keep.h): the list of a page merges
 * what lives, what waits and what is in the file by these locations.
 *
 * Owner. The follower's thread, between commands; a walk is of one call.
 * Bound. Walks over what waits once for QUERY_WAITING_KEPT rows that are given. */
#ifndef NODE_QUERY_QUERY_WAITING_H
#define NODE_QUERY_QUERY_WAITING_H

#include "node/query/query_task.h"

enum { QUERY_WAITING_KEPT = 256 };

/* Where an order or a withdrawal was placed. */
struct query_location {
    uint64_t sequence;
    uint32_t index;
};

struct query_waiting_row {
    struct query_location placed;
    const void *row; /* of the ring */
};

/* Whether the list has the row of the ring; *placed is where it was placed, in any case. */
typedef bool query_waiting_admits(const void *context, const void *row,
                                  struct query_location *placed);

struct query_waiting {
    const struct history_ring *ring;
    uint64_t key; /* of the ring */
    query_waiting_admits *admits;
    const void *context;
    uint64_t from;   /* position: rows below it are in the file */
    uint32_t count;  /* of `rows`, newest first */
    uint32_t given;  /* of them */
    bool is_over;    /* there is no older one than those of `rows` */
    bool is_dropped; /* the key has rows that are neither in the ring nor in the file */
    struct query_waiting_row rows[QUERY_WAITING_KEPT];
};

static inline bool query_location_below(struct query_location a, struct query_location b)
{
    return a.sequence != b.sequence ? a.sequence < b.sequence : a.index < b.index;
}

/* The newest row below `below`, or NULL. `below` only goes down from call to call, as rows are
 * passed by query_waiting_pass or are not of the list. A walk takes from *rows a part of what it
 * visits, at most half. */
const struct query_waiting_row *query_waiting_newest(struct query_waiting *waiting,
                                                     struct query_location below, uint32_t *rows);

static inline void query_waiting_pass(struct query_waiting *waiting)
{
    waiting->given++;
}

#endif
