#include "engine/liquidate/liquidation_load.h"

#include "base/money.h"
#include "engine/risk/deleverage_rank.h"
#include "engine/table/adl.h"
#include "engine/table/image_read.h"
#include "engine/table/image_sink.h"
#include "engine/table/order_record.h"
#include "engine/trade/own_order.h"

/* clang-format off */
#define RUN_FIELDS(X) \
    X(rounding) X(leg_count) X(leg) X(pass) X(ranking) X(gave) X(left_out) X(fruitless) X(from) \
    X(row_count) X(next_row)
#define LEG_FIELDS(X) X(price) X(market)
#define PLACE_FIELDS(X) X(score) X(portfolio)
#define REST_FIELDS(X) X(score) X(portfolio)
#define OWED_FIELDS(X) X(amount) X(portfolio)
/* clang-format on */

struct owed_row {
    int128 amount;
    uint64_t portfolio;
};

static void image_order(const struct engine *engine, uint32_t index, struct image_sink *sink)
{
    {
        const struct order *row = &engine->orders.hot[index];
        IMAGE_ORDER_FIELDS(IMAGE_FIELD)
    }
    {
        struct order_record record = order_record_of(&engine->orders, index), *row = &record;
        IMAGE_ORDER_RECORD_FIELDS(IMAGE_FIELD)
    }
}

/* The mark of the scan, and whom it has left out, by portfolio. */
static void image_rest(const struct engine *engine, struct image_sink *sink)
{
    const struct rank_heap *rest = &engine->liquidation.rest;

    image_u64(sink, engine->liquidation.run.mark);
    image_u64(sink, rest->count);
    for (uint32_t i = 0, left = rest->count; left != 0; i++) {
        const struct rank_heap_row *row = rank_heap_find(rest, i);
        if (row == NULL)
            continue;
        REST_FIELDS(IMAGE_FIELD)
        left--;
    }
}

static void image_run(const struct engine *engine, struct image_sink *sink)
{
    const struct deleverage *run = &engine->liquidation.run;

    {
        const struct deleverage *row = run;
        RUN_FIELDS(IMAGE_FIELD)
    }
    for (uint32_t i = 0; i < run->leg_count; i++) {
        const struct deleverage_leg *row = &run->legs[i];
        LEG_FIELDS(IMAGE_FIELD)
    }
    for (uint32_t i = 0; i < run->row_count; i++) {
        const struct deleverage_row *row = &run->rows[i];
        PLACE_FIELDS(IMAGE_FIELD)
    }
    image_rest(engine, sink);
}

/* The order that fired and goes on (R3), and the portfolio whose it is. */
static void image_going(const struct engine *engine, struct image_sink *sink)
{
    uint32_t index = engine->conditionals.going;

    image_u64(sink, index != ORDER_NONE);
    if (index == ORDER_NONE)
        return;
    image_u64(sink, engine->holdings.rows[engine->orders.hot[index].holding].portfolio);
    image_order(engine, index, sink);
    const struct conditional_origin *row = &engine->conditionals.origins[index];
    CONDITIONAL_ORIGIN_FIELDS(IMAGE_FIELD)
}

/* What is owed, by portfolio. */
static void image_owed(const struct engine *engine, struct image_sink *sink)
{
    const int128 *owed = engine->liquidation.owed;
    uint64_t count = 0;

    for (uint32_t i = 0; i < engine->portfolios.count; i++)
        count += owed[i] != 0;
    image_u64(sink, count);
    for (uint32_t i = 0; i < engine->portfolios.count; i++) {
        const struct owed_row made = { owed[i], i }, *row = &made;
        if (owed[i] != 0) {
            OWED_FIELDS(IMAGE_FIELD)
        }
    }
}

void liquidation_load_image(const struct engine *engine, struct image_sink *sink)
{
    const struct liquidation *own = &engine->liquidation;

    image_u64(sink, own->step);
    image_u64(sink, own->fund_is_done);
    image_going(engine, sink);
    image_owed(engine, sink);
    if (own->step == LIQUIDATION_IDLE)
        return;
    image_u64(sink, own->portfolio);
    image_u64(sink, own->step == LIQUIDATION_ORDER ? own->penalty_ppm : 0);
    if (own->step == LIQUIDATION_RUN)
        image_run(engine, sink);
    else
        image_order(engine, state_own_order(engine, OWN_ORDER_TAKER), sink);
}

/* `is_own`: of L1 or of the fund; else it fired. */
static bool order_holds(const struct engine *engine, const struct order *order,
                        const struct order_record *record, bool is_own)
{
    if (order->market >= engine->markets.count || order->side > ORDER_SHORT ||
        order->remaining == 0 || order->remaining > (uint64_t)MARKET_RAW_MAX ||
        order->tick >= BOOK_TICKS_MAX || order->account >= engine->accounts.count)
        return false;
    return (is_own ? record->order_type == ORDER_LIQUIDATE
                   : conditional_is_kind(record->order_type)) &&
           record->reason == REASON_none && record->placed_sequence <= engine->sequence &&
           record->filled <= (uint64_t)MARKET_RAW_MAX &&
           record->state == (record->filled != 0 ? ORDER_PARTIALLY_FILLED : ORDER_NEW) &&
           record->filled_notional <= (uint64_t)IMAGE_READ_MONEY_MAX;
}

