/* tier.h - initial and maintenance margin of a notional under a market's tiers (rules.md R4). Pure.
 *
 * Units. Notionals and margins micro-USDC, rates ppm.
 * Bound. Maintenance margin is of positions, N <= 2^60 (R1). Initial margin also covers the worst
 *        case of the resting orders. Their quantity times mark may pass 64 bits, hence int128. */
#ifndef ENGINE_TABLE_TIER_H
#define ENGINE_TABLE_TIER_H

#include "base/money.h"

enum { MARKET_LEVERAGE_DEFAULT = 20 }; /* or the market's maximum, if that is less (R4) */

/* One tier of a market's record, whose parser computes rates and deductions from bounds and
 * leverages. */
struct market_tier {
    uint64_t upper_notional; /* UINT64_MAX: no end, the last tier */
    int64_t initial_deduction;
    int64_t maintenance_deduction;
    uint32_t max_leverage;
    uint32_t imr_ppm;
    uint32_t mmr_ppm;
    uint32_t zero;
};

/* IM(N) for a notional of any size; the part that does not fit 62 bits. */
int128 tier_initial_wide(const struct market_tier *tiers, int128 notional, uint32_t leverage);

/* Sets the rates that the tier's max_leverage, above 0, gives. */
static inline void tier_set_rates(struct market_tier *tier)
{
    tier->imr_ppm = MONEY_PPM / tier->max_leverage;
    tier->mmr_ppm = tier->imr_ppm / 2;
}

/* Sets the deductions with which margins are the same on both sides of the end of `before`; both
 * have their rates and it has its deductions. */
void tier_set_deductions(struct market_tier *tier, const struct market_tier *before);

/* The highest rates: bounds of a margin's slope. */
uint32_t tier_imr_max(const struct market_tier *tiers, uint32_t count);
uint32_t tier_mmr_max(const struct market_tier *tiers, uint32_t count);

/* Returns tier k, the first with N <= upper_k. The last tier has no end, so there always is one. */
static inline const struct market_tier *tier_find(const struct market_tier *tiers,
                                                  uint64_t notional)
{
    while (CC_UNLIKELY(notional > tiers->upper_notional))
        tiers++;
    return tiers;
}

/* MM_m = max(0, cdiv(N * mmr_k, 1e6) - ded_k), notional <= 2^60. */
static inline int64_t tier_maintenance(const struct market_tier *tiers, uint64_t notional)
{
    const struct market_tier *tier = tier_find(tiers, notional);
    int64_t margin = money_ppm_up(notional, tier->mmr_ppm) - tier->maintenance_deduction;
    return margin > 0 ? margin : 0;
}

/* IM(N) = max(cdiv(N, leverage), cdiv(N * imr_k, 1e6) - ded_k). */
static inline int128 tier_initial(const struct market_tier *tiers, uint128 notional,
                                  uint32_t leverage)
{
    if (CC_UNLIKELY(notional >> 62 != 0))
        return tier_initial_wide(tiers, (int128)notional, leverage);
    uint64_t narrow = (uint64_t)notional;
    const struct market_tier *tier = tier_find(tiers, narrow);
    int64_t by_leverage = (int64_t)(leverage == MARKET_LEVERAGE_DEFAULT
                                        ? (narrow + MARKET_LEVERAGE_DEFAULT - 1) /
                                              MARKET_LEVERAGE_DEFAULT /* a multiplication */
                                        : (narrow + leverage - 1) / leverage);
    int64_t by_tier = money_ppm_up(narrow, tier->imr_ppm) - tier->initial_deduction;
    return by_leverage > by_tier ? by_leverage : by_tier;
}

#endif
