#include "engine/table/adl.h"

int128 adl_score(int128 profit, int64_t cost)
{
    uint64_t paid = cost < 0 ? -(uint64_t)cost : (uint64_t)cost;
    int128 rate = money_fdiv(profit * MONEY_PPM, paid > 1 ? paid : 1);

    if (rate > ADL_SCORE_MAX)
        return ADL_SCORE_MAX;
    return rate < -ADL_SCORE_MAX ? -ADL_SCORE_MAX : rate;
}
