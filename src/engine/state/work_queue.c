#include "engine/state/work_queue.h"

#include "engine/state/cancel_list.h"
#include "engine/state/state.h"

static_assert((int)WORK_MARKETS_MAX == (int)ENGINE_MARKETS_MAX, "a scan for every market");

/* Room, a power of two. Liquidations: one a portfolio, and the fund's selling of each market.
 * Scans: one a market. Others: the timers, four kinds of items a market, two a portfolio, one for
 * each account with more than CANCEL_LIST_AT_ONCE portfolios, and a batch of conditional orders
 * after each of them (no two are neighbours, trigger.h). */
static uint32_t ring_slots(const struct option_engine *capacity, enum work_ring ring)
{
    uint64_t portfolios = capacity->values[OPTION_engine_portfolios];
    uint64_t lists = portfolios / CANCEL_LIST_AT_ONCE;
    uint64_t most = 2 * (2 + 4 * WORK_MARKETS_MAX + 2 * portfolios + lists);
    uint32_t slots = 64;

    if (ring == WORK_RING_LIQUIDATIONS)
        most = WORK_MARKETS_MAX + portfolios;
    if (ring == WORK_RING_SCANS)
        most = WORK_MARKETS_MAX;

    while (slots < most)
        slots *= 2;
    return slots;
}

size_t work_queue_bytes(const struct option_engine *capacity)
{
    size_t slots = 0;

    for (unsigned ring = 0; ring < WORK_RING_COUNT; ring++)
        slots += ring_slots(capacity, (enum work_ring)ring);
    return slots * sizeof(uint32_t);
}

void work_queue_init(struct work_queue *work, void *memory, const struct option_engine *capacity)
{
    INVARIANT(capacity->values[OPTION_engine_portfolios] <= WORK_INDEX_MASK);
    INVARIANT(capacity->values[OPTION_engine_orders] <= WORK_INDEX_MASK);
    INVARIANT(capacity->values[OPTION_engine_accounts] <= WORK_INDEX_MASK);
    *work = (struct work_queue){ .next_second_ns = UINT64_MAX, .next_timer_ns = UINT64_MAX };
    uint32_t *items = memory;
    for (unsigned ring = 0; ring < WORK_RING_COUNT; ring++) {
        uint32_t slots = ring_slots(capacity, (enum work_ring)ring);
        work->rings[ring] = (struct work_items){ .items = items, .mask = slots - 1 };
        items += slots;
    }
}

void work_queue_push(struct engine *engine, enum work_kind kind, uint32_t index)
{
    struct work_items *ring = &engine->work.rings[work_queue_ring(kind)];

    INVARIANT(ring->count <= ring->mask);
    ring->items[(ring->head + ring->count) & ring->mask] = (uint32_t)kind << WORK_ITEM_BITS | index;
    ring->count++;
    engine->work.count++;
    engine->work.liquidations += kind == WORK_LIQUIDATION;
}

void work_queue_pop(struct engine *engine, enum work_ring which)
{
    struct work_items *ring = &engine->work.rings[which];

    INVARIANT(ring->count > 0);
    engine->work.liquidations -=
        ring->items[ring->head & ring->mask] >> WORK_ITEM_BITS == WORK_LIQUIDATION;
    ring->head++;
    ring->count--;
    engine->work.count--;
}

bool work_queue_ends_with(const struct engine *engine, enum work_kind kind)
{
    const struct work_items *ring = &engine->work.rings[work_queue_ring(kind)];

    return ring->count != 0 &&
           ring->items[(ring->head + ring->count - 1) & ring->mask] >> WORK_ITEM_BITS == kind;
}

bool work_queue_is_moving(const struct engine *engine)
{
    return engine->work.liquidations != 0 || engine->work.rings[WORK_RING_SCANS].count != 0;
}

/* --- gaps ------------------------------------------------------------------------------------- */

void work_queue_begin_gap(struct engine *engine, uint32_t index)
{
    struct market *market = state_market(engine, index);

    engine->work.gaps += !market->in_gap;
    market->in_gap = true;
}

