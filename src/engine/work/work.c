#include "engine/work/work.h"

#include "engine/account/account_list.h"
#include "engine/liquidate/liquidation.h"
#include "engine/liquidate/liquidation_load.h"
#include "engine/liquidate/unwind.h"
#include "engine/price/funding.h"
#include "engine/price/mark.h"
#include "engine/price/settlement.h"
#include "engine/risk/judge.h"
#include "engine/risk/margin.h"
#include "engine/risk/risk.h"
#include "engine/standing/firing.h"
#include "engine/standing/schedule.h"
#include "engine/state/trigger.h"
#include "engine/table/image_sink.h"
#include "engine/trade/excess.h"
#include "engine/trade/resting.h"
#include "engine/work/work_load.h"

enum { WORK_RESERVED_PART = 4 }; /* of a command's units, the last: the others' (R3) */

static void image_scan(const struct engine *engine, uint32_t market, struct image_sink *sink)
{
    const struct work_scan *scan = &engine->work.scans[market];

    image_u64(sink, scan->from);
    image_u64(sink,
              (uint64_t)scan->begun | (uint64_t)scan->again << 8 | (uint64_t)scan->exact << 16);
    image_u64(sink, scan->mark);
}

/* Where the list goes on in each record: what it has passed it does not look at again. */
static void image_cancel(const struct engine *engine, uint32_t portfolio, struct image_sink *sink)
{
    uint32_t at = engine->portfolios.rows[portfolio].holding_head;

    for (; at != HOLDING_NONE; at = engine->holdings.rows[at].next) {
        uint32_t cursor = engine->holdings.rows[at].cancel_cursor;
        image_u64(sink, cursor == ORDER_NONE ? 0 : order_rank(&engine->orders, cursor));
    }
}

/* In which portfolio, and at which of its orders. */
static void image_list(const struct engine *engine, uint32_t market, struct image_sink *sink)
{
    const struct work_list *list = &engine->work.lists[market];
    uint32_t cursor = ORDER_NONE;

    if (list->inside)
        cursor = engine->holdings.rows[holding_find(engine, list->portfolio, market)].cancel_cursor;
    image_u64(sink, list->portfolio);
    image_u64(sink, list->inside);
    image_u64(sink, cursor == ORDER_NONE ? 0 : order_rank(&engine->orders, cursor));
}

/* Whether the order that waits for a price was placed before the resting one. */
static bool waits_longer(const struct engine *engine, uint32_t waiting, uint32_t resting)
{
    return conditional_rank(&engine->conditionals.rows[waiting]) <=
           order_rank(&engine->orders, resting);
}

static void expire(struct engine *engine, uint32_t index)
{
    const struct order *order = &engine->orders.hot[index];
    const struct holding *holding = state_holding(engine, order->holding);
    uint16_t asset_id = engine->markets.rows[order->market].record.asset_id;
    struct effect_timer body = {
        .portfolio = portfolio_effect_id(engine, holding->portfolio),
        .kind = TIMER_EXPIRY,
        .asset_id = asset_id,
    };
    uint8_t reason;
    enum order_state state = resting_death(engine, index, &reason);

    effects_emit(engine, EFFECT_timer, index, asset_id, &body);
    resting_remove(engine, index, state, reason);
}

/* --- timers ----------------------------------------------------------------------------------- */

static uint64_t second_deadline(const struct engine *engine)
{
    return engine->work.next_second_ns;
}

static void fire_second(struct engine *engine)
{
    uint32_t market = work_queue_first_second(engine);

    mark_second(engine, market);
    unwind_second(engine, market);
    work_queue_second_changed(engine);
}

static uint64_t expiry_deadline(const struct engine *engine)
{
    uint64_t resting = timer_heap_deadline(&engine->expiries);
    uint64_t waiting = timer_heap_deadline(&engine->conditionals.expiries);

    return resting < waiting ? resting : waiting;
}

/* Resting orders and those that wait for a price are one kind: of one deadline the one that was
 * placed first. */
