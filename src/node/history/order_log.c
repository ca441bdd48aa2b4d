#include "node/history/order_log.h"

#include <errno.h>
#include <stdlib.h>

#include "engine/table/order_state.h"
#include "node/history/ended_orders.h"

int order_log_init(struct order_log *log, uint32_t capacity, uint32_t account_count,
                   struct mix_key key)
{
    memset(log, 0, sizeof *log);
    if (history_ring_init(&log->ring, capacity, sizeof(struct order_row), account_count) != 0)
        return -ENOMEM;
    log->accounts = calloc(account_count, sizeof *log->accounts);
    log->ended = ended_orders_create(capacity, key);
    if (log->accounts != NULL && log->ended != NULL &&
        id_map_init(&log->map, key, capacity, log->ring.rows, sizeof(struct order_row),
                    offsetof(struct order_row, order.account_id)) == 0)
        return 0;
    order_log_free(log);
    return -ENOMEM;
}

void order_log_free(struct order_log *log)
{
    history_ring_free(&log->ring);
    id_map_free(&log->map);
    ended_orders_destroy(log->ended);
    free(log->accounts);
    memset(log, 0, sizeof *log);
}

static bool is_below(uint64_t a_sequence, uint32_t a_index, uint64_t b_sequence, uint32_t b_index)
{
    return a_sequence < b_sequence || (a_sequence == b_sequence && a_index < b_index);
}

static void add_lost(struct order_lost *lost, const struct order_summary *order)
{
    if (!lost->any ||
        is_below(lost->newest_sequence, lost->newest_index, order->sequence, order->index)) {
        lost->newest_sequence = order->sequence;
        lost->newest_index = order->index;
    }
    if (!lost->any ||
        is_below(order->sequence, order->index, lost->oldest_sequence, lost->oldest_index)) {
        lost->oldest_sequence = order->sequence;
        lost->oldest_index = order->index;
    }
    lost->any = true;
}

static bool is_recent(const struct order_account *account, uint64_t rejection)
{
    return account->rejection_count - rejection < ORDER_LOG_REJECTED;
}

bool order_log_is_shown(const struct order_log *log, const struct order_row *row)
{
    return row->rejection == 0 || is_recent(&log->accounts[row->order.account_id], row->rejection);
}

/* Drops the oldest row. A live order is still in the engine; an order that no list would show needs
 * no mark; any other is lost. */
static void drop(struct order_log *log, const struct order_row *row, uint32_t number)
{
    const struct order_summary *order = &row->order;
    struct order_account *account = &log->accounts[order->account_id];

    if (id_map_find(&log->map, order->account_id, order->id.bytes) == number)
        id_map_remove(&log->map, number);
    if (!order_summary_is_final(order) || !order_log_is_shown(log, row))
        return;
    if (row->rejection != 0) {
        add_lost(&account->lost_rejected, order);
        if (row->rejection > account->rejection_lost)
            account->rejection_lost = row->rejection;
    } else {
        add_lost(&account->lost, order);
    }
    uint64_t date_ms = uuid_time_ms(&order->id);
    if (!log->dropped || date_ms > log->newest_dropped_ms)
        log->newest_dropped_ms = date_ms;
    log->dropped = true;
}

/* A look-up of the id finds the newest order that has it. A client may choose an id that the engine
 * has made, or will make, for a liquidation order of the account. */
static void map_row(struct order_log *log, const struct order_summary *order, uint32_t number)
{
    uint32_t older = id_map_find(&log->map, order->account_id, order->id.bytes);

    if (older != ID_MAP_NONE)
        id_map_remove(&log->map, older);
    id_map_add(&log->map, number);
}

static void place(struct order_log *log, const struct order_summary *order)
{
    uint32_t number = history_ring_number(&log->ring, log->ring.added);
    const struct order_row *victim = history_ring_victim(&log->ring);

    if (victim != NULL)
        drop(log, victim, number);
    INVARIANT(order->account_id < log->ring.key_count);
    uint32_t key = (uint32_t)order->account_id;
    uint32_t next = history_ring_next_index(&log->ring, key, order->sequence);
    uint32_t index = order->index < next ? next : order->index;
    struct order_row *row = history_ring_add(&log->ring, key, order->sequence, index);
    row->order = *order;
    row->order.index = index;
    if (order->status == ORDER_REJECTED)
        row->rejection = ++log->accounts[order->account_id].rejection_count;
    map_row(log, order, number);
}

void order_log_forget(struct order_log *log, uint64_t account_id, uint64_t sequence,
                      uint64_t newest_ms)
{
    INVARIANT(account_id < log->ring.key_count);
    struct order_account *account = &log->accounts[account_id];
    struct order_lost all = { .newest_sequence = sequence,
                              .newest_index = UINT32_MAX,
                              .any = true };

    history_ring_forget(&log->ring, (uint32_t)account_id, sequence);
    account->lost = all;
    account->lost_rejected = all;
    account->rejection_count =
        1; /* the last one of them: shown until as many as W10 names follow */
    account->rejection_lost = 1;
    log->newest_dropped_ms = newest_ms;
    log->dropped = true;
}

