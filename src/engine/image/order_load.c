#include "engine/image/order_load.h"

#include "engine/image/image.h"
#include "engine/state/share_count.h"
#include "engine/table/image_read.h"
#include "engine/table/order_record.h"
#include "engine/trade/resting.h"

#define ORDER_LOAD_NOTIONAL_MAX ((uint128)1 << 60)

enum { ORDER_LOAD_RUNS = 32, ORDER_LOAD_FLAGS = ORDER_WAS_REDUCING * 2 - 1 };

/* The position of the previous row in the books. */
struct book_location {
    uint32_t market, side, tick;
    uint64_t stamp, handle;
    uint64_t entered_ns;
    uint64_t market_rows; /* rows of the market so far */
};

/* --- what a row may say ----------------------------------------------------------------------- */

static const char *wrong_sizes(const struct market *market, const struct order *order,
                               const struct order_record *record)
{
    const uint64_t most = (uint64_t)IMAGE_READ_MONEY_MAX;

    if (order->tick > market->book.top)
        return "an order is beyond the ladder";
    uint64_t ticks = book_price(&market->book, (enum order_side)order->side, order->tick);
    if (ticks == 0 || order->remaining == 0 || order->remaining > (uint64_t)MARKET_RAW_MAX ||
        (uint128)ticks * market->record.tick_size * order->remaining > ORDER_LOAD_NOTIONAL_MAX)
        return "an order has a price or a size beyond every bound";
    if (record->filled > most || record->filled_notional > most)
        return "an order has fills beyond every bound";
    if (record->state != ORDER_OPEN && record->state != ORDER_PARTIALLY_FILLED)
        return "an order has a state in which it cannot rest";
    if (!order_state_fits((enum order_state)record->state, order->remaining, record->filled))
        return "an order has a state that its fills do not have";
    return NULL;
}

/* True for the kinds with a limit price. Orders of the other kinds never rest. */
static bool may_rest(uint8_t order_type)
{
    return order_type == ORDER_LIMIT || order_type == ORDER_STOP_LIMIT ||
           order_type == ORDER_TAKE_PROFIT;
}

static const char *wrong_terms(const struct engine *engine, const struct order *order,
                               const struct order_record *record)
{
    bool is_timed = order_tif(order) == ORDER_GTT;

    if ((order->flags & ~ORDER_LOAD_FLAGS) != 0 || (!is_timed && order_tif(order) != ORDER_GTC) ||
        !may_rest(record->order_type) || record->reason != REASON_none)
        return "an order has terms with which it cannot rest";
    uint64_t entered = order->stamp >> ORDER_STAMP_BITS;
    if (entered > engine->sequence || record->placed_sequence > entered ||
        record->placed_ns > engine->t_ns || record->updated_ns > engine->t_ns)
        return "an order is of a command to come";
    return NULL;
}

/* Checks that rows come by market, side, price and queue, as image.h writes them. */
static const char *wrong_location(const struct order *order, const struct book_location *last)
{
    if (order->market != last->market)
        return order->market > last->market ? NULL : "the orders are not in the order of markets";
    if (order->side != last->side)
        return order->side > last->side ? NULL : "the orders are not in the order of sides";
    if (order->tick != last->tick)
        return order->tick > last->tick ? NULL : "the orders are not in the order of prices";
    return order->stamp > last->stamp ? NULL : "the orders are not in the order of queues";
}

/* Reads the handle of a row. Before version 3 rows had none: they get the first numbers of their
 * market, which are below every handle to come, for each order has raised its sequence. */
static const char *load_handle(struct image_read *read, struct engine *engine, uint32_t index,
                               const struct book_location *last)
{
    const struct order *order = &engine->orders.hot[index];
    bool is_level =
        order->market == last->market && order->side == last->side && order->tick == last->tick;
    uint64_t handle = (order->market == last->market ? last->market_rows : 0) + 1;

    if (read->version >= 3)
        image_read_bytes(read, &handle, sizeof handle);
    engine->orders.cold[index].handle = handle;
    if (handle == 0 || handle > engine->markets.rows[order->market].book_seq)
        return "an order has a handle that its market has not given";
    return is_level && handle <= last->handle ? "the handles are not in the order of queues" : NULL;
}

/* Reads t of the last entry of a row whose record is put. Rows had none before version 4: then that
 * of an order that has entered again is the later one of its placing and the entry of the order in
 * front of it. It is no later than the true one, and rises along the level. */