void work_queue_leave_gap(struct engine *engine, uint32_t index)
{
    struct market *market = state_market(engine, index);

    engine->work.gaps -= market->in_gap;
    market->in_gap = false;
}

void work_queue_end_gaps(struct engine *engine)
{
    if (CC_LIKELY(engine->work.gaps == 0) || engine->work.liquidations != 0)
        return;
    for (uint32_t i = 0; i < engine->markets.count; i++)
        if (!engine->work.scans[i].queued) {
            struct market *market = state_market(engine, i);
            if (market->in_gap) /* its last scan began at this mark: each change queues one */
                market->checked_mark = market->mark;
            work_queue_leave_gap(engine, i);
        }
}

/* t at which the market's next second is due. */
static uint64_t second_due(const struct market *market)
{
    return market->second_ns + MARKET_SECOND_NS;
}

uint32_t work_queue_first_second(const struct engine *engine)
{
    uint32_t first = MARKET_NONE;

    for (uint32_t i = 0; i < engine->markets.count; i++) {
        const struct market *market = &engine->markets.rows[i];
        const struct market *best = &engine->markets.rows[first == MARKET_NONE ? 0 : first];
        if (market->state == MARKET_CLOSED)
            continue;
        if (first == MARKET_NONE || market->second_ns < best->second_ns ||
            (market->second_ns == best->second_ns &&
             market->record.asset_id < best->record.asset_id))
            first = i;
    }
    return first;
}

void work_queue_second_changed(struct engine *engine)
{
    uint32_t first = work_queue_first_second(engine);

    engine->work.next_second_ns =
        first == MARKET_NONE ? UINT64_MAX : second_due(&engine->markets.rows[first]);
    work_queue_timer_set(engine, engine->work.next_second_ns);
}

bool work_queue_is_pending(const struct engine *engine)
{
    return engine->work.count != 0;
}

void work_queue_scan(struct engine *engine, uint32_t market)
{
    struct work_scan *scan = &engine->work.scans[market];

    if (scan->queued) {
        scan->again = scan->begun;
        return;
    }
    *scan = (struct work_scan){ .queued = 1, .exact = scan->exact };
    work_queue_push(engine, WORK_MARK_SCAN, market);
}

void work_queue_cancel(struct engine *engine, uint32_t index)
{
    struct holding *holding = state_holding(engine, index);

    holding->cancel_cursor = holding->order_head;
    work_queue_release(engine, holding->portfolio);
}

void work_queue_release(struct engine *engine, uint32_t index)
{
    struct portfolio *portfolio = state_portfolio(engine, index);

    if (portfolio->cancel_queued)
        return;
    portfolio->cancel_queued = true;
    work_queue_push(engine, WORK_CANCEL, index);
}

/* Clears the cursor of a list that begins again: between lists there is no cursor, so that a
 * state made from its image has the same ones. */
static void leave_list(struct engine *engine, uint32_t market)
{
    const struct work_list *list = &engine->work.lists[market];
    uint32_t index = list->inside ? holding_find(engine, list->portfolio, market) : HOLDING_NONE;

    if (index != HOLDING_NONE && !state_portfolio(engine, list->portfolio)->cancel_queued)
        state_holding(engine, index)->cancel_cursor = ORDER_NONE;
}

void work_queue_market_cancel(struct engine *engine, uint32_t market)
{
    struct work_list *list = &engine->work.lists[market];
    bool was_queued = list->queued;

    leave_list(engine, market);

    state_market(engine, market)->cancel_sequence = state_stamp(engine);
    *list = (struct work_list){ .queued =
                                    1 }; /* a running one begins again, at its rank in the queue */
    if (!was_queued)
        work_queue_push(engine, WORK_MARKET_CANCEL, market);
}

void work_queue_order_leaves(struct engine *engine, uint32_t order)
{
    struct holding *holding = state_holding(engine, engine->orders.hot[order].holding);

    if (CC_UNLIKELY(holding->cancel_cursor == order))
        holding->cancel_cursor = engine->orders.cold[order].list_next;
}

void work_queue_timer_set(struct engine *engine, uint64_t deadline_ns)
{
    if (deadline_ns < engine->work.next_timer_ns)
        engine->work.next_timer_ns = deadline_ns;
}
