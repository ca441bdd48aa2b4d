/* reason.h - why a status or an order state came about (wire.md, Enum codes).
 *
 * 0 is none; 1 to 127 are the statuses of that number; the list below begins at 128. */
#ifndef BASE_REASON_H
#define BASE_REASON_H

#include "base/compiler.h"

/* clang-format off */
#define REASON_LIST(X) \
    X(match_limit) X(mmp_frozen) X(batch_aborted) X(already_credited) X(max_sessions_exceeded) \
    X(limit_reached) X(subaccount_not_permitted) X(read_only_key) X(portfolio_not_active) \
    X(portfolio_not_empty) X(portfolio_not_closed) X(subaccount_not_active) \
    X(subaccount_not_closed) X(withdrawal_pending) X(insufficient_free_equity) \
    X(invalid_parameter) X(faucet_limit_exceeded) X(user_cancel) X(cancel_all) X(time_in_force) \
    X(reduce_only) X(oco) X(dead_man) X(disconnect) X(mmp) X(liquidation) X(market_state) \
    X(operator) X(market_gap) X(insurance_fund_deficit) X(invalid_destination)
/* clang-format on */

enum reason {
    REASON_none = 0,
    REASON_FIRST = 128,
    REASON_before_first = REASON_FIRST - 1,
#define X(name) REASON_##name,
    REASON_LIST(X)
#undef X
        REASON_END
};

/* Returns the name of a reason: NULL for none, that of the status for 1 to 127, "" for a number
 * outside both lists. Static storage. */
const char *reason_name(uint32_t reason);

#endif