static bool load_order(struct engine *engine, struct image_read *read, uint32_t index,
                       uint32_t portfolio)
{
    bool is_own = index == state_own_order(engine, OWN_ORDER_TAKER);
    struct order *order = &engine->orders.hot[index];
    struct order_record record;

    {
        struct order *row = order;
        if (!image_read_begins(read, 0 IMAGE_ORDER_FIELDS(IMAGE_READ_BYTES)) || read->left == 0)
            return image_read_refuse(read, "an order of liquidation is not whole");
        IMAGE_ORDER_FIELDS(IMAGE_READ)
    }
    {
        struct order_record *row = &record;
        if (!image_read_begins(read, 0 IMAGE_ORDER_RECORD_FIELDS(IMAGE_READ_BYTES)))
            return image_read_refuse(read, "an order of liquidation is not whole");
        IMAGE_ORDER_RECORD_FIELDS(IMAGE_READ)
    }
    if (!order_holds(engine, order, &record, is_own) ||
        !order_record_put(&engine->orders, index, &record))
        return image_read_refuse(read, "an order of liquidation that cannot be");
    order->holding = holding_find(engine, portfolio, order->market);
    return order->holding != HOLDING_NONE ||
           image_read_refuse(read, "an order of liquidation has no record");
}

static bool run_holds(const struct engine *engine, const struct deleverage *run)
{
    if (run->leg_count == 0 || run->leg_count > ENGINE_MARKETS_MAX || run->leg >= run->leg_count ||
        run->pass < 1 || run->pass > 2)
        return false;
    if (!image_read_is_bool(&run->gave) || !image_read_is_bool(&run->left_out) ||
        (run->pass == 1 && run->fruitless >= DELEVERAGE_FRUITLESS_MAX))
        return false;
    return image_read_is_bool(&run->ranking) && run->from <= engine->portfolios.count &&
           run->row_count <= DELEVERAGE_ROWS && run->next_row <= run->row_count &&
           run->rounding >= 0 && image_read_is_money(run->rounding);
}

static bool load_rows(struct engine *engine, struct image_read *read)
{
    struct deleverage *run = &engine->liquidation.run;
    size_t bytes = sizeof run->rows[0].score + sizeof run->rows[0].portfolio;

    for (uint32_t i = 0; i < run->row_count; i++) {
        struct deleverage_row *row = &run->rows[i];
        if (read->left < bytes)
            return image_read_refuse(read, "the ranking of a run is not whole");
        PLACE_FIELDS(IMAGE_READ)
        if (row->portfolio >= engine->portfolios.count)
            return image_read_refuse(read, "a ranked portfolio does not exist");
    }
    return true;
}

/* An image of a build without the rest has none, and no mark: a scan follows. */
static bool load_rest(struct engine *engine, struct image_read *read)
{
    uint64_t count = 0, next = 0;

    if (read->left == 0)
        return true;
    if (!image_read_u64(read, &engine->liquidation.run.mark) || !image_read_u64(read, &count))
        return false;
    for (; count != 0; count--) {
        struct rank_heap_row made, *row = &made;
        if (read->left < 0 + (size_t)(0 REST_FIELDS(IMAGE_READ_BYTES)))
            return image_read_refuse(read, "the rest of a ranking is not whole");
        REST_FIELDS(IMAGE_READ)
        if (row->portfolio < next || row->portfolio >= engine->portfolios.count ||
            row->score > (int64_t)ADL_SCORE_MAX || row->score < -(int64_t)ADL_SCORE_MAX)
            return image_read_refuse(read, "the rest of a ranking cannot be");
        deleverage_rank_leave_out(engine, &(struct deleverage_row){ row->score, row->portfolio });
        next = row->portfolio + 1;
    }
    return true;
}

static bool load_run(struct engine *engine, struct image_read *read)
{
    struct deleverage *run = &engine->liquidation.run;

    {
        struct deleverage *row = run;
        if (read->left < 0 + (size_t)(0 RUN_FIELDS(IMAGE_READ_BYTES)))
            return image_read_refuse(read, "a run is not whole");
        RUN_FIELDS(IMAGE_READ)
    }
    if (!run_holds(engine, run))
        return image_read_refuse(read, "a run that cannot be");
    for (uint32_t i = 0; i < run->leg_count; i++) {
        struct deleverage_leg *row = &run->legs[i];
        if (read->left < (size_t)(0 LEG_FIELDS(IMAGE_READ_BYTES)))
            return image_read_refuse(read, "the legs of a run are not whole");
        LEG_FIELDS(IMAGE_READ)
        if (row->market >= engine->markets.count || row->price == 0 ||
            row->price > (uint64_t)MARKET_RAW_MAX)
            return image_read_refuse(read, "a leg of a run that cannot be");
    }
    return load_rows(engine, read) && load_rest(engine, read);
}

