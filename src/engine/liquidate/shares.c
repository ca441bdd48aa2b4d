#include "engine/liquidate/shares.h"

#include "engine/risk/margin.h"

/* Of all legs: what a frozen one has lost stays with it. */
static int128 sum_of_losses(const struct engine *engine, const struct portfolio *portfolio)
{
    int128 sum = 0;

    for (uint32_t at = portfolio->holding_head; at != HOLDING_NONE;
         at = engine->holdings.rows[at].next)
        if (engine->holdings.rows[at].size != 0)
            sum += margin_loss(engine, &engine->holdings.rows[at]);
    return sum;
}

/* What the leg adds of a deficit that no leg shows. */
static int128 hidden_share(const struct market *market, const struct leg *leg, int128 hidden,
                           int128 maintenance)
{
    int128 share = money_cdiv(hidden * leg->maintenance, maintenance);
    int128 value = (int128)margin_abs(leg->size) * (int128)market->mark;
    int128 most = money_fdiv(value * market->record.tiers[0].mmr_ppm, MONEY_PPM);

    return share < most ? share : most;
}

void shares_make(const struct engine *engine, uint32_t index, const struct legs *legs,
                 int128 *shares)
{
    const struct portfolio *portfolio = &engine->portfolios.rows[index];
    int128 equity = margin_equity(portfolio), maintenance = portfolio->maintenance;
    int128 deficit = -equity, losses = equity < 0 ? sum_of_losses(engine, portfolio) : 0;
    int128 shown = deficit < losses ? deficit : losses;

    INVARIANT(maintenance > 0); /* every position has one (R4) */
    for (uint32_t i = 0; i < legs->count; i++) {
        const struct leg *leg = &legs->rows[i];
        if (equity >= 0) {
            shares[i] = money_fdiv(equity * leg->maintenance, maintenance);
            continue;
        }
        int128 loss = margin_loss(engine, &engine->holdings.rows[leg->holding]);
        shares[i] = losses == 0 ? 0 : -money_cdiv(shown * loss, losses);
        if (deficit > losses)
            shares[i] -= hidden_share(&engine->markets.rows[leg->market], leg, deficit - losses,
                                      maintenance);
    }
}