static void fire_expiry(struct engine *engine)
{
    uint32_t waiting = timer_heap_first(&engine->conditionals.expiries);
    uint32_t resting = timer_heap_first(&engine->expiries);
    uint64_t waiting_ns = timer_heap_deadline(&engine->conditionals.expiries);
    uint64_t resting_ns = timer_heap_deadline(&engine->expiries);

    if (waiting_ns < resting_ns ||
        (waiting_ns == resting_ns && waits_longer(engine, waiting, resting)))
        conditional_expire(engine);
    else
        expire(engine, resting);
}

/* Timers of one deadline fire in this order (R3). */
static const struct {
    uint64_t (*deadline)(const struct engine *engine);
    void (*fire)(struct engine *engine);
} timers[] = {
    { second_deadline, fire_second },     { expiry_deadline, fire_expiry },
    { schedule_deadline, schedule_fire }, { mmp_deadline, mmp_fire },
    { judge_deadline, judge_fire },
};

uint64_t work_next_deadline(const struct engine *engine)
{
    uint64_t first = UINT64_MAX;

    for (size_t i = 0; i < CC_COUNT(timers); i++) {
        uint64_t deadline = timers[i].deadline(engine);
        first = deadline < first ? deadline : first;
    }
    return first;
}

/* The next full second of a market whose index is valid and becomes old. */
static uint64_t needed_second(const struct engine *engine)
{
    uint64_t first = UINT64_MAX;

    if (state_option(engine, OPTION_exchange_oracle_max_age_ms) == 0)
        return first;
    for (uint32_t i = 0; i < engine->markets.count; i++) {
        const struct market *market = &engine->markets.rows[i];
        uint64_t due_ns = market->second_ns + MARKET_SECOND_NS;
        if (due_ns < first && market->state != MARKET_CLOSED && market_mark_is_valid(engine, i))
            first = due_ns;
    }
    return first;
}

uint64_t work_next_needed(const struct engine *engine)
{
    uint64_t first = needed_second(engine);

    for (size_t i = 0; i < CC_COUNT(timers); i++) {
        uint64_t deadline = timers[i].fire == fire_second ? UINT64_MAX : timers[i].deadline(engine);
        first = deadline < first ? deadline : first;
    }
    return first;
}

void work_timers_due(struct engine *engine)
{
    struct work_queue *work = &engine->work;

    if (CC_LIKELY(work->next_timer_ns > engine->t_ns) || work->timers_queued)
        return;
    work->next_timer_ns = work_next_deadline(engine);
    if (work->next_timer_ns > engine->t_ns)
        return;
    work->timers_queued = true;
    work_queue_push(engine, WORK_TIMERS, 0);
}

/* One due timer: the earliest. False: none is due. */
static bool timers_unit(struct engine *engine, uint32_t index, uint32_t *units)
{
    uint64_t first = work_next_deadline(engine);
    size_t i = 0;

    (void)index;
    if (first > engine->t_ns)
        return false;
    while (timers[i].deadline(engine) != first)
        i++;
    timers[i].fire(engine);
    *units -= 1;
    return true;
}

static void timers_finish(struct engine *engine, uint32_t index)
{
    (void)index;
    engine->work.timers_queued = false;
    engine->work.next_timer_ns = work_next_deadline(engine);
}

/* --- scans and lists -------------------------------------------------------------------------- */

/* One position of the scan. False: it is finished. */
static bool scan_unit(struct engine *engine, uint32_t market_index, uint32_t *units)
{
    struct work_scan *scan = &engine->work.scans[market_index];
    struct market *market = state_market(engine, market_index);

    if (!scan->begun) {
        scan->begun = 1;
        scan->from = 0;
        scan->mark = market->mark;
        market->scan_max = 0;
    }
    uint32_t holding = holding_next_holder(engine, market_index, scan->from);
    if (holding == HOLDING_NONE) {
        market->max_abs_size = market->scan_max;
        return false;
    }
    scan->from = state_holding(engine, holding)->portfolio + 1;
    risk_scan(engine, holding, scan->exact);
    *units -= 1;
    return true;
}

static void scan_finish(struct engine *engine, uint32_t market)
{
    struct work_scan *scan = &engine->work.scans[market];
    bool again = scan->again;

    if (!state_market(engine, market)->in_gap) /* else with its end */
        state_market(engine, market)->checked_mark = scan->mark;
    *scan = (struct work_scan){ .exact = again ? scan->exact : 0 };
    if (again)
        work_queue_scan(engine, market);
}

