#include "engine/trade/excess.h"

#include "engine/risk/rests.h"
#include "engine/table/image_read.h"
#include "engine/table/image_sink.h"
#include "engine/trade/resting.h"

void excess_left(struct engine *engine, uint32_t index)
{
    struct holding *holding = state_holding(engine, index);
    struct portfolio *portfolio = state_portfolio(engine, holding->portfolio);
    const struct holding_side *side = &holding->sides[rests_opposing(holding->size)];
    bool is_alone = holding->account_position == ACCOUNT_POSITION_NONE;
    uint32_t enough = is_alone ? EXCESS_ORDERS : EXCESS_ORDERS_MANY;

    if (rests_excess(holding) == 0 || side->order_count - side->margin_count <= enough)
        return;
    holding->exceeds = true;
    if (portfolio->excess_queued)
        return;
    portfolio->excess_queued = true;
    work_queue_push(engine, WORK_EXCESS, holding->portfolio);
}

/* The live reduce-only orders of a record, and the hindmost of them: a heap with the foremost of
 * those at its root. */
struct hindmost {
    const struct order *hot;
    uint32_t orders[EXCESS_AT_ONCE];
    uint32_t count;
    uint32_t most;
    uint32_t live;
    uint64_t size;
};

/* True if `a` is after `b` in the queue of the book's side; both are of one side. */
static bool is_behind(const struct order *a, const struct order *b)
{
    return a->tick != b->tick ? a->tick > b->tick : a->stamp > b->stamp;
}

/* Puts the order at `at` where it belongs in the heap of the first `count`. */
static void sink_down(struct hindmost *hindmost, uint32_t count, uint32_t at)
{
    uint32_t *orders = hindmost->orders, order = orders[at];

    for (uint32_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count &&
            is_behind(&hindmost->hot[orders[child]], &hindmost->hot[orders[child + 1]]))
            child++;
        if (!is_behind(&hindmost->hot[order], &hindmost->hot[orders[child]]))
            break;
        orders[at] = orders[child];
    }
    orders[at] = order;
}

static void make_heap(struct hindmost *hindmost)
{
    for (uint32_t at = hindmost->count / 2; at-- > 0;)
        sink_down(hindmost, hindmost->count, at);
}

static void meet(struct hindmost *hindmost, uint32_t order)
{
    hindmost->live++;
    hindmost->size += hindmost->hot[order].remaining;
    if (hindmost->count < hindmost->most) {
        hindmost->orders[hindmost->count++] = order;
        if (hindmost->count == hindmost->most)
            make_heap(hindmost);
    } else if (is_behind(&hindmost->hot[order], &hindmost->hot[hindmost->orders[0]])) {
        hindmost->orders[0] = order;
        sink_down(hindmost, hindmost->count, 0);
    }
}

/* Sorts what was met, the hindmost first. */
static void sort(struct hindmost *hindmost)
{
    uint32_t *orders = hindmost->orders;

    make_heap(hindmost);
    for (uint32_t left = hindmost->count; left > 1;) {
        uint32_t foremost = orders[0];
        orders[0] = orders[--left];
        orders[left] = foremost;
        sink_down(hindmost, left, 0);
    }
}

/* Meets the record's live reduce-only orders of the side that opposes the position. */
static void meet_all(struct engine *engine, const struct holding *holding,
                     struct hindmost *hindmost)
{
    const struct portfolio *portfolio = state_portfolio(engine, holding->portfolio);
    enum order_side side = rests_opposing(holding->size);

    for (uint32_t at = holding->order_head; at != ORDER_NONE;
         at = engine->orders.cold[at].list_next) {
        const struct order *order = &engine->orders.hot[at];
        if ((order->flags & ORDER_REDUCE_ONLY) != 0 && order->side == side &&
            !resting_is_dead(engine, order, at, holding, portfolio))
            meet(hindmost, at);
    }
    sort(hindmost);
}

/* Ends up to `most` orders that are after enough others which hold the position. Returns how
 * many. */
static uint32_t end_hindmost(struct engine *engine, const struct holding *holding, uint32_t most)
{
    struct hindmost hindmost = { .hot = engine->orders.hot, .most = most };
    uint64_t size = margin_abs(holding->size);
    uint32_t enough = excess_orders(engine, holding), gone = 0;

    INVARIANT(size != 0);
    meet_all(engine, holding, &hindmost);
    for (; gone < hindmost.count; gone++) {
        uint64_t remaining = hindmost.hot[hindmost.orders[gone]].remaining;
        if (hindmost.live - gone <= enough || hindmost.size - remaining < size)
            break;
        hindmost.size -= remaining;
        resting_remove(engine, hindmost.orders[gone], ORDER_CANCELED, REASON_reduce_only);
    }
    return gone;
}

/* The first record of the portfolio that is queued, or HOLDING_NONE. */
static uint32_t first_queued(const struct engine *engine, uint32_t portfolio)
{
    uint32_t at = engine->portfolios.rows[portfolio].holding_head;

    while (at != HOLDING_NONE && !engine->holdings.rows[at].exceeds)
        at = engine->holdings.rows[at].next;
    return at;
}

bool excess_unit(struct engine *engine, uint32_t portfolio, uint32_t *units)
{
    uint32_t index = first_queued(engine, portfolio);
    uint32_t most = *units < EXCESS_AT_ONCE ? *units : EXCESS_AT_ONCE;

    if (index == HOLDING_NONE)
        return false;
    struct holding *holding = state_holding(engine, index);
    uint32_t gone = end_hindmost(engine, holding, most);
    holding->exceeds = gone == most; /* there may be more */
    *units -= gone == 0 ? 1 : gone;
    return true;
}

void excess_finish(struct engine *engine, uint32_t portfolio)
{
    state_portfolio(engine, portfolio)->excess_queued = false;
}

/* --- the image -------------------------------------------------------------------------------- */

/* Which of the portfolio's records are queued. */
void excess_image(const struct engine *engine, uint32_t portfolio, struct image_sink *sink)
{
    uint32_t at = engine->portfolios.rows[portfolio].holding_head;

    for (; at != HOLDING_NONE; at = engine->holdings.rows[at].next)
        image_u64(sink, engine->holdings.rows[at].exceeds);
}

bool excess_load(struct engine *engine, uint32_t index, struct image_read *read)
{
    if (index >= engine->portfolios.count || engine->portfolios.rows[index].excess_queued)
        return image_read_refuse(read, "an excess of no portfolio, or one that is queued twice");
    engine->portfolios.rows[index].excess_queued = true;
    for (uint32_t at = engine->portfolios.rows[index].holding_head; at != HOLDING_NONE;
         at = engine->holdings.rows[at].next) {
        uint64_t exceeds;
        if (!image_read_u64(read, &exceeds))
            return false;
        if (exceeds > 1 || (exceeds == 1 && engine->holdings.rows[at].size == 0))
            return image_read_refuse(read, "an excess that cannot be");
        engine->holdings.rows[at].exceeds = exceeds == 1;
    }
    return true;
}
