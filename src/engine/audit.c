#include "engine/audit.h"

#include "engine/resting.h"
#include "engine/state.h"

enum { AUDIT_INVARIANTS = 6, AUDIT_ALL = (1 << AUDIT_INVARIANTS) - 1 };

/* The sums of one side, counted from the orders. */
struct recount {
    struct holding_side sums;
    bool price_is_bounded;
};

static void count_order(const struct engine *engine, const struct holding *holding, uint32_t index,
                        struct recount recounts[2])
{
    const struct order *order = &engine->orders.hot[index];
    struct recount *recount = &recounts[order->side];
    uint64_t price = resting_price(engine, order), bound = holding->sides[order->side].price_bound;
    int64_t size = (int64_t)order->remaining, notional = (int64_t)(price * order->remaining);

    recount->sums.order_count++;
    if ((order->flags & ORDER_REDUCE_ONLY) != 0) {
        recount->sums.reduce_size += size;
        recount->sums.reduce_notional += notional;
        return;
    }
    recount->sums.margin_count++;
    recount->sums.size += size;
    recount->sums.notional += notional;
    if (order->side == ORDER_LONG ? price > bound : price < bound)
        recount->price_is_bounded = false;
}

static uint32_t side_differences(const struct holding_side *kept, const struct recount *counted)
{
    const struct holding_side *sums = &counted->sums;

    return (uint32_t)(kept->size != sums->size) + (kept->notional != sums->notional) +
           (kept->reduce_size != sums->reduce_size) +
           (kept->reduce_notional != sums->reduce_notional) +
           (kept->order_count != sums->order_count) + (kept->margin_count != sums->margin_count) +
           !counted->price_is_bounded;
}

/* I6 of one record; *orders gets how many orders it has. */
static uint32_t holding_differences(const struct engine *engine, const struct holding *holding,
                                    uint32_t *orders)
{
    struct recount recounts[2] = { { .price_is_bounded = true }, { .price_is_bounded = true } };
    uint64_t sequence = 0;
    uint32_t wrong = 0;

    for (uint32_t at = holding->order_head; at != ORDER_NONE;
         at = engine->orders.cold[at].list_next) {
        count_order(engine, holding, at, recounts);
        wrong += engine->orders.cold[at].placed_sequence < sequence; /* oldest first */
        sequence = engine->orders.cold[at].placed_sequence;
    }
    *orders = recounts[0].sums.order_count + recounts[1].sums.order_count;
    for (unsigned side = 0; side < 2; side++)
        wrong += side_differences(&holding->sides[side], &recounts[side]);
    return wrong;
}

static void add_portfolio(const struct engine *engine, uint32_t index, struct row_audit *row,
                          struct row_audit_market *sums, int128 *value, uint32_t *all_orders)
{
    const struct portfolio *portfolio = &engine->portfolios.rows[index];
    uint32_t orders = 0, holdings = 0, of_holding;

    row->cash += portfolio->cash;
    for (uint32_t at = portfolio->holding_head; at != HOLDING_NONE;
         at = engine->holdings.rows[at].next) {
        const struct holding *holding = &engine->holdings.rows[at];
        const struct market *market = &engine->markets.rows[holding->market];
        uint64_t magnitude = holding->size < 0 ? -(uint64_t)holding->size : (uint64_t)holding->size;

        row->cost += holding->cost;
        *value += (int128)market->mark * holding->size - holding->cost;
        sums[holding->market].size_sum += holding->size;
        sums[holding->market].cost_sum += holding->cost;
        row->recount_differences += holding_differences(engine, holding, &of_holding);
        row->recount_differences += holding->portfolio != index;
        row->recount_differences += magnitude > market->max_abs_size;
        row->recount_differences +=
            holding->leverage != leverage_setting(engine, index, holding->market);
        orders += of_holding;
        holdings++;
    }
    row->recount_differences += orders != portfolio->open_order_count;
    row->recount_differences += holdings != portfolio->holding_count;
    *all_orders += orders;
    if (portfolio->status == PORTFOLIO_CLOSED && orders != 0)
        row->invariants &= (uint8_t) ~(1u << 3);
}

static uint64_t best_price(const struct market *market, enum order_side side)
{
    uint32_t tick = book_best(&market->book, side);

    if (tick == BOOK_TICK_NONE)
        return 0;
    return book_price(&market->book, side, tick) * market->record.tick_size;
}

static void finish_market(const struct market *market, struct row_audit *row,
                          struct row_audit_market *sums)
{
    sums->best_bid = best_price(market, ORDER_LONG);
    sums->best_ask = best_price(market, ORDER_SHORT);
    sums->funding_pool = market->funding_pool;
    sums->price_decimals = market->record.price_decimals;
    sums->size_decimals = market->record.size_decimals;
    memcpy(sums->market, market->record.symbol, sizeof sums->market);
    row->funding_pool += market->funding_pool;
    if (sums->size_sum != 0)
        row->invariants &= (uint8_t) ~(1u << 0);
    if (sums->best_bid != 0 && sums->best_ask != 0 && sums->best_bid >= sums->best_ask)
        row->invariants &= (uint8_t) ~(1u << 4);
}

static void finish_totals(const struct engine *engine, struct row_audit *row, int128 value)
{
    row->fee_account = engine->fee_account;
    row->withdrawals_pending = engine->withdrawals_pending;
    row->deposits = engine->deposits;
    int128 others = (int128)row->fee_account + row->withdrawals_pending + row->funding_pool;
    int128 sources = row->deposits + row->faucet + row->top_ups - row->withdrawals_settled;
    if (row->cash - row->cost + others != sources)
        row->invariants &= (uint8_t) ~(1u << 1);
    if (row->cash + value + others != sources)
        row->invariants &= (uint8_t) ~(1u << 2);
    if (row->recount_differences != 0)
        row->invariants &= (uint8_t) ~(1u << 5);
}

void audit_read(const struct engine *engine, struct row_audit *row,
                struct row_audit_market *markets)
{
    struct row_audit_market sums[ENGINE_MARKETS_MAX];
    const struct market_table *table = &engine->markets;
    uint32_t orders = 0;
    int128 value = 0;

    memset(sums, 0, sizeof sums);
    *row = (struct row_audit){ .market_count = table->count, .invariants = AUDIT_ALL };
    for (uint32_t i = 0; i < engine->portfolios.count; i++)
        add_portfolio(engine, i, row, sums, &value, &orders);
    row->recount_differences += orders != engine->orders.count;
    for (uint32_t k = 0; k < table->count; k++) {
        uint32_t index = table->sorted[k];
        finish_market(&table->rows[index], row, &sums[index]);
        if (markets != NULL)
            markets[k] = sums[index];
    }
    finish_totals(engine, row, value);
}

bool audit_holds(const struct engine *engine)
{
    struct row_audit row;

    audit_read(engine, &row, NULL);
    return row.invariants == AUDIT_ALL;
}