/* The first dead order from the record's cursor on, or ORDER_NONE; the cursor stays on it. */
static uint32_t first_dead(struct engine *engine, struct holding *holding)
{
    const struct order_table *orders = &engine->orders;
    const struct portfolio *portfolio = state_portfolio(engine, holding->portfolio);
    uint32_t order = holding->cancel_cursor;

    while (order != ORDER_NONE &&
           !resting_is_dead(engine, &orders->hot[order], order, holding, portfolio))
        order = orders->cold[order].list_next;
    holding->cancel_cursor = order;
    return order;
}

/* The dead order of the portfolio that was placed first and not passed yet, or ORDER_NONE. Cursors
 * stay on it; this list does not look at the live orders before them again. */
static uint32_t cancel_next(struct engine *engine, const struct portfolio *portfolio)
{
    const struct order_table *orders = &engine->orders;
    uint32_t first = ORDER_NONE;

    for (uint32_t at = portfolio->holding_head; at != HOLDING_NONE;) {
        struct holding *holding = state_holding(engine, at);
        uint32_t order = first_dead(engine, holding);
        if (order != ORDER_NONE &&
            (first == ORDER_NONE || order_rank(orders, order) < order_rank(orders, first)))
            first = order;
        at = holding->next;
    }
    return first;
}

/* A dead order leaves, as what it has become. */
static void release(struct engine *engine, uint32_t order)
{
    uint8_t reason;
    enum order_state state = resting_death(engine, order, &reason);

    resting_remove(engine, order, state, reason);
}

/* Resting orders and those that wait for a price leave in one order of placing. */
static bool cancel_unit(struct engine *engine, uint32_t portfolio, uint32_t *units)
{
    uint32_t order = cancel_next(engine, state_portfolio(engine, portfolio));
    uint32_t waiting = conditional_first_killed(engine, portfolio);

    if (order == ORDER_NONE && waiting == CONDITIONAL_NONE)
        return false;
    if (waiting == CONDITIONAL_NONE ||
        (order != ORDER_NONE && !waits_longer(engine, waiting, order)))
        release(engine, order);
    else
        conditional_end(engine, waiting, ORDER_CANCELED,
                        engine->conditionals.rows[waiting].kill_reason);
    *units -= 1;
    return true;
}

static void cancel_finish(struct engine *engine, uint32_t portfolio)
{
    state_portfolio(engine, portfolio)->cancel_queued = false;
}

/* The holder of the market that its list has come to, or the next one, or HOLDING_NONE. */
static uint32_t list_holder(struct engine *engine, uint32_t market)
{
    struct work_list *list = &engine->work.lists[market];

    if (list->inside)
        return holding_find(engine, list->portfolio, market);
    uint32_t index = holding_next_holder(engine, market, list->portfolio);
    if (index == HOLDING_NONE)
        return HOLDING_NONE;
    struct holding *holding = state_holding(engine, index);
    holding->cancel_cursor = holding->order_head;
    list->portfolio = holding->portfolio;
    list->inside = 1;
    return index;
}

/* One order of the market's list, or the step out of a portfolio that has no more. */
static bool market_cancel_unit(struct engine *engine, uint32_t market, uint32_t *units)
{
    struct work_list *list = &engine->work.lists[market];
    uint32_t index = list_holder(engine, market);
    uint32_t order = ORDER_NONE;

    if (!list->inside) { /* after the last holder: the untriggered orders of a CLOSED market */
        if (state_market(engine, market)->state != MARKET_CLOSED ||
            !conditional_drop_of_market(engine, market))
            return false;
        *units -= 1;
        return true;
    }
    if (index != HOLDING_NONE)
        order = first_dead(engine, state_holding(engine, index));
    *units -= 1;
    if (order == ORDER_NONE) {
        list->inside = 0;
        list->portfolio++;
        return true;
    }
    release(engine, order);
    return true;
}