static const char *load_entry(struct image_read *read, struct engine *engine, uint32_t index,
                              const struct book_location *last)
{
    const struct order *order = &engine->orders.hot[index];
    uint64_t placed_ns = engine->orders.cold[index].placed_ns, entered_ns;
    bool is_again = order_rank(&engine->orders, index) != order->stamp;
    bool is_level =
        order->market == last->market && order->side == last->side && order->tick == last->tick;

    if (read->version >= 4)
        image_read_bytes(read, &entered_ns, sizeof entered_ns);
    else
        entered_ns =
            is_again && is_level && last->entered_ns > placed_ns ? last->entered_ns : placed_ns;
    if (is_again)
        order_extra(&engine->orders, index)->entered_ns = entered_ns;
    else if (entered_ns != placed_ns)
        return "an order has entered when it was not placed";
    if (entered_ns < placed_ns || entered_ns > engine->t_ns)
        return "an order has entered before it was placed or after now";
    return is_level && entered_ns < last->entered_ns ? "the entries are not in the order of queues"
                                                     : NULL;
}

static const char *wrong_with(const struct engine *engine, uint32_t index, uint64_t portfolio,
                              const struct order_record *record)
{
    const struct order *order = &engine->orders.hot[index];

    if (portfolio >= engine->portfolios.count || order->market >= engine->markets.count ||
        order->side > ORDER_SHORT)
        return "an order has a portfolio, a market or a side that does not exist";
    if (order->account != engine->portfolios.rows[portfolio].account)
        return "an order has the account of another portfolio";
    const char *wrong = wrong_sizes(&engine->markets.rows[order->market], order, record);
    return wrong != NULL ? wrong : wrong_terms(engine, order, record);
}

/* --- where it goes ---------------------------------------------------------------------------- */

/* Adds an order to the holding's sums of R4. Checks their bounds and the price bound, which the
 * holding's row contains because it depends on history. */
static const char *add_sums(struct holding *holding, const struct order *order, uint64_t price)
{
    struct holding_side *side = &holding->sides[order->side];
    bool is_reduce_only = (order->flags & ORDER_REDUCE_ONLY) != 0;
    int64_t *size = is_reduce_only ? &side->reduce_size : &side->size;
    int64_t *notional = is_reduce_only ? &side->reduce_notional : &side->notional;

    side->order_count++;
    side->margin_count += !is_reduce_only;
    *size += (int64_t)order->remaining;
    *notional += (int64_t)(order->remaining * price);
    if (!image_read_is_money(*size) || !image_read_is_money(*notional))
        return "the orders of a side are beyond every bound";
    if (is_reduce_only || side->price_bound == price)
        return NULL;
    return (order->side == ORDER_LONG) == (price < side->price_bound)
               ? NULL
               : "an order is beyond the price bound of its record";
}

/* Adds an order at the head of its holding's list. The list is sorted when all orders are there. */
static void link_first(struct engine *engine, uint32_t index)
{
    struct holding *holding = state_holding(engine, engine->orders.hot[index].holding);

    engine->orders.cold[index].list_next = holding->order_head;
    holding->order_head = index;
    struct portfolio *owner = state_portfolio(engine, holding->portfolio);
    owner->open_order_count++;
    share_add(engine, owner->account, SHARE_orders);
}

static const char *enter(struct engine *engine, uint32_t index, uint64_t portfolio)
{
    struct order *order = &engine->orders.hot[index];
    uint64_t hash = mix_id(engine->key, order->account, (const uint8_t *)order->id);

    if (order_map_find(&engine->order_map, hash, order->account, order->id) != ORDER_NONE)
        return "the id of an order stands twice";
    order->holding = holding_find(engine, (uint32_t)portfolio, order->market);
    if (order->holding == HOLDING_NONE)
        return "an order has no record of portfolio and market";
    const char *wrong =
        add_sums(state_holding(engine, order->holding), order, resting_price(engine, order));
    if (wrong != NULL)
        return wrong;
    if (!book_insert(&state_market(engine, order->market)->book, index))
        return "more ladder pages than the configuration allows";
    order_map_insert(&engine->order_map, hash, index);
    link_first(engine, index);
    if (order_tif(order) == ORDER_GTT) {
        uint64_t expiry_ns = order_expiry(&engine->orders, index);
        timer_heap_set(&engine->expiries, index, expiry_ns, order_rank(&engine->orders, index));
        work_queue_timer_set(engine, expiry_ns);
    }
    return NULL;
}

/* --- the lists -------------------------------------------------------------------------------- */

static bool is_before(const struct order_table *orders, uint32_t a, uint32_t b)
{
    return order_rank(orders, a) < order_rank(orders, b);
}

