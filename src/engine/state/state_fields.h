/* state_fields.h - the fields of struct engine that are no tables, as lists: those in the image, by
 * the version of its section, and those that are not. Owned by the engine. */
#ifndef ENGINE_STATE_STATE_FIELDS_H
#define ENGINE_STATE_STATE_FIELDS_H

#include "engine/state/state.h"

/* clang-format off */
#define STATE_FIELDS(X) \
    X(deposits) X(sequence) X(t_ns) X(boot) X(rules_version) X(clock_step_ns) X(fee_account) \
    X(withdrawals_pending) X(effects.lanes) X(faucet) X(top_ups) X(withdrawals_settled) \
    X(funding_count) X(fund_paid) X(fund_paid_day)
#define STATE_FIELDS_3(X) \
    X(deposits) X(sequence) X(t_ns) X(boot) X(rules_version) X(clock_step_ns) X(fee_account) \
    X(withdrawals_pending) X(effects.lanes) X(faucet) X(top_ups) X(withdrawals_settled) \
    X(funding_count)
#define STATE_FIELDS_1(X) \
    X(deposits) X(sequence) X(t_ns) X(boot) X(rules_version) X(clock_step_ns) X(fee_account) \
    X(withdrawals_pending) X(effects.lanes)
#define STATE_CONFIGURATION(X) X(configuration_bytes) X(configuration)
#define STATE_CACHES(X) X(effects.count) X(effects.wide) X(zero)
/* clang-format on */

#endif