/* Nothing that it covered is left. */
static void market_cancel_finish(struct engine *engine, uint32_t market)
{
    state_market(engine, market)->cancel_sequence = 0;
    engine->work.lists[market] = (struct work_list){ 0 };
}

/* --- the queue -------------------------------------------------------------------------------- */

static const struct work_handler handlers[WORK_KIND_COUNT] = {
    [WORK_TIMERS] = { timers_unit, timers_finish, NULL, work_load_timers },
    [WORK_MARK_SCAN] = { scan_unit, scan_finish, image_scan, work_load_scan },
    [WORK_CANCEL] = { cancel_unit, cancel_finish, image_cancel, work_load_cancel },
    [WORK_MARKET_CANCEL] = { market_cancel_unit, market_cancel_finish, image_list, work_load_list },
    [WORK_LIQUIDATION] = { liquidation_unit, liquidation_finish, NULL, liquidation_load_item },
    [WORK_UNWIND] = { unwind_unit, unwind_finish, NULL, unwind_load_item },
    [WORK_FUNDING] = { funding_unit, funding_finish, NULL, funding_load },
    [WORK_TRIGGER] = { firing_unit, trigger_finish, trigger_image, trigger_load },
    [WORK_SETTLEMENT] = { settlement_unit, settlement_finish, settlement_image, settlement_load },
    [WORK_ACCOUNT_LIST] = { account_list_unit, account_list_finish, account_list_image,
                            account_list_load },
    [WORK_EXCESS] = { excess_unit, excess_finish, excess_image, excess_load },
};

const struct work_handler *work_handler(uint64_t kind)
{
    return kind < WORK_KIND_COUNT && handlers[kind].unit != NULL ? &handlers[kind] : NULL;
}

static void image_ring(const struct engine *engine, const struct work_items *ring,
                       struct image_sink *sink)
{
    for (uint32_t i = 0; i < ring->count; i++) {
        uint32_t item = ring->items[(ring->head + i) & ring->mask];
        const struct work_handler *handler = &handlers[item >> WORK_ITEM_BITS];
        image_u64(sink, item);
        if (handler->image != NULL)
            handler->image(engine, item & WORK_INDEX_MASK, sink);
    }
}

void work_image(const struct engine *engine, struct image_sink *sink)
{
    const struct work_queue *work = &engine->work;

    image_u64(sink, work->count);
    for (unsigned i = 0; i < WORK_RING_COUNT; i++)
        image_ring(engine, &work->rings[i], sink);
}

/* Whose turn it is: of the last `reserved` units the others', unless their head waits for a gap.
 * WORK_RING_COUNT: nobody's. */
static enum work_ring next_ring(const struct engine *engine, uint32_t units, uint32_t reserved)
{
    const struct work_items *rings = engine->work.rings;
    bool others = rings[WORK_RING_OTHERS].count != 0 && !trigger_waits_for_gap(engine);

    if (others && units <= reserved)
        return WORK_RING_OTHERS;
    if (rings[WORK_RING_LIQUIDATIONS].count != 0)
        return WORK_RING_LIQUIDATIONS;
    if (rings[WORK_RING_SCANS].count != 0)
        return WORK_RING_SCANS;
    return others ? WORK_RING_OTHERS : WORK_RING_COUNT;
}

/* One step of the first item of a queue, which leaves when it is finished. */
static void step(struct engine *engine, enum work_ring which, uint32_t *units)
{
    const struct work_items *ring = &engine->work.rings[which];
    uint32_t item = ring->items[ring->head & ring->mask], index = item & WORK_INDEX_MASK;
    const struct work_handler *handler = &handlers[item >> WORK_ITEM_BITS];
    bool finished = !handler->unit(engine, index, units);

    risk_flush(engine);
    if (!finished)
        return;
    work_queue_pop(engine, which);
    if (handler->finish != NULL)
        handler->finish(engine, index);
}

void work_run(struct engine *engine, uint32_t units)
{
    uint32_t reserved = units / WORK_RESERVED_PART;

    while (engine->work.count != 0 && units != 0) {
        enum work_ring ring = next_ring(engine, units, reserved);
        if (ring == WORK_RING_COUNT)
            return;
        step(engine, ring, &units);
        work_queue_end_gaps(engine);
    }
}
