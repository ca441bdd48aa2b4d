#include "engine/liquidate/backstop.h"

#include "engine/liquidate/legs.h"
#include "engine/liquidate/liquidation.h"
#include "engine/risk/fund.h"
#include "engine/risk/margin.h"
#include "engine/risk/risk.h"
#include "engine/trade/own_order.h"

/* What the fund may hold in one market and in all of them, times its equity (R7). */
enum { BACKSTOP_MARKET_TIMES = 2, BACKSTOP_GROSS_TIMES = 5 };

#define BACKSTOP_SIZE_MAX  (INT64_C(1) << 42) /* R1, as an entry: |s|, |c| */
#define BACKSTOP_COST_MAX  (INT64_C(1) << 52)
#define BACKSTOP_VALUE_MAX (UINT64_C(1) << 60)
#define BACKSTOP_CASH_MAX  (INT64_C(1) << 62) /* of the fund */

/* The fund's position after it has taken the leg. */
static struct fill_position taken(const struct engine *engine, const struct leg *leg,
                                  int64_t *realised)
{
    uint32_t at = holding_find(engine, FUND_PORTFOLIO, leg->market);
    struct fill_position position = { 0 };
    bool opened;

    if (at != HOLDING_NONE)
        position = (struct fill_position){ engine->holdings.rows[at].size,
                                           engine->holdings.rows[at].cost };
    *realised =
        fill_position(&position, leg->size, engine->markets.rows[leg->market].mark, &opened);
    return position;
}

static bool within_bounds(const struct market *market, const struct fill_position *position)
{
    return position->size <= BACKSTOP_SIZE_MAX && position->size >= -BACKSTOP_SIZE_MAX &&
           position->cost <= BACKSTOP_COST_MAX && position->cost >= -BACKSTOP_COST_MAX &&
           (uint128)margin_abs(position->size) * market->mark <= BACKSTOP_VALUE_MAX;
}

/* What a portfolio gives for its live legs: their part of its equity by maintenance margin, all
 * that is left when no other leg stays; never more than it has. */
static int64_t share_of(const struct engine *engine, const struct portfolio *loser,
                        const struct legs *legs)
{
    int128 cash = loser->cash, maintenance = 0;
    uint32_t positions = 0;

    for (uint32_t i = 0; i < legs->count; i++) {
        const struct holding *holding = &engine->holdings.rows[legs->rows[i].holding];
        cash += holding->figure_value;
        maintenance += holding->figure_maintenance;
    }
    for (uint32_t at = loser->holding_head; at != HOLDING_NONE; at = engine->holdings.rows[at].next)
        positions += engine->holdings.rows[at].size != 0;
    int128 share = cash;
    if (positions > legs->count)
        share = money_fdiv(margin_equity(loser) * maintenance, loser->maintenance);
    cash = cash > 0 ? cash : 0;
    return (int64_t)(share < cash ? share : cash);
}

/* Whether the fund can carry them with this share: its equity covers its maintenance margin, a
 * fifth of all that it holds then and half of what it holds in each market; R1's bounds hold and
 * there is room for its records. */
static bool can_absorb(const struct engine *engine, const struct legs *legs, int64_t share)
{
    const struct portfolio *fund = &engine->portfolios.rows[FUND_PORTFOLIO];
    uint32_t records = engine->holdings.slots.count;
    uint128 gross;
    int128 equity = margin_equity_now(engine, FUND_PORTFOLIO, &gross) + share;
    int128 maintenance = fund->maintenance, total = (int128)gross;
    int128 cash = (int128)fund->cash + share;

    for (uint32_t i = 0; i < legs->count; i++) {
        const struct leg *leg = &legs->rows[i];
        const struct market *market = &engine->markets.rows[leg->market];
        uint32_t at = holding_find(engine, FUND_PORTFOLIO, leg->market);
        int64_t realised;
        struct fill_position after = taken(engine, leg, &realised);
        int128 value = (int128)margin_abs(after.size) * (int128)market->mark;
        if (!within_bounds(market, &after) || value > BACKSTOP_MARKET_TIMES * equity)
            return false;
        cash += realised;
        maintenance += tier_maintenance(market->record.tiers, (uint64_t)value);
        total += value;
        if (at == HOLDING_NONE) {
            records++;
            continue;
        }
        maintenance -= engine->holdings.rows[at].figure_maintenance;
        total -= (int128)margin_abs(engine->holdings.rows[at].size) * (int128)market->mark;
    }
    return records <= engine->holdings.slots.limit && cash <= BACKSTOP_CASH_MAX &&
           cash >= -BACKSTOP_CASH_MAX && equity >= maintenance &&
           total <= BACKSTOP_GROSS_TIMES * equity;
}

static void assume_leg(struct engine *engine, const struct leg *leg)
{
    uint64_t mark = state_market(engine, leg->market)->mark;
    bool is_long = leg->size > 0;
    struct own_order_terms terms = {
        .quantity = margin_abs(leg->size),
        .price = mark,
        .holding = leg->holding,
        .side = is_long ? ORDER_SHORT : ORDER_LONG,
        .type = ORDER_LIQUIDATE,
        .reduce_only = true,
    };
    uint32_t taker = own_order_make(engine, OWN_ORDER_TAKER, &terms);

    terms.holding = holding_get(engine, FUND_PORTFOLIO, leg->market);
    terms.side = is_long ? ORDER_LONG : ORDER_SHORT;
    terms.reduce_only = false;
    uint32_t maker = own_order_make(engine, OWN_ORDER_MAKER, &terms);
    fill_between(engine, maker, taker, mark, CASH_liquidation);
    own_order_end(engine, OWN_ORDER_MAKER, mark, REASON_none);
    own_order_end(engine, OWN_ORDER_TAKER, mark, REASON_none);
    liquidation_emit(engine, leg->holding, 2, mark, leg->size);
}

bool backstop_assume(struct engine *engine, uint32_t index, uint32_t *units)
{
    const struct portfolio *portfolio = state_portfolio(engine, index);
    struct legs legs;

    if (margin_equity(portfolio) < 0)
        return false;
    risk_refresh(engine, FUND_PORTFOLIO);
    legs_make(engine, index, &legs);
    int64_t share = share_of(engine, portfolio, &legs);
    if (!can_absorb(engine, &legs, share))
        return false;
    for (uint32_t i = 0; i < legs.count; i++)
        assume_leg(engine, &legs.rows[i]);
    fund_transfer(engine, index, share);
    *units -= legs.count < *units ? legs.count : *units;
    recheck_holding(engine, legs.rows[0].holding);
    risk_flush(engine);
    return true;
}
