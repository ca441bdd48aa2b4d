#include "engine/risk/deleverage_rank.h"

#include "base/money.h"
#include "engine/risk/margin.h"
#include "engine/risk/risk.h"
#include "engine/state/market_price.h"
#include "engine/state/state.h"
#include "engine/table/adl.h"

int64_t deleverage_rank_leg_size(const struct engine *engine, uint32_t portfolio, uint32_t *holding)
{
    const struct deleverage *run = &engine->liquidation.run;

    *holding = holding_find(engine, portfolio, run->legs[run->leg].market);
    return *holding == HOLDING_NONE ? 0 : engine->holdings.rows[*holding].size;
}

uint64_t deleverage_rank_price(const struct engine *engine)
{
    const struct deleverage *run = &engine->liquidation.run;
    const struct deleverage_leg *leg = &run->legs[run->leg];
    const struct market *market = &engine->markets.rows[leg->market];
    uint64_t low = market_price_low(market), high = market_price_high(market);

    if (run->pass == 2)
        return market->mark;
    uint64_t price = leg->price < low ? low : leg->price;
    return price > high ? high : price;
}

uint64_t deleverage_rank_bearable(const struct engine *engine, const struct holding *holding,
                                  uint64_t price)
{
    const struct market *market = &engine->markets.rows[holding->market];
    const struct portfolio *owner = &engine->portfolios.rows[holding->portfolio];
    uint64_t size = margin_abs(holding->size), lot = market->record.lot_size;
    enum order_side side = holding->size < 0 ? ORDER_LONG : ORDER_SHORT;

    if (!margin_price_is_worse(side, price, market->mark))
        return size;
    uint64_t distance = money_distance(price, market->mark);
    int128 equity = margin_equity(owner);
    uint128 capacity = equity > 0 ? (uint128)equity / distance : 0;
    return capacity >= size ? size : (uint64_t)capacity - (uint64_t)capacity % lot;
}

uint64_t deleverage_rank_room(const struct engine *engine, const struct holding *holding)
{
    return deleverage_rank_bearable(engine, holding, deleverage_rank_price(engine));
}

static struct rank_heap_row place_of(const struct engine *engine, const struct deleverage_row *row)
{
    const struct portfolio *owner = &engine->portfolios.rows[row->portfolio];

    return (struct rank_heap_row){
        .score = (int64_t)row->score,
        .owner = (uint64_t)owner->account << 32 | owner->subaccount_index,
        .portfolio_index = owner->portfolio_index,
        .portfolio = row->portfolio,
    };
}

static bool ranks_before(const struct engine *engine, const struct rank_heap_row *place,
                         const struct deleverage_row *row)
{
    const struct rank_heap_row other = place_of(engine, row);

    return rank_heap_before(place, &other);
}

void deleverage_rank_leave_out(struct engine *engine, const struct deleverage_row *row)
{
    const struct rank_heap_row place = place_of(engine, row);

    rank_heap_put(&engine->liquidation.rest, &place);
    engine->liquidation.run.left_out = true;
}

/* Whether the rank is after the best of the rest, or after all the rows there may be. */
static bool is_of_rest(const struct engine *engine, const struct rank_heap_row *place)
{
    const struct deleverage *run = &engine->liquidation.run;
    const struct rank_heap *rest = &engine->liquidation.rest;

    if (rest->count != 0 && !rank_heap_before(place, &rest->rows[1]))
        return true;
    return run->row_count == DELEVERAGE_ROWS &&
           !ranks_before(engine, place, &run->rows[DELEVERAGE_ROWS - 1]);
}

static void drop_filled(struct deleverage *run)
{
    if (run->next_row == 0)
        return;
    run->row_count -= run->next_row;
    memmove(run->rows, &run->rows[run->next_row], run->row_count * sizeof run->rows[0]);
    run->next_row = 0;
}

/* Adds the row if it is among the best, else to the rest. */
static void rank(struct engine *engine, const struct deleverage_row *row)
{
    struct deleverage *run = &engine->liquidation.run;
    const struct rank_heap_row place = place_of(engine, row);

    drop_filled(run);
    if (is_of_rest(engine, &place)) {
        deleverage_rank_leave_out(engine, row);
        return;
    }
    if (run->row_count == DELEVERAGE_ROWS)
        deleverage_rank_leave_out(engine, &run->rows[--run->row_count]);
    uint32_t low = 0, high = run->row_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (ranks_before(engine, &place, &run->rows[middle]))
            high = middle;
        else
            low = middle + 1;
    }
    memmove(&run->rows[low + 1], &run->rows[low], (run->row_count - low) * sizeof run->rows[0]);
    run->rows[low] = *row;
    run->row_count++;
}

