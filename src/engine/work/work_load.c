#include "engine/work/work_load.h"

#include "engine/price/settlement.h"
#include "engine/table/image_read.h"
#include "engine/trade/resting.h"
#include "engine/work/work.h"

#define WORK_LOAD_INDEX ((UINT32_C(1) << WORK_ITEM_BITS) - 1)

bool work_load_timers(struct engine *engine, uint32_t index, struct image_read *read)
{
    struct work_queue *work = &engine->work;

    if (index != 0 || work->timers_queued)
        return image_read_refuse(read, "the timers are queued twice");
    work->timers_queued = true;
    return true;
}

/* What a scan has passed is in the maximum that it makes: at its end that is the market's. */
static bool has_seen(const struct engine *engine, uint32_t market, uint64_t from)
{
    uint64_t most = engine->markets.rows[market].scan_max;
    uint32_t at = holding_next_holder(engine, market, 0);

    while (at != HOLDING_NONE && engine->holdings.rows[at].portfolio < from) {
        int64_t size = engine->holdings.rows[at].size;
        if ((uint64_t)(size < 0 ? -size : size) > most)
            return false;
        at = holding_next_holder(engine, market, engine->holdings.rows[at].portfolio + 1);
    }
    return true;
}

bool work_load_scan(struct engine *engine, uint32_t index, struct image_read *read)
{
    uint64_t from, bits, mark = 0;

    if (index >= engine->markets.count || engine->work.scans[index].queued)
        return image_read_refuse(read, "a scan of no market, or one that is queued twice");
    if (!image_read_u64(read, &from) || !image_read_u64(read, &bits))
        return false;
    if (read->version <= 3)
        mark = (bits & 1) != 0 ? engine->markets.rows[index].mark : 0;
    else if (!image_read_u64(read, &mark))
        return false;
    struct work_scan scan = {
        .mark = mark,
        .from = (uint32_t)from,
        .queued = 1,
        .begun = bits & 1,
        .again = bits >> 8 & 1,
        .exact = bits >> 16 & 1,
    };
    if (from > engine->portfolios.count || (bits & ~UINT64_C(0x010101)) != 0 ||
        mark > IMAGE_READ_MARK_MAX || (!scan.begun && (from != 0 || scan.again || mark != 0)) ||
        !has_seen(engine, index, from))
        return image_read_refuse(read, "a scan that cannot be");
    engine->work.scans[index] = scan;
    return true;
}

/* The order of the record that has this rank; 0: none. Up to version 2 a cursor was the sequence at
 * which the order was last entered: no command entered two then. */
static bool find_order(const struct engine *engine, uint32_t version, uint32_t holding,
                       uint64_t rank, uint32_t *order)
{
    const struct order_table *orders = &engine->orders;

    *order = ORDER_NONE;
    if (rank == 0)
        return true;
    *order = engine->holdings.rows[holding].order_head;
    while (*order != ORDER_NONE && (version <= 2 ? orders->hot[*order].stamp >> ORDER_STAMP_BITS
                                                 : order_rank(orders, *order)) != rank)
        *order = orders->cold[*order].list_next;
    return *order != ORDER_NONE;
}

bool work_load_cancel(struct engine *engine, uint32_t index, struct image_read *read)
{
    if (index >= engine->portfolios.count || engine->portfolios.rows[index].cancel_queued)
        return image_read_refuse(read, "a list of no portfolio, or one that is queued twice");
    engine->portfolios.rows[index].cancel_queued = true;
    for (uint32_t at = engine->portfolios.rows[index].holding_head; at != HOLDING_NONE;
         at = engine->holdings.rows[at].next) {
        uint64_t rank;
        if (!image_read_u64(read, &rank))
            return false;
        if (!find_order(engine, read->version, at, rank, &engine->holdings.rows[at].cancel_cursor))
            return image_read_refuse(read, "a list stands at no order of its record");
    }
    return true;
}

bool work_load_list(struct engine *engine, uint32_t index, struct image_read *read)
{
    uint64_t portfolio, inside, rank;

    if (index >= engine->markets.count || engine->work.lists[index].queued)
        return image_read_refuse(read, "a list of no market, or one that is queued twice");
    if (!image_read_u64(read, &portfolio) || !image_read_u64(read, &inside) ||
        !image_read_u64(read, &rank))
        return false;
    if (portfolio > engine->portfolios.count || inside > 1 || (inside == 0 && rank != 0) ||
        (inside == 1 && portfolio == engine->portfolios.count))
        return image_read_refuse(read, "a list of a market that cannot be");
    engine->work.lists[index] = (struct work_list){
        .portfolio = (uint32_t)portfolio,
        .queued = 1,
        .inside = inside == 1,
    };
    if (inside == 0)
        return true;
    uint32_t holding = holding_find(engine, (uint32_t)portfolio, index), order;
    if (holding == HOLDING_NONE)
        return rank == 0 || image_read_refuse(read, "a list stands in no record");
    if (!find_order(engine, read->version, holding, rank, &order))
        return image_read_refuse(read, "a list stands at no order of its record");
    engine->holdings.rows[holding].cancel_cursor = order;
    return true;
}

/* The last kind that each version knew; the kinds themselves have changed none of their bytes. */
static uint64_t last_kind(uint32_t version)
{
    if (version == 1)
        return WORK_CANCEL;
    return version == 2 ? WORK_MARKET_CANCEL : WORK_KIND_COUNT - 1;
}

/* The fields of an item beyond its kind and index. */
static bool load_item(struct engine *engine, struct image_read *read, uint64_t item)
{
    uint64_t kind = item >> WORK_ITEM_BITS;
    const struct work_handler *handler = work_handler(kind);

    if (handler == NULL || kind > last_kind(read->version))
        return image_read_refuse(read, "work of a kind that does not exist");
    return handler->load == NULL || handler->load(engine, (uint32_t)item & WORK_LOAD_INDEX, read);
}

/* A market's orders are dead as long as its list is queued; an open epoch has its work. */
static bool items_hold(const struct engine *engine)
{
    for (uint32_t i = 0; i < engine->markets.count; i++) {
        const struct market *market = &engine->markets.rows[i];
        if ((market->cancel_sequence != 0) != engine->work.lists[i].queued ||
            (market->funding_open && !market->funding_queued))
            return false;
    }
    return true;
}

bool work_load(struct engine *engine, struct image_read *read)
{
    struct work_queue *work = &engine->work;
    uint64_t count, item;

    if (!image_read_u64(read, &count))
        return false;
    for (; read->row < count; read->row++) {
        if (!image_read_u64(read, &item) || !load_item(engine, read, item))
            return false;
        uint32_t kind = (uint32_t)(item >> WORK_ITEM_BITS);
        const struct work_items *ring = &work->rings[work_queue_ring(kind)];
        if (ring->count > ring->mask)
            return image_read_refuse(read, "more work than there can be");
        work_queue_push(engine, (enum work_kind)kind, (uint32_t)item & WORK_LOAD_INDEX);
    }
    if (read->left != 0)
        return image_read_refuse(read, "more bytes than the work takes");
    if (!settlement_holds(engine))
        return image_read_refuse(read, "a market that is closed is not settled");
    return items_hold(engine) || image_read_refuse(read, "a market's list or epoch is lost");
}