/* Merges two lists in the order of placing. Returns the head. */
static uint32_t merge(const struct order_table *orders, uint32_t a, uint32_t b)
{
    uint32_t head = ORDER_NONE;
    uint32_t *link = &head;

    while (a != ORDER_NONE && b != ORDER_NONE) {
        uint32_t *first = is_before(orders, b, a) ? &b : &a;
        *link = *first;
        link = &orders->cold[*first].list_next;
        *first = *link;
    }
    *link = a != ORDER_NONE ? a : b;
    return head;
}

/* A merge sort with a binary counter of sorted runs, as in duplicate.c. Returns the head. */
static uint32_t sort(const struct order_table *orders, uint32_t head)
{
    uint32_t runs[ORDER_LOAD_RUNS] = { ORDER_NONE }; /* runs[k]: none, or a list of 2^k orders */
    uint32_t sorted = ORDER_NONE;

    while (head != ORDER_NONE) {
        uint32_t run = head;
        uint32_t k = 0;
        head = orders->cold[head].list_next;
        orders->cold[run].list_next = ORDER_NONE;
        for (; runs[k] != ORDER_NONE; k++) {
            run = merge(orders, runs[k], run);
            runs[k] = ORDER_NONE;
        }
        runs[k] = run;
    }
    for (uint32_t k = 0; k < ORDER_LOAD_RUNS; k++)
        sorted = merge(orders, runs[k], sorted);
    return sorted;
}

/* Sorts the list of a holding by placing and links it. False: two orders have the same rank. */
static bool order_list(struct order_table *orders, struct holding *holding)
{
    uint32_t before = ORDER_NONE;

    holding->order_head = sort(orders, holding->order_head);
    for (uint32_t at = holding->order_head; at != ORDER_NONE; at = orders->cold[at].list_next) {
        if (before != ORDER_NONE && !is_before(orders, before, at))
            return false;
        orders->cold[at].list_prev = before;
        before = at;
    }
    holding->order_tail = before;
    return true;
}

/* --- the section ------------------------------------------------------------------------------ */

static void load_row(struct image_read *read, struct order_table *orders, uint32_t index,
                     struct order_record *record)
{
    {
        struct order *row = &orders->hot[index];
        IMAGE_ORDER_FIELDS(IMAGE_READ)
        if (read->version == 1) /* it has the sequence only */
            row->stamp <<= ORDER_STAMP_BITS;
    }
    {
        struct order_record *row = record;
        IMAGE_ORDER_RECORD_FIELDS(IMAGE_READ)
    }
}

static size_t row_bytes(const struct image_read *read)
{
    /* the portfolio, the handle, the entry */
    size_t words = read->version >= 4 ? 3 : read->version >= 3 ? 2 : 1;
    size_t bytes = words * sizeof(uint64_t);
    {
        const struct order *row;
        bytes += 0 IMAGE_ORDER_FIELDS(IMAGE_READ_BYTES);
    }
    {
        const struct order_record *row;
        bytes += 0 IMAGE_ORDER_RECORD_FIELDS(IMAGE_READ_BYTES);
    }
    return bytes;
}

bool order_load(struct engine *engine, struct image_read *read)
{
    struct order_table *orders = &engine->orders;
    struct book_location last = { 0 }; /* market 0 begins with 0 rows */
    struct order_record record;

    for (; image_read_begins(read, row_bytes(read)); read->row++) {
        uint64_t portfolio;
        uint32_t index = order_alloc(orders);
        if (index == ORDER_NONE)
            return image_read_refuse(read, "more orders than the configuration allows");
        image_read_bytes(read, &portfolio, sizeof portfolio);
        load_row(read, orders, index, &record);
        const struct order *order = &orders->hot[index];
        const char *wrong = wrong_with(engine, index, portfolio, &record);
        if (wrong == NULL && !order_record_put(orders, index, &record))
            wrong = "an order has an expiry that is not of its time in force";
        if (wrong == NULL)
            wrong = wrong_location(order, &last);
        if (wrong == NULL)
            wrong = load_handle(read, engine, index, &last);
        if (wrong == NULL)
            wrong = load_entry(read, engine, index, &last);
        if (wrong == NULL)
            wrong = enter(engine, index, portfolio);
        if (wrong != NULL)
            return image_read_refuse(read, wrong);
        last =
            (struct book_location){ .market = order->market,
                                    .side = order->side,
                                    .tick = order->tick,
                                    .stamp = order->stamp,
                                    .handle = orders->cold[index].handle,
                                    .entered_ns = order_entered_ns(orders, index),
                                    .market_rows =
                                        order->market == last.market ? last.market_rows + 1 : 1 };
    }
    for (uint32_t i = 1; i <= engine->holdings.slots.count; i++)
        if (read->wrong == NULL && !order_list(orders, &engine->holdings.rows[i]))
            return image_read_refuse(read, "two orders of a record were placed as one");
    return read->wrong == NULL;
}
