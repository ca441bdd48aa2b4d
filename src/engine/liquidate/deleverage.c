#include "engine/liquidate/deleverage.h"

#include "engine/liquidate/deal.h"
#include "engine/liquidate/legs.h"
#include "engine/liquidate/shares.h"
#include "engine/risk/deleverage_rank.h"
#include "engine/risk/fund.h"
#include "engine/risk/margin.h"
#include "engine/risk/risk.h"
#include "engine/trade/prefetch.h"

enum {
    DELEVERAGE_FUND_TIMES = 5,
    DELEVERAGE_AHEAD = 8, /* rows to prefetch before their turn */
    DELEVERAGE_FILL_UNITS = 4,
};

#define DELEVERAGE_PRICE_MAX ((int128)MARKET_RAW_MAX)

/* R7, Fund: it holds no more than five times its equity. */
static bool fund_is_small(const struct engine *engine)
{
    uint128 gross;
    int128 equity = margin_equity_now(engine, FUND_PORTFOLIO, &gross);

    return (int128)gross <= DELEVERAGE_FUND_TIMES * equity;
}

/* --- prices (step 1) -------------------------------------------------------------------------- */

static uint64_t held(int128 price)
{
    if (price < 1)
        return 1;
    return (uint64_t)(price > DELEVERAGE_PRICE_MAX ? DELEVERAGE_PRICE_MAX : price);
}

/* Below 0 the other side gives up to the lowest maintenance rate of the mark, beyond it what the
 * fund's day does not carry, at most the band: how far from the mark. */
static int128 distance_of(const struct market *market, int128 distance, int128 deficit,
                          int64_t allowance)
{
    int128 mark = (int128)market->mark, left = deficit > allowance ? deficit - allowance : 0;
    int128 bound = money_fdiv(mark * market->record.tiers[0].mmr_ppm, MONEY_PPM);
    int128 band = money_fdiv(mark * market->record.price_band_ppm, MONEY_PPM);
    int128 beyond = money_cdiv(distance * left, deficit);

    bound = beyond > bound ? beyond : bound;
    bound = bound > band ? band : bound;
    return distance < bound ? distance : bound;
}

/* p of each leg (R7, L3 step 1). */
static void fix_prices(struct engine *engine, uint32_t index, const struct legs *legs)
{
    struct deleverage *run = &engine->liquidation.run;
    int128 equity = margin_equity(state_portfolio(engine, index));
    int64_t allowance = fund_allowance(engine);
    int128 shares[LEGS_MAX];

    shares_make(engine, index, legs, shares);
    for (uint32_t i = 0; i < legs->count; i++) {
        const struct leg *leg = &legs->rows[i];
        const struct market *market = &engine->markets.rows[leg->market];
        int128 away = money_fdiv(shares[i], margin_abs(leg->size));
        if (equity < 0)
            away = -distance_of(market, -away, -equity, allowance);
        int128 mark = (int128)market->mark;
        run->legs[i].price = held(leg->size > 0 ? mark - away : mark + away);
    }
}

/* --- one leg ---------------------------------------------------------------------------------- */

/* The fund's own legs go at the mark. */
static void begin_leg(struct engine *engine)
{
    struct deleverage *run = &engine->liquidation.run;

    run->pass = engine->liquidation.portfolio == FUND_PORTFOLIO ? 2 : 1;
    run->fruitless = 0;
    deleverage_rank_begin(engine);
}

void deleverage_begin(struct engine *engine, uint32_t portfolio)
{
    struct deleverage *run = &engine->liquidation.run;
    struct legs legs;

    legs_make(engine, portfolio, &legs);
    memset(run, 0, sizeof *run);
    run->leg_count = legs.count;
    run->rounding = 2 * (int64_t)legs.count;
    for (uint32_t i = 0; i < legs.count; i++) {
        const struct leg *leg = &legs.rows[i];
        run->legs[i] =
            (struct deleverage_leg){ engine->markets.rows[leg->market].mark, leg->market };
        run->rounding += (int64_t)margin_abs(leg->size);
    }
    if (portfolio != FUND_PORTFOLIO)
        fix_prices(engine, portfolio, &legs);
    else if (fund_is_small(engine))
        run->leg = run->leg_count;
    if (run->leg != run->leg_count)
        begin_leg(engine);
}

/* --- fills ------------------------------------------------------------------------------------ */

