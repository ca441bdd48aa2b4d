#include "base/account_rate.h"

#include <errno.h>
#include <stdlib.h>

#define SECOND_NS UINT64_C(1000000000)
#define MS_NS     UINT64_C(1000000)

enum { JUDGED_WORDS = ACCOUNT_RATE_JUDGED / 64 };

struct row {
    _Atomic uint64_t full_ns[ACCOUNT_RATE_KINDS];
    _Atomic uint64_t refused[JUDGED_WORDS]; /* a bit for each of the last placements */
    _Atomic uint64_t judged;                /* placements so far */
};

struct account_rate {
    uint64_t interval_ns[ACCOUNT_RATE_KINDS]; /* the cost of one */
    uint64_t depth_ns[ACCOUNT_RATE_KINDS];    /* an empty bucket is full again after it */
    uint64_t total_interval_ns;
    uint64_t total_depth_ns;
    _Atomic uint64_t total_full_ns;
    uint32_t accounts;
    struct row rows[];
};

int account_rate_create(struct account_rate **rates, const struct account_rate_limits *limits)
{
    struct account_rate *made = calloc(1, sizeof *made + limits->accounts * sizeof made->rows[0]);

    INVARIANT(limits->accounts > 0 && limits->writes_s > 0 && limits->burst > 0);
    INVARIANT(limits->total_s > 0 && limits->total_burst > 0);
    *rates = made;
    if (made == NULL)
        return -ENOMEM;
    made->accounts = limits->accounts;
    made->interval_ns[ACCOUNT_RATE_WRITE] = SECOND_NS / limits->writes_s;
    made->interval_ns[ACCOUNT_RATE_CANCEL] = SECOND_NS / (2 * (uint64_t)limits->writes_s);
    made->depth_ns[ACCOUNT_RATE_WRITE] = limits->burst * made->interval_ns[ACCOUNT_RATE_WRITE];
    made->depth_ns[ACCOUNT_RATE_CANCEL] =
        2 * (uint64_t)limits->burst * made->interval_ns[ACCOUNT_RATE_CANCEL];
    made->total_interval_ns = SECOND_NS / limits->total_s;
    made->total_depth_ns = limits->total_burst * made->total_interval_ns;
    return 0;
}

void account_rate_destroy(struct account_rate *rates)
{
    free(rates);
}

/* Advances a bucket by the cost. The ms until it has so much; then it is as it was. */
static uint64_t advance(_Atomic uint64_t *bucket, uint64_t cost_ns, uint64_t depth_ns,
                        uint64_t now_ns)
{
    const uint64_t most_ns = now_ns + depth_ns;
    uint64_t full_ns = atomic_load_explicit(bucket, memory_order_relaxed);
    uint64_t next_ns;

    INVARIANT(cost_ns <= depth_ns);
    do {
        next_ns = (full_ns > now_ns ? full_ns : now_ns) + cost_ns;
        if (next_ns > most_ns)
            return (next_ns - most_ns + MS_NS - 1) / MS_NS;
    } while (!atomic_compare_exchange_weak_explicit(bucket, &full_ns, next_ns, memory_order_relaxed,
                                                    memory_order_relaxed));
    return 0;
}

uint64_t account_rate_take(struct account_rate *rates, uint64_t account_id,
                           enum account_rate_kind kind, uint32_t cost, uint64_t now_ns)
{
    if (rates == NULL)
        return 0;
    INVARIANT(account_id < rates->accounts);
    _Atomic uint64_t *bucket = &rates->rows[account_id].full_ns[kind];
    const uint64_t cost_ns = cost * rates->interval_ns[kind];
    uint64_t wait_ms = advance(bucket, cost_ns, rates->depth_ns[kind], now_ns);

    if (wait_ms != 0)
        return wait_ms;
    wait_ms = advance(&rates->total_full_ns, cost * rates->total_interval_ns, rates->total_depth_ns,
                      now_ns);
    if (wait_ms != 0) /* nothing is executed: the account has its tokens back */
        atomic_fetch_sub_explicit(bucket, cost_ns, memory_order_relaxed);
    return wait_ms;
}

/* Whether more than half of the account's last placements were refused. */
static bool is_careless(const struct row *row)
{
    unsigned refused = 0;

    for (unsigned i = 0; i < JUDGED_WORDS; i++)
        refused += (unsigned)__builtin_popcountll(
            atomic_load_explicit(&row->refused[i], memory_order_relaxed));
    return refused > ACCOUNT_RATE_JUDGED / 2;
}

void account_rate_judge(struct account_rate *rates, uint64_t account_id, uint64_t placed,
                        uint64_t refused, uint64_t now_ns)
{
    if (rates == NULL || placed == 0)
        return;
    INVARIANT(account_id < rates->accounts);
    struct row *row = &rates->rows[account_id];
    uint32_t dear = 0;

    for (; placed != 0; placed &= placed - 1) {
        const uint64_t one = placed & -placed;
        const uint64_t at =
            atomic_fetch_add_explicit(&row->judged, 1, memory_order_relaxed) % ACCOUNT_RATE_JUDGED;
        const uint64_t bit = UINT64_C(1) << at % 64;
        if ((refused & one) == 0) {
            atomic_fetch_and_explicit(&row->refused[at / 64], ~bit, memory_order_relaxed);
            continue;
        }
        atomic_fetch_or_explicit(&row->refused[at / 64], bit, memory_order_relaxed);
        dear += is_careless(row);
    }
    if (dear == 0)
        return;
    /* Not bounded by the bucket: else who keeps it empty would pay nothing. Each refusal was paid
     * for once, so what is in flight bounds it. */
    _Atomic uint64_t *bucket = &row->full_ns[ACCOUNT_RATE_WRITE];
    const uint64_t cost_ns =
        (uint64_t)dear * ACCOUNT_RATE_REFUSED * rates->interval_ns[ACCOUNT_RATE_WRITE];
    uint64_t full_ns = atomic_load_explicit(bucket, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(bucket, &full_ns,
                                                  (full_ns > now_ns ? full_ns : now_ns) + cost_ns,
                                                  memory_order_relaxed, memory_order_relaxed))
        ;
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
