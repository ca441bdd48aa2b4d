/* account_rate.h - how many requests an account may have executed: one bucket for its writes, one
 * for its cancels and reductions (W8), so that cancels go on without the first. A third
 * bounds all accounts together; of its last quarter an account has a fair share alone, so that few
 * which use all that is theirs never keep the others waiting.
 *
 * A bucket is one time (GCRA): when it will be full again. A request is charged after its signature
 * was found good, so that nobody can use up another's buckets. A placement that the engine refused
 * costs more, for an account of whose last 256 placements it refused more than half. An account of
 * the class `unfunded` has smaller buckets (W8, slots).
 *
 * Order. A bucket is advanced by compare-and-swap. No other memory is read through it, nor through
 *        the class of an account, which the matcher sets: relaxed.
 * Wait.  A swap is repeated only when another thread has just charged the same bucket.
 * Owner. The node makes the table; every net thread charges it.
 * Units. clock_monotonic_ns.
 * Bound. Eight words for each account that the exchange can have. */
#ifndef BASE_ACCOUNT_RATE_H
#define BASE_ACCOUNT_RATE_H

#include "base/compiler.h"

enum account_rate_kind { ACCOUNT_RATE_WRITE, ACCOUNT_RATE_CANCEL, ACCOUNT_RATE_KINDS };

enum {
    ACCOUNT_RATE_REFUSED = 2,
    ACCOUNT_RATE_JUDGED = 256,
    ACCOUNT_RATE_UNFUNDED_S = 10, /* writes of an unfunded account a second, or writes_s if less */
    ACCOUNT_RATE_UNFUNDED_BURST = 20, /* and at once, or burst if less */
    ACCOUNT_RATE_HALVINGS_MAX = 4,
    ACCOUNT_RATE_SHARED_PART = 4, /* the last 1/n of what all have is given by shares */
};

struct account_rate;

struct account_rate_limits {
    uint32_t accounts;    /* ids are below it */
    uint32_t writes_s;    /* writes of an account a second; cancels and reductions: twice that */
    uint32_t burst;       /* writes of an account at once, likewise */
    uint32_t total_s;     /* requests of all accounts a second */
    uint32_t total_burst; /* and at once, at least as many as one request can cost */
};

/* All limits are > 0. 0 or -ENOMEM. */
CC_MUST_USE int account_rate_create(struct account_rate **rates,
                                    const struct account_rate_limits *limits);
void account_rate_destroy(struct account_rate *rates);

/* A new account, in whose slot another one may have been: its buckets are full, none of its
 * placements was refused. `rates` NULL: nothing is limited. */
void account_rate_begin(struct account_rate *rates, uint64_t account_id);

/* The account is unfunded from here on, or no longer; at first it is not. Requests that are being
 * charged may be charged as before. NULL: there is no limit. */
void account_rate_set_unfunded(struct account_rate *rates, uint64_t account_id, bool is_unfunded);

/* From here on every account's writes a second, and its writes at once, are so many times halved,
 * at most ACCOUNT_RATE_HALVINGS_MAX; cancels and reductions are not. At first 0. One thread's.
 * NULL: there is no limit. */
void account_rate_slow(struct account_rate *rates, uint32_t halvings);
CC_MUST_USE uint32_t account_rate_halvings(const struct account_rate *rates);

/* Takes `cost` tokens. Returns 0, or the ms until the bucket has so many; then it has taken none.
 * What costs more than the bucket can hold waits until it is full, and owes the rest. While the
 * bucket of all accounts has less than a quarter, an account may take while it has taken less than
 * half as many in the present period, the time in which an empty bucket of all is full again: ms
 * until that, or the quarter, would be so if nobody took any. NULL: there is no limit. */
CC_MUST_USE uint64_t account_rate_take(struct account_rate *rates, uint64_t account_id,
                                       enum account_rate_kind kind, uint32_t cost, uint64_t now_ns);

/* The engine has judged placements of the account: bit i of `refused` is whether it refused the
 * i-th, of those whose bit in `placed` is set. Where more than half of the last 256 were refused,
 * each of these refusals costs ACCOUNT_RATE_REFUSED more writes. NULL: there is no limit. */
void account_rate_judge(struct account_rate *rates, uint64_t account_id, uint64_t placed,
                        uint64_t refused, uint64_t now_ns);

/* The tokens that the bucket has now. */
CC_MUST_USE uint64_t account_rate_remaining(const struct account_rate *rates, uint64_t account_id,
                                            enum account_rate_kind kind, uint64_t now_ns);

#endif
