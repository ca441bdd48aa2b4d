#include "node/history/order_log.h"

#include <errno.h>
#include <stdlib.h>

#include "base/account_id.h"
#include "engine/table/order.h"

enum { IDS_CHAIN = 0 };

int order_log_init(struct order_log *log, uint32_t capacity, uint32_t account_count,
                   struct mix_key key)
{
    memset(log, 0, sizeof *log);
    if (history_ring_init(&log->ring, capacity, sizeof(struct order_row), account_count) != 0)
        return -ENOMEM;
    log->accounts = calloc(account_count, sizeof *log->accounts);
    if (log->accounts != NULL &&
        history_ring_init(&log->ids, capacity, sizeof(struct order_id_row), 1) == 0 &&
        id_map_init(&log->map, key, capacity, log->ring.rows, sizeof(struct order_row),
                    offsetof(struct order_row, order.account_id)) == 0)
        return 0;
    order_log_free(log);
    return -ENOMEM;
}

void order_log_free(struct order_log *log)
{
    history_ring_free(&log->ring);
    history_ring_free(&log->ids);
    id_map_free(&log->map);
    free(log->accounts);
    memset(log, 0, sizeof *log);
}

bool order_log_is_shown(const struct order_log *log, const struct order_row *row)
{
    const struct order_account *account = &log->accounts[account_id_slot(row->order.account_id)];

    return row->rejection == 0 || account->rejection_count - row->rejection < ORDER_LOG_REJECTED;
}

static void drop(struct order_log *log, const struct order_row *row, uint32_t number)
{
    const struct order_summary *order = &row->order;
    uint64_t date_ms = uuid_time_ms(&order->id);

    if (id_map_find(&log->map, order->account_id, order->id.bytes) == number)
        id_map_remove(&log->map, number);
    if (!log->dropped || date_ms > log->newest_dropped_ms)
        log->newest_dropped_ms = date_ms;
    log->dropped = true;
}

/* Whether `a` was placed before `b`. */
static bool is_below(const struct order_summary *a, const struct order_summary *b)
{
    return a->sequence != b->sequence ? a->sequence < b->sequence : a->index < b->index;
}

/* A look-up of the id finds the newest order that has it. A client may choose an id that the engine
 * has made, or will make, for a liquidation order of the account. */
static void map_row(struct order_log *log, const struct order_summary *order, uint32_t number)
{
    const struct order_row *rows = (const struct order_row *)(const void *)log->ring.rows;
    uint32_t former = id_map_find(&log->map, order->account_id, order->id.bytes);

    if (former != ID_MAP_NONE && is_below(order, &rows[former].order))
        return;
    if (former != ID_MAP_NONE)
        id_map_remove(&log->map, former);
    id_map_add(&log->map, number);
}

static void add(struct order_log *log, const struct order_summary *order, uint64_t sequence)
{
    uint32_t number = history_ring_number(&log->ring, log->ring.added);
    const struct order_row *victim = history_ring_victim(&log->ring);
    uint32_t key = account_id_slot(order->account_id);

    if (victim != NULL)
        drop(log, victim, number);
    struct order_row *row = history_ring_add(&log->ring, key, sequence,
                                             history_ring_next_index(&log->ring, key, sequence));
    row->ended_sequence = sequence;
    row->order = *order;
    if (order->is_refusal)
        row->rejection = ++log->accounts[key].rejection_count;
    map_row(log, order, number);
}

static void add_id(struct order_log *log, const struct order_summary *order)
{
    struct history_ring *ids = &log->ids;
    const struct order_id_row *newest = history_ring_at(ids, ids->added - 1);
    uint32_t index = history_ring_next_index(ids, IDS_CHAIN, order->sequence);

    if (newest != NULL && newest->link.sequence == order->sequence &&
        newest->account_id == order->account_id && newest->index == order->index)
        return; /* the 2101 before this one was of the same order */
    struct order_id_row *row = history_ring_add(ids, IDS_CHAIN, order->sequence, index);
    row->account_id = order->account_id;
    row->id = order->id;
    row->index = order->index;
}

void order_log_forget(struct order_log *log, uint64_t account_id, uint64_t sequence,
                      uint64_t newest_ms, uint64_t rejection_count)
{
    uint32_t key = account_id_slot(account_id);

    INVARIANT(key < log->ring.key_count);
    history_ring_forget(&log->ring, key, sequence);
    history_ring_forget(&log->ids, IDS_CHAIN, sequence);
    log->accounts[key].rejection_count = rejection_count;
    log->newest_dropped_ms = newest_ms;
    log->dropped = true;
}

void order_log_begin(struct order_log *log, uint32_t slot)
{
    history_ring_begin(&log->ring, slot);
    log->accounts[slot] = (struct order_account){ 0 };
}

static bool is_engines(const struct order_summary *order)
{
    return order->order_type == ORDER_LIQUIDATE || order->order_type == ORDER_AUTO_DELEVERAGE;
}

/* Gives an order that the engine made an index after all others of its command and account. */
static void place(struct order_account *account, struct order_summary *order)
{
    if (account->placed_sequence != order->sequence)
        account->placed_next = 0;
    account->placed_sequence = order->sequence;
    if (is_engines(order) && order->index < account->placed_next)
        order->index = account->placed_next;
    if (account->placed_next <= order->index)
        account->placed_next = order->index + 1;
}

void order_log_append(struct order_log *log, struct order_summary *order, uint64_t sequence,
                      const uint8_t *request_id)
{
    bool is_final = order_summary_is_final(order);

    INVARIANT(account_id_slot(order->account_id) < log->ring.key_count);
    if (is_engines(order) && !is_final)
        return; /* it is placed by its end */
    if (order->sequence == sequence) {
        bool is_of_request =
            request_id != NULL && memcmp(request_id, order->id.bytes, sizeof order->id.bytes) == 0;
        place(&log->accounts[account_id_slot(order->account_id)], order);
        if (is_engines(order) || !is_of_request)
            add_id(log, order);
    }
    if (is_final)
        add(log, order, sequence);
}

const struct order_row *order_log_find(const struct order_log *log, uint64_t account_id,
                                       const struct uuid *id)
{
    uint32_t number = id_map_find(&log->map, account_id, id->bytes);

    return number == ID_MAP_NONE
               ? NULL
               : &((const struct order_row *)(const void *)log->ring.rows)[number];
}

bool order_log_may_have_dropped(const struct order_log *log, const struct uuid *id)
{
    return log->dropped && uuid_time_ms(id) <= log->newest_dropped_ms;
}
