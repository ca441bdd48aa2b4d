#include "engine/risk/fee.h"

#include "base/rule.h"
#include "engine/state/access.h"

/* R6's ladder. */
static const uint64_t thresholds[MARKET_FEE_TIERS] = {
    0,
    UINT64_C(5000000) * 1000000,
    UINT64_C(25000000) * 1000000,
    UINT64_C(100000000) * 1000000,
    UINT64_C(500000000) * 1000000,
    UINT64_C(2000000000) * 1000000,
};

/* Returns the volume of the 14 days that end with `last`, as far as the buckets have it. The newest
 * bucket is that of volume_day. */
static int128 volume_until(const struct account *account, uint32_t last)
{
    uint32_t day = account->volume_day, slot = day % ACCOUNT_VOLUME_DAYS, passed = last - day;
    uint32_t kept = ACCOUNT_VOLUME_DAYS;
    int128 sum = 0;

    if (day == 0)
        return 0;
    if (last > day)
        kept = passed < ACCOUNT_VOLUME_DAYS ? ACCOUNT_VOLUME_DAYS - passed : 0;
    for (; kept != 0; kept--) {
        sum += account->volume[slot];
        slot = slot == 0 ? ACCOUNT_VOLUME_DAYS - 1 : slot - 1;
    }
    return sum;
}

int128 fee_volume(const struct account *account, uint64_t t_ns)
{
    return volume_until(account, account_day(t_ns));
}

/* The tier that the volume made at 00:00 of the day of t. */
static uint8_t volume_tier(const struct account *account, uint64_t t_ns)
{
    uint32_t day = account_day(t_ns);
    uint8_t tier = MARKET_FEE_TIERS - 1;

    if (day == account->volume_day)
        return account->volume_tier;
    int128 volume = volume_until(account, day - 1);
    if (volume < (int128)thresholds[1])
        return 0;
    while (volume < (int128)thresholds[tier])
        tier--;
    return tier;
}

static uint8_t tier_in_force(const struct account *account, uint8_t by_volume)
{
    return account->tier_override == ACCOUNT_TIER_BY_VOLUME ? by_volume : account->tier_override;
}

uint8_t fee_tier(const struct account *account, uint64_t t_ns)
{
    return tier_in_force(account, volume_tier(account, t_ns));
}

bool fee_roll_day(struct account *account, uint64_t t_ns)
{
    uint32_t day = account_day(t_ns), passed = day - account->volume_day;
    uint8_t by_volume = volume_tier(account, t_ns), tier = tier_in_force(account, by_volume);
    bool is_changed = tier != account->fee_tier;
    INVARIANT(day >= account->volume_day);
    if (passed >= ACCOUNT_VOLUME_DAYS) { /* also the first day of an account */
        memset(account->volume, 0, sizeof account->volume);
        passed = 0;
    }
    for (uint32_t slot = day % ACCOUNT_VOLUME_DAYS; passed != 0; passed--) {
        account->volume[slot] = 0;
        slot = slot == 0 ? ACCOUNT_VOLUME_DAYS - 1 : slot - 1;
    }
    account->volume_tier = by_volume;
    account->volume_day = day;
    account->fee_tier = tier;
    return is_changed;
}

void fee_begin_day(struct engine *engine, uint32_t id)
{
    if (fee_roll_day(&engine->accounts.rows[id], engine->t_ns))
        account_emit(engine, id, ACCOUNT_WHAT_TIER);
}

enum status fee_set_tier(struct engine *engine, const struct command *command,
                         struct engine_result *result)
{
    uint32_t id = account_find(engine, cc_load64(command_body(command)));
    uint8_t tier = command_body(command)[8];

    (void)result;
    if (id == 0 || id == ACCOUNT_NONE)
        return ROW_STATUS(portfolio);
    if (!access_body_is_clean(command) ||
        (tier >= MARKET_FEE_TIERS && tier != ACCOUNT_TIER_BY_VOLUME))
        return STATUS_order_rejected_invalid;
    engine->accounts.rows[id].tier_override = tier;
    fee_begin_day(engine, id);
    return STATUS_request_completed;
}
