#include "engine/state/work_queue.h"

#include "engine/state/cancel_list.h"
#include "engine/state/state.h"

static_assert((int)WORK_MARKETS_MAX == (int)ENGINE_MARKETS_MAX, "a scan for every market");

/* Room for the timers, five kinds of items a market, two a portfolio, one for each account with
 * more than CANCEL_LIST_AT_ONCE portfolios, and a batch of conditional orders after each of them
 * (no two are neighbours, trigger.h): a power of two. */
static uint32_t ring_slots(const struct option_engine *capacity)
{
    uint64_t portfolios = capacity->values[OPTION_engine_portfolios];
    uint64_t lists = portfolios / CANCEL_LIST_AT_ONCE;
    uint64_t most = 2 * (2 + 5 * WORK_MARKETS_MAX + 2 * portfolios + lists);
    uint32_t slots = 64;

    while (slots < most)
        slots *= 2;
    return slots;
}

size_t work_queue_bytes(const struct option_engine *capacity)
{
    return (size_t)ring_slots(capacity) * sizeof(uint32_t);
}

void work_queue_init(struct work_queue *work, void *memory, const struct option_engine *capacity)
{
    INVARIANT(capacity->values[OPTION_engine_portfolios] <= WORK_INDEX_MASK);
    INVARIANT(capacity->values[OPTION_engine_orders] <= WORK_INDEX_MASK);
    INVARIANT(capacity->values[OPTION_engine_accounts] <= WORK_INDEX_MASK);
    *work = (struct work_queue){
        .items = memory,
        .mask = ring_slots(capacity) - 1,
        .next_second_ns = UINT64_MAX,
        .next_timer_ns = UINT64_MAX,
    };
}

void work_queue_push(struct engine *engine, enum work_kind kind, uint32_t index)
{
    struct work_queue *work = &engine->work;

    INVARIANT(work->count <= work->mask);
    work->items[(work->head + work->count) & work->mask] = (uint32_t)kind << WORK_ITEM_BITS | index;
    work->count++;
}

bool work_queue_ends_with(const struct engine *engine, enum work_kind kind)
{
    const struct work_queue *work = &engine->work;

    return work->count != 0 &&
           work->items[(work->head + work->count - 1) & work->mask] >> WORK_ITEM_BITS == kind;
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
                                    1 }; /* a running one begins again, at its place in the queue */
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
