#include "engine/liquidate/deleverage.h"

#include "engine/liquidate/liquidation.h"
#include "engine/risk/fund.h"
#include "engine/risk/legs.h"
#include "engine/risk/margin.h"
#include "engine/table/adl.h"
#include "engine/trade/own_order.h"

#define DELEVERAGE_PRICE_MAX ((int128)MARKET_RAW_MAX)

/* --- prices (step 1) -------------------------------------------------------------------------- */

static int128 sum_of_longs(const struct legs *legs)
{
    int128 sum = 0;

    for (uint32_t i = 0; i < legs->count; i++)
        sum += legs->rows[i].size > 0 ? legs->rows[i].maintenance : 0;
    return sum;
}

/* p = mark - sgn(s) * fdiv(e, |s|). */
static int128 price_of(const struct engine *engine, const struct leg *leg, int128 equity)
{
    INVARIANT(leg->size != 0); /* a leg is a position */
    int128 mark = (int128)engine->markets.rows[leg->market].mark;
    int128 distance = money_fdiv(equity, margin_abs(leg->size));

    return leg->size > 0 ? mark - distance : mark + distance;
}

static uint64_t clamped(int128 price)
{
    if (price < 1)
        return 1;
    return (uint64_t)(price > DELEVERAGE_PRICE_MAX ? DELEVERAGE_PRICE_MAX : price);
}

/* The prices at which the legs' shares of the equity are gone. What a short can not lose below a
 * price of 1 the longs lose. */
static void fix_prices(struct engine *engine, const struct portfolio *portfolio,
                       const struct legs *legs)
{
    struct deleverage *run = &engine->liquidation.run;
    int128 equity = margin_equity(portfolio), maintenance = portfolio->maintenance;
    int128 shares[PORTFOLIO_MARKETS_MAX];
    int128 excess = 0, longs = sum_of_longs(legs);

    INVARIANT(maintenance > 0); /* every position has one (R4) */
    for (uint32_t i = 0; i < legs->count; i++) {
        const struct leg *leg = &legs->rows[i];
        int128 mark = (int128)engine->markets.rows[leg->market].mark;
        shares[i] = money_fdiv(equity * leg->maintenance, maintenance);
        if (leg->size < 0 && price_of(engine, leg, shares[i]) < 1) {
            int128 most = -(mark - 1) * margin_abs(leg->size);
            excess += shares[i] - most;
            shares[i] = most;
        }
    }
    for (uint32_t i = 0; i < legs->count; i++) {
        const struct leg *leg = &legs->rows[i];
        if (leg->size > 0 && excess != 0)
            shares[i] += money_fdiv(excess * leg->maintenance, longs);
        run->legs[i] =
            (struct deleverage_leg){ clamped(price_of(engine, leg, shares[i])), leg->market };
        run->rounding += (int64_t)margin_abs(leg->size);
    }
}

/* --- one leg ---------------------------------------------------------------------------------- */

static void begin_ranking(struct deleverage *run)
{
    run->ranking = true;
    run->from = 0;
    run->place_count = 0;
    run->place = 0;
    run->gave = false;
    run->left_out = false;
}

/* The prices at which no one else's margin pays for the fund's debts (R7). */
static void begin_leg(struct engine *engine)
{
    struct deleverage *run = &engine->liquidation.run;

    run->pass = fund_is_short(engine) ? 2 : 1;
    run->fruitless = 0;
    begin_ranking(run);
}

void deleverage_begin(struct engine *engine, uint32_t portfolio)
{
    struct deleverage *run = &engine->liquidation.run;
    struct legs legs;

    legs_make(engine, portfolio, &legs);
    memset(run, 0, sizeof *run);
    run->leg_count = legs.count;
    run->rounding = 2 * (int64_t)legs.count;
    fix_prices(engine, state_portfolio(engine, portfolio), &legs);
    begin_leg(engine);
}

/* Position of the run's portfolio in the leg's market, and its record. */
static int64_t leg_size(const struct engine *engine, uint32_t portfolio, uint32_t *holding)
{
    const struct deleverage *run = &engine->liquidation.run;

    *holding = holding_find(engine, portfolio, run->legs[run->leg].market);
    return *holding == HOLDING_NONE ? 0 : engine->holdings.rows[*holding].size;
}

/* The price of a fill made now. */
static uint64_t price_now(const struct engine *engine)
{
    const struct deleverage *run = &engine->liquidation.run;
    const struct deleverage_leg *leg = &run->legs[run->leg];

    return run->pass == 1 ? leg->price : engine->markets.rows[leg->market].mark;
}

/* How much the holder, up to date and opposite, can give: in pass 1 no more than leaves its own
 * equity at or above zero, in whole lots. */
