#include "engine/table/adl.h"

#define SCORE_MAX ((int128)1 << 62)

int128 adl_score(int128 profit, int64_t cost)
{
    uint64_t paid = cost < 0 ? -(uint64_t)cost : (uint64_t)cost;
    int128 rate = money_fdiv(profit * MONEY_PPM, paid > 1 ? paid : 1);

    if (rate > SCORE_MAX)
        return SCORE_MAX;
    return rate < -SCORE_MAX ? -SCORE_MAX : rate;
}
