#include "node/history/ended_orders.h"

#include <stdlib.h>

#include "node/history/id_map.h"

struct ended_orders {
    struct order_summary *rows;
    struct id_map map;
    uint32_t row_mask;
    uint64_t added;             /* rows ever written; the next goes to added & row_mask */
    uint64_t newest_dropped_ms; /* date of the newest dropped id */
    bool dropped;
};

struct ended_orders *ended_orders_create(uint32_t capacity, struct mix_key key)
{
    INVARIANT(capacity != 0 && (capacity & (capacity - 1)) == 0);
    INVARIANT(capacity <= 1u << 30);
    struct ended_orders *ended = calloc(1, sizeof *ended);
    if (ended == NULL)
        return NULL;
    ended->row_mask = capacity - 1;
    ended->rows = calloc(capacity, sizeof *ended->rows);
    if (ended->rows != NULL &&
        id_map_init(&ended->map, key, capacity, ended->rows, sizeof *ended->rows,
                    offsetof(struct order_summary, account_id)) == 0)
        return ended;
    ended_orders_destroy(ended);
    return NULL;
}

void ended_orders_destroy(struct ended_orders *ended)
{
    if (ended == NULL)
        return;
    id_map_free(&ended->map);
    free(ended->rows);
    free(ended);
}

static void drop(struct ended_orders *ended, uint32_t row)
{
    uint64_t date_ms = uuid_time_ms(&ended->rows[row].id);

    id_map_remove(&ended->map, row);
    if (!ended->dropped || date_ms > ended->newest_dropped_ms)
        ended->newest_dropped_ms = date_ms;
    ended->dropped = true;
}

void ended_orders_add(struct ended_orders *ended, const struct order_summary *order)
{
    uint32_t row = id_map_find(&ended->map, order->account_id, order->id.bytes);

    if (row != ID_MAP_NONE) {
        ended->rows[row] = *order;
        return;
    }
    row = (uint32_t)ended->added & ended->row_mask;
    if (ended->added > ended->row_mask)
        drop(ended, row);
    ended->rows[row] = *order;
    id_map_add(&ended->map, row);
    ended->added++;
}

const struct order_summary *ended_orders_find(const struct ended_orders *ended, uint64_t account_id,
                                              const struct uuid *id)
{
    uint32_t row = id_map_find(&ended->map, account_id, id->bytes);
    return row == ID_MAP_NONE ? NULL : &ended->rows[row];
}

bool ended_orders_may_have_dropped(const struct ended_orders *ended, const struct uuid *id)
{
    return ended->dropped && uuid_time_ms(id) <= ended->newest_dropped_ms;
}

uint64_t ended_orders_count(const struct ended_orders *ended)
{
    uint64_t capacity = (uint64_t)ended->row_mask + 1;
    return ended->added < capacity ? ended->added : capacity;
}
