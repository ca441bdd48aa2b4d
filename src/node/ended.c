#include "node/ended.h"

#include <stdlib.h>

struct ended {
    struct mix_key key;
    struct ended_order *rows;
    uint32_t *map; /* row + 1, 0 = free; linear probing */
    uint32_t row_mask;
    uint32_t map_mask;
    uint64_t added;             /* rows ever written; the next goes to added & row_mask */
    uint64_t newest_dropped_ms; /* date of the newest dropped id */
    bool dropped;
};

struct ended *ended_create(uint32_t capacity, struct mix_key key)
{
    INVARIANT(capacity != 0 && (capacity & (capacity - 1)) == 0);
    INVARIANT(capacity <= 1u << 30);
    struct ended *ended = calloc(1, sizeof *ended);
    if (ended == NULL)
        return NULL;
    ended->key = key;
    ended->row_mask = capacity - 1;
    ended->map_mask = 2 * capacity - 1;
    ended->rows = calloc(capacity, sizeof *ended->rows);
    ended->map = calloc(2 * (size_t)capacity, sizeof *ended->map);
    if (ended->rows == NULL || ended->map == NULL) {
        ended_destroy(ended);
        return NULL;
    }
    return ended;
}

void ended_destroy(struct ended *ended)
{
    if (ended == NULL)
        return;
    free(ended->rows);
    free(ended->map);
    free(ended);
}

static uint32_t home(const struct ended *ended, uint64_t account_id, const struct uuid *id)
{
    return (uint32_t)(mix_id(ended->key, account_id, id->bytes) >> 32) & ended->map_mask;
}

/* Place in the map of (account, id), or of the free place that ends its run. */
static uint32_t place(const struct ended *ended, uint64_t account_id, const struct uuid *id)
{
    uint32_t at = home(ended, account_id, id);
    for (; ended->map[at] != 0; at = (at + 1) & ended->map_mask) {
        const struct ended_order *row = &ended->rows[ended->map[at] - 1];
        if (row->account_id == account_id && memcmp(row->id.bytes, id->bytes, 16) == 0)
            break;
    }
    return at;
}

/* Frees a place and moves later entries of its run back, so that no search meets a false end. */
static void erase(struct ended *ended, uint32_t hole)
{
    uint32_t mask = ended->map_mask;
    for (uint32_t at = (hole + 1) & mask; ended->map[at] != 0; at = (at + 1) & mask) {
        const struct ended_order *row = &ended->rows[ended->map[at] - 1];
        uint32_t wanted = home(ended, row->account_id, &row->id);
        if (((at - wanted) & mask) < ((at - hole) & mask))
            continue; /* its home lies behind the hole: it stays reachable */
        ended->map[hole] = ended->map[at];
        hole = at;
    }
    ended->map[hole] = 0;
}

static void drop(struct ended *ended, const struct ended_order *row)
{
    uint32_t at = place(ended, row->account_id, &row->id);
    INVARIANT(ended->map[at] != 0);
    erase(ended, at);
    uint64_t date_ms = uuid_time_ms(&row->id);
    if (!ended->dropped || date_ms > ended->newest_dropped_ms)
        ended->newest_dropped_ms = date_ms;
    ended->dropped = true;
}

void ended_add(struct ended *ended, const struct ended_order *order)
{
    uint32_t at = place(ended, order->account_id, &order->id);
    if (ended->map[at] != 0) {
        ended->rows[ended->map[at] - 1] = *order;
        return;
    }
    uint32_t row = (uint32_t)ended->added & ended->row_mask;
    if (ended->added > ended->row_mask) {
        drop(ended, &ended->rows[row]);
        at = place(ended, order->account_id, &order->id);
    }
    ended->rows[row] = *order;
    ended->map[at] = row + 1;
    ended->added++;
}

const struct ended_order *ended_find(const struct ended *ended, uint64_t account_id,
                                     const struct uuid *id)
{
    uint32_t entry = ended->map[place(ended, account_id, id)];
    return entry == 0 ? NULL : &ended->rows[entry - 1];
}

bool ended_may_have_dropped(const struct ended *ended, const struct uuid *id)
{
    return ended->dropped && uuid_time_ms(id) <= ended->newest_dropped_ms;
}

uint64_t ended_count(const struct ended *ended)
{
    uint64_t capacity = (uint64_t)ended->row_mask + 1;
    return ended->added < capacity ? ended->added : capacity;
}
