#include "engine/account/grant.h"

#include "engine/state/state.h"

#define GRANT_SECOND_NS UINT64_C(1000000000)

bool grant_expiry(const struct engine *engine, uint64_t asked_ns, uint64_t *expires_ns)
{
    uint64_t life_s = state_option(engine, OPTION_limits_session_life_default_s);
    uint64_t longest_s = state_option(engine, OPTION_limits_session_life_max_s);

    *expires_ns = asked_ns != 0 ? asked_ns : engine->t_ns + life_s * GRANT_SECOND_NS;
    return *expires_ns > engine->t_ns && *expires_ns <= engine->t_ns + longest_s * GRANT_SECOND_NS;
}

bool grant_pin_is_within(const struct credential *giver, int32_t pin)
{
    return giver->pin == CREDENTIAL_NO_PIN || pin == giver->pin;
}

bool grant_pin_exists(const struct engine *engine, uint32_t account, int32_t pin)
{
    return pin == CREDENTIAL_NO_PIN ||
           (uint32_t)pin < engine->accounts.rows[account].subaccount_count;
}
