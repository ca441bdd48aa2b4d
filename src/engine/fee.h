/* fee.h - what a fill costs, and the volume it counts for (rules.md R6). Owned by the engine.
 *
 * Units. Notionals and fees micro-USDC, rates ppm. A negative fee is a rebate. */
#ifndef ENGINE_FEE_H
#define ENGINE_FEE_H

#include "base/money.h"
#include "engine/account.h"

enum { FEE_TIER = 0 }; /* of every account: tiers by volume are not in this rules version */

#define FEE_DAY_NS (UINT64_C(86400) * 1000000000)

/* cdiv(n * rate, 1e6); a rebate is -floor(n * |rate| / 1e6). notional <= 2^50. */
static inline int64_t fee_amount(uint64_t notional, int32_t rate_ppm)
{
    return rate_ppm >= 0 ? money_ppm_up(notional, (uint32_t)rate_ppm)
                         : -money_ppm_down(notional, (uint32_t)-rate_ppm);
}

/* Adds to the account's bucket of today (UTC), after rotating those that have passed. */
void fee_count_volume(struct account *account, uint64_t t_ns, uint64_t notional);

/* The 14-day volume as of t, today included; stores nothing. */
int128 fee_volume(const struct account *account, uint64_t t_ns);

#endif