static uint64_t can_give(const struct engine *engine, const struct holding *holding)
{
    const struct deleverage *run = &engine->liquidation.run;
    const struct market *market = &engine->markets.rows[holding->market];
    const struct portfolio *owner = &engine->portfolios.rows[holding->portfolio];
    uint64_t size = margin_abs(holding->size), price = run->legs[run->leg].price;
    uint64_t lot = market->record.lot_size;
    enum order_side side = holding->size < 0 ? ORDER_LONG : ORDER_SHORT;

    if (run->pass == 2 || !margin_price_is_worse(side, price, market->mark))
        return size;
    uint64_t distance = price > market->mark ? price - market->mark : market->mark - price;
    int128 equity = margin_equity(owner);
    uint128 capacity = equity > 0 ? (uint128)equity / distance : 0;
    if (capacity >= size)
        return size;
    return (uint64_t)capacity - (uint64_t)capacity % lot;
}

/* --- the ranking ------------------------------------------------------------------------------ */

static uint64_t place_low(const struct portfolio *portfolio)
{
    return (uint64_t)portfolio->subaccount_index << 32 | portfolio->portfolio_index;
}

/* Score descending; ties by account, subaccount, portfolio; account 0 behind everybody. */
static bool ranks_before(const struct engine *engine, const struct deleverage_place *a,
                         const struct deleverage_place *b)
{
    const struct portfolio *left = &engine->portfolios.rows[a->portfolio];
    const struct portfolio *right = &engine->portfolios.rows[b->portfolio];

    if ((left->account == 0) != (right->account == 0))
        return right->account == 0;
    if (a->score != b->score)
        return a->score > b->score;
    if (left->account != right->account)
        return left->account < right->account;
    return place_low(left) < place_low(right);
}

/* Room for one more: those that were filled go, then the last one. False: the place is behind all
 * that there is room for. */
static bool make_room(struct engine *engine, const struct deleverage_place *place)
{
    struct deleverage *run = &engine->liquidation.run;

    if (run->place != 0) {
        run->place_count -= run->place;
        memmove(run->places, &run->places[run->place], run->place_count * sizeof run->places[0]);
        run->place = 0;
    }
    if (run->place_count < DELEVERAGE_PLACES)
        return true;
    run->left_out = true;
    if (!ranks_before(engine, place, &run->places[DELEVERAGE_PLACES - 1]))
        return false;
    run->place_count--;
    return true;
}

/* Keeps the place among the best. */
static void rank(struct engine *engine, const struct deleverage_place *place)
{
    struct deleverage *run = &engine->liquidation.run;

    if (!make_room(engine, place))
        return;
    uint32_t low = 0, high = run->place_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (ranks_before(engine, place, &run->places[middle]))
            high = middle;
        else
            low = middle + 1;
    }
    memmove(&run->places[low + 1], &run->places[low],
            (run->place_count - low) * sizeof run->places[0]);
    run->places[low] = *place;
    run->place_count++;
}

/* The portfolio's place, if it has one that is not filled yet. */
static void leave_ranks(struct deleverage *run, uint32_t portfolio)
{
    for (uint32_t at = run->place; at < run->place_count; at++) {
        if (run->places[at].portfolio != portfolio)
            continue;
        run->place_count--;
        memmove(&run->places[at], &run->places[at + 1],
                (run->place_count - at) * sizeof run->places[0]);
        return;
    }
}

static bool opposes(int64_t a, int64_t b)
{
    return (a < 0 && b > 0) || (a > 0 && b < 0);
}

/* A place for an opposite holder that is up to date, if it can give. */
static void offer(struct engine *engine, const struct holding *holding)
{
    const struct market *market = state_market(engine, holding->market);

    if (can_give(engine, holding) == 0)
        return;
    int128 profit = (int128)(int64_t)market->mark * holding->size - holding->cost;
    struct deleverage_place place;
    memset(&place, 0, sizeof place);
    place.portfolio = holding->portfolio;
    place.score = adl_score(profit, holding->cost, margin_abs(holding->size) * market->mark,
                            margin_equity(state_portfolio(engine, holding->portfolio)));
    rank(engine, &place);
}

/* One holder of the market. */
static void meet(struct engine *engine, uint32_t index, int64_t size)
{
    const struct holding *holding = state_holding(engine, index);

    if (!opposes(holding->size, size))
        return;
    risk_touch(engine, holding->portfolio);
    offer(engine, holding);
}

bool deleverage_ranks(const struct engine *engine, uint32_t market)
{
    const struct deleverage *run = &engine->liquidation.run;

    return run->leg != run->leg_count && run->legs[run->leg].market == market;
}

