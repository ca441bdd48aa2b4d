#include "engine/table/tier.h"

int128 tier_initial_wide(const struct market_tier *tiers, int128 notional, uint32_t leverage)
{
    uint64_t narrow = notional >> 64 != 0 ? UINT64_MAX : (uint64_t)notional;
    const struct market_tier *tier = tier_find(tiers, narrow);
    int128 by_leverage = money_cdiv(notional, leverage);
    int128 by_tier = money_cdiv(notional * tier->imr_ppm, MONEY_PPM) - tier->initial_deduction;
    return by_leverage > by_tier ? by_leverage : by_tier;
}

uint32_t tier_imr_max(const struct market_tier *tiers, uint32_t count)
{
    uint32_t highest = 0;
    for (uint32_t k = 0; k < count; k++)
        highest = tiers[k].imr_ppm > highest ? tiers[k].imr_ppm : highest;
    return highest;
}

uint32_t tier_mmr_max(const struct market_tier *tiers, uint32_t count)
{
    uint32_t highest = 0;
    for (uint32_t k = 0; k < count; k++)
        highest = tiers[k].mmr_ppm > highest ? tiers[k].mmr_ppm : highest;
    return highest;
}

void tier_set_deductions(struct market_tier *tier, const struct market_tier *before)
{
    int128 edge = (int128)before->upper_notional;

    tier->initial_deduction =
        before->initial_deduction +
        (int64_t)money_cdiv(edge * (tier->imr_ppm - before->imr_ppm), MONEY_PPM);
    tier->maintenance_deduction =
        before->maintenance_deduction +
        (int64_t)money_cdiv(edge * (tier->mmr_ppm - before->mmr_ppm), MONEY_PPM);
}
