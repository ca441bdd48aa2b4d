#include "engine/view/read_orders.h"

#include "engine/state/state.h"
#include "engine/trade/resting.h"

static bool is_below(const struct read_orders_found *a, const struct read_orders_found *b)
{
    return a->sequence != b->sequence ? a->sequence < b->sequence : a->index < b->index;
}

void read_orders_begin(struct read_orders *cursor, const struct read_filter *filter,
                       uint64_t before_sequence, uint32_t before_index)
{
    bool is_all = before_sequence == 0;

    cursor->filter = *filter;
    cursor->before = (struct read_orders_found){
        .sequence = is_all ? UINT64_MAX : before_sequence,
        .index = before_index,
    };
    cursor->count = 0;
    cursor->given = 0;
    cursor->is_over = false;
}

/* While found[] is filled, it is a heap with the oldest order at the top. */
static void sift_down(struct read_orders_found *found, uint32_t count, uint32_t at)
{
    for (uint32_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && is_below(&found[child + 1], &found[child]))
            child++;
        if (!is_below(&found[child], &found[at]))
            return;
        struct read_orders_found moved = found[at];
        found[at] = found[child];
        found[child] = moved;
        at = child;
    }
}

static void sift_up(struct read_orders_found *found, uint32_t at)
{
    while (at != 0 && is_below(&found[at], &found[(at - 1) / 2])) {
        struct read_orders_found moved = found[at];
        found[at] = found[(at - 1) / 2];
        found[(at - 1) / 2] = moved;
        at = (at - 1) / 2;
    }
}

/* Returns the status that a read shows. `order` is an index as in struct read_orders_found. */
static uint8_t status_of(const struct engine *engine, uint32_t order)
{
    uint32_t waiting = order & ~EFFECT_CONDITIONAL;
    uint8_t reason;

    if (waiting != order) {
        enum order_state state = conditional_death(engine, waiting, &reason);
        return (uint8_t)(state == ORDER_NEW ? ORDER_UNTRIGGERED : state);
    }
    enum order_state state = resting_death(engine, order, &reason);
    return state == ORDER_NEW ? engine->orders.hot[order].state : (uint8_t)state;
}

static bool has_status(const struct engine *engine, uint32_t order, uint8_t status)
{
    return status == QUERY_ANY_STATUS || status == status_of(engine, order);
}

/* Keeps the order if it is one of the newest below the bound. */
static void consider(struct read_orders *cursor, const struct engine *engine,
                     struct read_orders_found one)
{
    uint32_t order = one.order;

    if (!is_below(&one, &cursor->before))
        return;
    if (cursor->count == READ_ORDERS_KEPT && is_below(&one, &cursor->found[0]))
        cursor->is_over = false;
    else if (has_status(engine, order, cursor->filter.status)) {
        if (cursor->count < READ_ORDERS_KEPT) {
            cursor->found[cursor->count] = one;
            sift_up(cursor->found, cursor->count++);
            return;
        }
        cursor->is_over = false;
        cursor->found[0] = one;
        sift_down(cursor->found, cursor->count, 0);
    }
}

static bool is_wanted(const struct read_orders *cursor, const struct engine *engine,
                      uint32_t market)
{
    const char *wanted = cursor->filter.market;

    return wanted[0] == '\0' ||
           memcmp(wanted, engine->markets.rows[market].record.symbol, QUERY_MARKET_BYTES) == 0;
}

static void look_through(struct read_orders *cursor, const struct engine *engine,
                         const struct portfolio *portfolio)
{
    uint32_t at = portfolio->holding_head;

    for (; at != HOLDING_NONE; at = engine->holdings.rows[at].next) {
        const struct holding *holding = &engine->holdings.rows[at];
        if (!is_wanted(cursor, engine, holding->market))
            continue;
        uint32_t order = holding->order_tail; /* newest first: the heap refuses the rest */
        for (; order != ORDER_NONE; order = engine->orders.cold[order].list_prev) {
            uint64_t rank = order_rank(&engine->orders, order);
            consider(cursor, engine,
                     (struct read_orders_found){ rank >> ORDER_STAMP_BITS, (uint16_t)rank, order });
        }
    }
    for (at = portfolio->conditional_tail; at != CONDITIONAL_NONE;) {
        const struct conditional *row = &engine->conditionals.rows[at];
        if (is_wanted(cursor, engine, row->market))
            consider(
                cursor, engine,
                (struct read_orders_found){ row->placed_sequence, 0, at | EFFECT_CONDITIONAL });
        at = row->list_prev;
    }
}

/* Sorts the heap, newest first: the oldest goes to the end of the rest, again and again. */
static void sort(struct read_orders *cursor)
{
    for (uint32_t left = cursor->count; left > 1; left--) {
        struct read_orders_found oldest = cursor->found[0];
        cursor->found[0] = cursor->found[left - 1];
        cursor->found[left - 1] = oldest;
        sift_down(cursor->found, left - 1, 0);
    }
}

static void find(struct read_orders *cursor, const struct engine *engine)
{
    const struct read_filter *filter = &cursor->filter;
    uint32_t account = account_find(engine, filter->account_id);

    cursor->count = 0;
    cursor->given = 0;
    cursor->is_over = true;
    uint32_t at =
        account == ACCOUNT_NONE ? PORTFOLIO_NONE : engine->accounts.rows[account].portfolio_head;
    for (; at != PORTFOLIO_NONE; at = engine->portfolios.rows[at].account_next) {
        const struct portfolio *portfolio = &engine->portfolios.rows[at];
        if (read_filter_admits(filter, portfolio->subaccount_index, portfolio->portfolio_index))
            look_through(cursor, engine, portfolio);
    }
    sort(cursor);
    if (cursor->count != 0)
        cursor->before = cursor->found[cursor->count - 1];
}

bool read_orders_next(struct read_orders *cursor, const struct engine *engine,
                      struct row_order *row)
{
    if (cursor->given == cursor->count) {
        if (cursor->is_over)
            return false;
        find(cursor, engine);
        if (cursor->count == 0)
            return false;
    }
    read_order_shown(engine, cursor->found[cursor->given++].order, row);
    return true;
}
