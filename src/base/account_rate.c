#include "base/account_rate.h"

#include <errno.h>
#include <stdlib.h>

#define SECOND_NS UINT64_C(1000000000)
#define MS_NS     UINT64_C(1000000)

struct account_rate {
    uint64_t interval_ns[ACCOUNT_RATE_KINDS]; /* the cost of one */
    uint64_t depth_ns[ACCOUNT_RATE_KINDS];    /* an empty bucket is full again after it */
    uint32_t accounts;
    struct {
        _Atomic uint64_t full_ns[ACCOUNT_RATE_KINDS];
    } rows[];
};

int account_rate_create(struct account_rate **rates, uint32_t accounts, uint32_t writes_s,
                        uint32_t burst)
{
    struct account_rate *made = calloc(1, sizeof *made + accounts * sizeof made->rows[0]);

    INVARIANT(accounts > 0 && writes_s > 0 && burst > 0);
    *rates = made;
    if (made == NULL)
        return -ENOMEM;
    made->accounts = accounts;
    made->interval_ns[ACCOUNT_RATE_WRITE] = SECOND_NS / writes_s;
    made->interval_ns[ACCOUNT_RATE_CANCEL] = SECOND_NS / (2 * (uint64_t)writes_s);
    made->depth_ns[ACCOUNT_RATE_WRITE] = burst * made->interval_ns[ACCOUNT_RATE_WRITE];
    made->depth_ns[ACCOUNT_RATE_CANCEL] =
        2 * (uint64_t)burst * made->interval_ns[ACCOUNT_RATE_CANCEL];
    return 0;
}

void account_rate_destroy(struct account_rate *rates)
{
    free(rates);
}

uint64_t account_rate_take(struct account_rate *rates, uint64_t account_id,
                           enum account_rate_kind kind, uint32_t cost, uint64_t now_ns)
{
    if (rates == NULL)
        return 0;
    INVARIANT(account_id < rates->accounts);
    _Atomic uint64_t *bucket = &rates->rows[account_id].full_ns[kind];
    const uint64_t cost_ns = cost * rates->interval_ns[kind];
    const uint64_t most_ns = now_ns + rates->depth_ns[kind];
    uint64_t full_ns = atomic_load_explicit(bucket, memory_order_relaxed);
    uint64_t next_ns;

    INVARIANT(cost_ns <= rates->depth_ns[kind]);
    do {
        next_ns = (full_ns > now_ns ? full_ns : now_ns) + cost_ns;
        if (next_ns > most_ns)
            return (next_ns - most_ns + MS_NS - 1) / MS_NS;
    } while (!atomic_compare_exchange_weak_explicit(bucket, &full_ns, next_ns, memory_order_relaxed,
                                                    memory_order_relaxed));
    return 0;
}

uint64_t account_rate_remaining(const struct account_rate *rates, uint64_t account_id,
                                enum account_rate_kind kind, uint64_t now_ns)
{
    INVARIANT(account_id < rates->accounts);
    uint64_t full_ns =
        atomic_load_explicit(&rates->rows[account_id].full_ns[kind], memory_order_relaxed);
    uint64_t missing_ns = full_ns > now_ns ? full_ns - now_ns : 0;

    /* Another thread may have charged at a later now_ns. */
    if (missing_ns > rates->depth_ns[kind])
        return 0;
    return (rates->depth_ns[kind] - missing_ns) / rates->interval_ns[kind];
}
