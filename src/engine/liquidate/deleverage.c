#include "engine/liquidate/deleverage.h"

#include "engine/liquidate/legs.h"
#include "engine/liquidate/liquidation.h"
#include "engine/risk/deleverage_rank.h"
#include "engine/risk/fund.h"
#include "engine/risk/margin.h"
#include "engine/risk/risk.h"
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

/* The prices at which no one else's margin pays for the fund's debts (R7). */
static void begin_leg(struct engine *engine)
{
    struct deleverage *run = &engine->liquidation.run;

    run->pass = fund_is_short(engine) ? 2 : 1;
    run->fruitless = 0;
    deleverage_rank_begin(run);
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

/* The price of a fill made now. */
static uint64_t price_now(const struct engine *engine)
{
    const struct deleverage *run = &engine->liquidation.run;
    const struct deleverage_leg *leg = &run->legs[run->leg];

    return run->pass == 1 ? leg->price : engine->markets.rows[leg->market].mark;
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
    liquidation_emit(engine, loser, 3, price, is_long ? (int64_t)quantity : -(int64_t)quantity);
    risk_flush(engine);
}

/* The next of the ranked gives what it can. */
static void fill_next(struct engine *engine, uint32_t loser, int64_t size)
{
    struct deleverage *run = &engine->liquidation.run;
    uint32_t portfolio = run->rows[run->next_row++].portfolio;
    uint32_t index = holding_find(engine, portfolio, run->legs[run->leg].market);

    if (index == HOLDING_NONE || !deleverage_rank_opposes(state_holding(engine, index)->size, size))
        return;
    risk_refresh(engine, state_holding(engine, loser)->portfolio);
    risk_refresh(engine, portfolio);
    uint64_t quantity = deleverage_rank_room(engine, state_holding(engine, index));
    if (quantity > margin_abs(size))
        quantity = margin_abs(size);
    if (quantity == 0)
        return;
    run->gave = true;
    deal(engine, loser, index, quantity);
}

/* --- the end (step 3) ------------------------------------------------------------------------- */

static void finish(struct engine *engine, uint32_t index)
{
    const struct deleverage *run = &engine->liquidation.run;
    int64_t cash = state_portfolio(engine, index)->cash;

    if (cash >= 0) {
        fund_transfer(engine, index, cash < run->rounding ? cash : run->rounding);
        return;
    }
    fund_transfer(engine, index, cash);
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
        int64_t size = deleverage_rank_leg_size(engine, portfolio, &holding);
        if (size == 0) {
            if (++run->leg != run->leg_count)
                begin_leg(engine);
            continue;
        }
        if (run->ranking) {
            if (*units == 0)
                return false;
            *units -= deleverage_rank_step(engine, size) ? 1 : 0;
        } else if (run->next_row == run->row_count) {
            deleverage_rank_again(run);
        } else {
            if (*units == 0)
                return false;
            fill_next(engine, holding, size);
            *units -= 1;
        }
    }
    finish(engine, portfolio);
    return true;
}