/* Prefetches what the fills after the next one read and write: a ranking has no order in memory. */
static void fetch_ahead(const struct engine *engine)
{
    const struct deleverage *run = &engine->liquidation.run;
    const struct portfolio *portfolios = engine->portfolios.rows;
    uint32_t far = run->next_row + DELEVERAGE_AHEAD, near = run->next_row + DELEVERAGE_AHEAD / 2;

    if (far >= run->row_count)
        return;
    const struct portfolio *portfolio = &portfolios[run->rows[near].portfolio];
    prefetch_portfolio(&portfolios[run->rows[far].portfolio]);
    prefetch_lines(&engine->holdings.rows[portfolio->holding_head], sizeof(struct holding));
    CC_PREFETCH(&engine->accounts.rows[portfolio->account]);
}

/* The next of the ranked gives what it can. Gives the units of it. */
static uint32_t fill_next(struct engine *engine, uint32_t loser, int64_t size)
{
    struct deleverage *run = &engine->liquidation.run;
    fetch_ahead(engine);
    uint32_t portfolio = run->rows[run->next_row++].portfolio;
    uint32_t index = holding_find(engine, portfolio, run->legs[run->leg].market);

    if (index == HOLDING_NONE || !deleverage_rank_opposes(state_holding(engine, index)->size, size))
        return 1;
    risk_refresh(engine, state_holding(engine, loser)->portfolio);
    risk_refresh(engine, portfolio);
    uint64_t quantity = deleverage_rank_room(engine, state_holding(engine, index));
    if (quantity > margin_abs(size))
        quantity = margin_abs(size);
    if (quantity == 0)
        return 1;
    run->gave = true;
    deal_make(engine, loser, index, quantity, deleverage_rank_price(engine), DEAL_DELEVERAGE);
    risk_flush(engine);
    return DELEVERAGE_FILL_UNITS;
}

/* --- the end (step 3) ------------------------------------------------------------------------- */

static bool has_position(const struct engine *engine, uint32_t portfolio)
{
    uint32_t at = engine->portfolios.rows[portfolio].holding_head;

    while (at != HOLDING_NONE && engine->holdings.rows[at].size == 0)
        at = engine->holdings.rows[at].next;
    return at != HOLDING_NONE;
}

static void finish(struct engine *engine, uint32_t index)
{
    const struct deleverage *run = &engine->liquidation.run;
    int64_t cash = state_portfolio(engine, index)->cash;

    if (index == FUND_PORTFOLIO || has_position(engine, index))
        return; /* frozen legs wait, `owed` */
    if (cash >= 0) {
        fund_transfer(engine, index, cash < run->rounding ? cash : run->rounding);
        return;
    }
    fund_pay_deficit(engine, index);
    if (!fund_is_short(engine))
        return;
    for (uint32_t i = 0; i < run->leg_count; i++)
        market_tighten(engine, run->legs[i].market, MARKET_REDUCE_ONLY, CAUSE_FUND);
}

static void next_leg(struct engine *engine)
{
    struct deleverage *run = &engine->liquidation.run;

    run->leg++;
    if (engine->liquidation.portfolio == FUND_PORTFOLIO && fund_is_small(engine))
        run->leg = run->leg_count;
    if (run->leg != run->leg_count)
        begin_leg(engine);
}

/* Whether the run is done with its leg: nothing is left, or its market is frozen now. */
static bool is_left(const struct engine *engine, uint32_t portfolio)
{
    const struct deleverage *run = &engine->liquidation.run;
    uint32_t holding;

    return deleverage_rank_leg_size(engine, portfolio, &holding) == 0 ||
           market_is_frozen(engine, run->legs[run->leg].market);
}

/* One holder ranked or one row filled, of the run's leg. The last of the rows may have left its
 * place by a trade since the last unit. Gives the units of it. */
static uint32_t step(struct engine *engine, uint32_t portfolio)
{
    struct deleverage *run = &engine->liquidation.run;
    uint32_t holding;
    int64_t size = deleverage_rank_leg_size(engine, portfolio, &holding);

    if (!run->ranking && run->next_row == run->row_count)
        deleverage_rank_again(engine);
    while (run->ranking)
        if (deleverage_rank_step(engine, size))
            return 1;
    uint32_t used = fill_next(engine, holding, size);
    if (portfolio == FUND_PORTFOLIO && fund_is_small(engine))
        run->leg = run->leg_count;
    return used;
}

bool deleverage_go_on(struct engine *engine, uint32_t portfolio, uint32_t *units)
{
    struct deleverage *run = &engine->liquidation.run;
    uint32_t used = 1;

    if (run->leg != run->leg_count && !is_left(engine, portfolio))
        used = step(engine, portfolio);
    *units -= used < *units ? used : *units;
    if (run->leg != run->leg_count && is_left(engine, portfolio))
        next_leg(engine);
    else if (run->leg != run->leg_count && !run->ranking && run->next_row == run->row_count)
        deleverage_rank_again(engine);
    if (run->leg != run->leg_count)
        return false;
    finish(engine, portfolio);
    return true;
}
