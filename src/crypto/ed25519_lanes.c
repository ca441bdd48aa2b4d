#include "crypto/ed25519_lanes.h"

bool ed25519_lanes_supported(void)
{
    return false;
}

static uint64_t not_supported(unsigned count)
{
    INVARIANT(count == 0); /* ed25519_lanes_supported is false */
    return 0;
}

uint64_t ed25519_lanes_cached(const struct ed25519_job *jobs, unsigned count)
{
    (void)jobs;
    return not_supported(count);
}

uint64_t ed25519_lanes_split(const struct ed25519_job *jobs, unsigned count)
{
    (void)jobs;
    return not_supported(count);
}

uint64_t ed25519_lanes_uncached(const struct ed25519_job *jobs, unsigned count)
{
    (void)jobs;
    return not_supported(count);
}
