#include "engine/fee.h"

/* The buckets of days that have begun since the newest one are empty. */
static void rotate(struct account *account, uint32_t day)
{
    uint32_t passed = day - account->volume_day;

    if (account->volume_day == 0 || passed > ACCOUNT_VOLUME_DAYS)
        passed = ACCOUNT_VOLUME_DAYS;
    for (uint32_t i = 0; i < passed; i++)
        account->volume[(day - i) % ACCOUNT_VOLUME_DAYS] = 0;
    account->volume_day = day;
}

void fee_count_volume(struct account *account, uint64_t t_ns, uint64_t notional)
{
    uint32_t day = (uint32_t)(t_ns / FEE_DAY_NS);

    if (CC_UNLIKELY(day != account->volume_day))
        rotate(account, day);
    account->volume[day % ACCOUNT_VOLUME_DAYS] += notional;
}

int128 fee_volume(const struct account *account, uint64_t t_ns)
{
    uint32_t day = (uint32_t)(t_ns / FEE_DAY_NS);
    int128 sum = 0;

    if (account->volume_day == 0)
        return 0;
    for (uint32_t age = 0; age < ACCOUNT_VOLUME_DAYS; age++) {
        uint32_t bucket_day = account->volume_day - age;
        if (bucket_day + ACCOUNT_VOLUME_DAYS > day)
            sum += account->volume[bucket_day % ACCOUNT_VOLUME_DAYS];
    }
    return sum;
}
