#include "engine/risk/stress.h"

/* What the position has won since the mark that its market's gap began at: the losses that the gap
 * made are not borne yet. */
static int128 won_in_gap(const struct market *market, int64_t size)
{
    if (CC_LIKELY(!market->in_gap))
        return 0;
    int128 won = ((int128)market->mark - (int128)market->checked_mark) * size;
    return won > 0 ? won : 0;
}

int128 stress_of_holding(const struct engine *engine, const struct holding *holding,
                         struct rests rests)
{
    const struct market *market = &engine->markets.rows[holding->market];
    int128 won = won_in_gap(market, holding->size);
    if (CC_LIKELY(!market_is_frozen(engine, holding->market)))
        return won;
    uint64_t worst = rests_worst(holding->size, rests.buys, rests.sells);
    if (worst == 0)
        return won;
    return won + (int128)market_stress(engine, holding->market, (uint128)worst * market->mark);
}

int128 stress_of_portfolio(const struct engine *engine, uint32_t index, uint32_t without)
{
    int128 stress = 0;

    for (uint32_t at = engine->portfolios.rows[index].holding_head; at != HOLDING_NONE;
         at = engine->holdings.rows[at].next)
        if (engine->holdings.rows[at].market != without)
            stress += stress_of_holding(engine, &engine->holdings.rows[at],
                                        rests_now(&engine->holdings.rows[at]));
    return stress;
}