/* Drops the portfolio's row, if it has one that is not filled yet. */
static void leave_ranks(struct engine *engine, uint32_t portfolio)
{
    struct deleverage *run = &engine->liquidation.run;

    rank_heap_remove(&engine->liquidation.rest, portfolio);
    for (uint32_t at = run->next_row; at < run->row_count; at++) {
        if (run->rows[at].portfolio != portfolio)
            continue;
        run->row_count--;
        memmove(&run->rows[at], &run->rows[at + 1], (run->row_count - at) * sizeof run->rows[0]);
        return;
    }
}

bool deleverage_rank_opposes(int64_t a, int64_t b)
{
    return (a < 0 && b > 0) || (a > 0 && b < 0);
}

/* Ranks an opposite holder that is up to date, if it can give. */
static void offer(struct engine *engine, const struct holding *holding)
{
    const struct market *market = state_market(engine, holding->market);

    if (deleverage_rank_room(engine, holding) == 0)
        return;
    int128 profit = (int128)(int64_t)market->mark * holding->size - holding->cost;
    struct deleverage_row row;
    memset(&row, 0, sizeof row);
    row.portfolio = holding->portfolio;
    row.score = adl_score(profit, holding->cost);
    rank(engine, &row);
}

/* One holder of the market. */
static void meet(struct engine *engine, uint32_t index, int64_t size)
{
    const struct holding *holding = state_holding(engine, index);

    if (!deleverage_rank_opposes(holding->size, size))
        return;
    risk_refresh(engine, holding->portfolio);
    offer(engine, holding);
}

void deleverage_rank_moved(struct engine *engine, uint32_t portfolio)
{
    struct deleverage *run = &engine->liquidation.run;
    uint32_t loser;

    if (run->leg == run->leg_count || (run->ranking && portfolio >= run->from))
        return; /* nobody is ranked any more; it is still to be met */
    leave_ranks(engine, portfolio);
    uint32_t index = holding_find(engine, portfolio, run->legs[run->leg].market);
    if (index == HOLDING_NONE)
        return;
    int64_t size = deleverage_rank_leg_size(engine, engine->liquidation.portfolio, &loser);
    if (deleverage_rank_opposes(state_holding(engine, index)->size, size))
        offer(engine, state_holding(engine, index));
}

void deleverage_rank_begin(struct engine *engine)
{
    struct deleverage *run = &engine->liquidation.run;

    run->ranking = true;
    run->from = 0;
    run->row_count = 0;
    run->next_row = 0;
    run->gave = false;
    run->left_out = false;
    run->mark = engine->markets.rows[run->legs[run->leg].market].mark;
    rank_heap_clear(&engine->liquidation.rest);
}

/* Makes rows of the best of the rest. */
static void pop_rest(struct engine *engine)
{
    struct deleverage *run = &engine->liquidation.run;
    struct rank_heap *rest = &engine->liquidation.rest;

    run->ranking = false;
    run->gave = false;
    run->next_row = 0;
    for (run->row_count = 0; run->row_count < DELEVERAGE_ROWS && rest->count != 0;) {
        const struct rank_heap_row best = rank_heap_pop(rest);
        struct deleverage_row *row = &run->rows[run->row_count++];
        row->portfolio = best.portfolio;
        row->score = best.score;
    }
    run->left_out = rest->count != 0;
}

void deleverage_rank_again(struct engine *engine)
{
    struct deleverage *run = &engine->liquidation.run;
    bool is_of_scan = run->mark == engine->markets.rows[run->legs[run->leg].market].mark;

    if (engine->liquidation.rest.count != 0 && (run->ranking || (run->gave && is_of_scan))) {
        run->fruitless = run->ranking ? run->fruitless : 0;
        pop_rest(engine);
        return;
    }
    run->fruitless = run->gave ? 0 : run->fruitless + 1;
    bool nobody = run->ranking && !run->left_out;
    if (nobody || run->fruitless == DELEVERAGE_FRUITLESS_MAX)
        run->pass = 2;
    deleverage_rank_begin(engine);
}

bool deleverage_rank_step(struct engine *engine, int64_t size)
{
    struct deleverage *run = &engine->liquidation.run;
    uint32_t market = run->legs[run->leg].market;
    uint32_t index = holding_next_holder(engine, market, run->from);

    if (index != HOLDING_NONE) {
        run->from = state_holding(engine, index)->portfolio + 1;
        meet(engine, index, size);
        return true;
    }
    if (run->row_count == 0)
        deleverage_rank_again(engine); /* nobody could give */
    else
        run->ranking = false;
    return false;
}
