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

static uint64_t index_pair(const struct portfolio *portfolio)
{
    return (uint64_t)portfolio->subaccount_index << 32 | portfolio->portfolio_index;
}

/* Score descending; ties by account, subaccount, portfolio; account 0 after all others. */
static bool ranks_before(const struct engine *engine, const struct deleverage_row *a,
                         const struct deleverage_row *b)
{
    const struct portfolio *left = &engine->portfolios.rows[a->portfolio];
    const struct portfolio *right = &engine->portfolios.rows[b->portfolio];

    if ((left->account == 0) != (right->account == 0))
        return right->account == 0;
    if (a->score != b->score)
        return a->score > b->score;
    if (left->account != right->account)
        return left->account < right->account;
    return index_pair(left) < index_pair(right);
}

/* Makes room for one more: drops the rows that were filled, then the last one. False if the row
 * ranks after all that there is room for. */
static bool make_room(struct engine *engine, const struct deleverage_row *row)
{
    struct deleverage *run = &engine->liquidation.run;

    if (run->next_row != 0) {
        run->row_count -= run->next_row;
        memmove(run->rows, &run->rows[run->next_row], run->row_count * sizeof run->rows[0]);
        run->next_row = 0;
    }
    if (run->row_count < DELEVERAGE_ROWS)
        return true;
    run->left_out = true;
    if (!ranks_before(engine, row, &run->rows[DELEVERAGE_ROWS - 1]))
        return false;
    run->row_count--;
    return true;
}

/* Adds the row if it is among the best. */
static void rank(struct engine *engine, const struct deleverage_row *row)
{
    struct deleverage *run = &engine->liquidation.run;

    if (!make_room(engine, row))
        return;
    uint32_t low = 0, high = run->row_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (ranks_before(engine, row, &run->rows[middle]))
            high = middle;
        else
            low = middle + 1;
    }
    memmove(&run->rows[low + 1], &run->rows[low], (run->row_count - low) * sizeof run->rows[0]);
    run->rows[low] = *row;
    run->row_count++;
}

/* Drops the portfolio's row, if it has one that is not filled yet. */
static void leave_ranks(struct deleverage *run, uint32_t portfolio)
{
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
    leave_ranks(run, portfolio);
    uint32_t index = holding_find(engine, portfolio, run->legs[run->leg].market);
    if (index == HOLDING_NONE)
        return;
    int64_t size = deleverage_rank_leg_size(engine, engine->liquidation.portfolio, &loser);
    if (deleverage_rank_opposes(state_holding(engine, index)->size, size))
        offer(engine, state_holding(engine, index));
}

void deleverage_rank_begin(struct deleverage *run)
{
    run->ranking = true;
    run->from = 0;
    run->row_count = 0;
    run->next_row = 0;
    run->gave = false;
    run->left_out = false;
}

void deleverage_rank_again(struct deleverage *run)
{
    run->fruitless = run->gave ? 0 : run->fruitless + 1;
    bool nobody = run->ranking && !run->left_out;
    if (nobody || run->fruitless == DELEVERAGE_FRUITLESS_MAX)
        run->pass = 2;
    deleverage_rank_begin(run);
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
        deleverage_rank_again(run); /* nobody could give */
    else
        run->ranking = false;
    return false;
}