/* The timers that the portfolios keep. */
static bool load_waits(struct engine *engine, struct image_read *read)
{
    for (uint32_t i = 0; i < engine->portfolios.count; i++) {
        uint64_t wake_ns = engine->portfolios.rows[i].liquidation_wake_ns;
        if (wake_ns == 0)
            continue;
        if (i == 0 || wake_ns > IMAGE_READ_TIME_MAX ||
            engine->portfolios.rows[i].status != PORTFOLIO_IN_LIQUIDATION)
            return image_read_refuse(read, "a portfolio waits that cannot");
        timer_heap_set(&engine->liquidation.waits, i, wake_ns, i);
    }
    return true;
}

static bool load_going(struct engine *engine, struct image_read *read)
{
    uint64_t is_there, portfolio;

    if (!image_read_u64(read, &is_there))
        return false;
    if (is_there == 0)
        return true;
    if (is_there != 1 || !image_read_u64(read, &portfolio) ||
        portfolio >= engine->portfolios.count || engine->orders.count >= engine->orders.limit)
        return image_read_refuse(read, "an order that goes on cannot be");
    uint32_t index = order_alloc(&engine->orders);
    struct conditional_origin *row = &engine->conditionals.origins[index];
    if (!load_order(engine, read, index, (uint32_t)portfolio))
        return false;
    if (read->left < 0 + (size_t)(0 CONDITIONAL_ORIGIN_FIELDS(IMAGE_READ_BYTES)))
        return image_read_refuse(read, "an order that goes on is not whole");
    CONDITIONAL_ORIGIN_FIELDS(IMAGE_READ)
    engine->conditionals.going = index;
    return true;
}

static bool load_owed(struct engine *engine, struct image_read *read)
{
    uint64_t count, next = 0;

    if (!image_read_u64(read, &count))
        return false;
    for (; count != 0; count--) {
        struct owed_row made, *row = &made;
        if (read->left < 0 + (size_t)(0 OWED_FIELDS(IMAGE_READ_BYTES)))
            return image_read_refuse(read, "what is owed is not whole");
        OWED_FIELDS(IMAGE_READ)
        if (row->portfolio < next || row->portfolio >= engine->portfolios.count ||
            row->amount <= 0 || !image_read_is_wide(row->amount) ||
            engine->portfolios.rows[row->portfolio].status != PORTFOLIO_IN_LIQUIDATION)
            return image_read_refuse(read, "somebody owes what cannot be");
        engine->liquidation.owed[row->portfolio] = row->amount;
        engine->liquidation.owed_total += row->amount;
        next = row->portfolio + 1;
    }
    return true;
}

bool liquidation_load(struct engine *engine, struct image_read *read)
{
    struct liquidation *own = &engine->liquidation;
    uint64_t step, portfolio, is_done = 0, penalty_ppm = 0;

    if (!load_waits(engine, read))
        return false;
    if (read->version == 0)
        return true;
    if (!image_read_u64(read, &step))
        return false;
    if (read->version >= 2 &&
        (!image_read_u64(read, &is_done) || !load_going(engine, read) || !load_owed(engine, read)))
        return false;
    if (is_done > 1)
        return image_read_refuse(read, "a liquidation that cannot be");
    own->fund_is_done = is_done == 1;
    if (step == LIQUIDATION_IDLE)
        return read->left == 0 || image_read_refuse(read, "more bytes than no liquidation takes");
    if (!image_read_u64(read, &portfolio) ||
        (read->version >= 2 && !image_read_u64(read, &penalty_ppm)))
        return false;
    if (step > LIQUIDATION_RUN || portfolio >= engine->portfolios.count ||
        penalty_ppm > MONEY_PPM || (portfolio == 0 && step == LIQUIDATION_ORDER) ||
        (portfolio != 0 && step == LIQUIDATION_UNWIND))
        return image_read_refuse(read, "a liquidation that cannot be");
    own->step = (uint8_t)step;
    own->portfolio = (uint32_t)portfolio;
    own->penalty_ppm = (uint32_t)penalty_ppm;
    if (!(step == LIQUIDATION_RUN
              ? load_run(engine, read)
              : load_order(engine, read, state_own_order(engine, OWN_ORDER_TAKER), own->portfolio)))
        return false;
    return read->left == 0 || image_read_refuse(read, "more bytes than the liquidation takes");
}

bool liquidation_load_item(struct engine *engine, uint32_t portfolio, struct image_read *read)
{
    if (portfolio >= engine->portfolios.count ||
        engine->portfolios.rows[portfolio].liquidation_queued)
        return image_read_refuse(read, "a liquidation of no portfolio, or one queued twice");
    engine->portfolios.rows[portfolio].liquidation_queued = true;
    return true;
}
