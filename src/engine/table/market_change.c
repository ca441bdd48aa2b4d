#include "engine/table/market_change.h"

enum { ROUNDING = MARKET_TIERS_MAX }; /* micro-USDC: largest effect of rounding on a margin */

static bool is_higher_at(const struct market_tier *next, const struct market_tier *now,
                         uint64_t notional)
{
    /* At this leverage only the tiers count. The caller compares the market's own leverage. */
    int128 next_initial = tier_initial(next, notional, UINT32_MAX);
    int128 now_initial = tier_initial(now, notional, UINT32_MAX);

    return next_initial > now_initial + ROUNDING ||
           tier_maintenance(next, notional) > tier_maintenance(now, notional) + ROUNDING;
}

/* Both margins are linear between the tiers' bounds, so it is enough to compare at the bounds. */
bool market_change_is_tighter(const struct market_record *next, const struct market_record *now)
{
    if (next->max_leverage < now->max_leverage && next->max_leverage < MARKET_LEVERAGE_DEFAULT)
        return true;
    for (uint32_t k = 0; k + 1 < next->tier_count; k++)
        if (is_higher_at(next->tiers, now->tiers, next->tiers[k].upper_notional))
            return true;
    for (uint32_t k = 0; k + 1 < now->tier_count; k++)
        if (is_higher_at(next->tiers, now->tiers, now->tiers[k].upper_notional))
            return true;
    return is_higher_at(next->tiers, now->tiers, MARKET_NOTIONAL_MAX);
}

static bool book_holds(const struct market_record *record)
{
    return record->mark_book_ppm == MARKET_BOOK_FOLLOWS ||
           record->mark_book_ppm <= record->tiers[0].mmr_ppm / 2;
}

bool market_change_keep_absent(struct market_record *next, const struct market_record *now)
{
    if ((next->absent & MARKET_ABSENT_BOOK) != 0)
        next->mark_book_ppm = now->mark_book_ppm;
    if ((next->absent & MARKET_ABSENT_SOURCES) != 0)
        next->oracle_sources_min = now->oracle_sources_min;
    if ((next->absent & MARKET_ABSENT_POSITION) != 0)
        next->position_limit = now->position_limit;
    if ((next->absent & MARKET_ABSENT_INTEREST) != 0)
        next->open_interest_limit = now->open_interest_limit;
    next->absent = 0;
    return book_holds(next);
}

enum operator_rule market_change_rule(const struct market_record *next,
                                      const struct market_record *now, bool is_tighter,
                                      uint64_t t_ns)
{
    if (memcmp(next->symbol, now->symbol, sizeof now->symbol) != 0)
        return OPERATOR_RULE_name_stays;
    if (next->price_decimals != now->price_decimals)
        return OPERATOR_RULE_decimals_stay;
    if (next->tick_size != now->tick_size)
        return OPERATOR_RULE_tick_stays;
    if (next->lot_size != now->lot_size)
        return OPERATOR_RULE_lot_stays;
    if (is_tighter && next->effective_at_ns == 0)
        return OPERATOR_RULE_notice_absent;
    if (!is_tighter && next->effective_at_ns != 0)
        return OPERATOR_RULE_notice_idle;
    if (is_tighter && next->effective_at_ns < t_ns + MARKET_NOTICE_NS)
        return OPERATOR_RULE_notice_short;
    return OPERATOR_RULE_none;
}
