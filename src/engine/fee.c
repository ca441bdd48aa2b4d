#include "engine/fee.h"

#include "engine/access.h"

/* R6's ladder. */
static const uint64_t thresholds[MARKET_FEE_TIERS] = {
    0,
    UINT64_C(5000000) * 1000000,
    UINT64_C(25000000) * 1000000,
    UINT64_C(100000000) * 1000000,
    UINT64_C(500000000) * 1000000,
    UINT64_C(2000000000) * 1000000,
};

/* The volume of the 14 days that end with `last`, as far as it is in the buckets. */
static int128 volume_until(const struct account *account, uint32_t last)
{
    int128 sum = 0;

    if (account->volume_day == 0)
        return 0;
    for (uint32_t age = 0; age < ACCOUNT_VOLUME_DAYS; age++) {
        uint32_t day = account->volume_day - age;
        if (day + ACCOUNT_VOLUME_DAYS > last)
            sum += account->volume[day % ACCOUNT_VOLUME_DAYS];
    }
    return sum;
}

int128 fee_volume(const struct account *account, uint64_t t_ns)
{
    return volume_until(account, fee_day(t_ns));
}

/* The tier that the volume made at 00:00 of the day of t. */
static uint8_t volume_tier(const struct account *account, uint64_t t_ns)
{
    uint32_t day = fee_day(t_ns);
    uint8_t tier = MARKET_FEE_TIERS - 1;

    if (day == account->volume_day)
        return account->volume_tier;
    int128 volume = volume_until(account, day - 1);
    while (volume < (int128)thresholds[tier])
        tier--;
    return tier;
}

uint8_t fee_tier(const struct account *account, uint64_t t_ns)
{
    return account->tier_override == ACCOUNT_TIER_BY_VOLUME ? volume_tier(account, t_ns)
                                                            : account->tier_override;
}

bool fee_turn_day(struct account *account, uint64_t t_ns)
{
    uint32_t day = fee_day(t_ns), passed = day - account->volume_day;
    uint8_t tier = fee_tier(account, t_ns);
    bool is_changed = tier != account->fee_tier;

    account->volume_tier = volume_tier(account, t_ns);
    INVARIANT(day >= account->volume_day);
    if (passed > ACCOUNT_VOLUME_DAYS)
        passed = ACCOUNT_VOLUME_DAYS;
    for (uint32_t i = 0; i < passed; i++)
        account->volume[(day - i) % ACCOUNT_VOLUME_DAYS] = 0;
    account->volume_day = day;
    account->fee_tier = tier;
    return is_changed;
}

void fee_begin_day(struct engine *engine, uint32_t id)
{
    if (fee_turn_day(&engine->accounts.rows[id], engine->t_ns))
        account_tell(engine, id, ACCOUNT_WHAT_TIER);
}

enum status fee_set_tier(struct engine *engine, const struct command *command,
                         struct engine_result *result)
{
    uint64_t id = cc_load64(command_body(command));
    uint8_t tier = command_body(command)[8];

    (void)result;
    if (id == 0 || account_find(engine, id) == NULL)
        return STATUS_rejected_invalid_portfolio_id;
    if (!access_body_is_clean(command) ||
        (tier >= MARKET_FEE_TIERS && tier != ACCOUNT_TIER_BY_VOLUME))
        return STATUS_order_rejected_invalid;
    engine->accounts.rows[id].tier_override = tier;
    fee_begin_day(engine, (uint32_t)id);
    return STATUS_request_completed;
}