/* The row of an order that this command has placed, NULL before its first 2101. Those rows are the
 * newest, and few: no search. */
static struct order_row *find_placed(const struct order_log *log, const struct order_summary *order)
{
    struct order_row *rows = (struct order_row *)(void *)log->ring.rows;

    for (uint64_t at = log->ring.added; at-- > 0 && log->ring.added - at <= log->ring.mask + 1;) {
        struct order_row *row = &rows[history_ring_number(&log->ring, at)];
        if (row->link.sequence != order->sequence)
            break;
        if (row->order.account_id == order->account_id && uuid_equal(&row->order.id, &order->id))
            return row;
    }
    return NULL;
}

static bool is_row_of(const struct order_row *row, const struct order_summary *order)
{
    return row->link.sequence == order->sequence && !order_summary_is_final(&row->order) &&
           uuid_equal(&row->order.id, &order->id);
}

/* The row of an order that an earlier command has placed, NULL: it is not kept. */
static struct order_row *find_row(const struct order_log *log, const struct order_summary *order)
{
    struct order_row *rows = (struct order_row *)(void *)log->ring.rows;
    uint32_t number = id_map_find(&log->map, order->account_id, order->id.bytes);

    if (number == ID_MAP_NONE || is_row_of(&rows[number], order))
        return number == ID_MAP_NONE ? NULL : &rows[number];
    uint64_t at = history_ring_below(&log->ring, order->account_id, order->sequence + 1, 0);
    for (const struct order_row *row = history_ring_at(&log->ring, at);
         row != NULL && row->link.sequence == order->sequence;
         row = history_ring_at(&log->ring, at)) {
        if (is_row_of(row, order))
            return &rows[history_ring_number(&log->ring, at)];
        at = row->link.older;
    }
    return NULL;
}

void order_log_append(struct order_log *log, const struct order_summary *order, uint64_t sequence)
{
    bool is_placing = order->sequence == sequence;
    struct order_row *row;

    /* The 2101s between the first and the last need no row: readers use the engine. */
    if (!is_placing && !order_summary_is_final(order))
        return;
    row = is_placing ? find_placed(log, order) : find_row(log, order);
    if (row != NULL) {
        INVARIANT(!order_summary_is_final(&row->order));
        row->order = *order;
        row->order.index = row->link.index;
    } else if (is_placing) {
        place(log, order);
    } else {
        ended_orders_add(log->ended, order);
        add_lost(&log->accounts[order->account_id].lost, order);
    }
}

const struct order_summary *order_log_find(const struct order_log *log, uint64_t account_id,
                                           const struct uuid *id)
{
    uint32_t number = id_map_find(&log->map, account_id, id->bytes);

    if (number == ID_MAP_NONE)
        return ended_orders_find(log->ended, account_id, id);
    const struct order_row *row = &((const struct order_row *)(const void *)log->ring.rows)[number];
    return order_summary_is_final(&row->order) && order_log_is_shown(log, row) ? &row->order : NULL;
}

uint32_t order_log_index(const struct order_log *log, uint64_t account_id, const uint8_t id[16],
                         uint32_t otherwise)
{
    uint32_t number = id_map_find(&log->map, account_id, id);

    return number == ID_MAP_NONE
               ? otherwise
               : ((const struct order_row *)(const void *)log->ring.rows)[number].link.index;
}

bool order_log_may_have_dropped(const struct order_log *log, const struct uuid *id)
{
    return (log->dropped && uuid_time_ms(id) <= log->newest_dropped_ms) ||
           ended_orders_may_have_dropped(log->ended, id);
}

bool order_log_lost_between(const struct order_log *log, uint64_t account_id, bool rejected,
                            bool others, uint64_t below_sequence, uint32_t below_index,
                            uint64_t from_sequence, uint32_t from_index)
{
    if (account_id >= log->ring.key_count)
        return false;
    const struct order_account *account = &log->accounts[account_id];
    const struct order_lost *kinds[] = {
        others ? &account->lost : NULL,
        rejected && account->rejection_lost != 0 && is_recent(account, account->rejection_lost)
            ? &account->lost_rejected
            : NULL,
    };

    for (size_t i = 0; i < CC_COUNT(kinds); i++) {
        const struct order_lost *lost = kinds[i];
        if (lost != NULL && lost->any &&
            is_below(lost->oldest_sequence, lost->oldest_index, below_sequence, below_index) &&
            !is_below(lost->newest_sequence, lost->newest_index, from_sequence, from_index))
            return true;
    }
    return false;
}
