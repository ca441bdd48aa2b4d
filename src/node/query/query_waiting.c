#include "node/query/query_waiting.h"

enum { ROWS_A_ROW = 8 }; /* rows that wait cost as much as one of the file */

/* Puts the row among the newest. */
static void keep(struct query_waiting *waiting, struct query_waiting_row one)
{
    uint32_t low = 0, high = waiting->count;

    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (query_location_below(one.placed, waiting->rows[middle].placed))
            low = middle + 1;
        else
            high = middle;
    }
    if (waiting->count == QUERY_WAITING_KEPT)
        waiting->is_over = false; /* the oldest is left out */
    if (low == QUERY_WAITING_KEPT)
        return;
    uint32_t moved = waiting->count - low - (waiting->count == QUERY_WAITING_KEPT);
    memmove(&waiting->rows[low + 1], &waiting->rows[low], moved * sizeof one);
    waiting->rows[low] = one;
    waiting->count += waiting->count < QUERY_WAITING_KEPT;
}

/* Walks over all that wait. They are in the order of their ends. */
static void find(struct query_waiting *waiting, struct query_location below, uint32_t *rows)
{
    uint64_t at = history_ring_below(waiting->ring, waiting->key, UINT64_MAX, 0);
    const struct history_link *link;
    uint32_t visited = 0;

    waiting->count = 0;
    waiting->given = 0;
    waiting->is_over = true;
    for (; at != HISTORY_NONE && at >= waiting->from; at = link->older, visited++) {
        struct query_waiting_row one = { .row = link = history_ring_at(waiting->ring, at) };
        if (link == NULL) {
            waiting->is_dropped = true;
            break;
        }
        if (waiting->admits(waiting->context, link, &one.placed) &&
            query_location_below(one.placed, below))
            keep(waiting, one);
    }
    uint32_t cost = visited / ROWS_A_ROW, most = *rows / 2;
    *rows -= cost < most ? cost : most;
}

const struct query_waiting_row *query_waiting_newest(struct query_waiting *waiting,
                                                     struct query_location below, uint32_t *rows)
{
    if (waiting->given == waiting->count && !waiting->is_over)
        find(waiting, below, rows);
    return waiting->given < waiting->count ? &waiting->rows[waiting->given] : NULL;
}
