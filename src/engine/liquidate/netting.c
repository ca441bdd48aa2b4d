#include "engine/liquidate/netting.h"

#include "engine/liquidate/deal.h"
#include "engine/liquidate/shares.h"
#include "engine/risk/deleverage_rank.h"
#include "engine/risk/margin.h"
#include "engine/risk/risk.h"
#include "engine/state/market_price.h"

/* The mark; below 0 where the leg's share of the deficit is gone, within the band. */
static uint64_t price_of(const struct market *market, const struct leg *leg, int128 share)
{
    int128 away = money_fdiv(share, margin_abs(leg->size));
    int128 price = leg->size > 0 ? (int128)market->mark - away : (int128)market->mark + away;
    int128 low = (int128)market_price_low(market), high = (int128)market_price_high(market);

    price = price < low ? low : price;
    return (uint64_t)(price > high ? high : price);
}

/* Against one other portfolio. */
static void net_against(struct engine *engine, const struct leg *leg, uint32_t other,
                        uint64_t price)
{
    uint32_t index = holding_find(engine, other, leg->market);
    int64_t size = state_holding(engine, leg->holding)->size;

    if (index == HOLDING_NONE || !deleverage_rank_opposes(state_holding(engine, index)->size, size))
        return;
    risk_refresh(engine, other);
    uint64_t quantity = deleverage_rank_bearable(engine, state_holding(engine, index), price);
    if (quantity > margin_abs(size))
        quantity = margin_abs(size);
    if (quantity != 0)
        deal_make(engine, leg->holding, index, quantity, price, DEAL_NETTING);
}

void netting_make(struct engine *engine, uint32_t index, uint32_t *units)
{
    const struct portfolio *portfolio = state_portfolio(engine, index);
    bool is_short = margin_equity(portfolio) < 0;
    int128 shares[LEGS_MAX];
    uint32_t looked_at = 0;
    struct legs legs;

    legs_make(engine, index, &legs);
    shares_make(engine, index, &legs, shares);
    for (uint32_t i = 0; i < legs.count; i++) {
        const struct leg *leg = &legs.rows[i];
        uint64_t price =
            price_of(&engine->markets.rows[leg->market], leg, is_short ? shares[i] : 0);
        uint32_t other = engine->accounts.rows[portfolio->account].portfolio_head;
        for (; other != PORTFOLIO_NONE && state_holding(engine, leg->holding)->size != 0;
             other = state_portfolio(engine, other)->account_next) {
            if (other == index)
                continue;
            looked_at++;
            net_against(engine, leg, other, price);
        }
    }
    uint32_t cost = looked_at > 1 ? looked_at : 1;
    *units -= cost < *units ? cost : *units;
    recheck_portfolio(engine, index);
}
