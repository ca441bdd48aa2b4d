#include "engine/table/adl.h"

#define FACTOR_MAX ((int128)1 << 62)

static int128 clamped(int128 value)
{
    if (value > FACTOR_MAX)
        return FACTOR_MAX;
    return value < -FACTOR_MAX ? -FACTOR_MAX : value;
}

int128 adl_score(int128 profit, int64_t cost, uint64_t notional, int128 equity)
{
    uint64_t paid = cost < 0 ? -(uint64_t)cost : (uint64_t)cost;
    int128 profit_rate = clamped(money_fdiv(profit * MONEY_PPM, paid > 1 ? paid : 1));
    int128 leverage = clamped(money_fdiv((int128)notional * MONEY_PPM, equity > 1 ? equity : 1));

    if (profit_rate >= 0)
        return money_fdiv(profit_rate * leverage, MONEY_PPM);
    return money_fdiv(profit_rate * MONEY_PPM, leverage > 1 ? leverage : 1);
}