void deleverage_moved(struct engine *engine, uint32_t portfolio)
{
    struct deleverage *run = &engine->liquidation.run;
    uint32_t loser;

    if (run->leg == run->leg_count || (run->ranking && portfolio >= run->from))
        return; /* nobody is ranked any more; it is still to be met */
    leave_ranks(run, portfolio);
    uint32_t index = holding_find(engine, portfolio, run->legs[run->leg].market);
    if (index == HOLDING_NONE)
        return;
    int64_t size = leg_size(engine, engine->liquidation.portfolio, &loser);
    if (opposes(state_holding(engine, index)->size, size))
        offer(engine, state_holding(engine, index));
}

/* No place is left of a ranking. Pass 1 ends when nobody can give (R7), and when ranks that others
 * left before their turn have come to nothing again and again. */
static void rank_anew(struct deleverage *run)
{
    run->fruitless = run->gave ? 0 : run->fruitless + 1;
    bool nobody = run->ranking && !run->left_out;
    if (nobody || run->fruitless == DELEVERAGE_FRUITLESS_MAX)
        run->pass = 2;
    begin_ranking(run);
}

/* The next holder, or the end of the ranking: false, nothing was met. */
static bool go_on_ranking(struct engine *engine, int64_t size)
{
    struct deleverage *run = &engine->liquidation.run;
    uint32_t market = run->legs[run->leg].market;
    uint32_t index = holding_next_holder(engine, market, run->from);

    if (index != HOLDING_NONE) {
        run->from = state_holding(engine, index)->portfolio + 1;
        meet(engine, index, size);
        return true;
    }
    if (run->place_count == 0)
        rank_anew(run); /* nobody could give */
    else
        run->ranking = false;
    return false;
}

/* --- fills ------------------------------------------------------------------------------------ */

static void deal(struct engine *engine, uint32_t loser, uint32_t other, uint64_t quantity)
{
    uint64_t price = price_now(engine);
    bool is_long = state_holding(engine, loser)->size > 0;
    struct own_order_terms terms = {
        .quantity = quantity,
        .price = price,
        .holding = loser,
        .side = is_long ? ORDER_SHORT : ORDER_LONG,
        .type = ORDER_AUTO_DELEVERAGE,
        .reduce_only = true,
    };
    uint32_t taker = own_order_make(engine, OWN_ORDER_TAKER, &terms);

    terms.holding = other;
    terms.side = is_long ? ORDER_LONG : ORDER_SHORT;
    uint32_t maker = own_order_make(engine, OWN_ORDER_MAKER, &terms);
    fill_between(engine, maker, taker, price, CASH_adl);
    own_order_end(engine, OWN_ORDER_MAKER, price, REASON_none);
    own_order_end(engine, OWN_ORDER_TAKER, price, REASON_none);
    liquidation_tell(engine, loser, 3, price, is_long ? (int64_t)quantity : -(int64_t)quantity);
    risk_flush(engine);
}

/* The next of the ranked gives what it can. */
static void fill_next(struct engine *engine, uint32_t loser, int64_t size)
{
    struct deleverage *run = &engine->liquidation.run;
    uint32_t portfolio = run->places[run->place++].portfolio;
    uint32_t index = holding_find(engine, portfolio, run->legs[run->leg].market);

    if (index == HOLDING_NONE || !opposes(state_holding(engine, index)->size, size))
        return;
    risk_touch(engine, state_holding(engine, loser)->portfolio);
    risk_touch(engine, portfolio);
    uint64_t quantity = can_give(engine, state_holding(engine, index));
    if (quantity > margin_abs(size))
        quantity = margin_abs(size);
    if (quantity == 0)
        return;
    run->gave = true;
    deal(engine, loser, index, quantity);
}

/* --- the end (step 3) ------------------------------------------------------------------------- */

static void settle(struct engine *engine, uint32_t index)
{
    const struct deleverage *run = &engine->liquidation.run;
    int64_t cash = state_portfolio(engine, index)->cash;

    if (cash >= 0) {
        fund_take(engine, index, cash < run->rounding ? cash : run->rounding);
        return;
    }
    fund_take(engine, index, cash);
    if (!fund_is_short(engine))
        return;
    for (uint32_t i = 0; i < run->leg_count; i++)
        market_tighten(engine, run->legs[i].market, MARKET_REDUCE_ONLY, CAUSE_FUND);
}

bool deleverage_go_on(struct engine *engine, uint32_t portfolio, uint32_t *units)
{
    struct deleverage *run = &engine->liquidation.run;

    while (run->leg != run->leg_count) {
        uint32_t holding;
        int64_t size = leg_size(engine, portfolio, &holding);
        if (size == 0) {
            if (++run->leg != run->leg_count)
                begin_leg(engine);
            continue;
        }
        if (run->ranking) {
            if (*units == 0)
                return false;
            *units -= go_on_ranking(engine, size) ? 1 : 0;
        } else if (run->place == run->place_count) {
            rank_anew(run);
        } else {
            if (*units == 0)
                return false;
            fill_next(engine, holding, size);
            *units -= 1;
        }
    }
    settle(engine, portfolio);
    return true;
}
