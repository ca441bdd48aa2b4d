/* account_rate.h - how many requests an account may have executed: one bucket for its writes, one
 * for its cancels and reductions (W8), so that who has used up the first can still cancel.
 *
 * A bucket is one time (GCRA): when it will be full again. A request is charged after its signature
 * was found good, so that nobody can use up another's buckets.
 *
 * Order. A bucket is advanced by compare-and-swap. No other memory is read through it: relaxed.
 * Wait.  A swap is repeated only when another thread has just charged the same bucket.
 * Owner. The node makes the table; every net thread charges it.
 * Units. clock_monotonic_ns.
 * Bound. Two words for each account that the exchange can have. */
#ifndef BASE_ACCOUNT_RATE_H
#define BASE_ACCOUNT_RATE_H

#include "base/compiler.h"

enum account_rate_kind { ACCOUNT_RATE_WRITE, ACCOUNT_RATE_CANCEL, ACCOUNT_RATE_KINDS };

struct account_rate;

/* `writes_s` requests a second and `burst` at once, both > 0, for each account of ids below
 * `accounts`; twice that of cancels and reductions. 0 or -ENOMEM. */
CC_MUST_USE int account_rate_create(struct account_rate **rates, uint32_t accounts,
                                    uint32_t writes_s, uint32_t burst);
void account_rate_destroy(struct account_rate *rates);

/* Takes `cost` tokens, which is at most the burst. Returns 0, or the ms until the bucket has so
 * many; then it has taken none. NULL: there is no limit. */
CC_MUST_USE uint64_t account_rate_take(struct account_rate *rates, uint64_t account_id,
                                       enum account_rate_kind kind, uint32_t cost, uint64_t now_ns);

/* The tokens that the bucket has now. */
CC_MUST_USE uint64_t account_rate_remaining(const struct account_rate *rates, uint64_t account_id,
                                            enum account_rate_kind kind, uint64_t now_ns);

#endif
