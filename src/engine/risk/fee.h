/* fee.h - what a fill costs, the volume it counts for, and the tier that follows (rules.md R6).
 * Owned by the engine.
 *
 * The tier of a UTC day D is the highest whose threshold the volume of the days D-14 to D-1
 * reaches. It is made, and the buckets are rotated, when the account is first touched on D: as the
 * taker of a walk, or as a maker that a walk meets. Whenever that is, it comes to the tier that a
 * computation at 00:00 of D would have made. An operator's override (1009) is in force instead of
 * it; the volume's goes on beneath.
 *
 * Units. Notionals and fees micro-USDC, rates ppm. A negative fee is a rebate.
 * Bound. A bucket stops at 2^64 - 1. */
#ifndef ENGINE_RISK_FEE_H
#define ENGINE_RISK_FEE_H

#include "base/money.h"
#include "engine/state/state.h"

/* cdiv(n * rate, 1e6); a rebate is -floor(n * |rate| / 1e6). notional <= 2^50. */
static inline int64_t fee_amount(uint64_t notional, int32_t rate_ppm)
{
    return rate_ppm >= 0 ? money_ppm_up(notional, (uint32_t)rate_ppm)
                         : -money_ppm_down(notional, (uint32_t)-rate_ppm);
}

/* The 14-day volume as of t, today included; stores nothing. */
int128 fee_volume(const struct account *account, uint64_t t_ns);

/* The tier in force at t; stores nothing. */
uint8_t fee_tier(const struct account *account, uint64_t t_ns);

/* Makes the tier of the day of t, then empties the buckets that are of no use any more. The day is
 * not before the account's. True when the tier has changed. */
bool fee_roll_day(struct account *account, uint64_t t_ns);

/* fee_roll_day of an account, and the effect 2119 of a changed tier. */
void fee_begin_day(struct engine *engine, uint32_t account);

/* Code 1009: the operator's tier, or the volume's again, from now on. */
CC_MUST_USE enum status fee_set_tier(struct engine *engine, const struct command *command,
                                     struct engine_result *result);

/* What comes before the tier of an account is used: a comparison, but for its first of a day. */
static inline void fee_refresh(struct engine *engine, uint32_t account)
{
    if (CC_UNLIKELY(state_account(engine, account)->volume_day != account_day(engine->t_ns)))
        fee_begin_day(engine, account);
}

/* Returns an account's bucket of the day of t: today's once it is refreshed. */
static inline uint64_t *fee_volume_today(struct account *account, uint64_t t_ns)
{
    return &account->volume[account_day(t_ns) % ACCOUNT_VOLUME_DAYS];
}

/* Adds to a bucket of today. */
static inline void fee_count_volume(uint64_t *bucket, uint64_t notional)
{
    if (CC_UNLIKELY(__builtin_add_overflow(*bucket, notional, bucket)))
        *bucket = UINT64_MAX;
}

#endif
