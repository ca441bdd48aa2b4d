#include "base/account_rate.h"

#include <errno.h>
#include <stdlib.h>

#include "base/account_id.h"
#include "base/gcra.h"

#define SECOND_NS UINT64_C(1000000000)

enum { JUDGED_WORDS = ACCOUNT_RATE_JUDGED / 64 };

struct row {
    _Atomic uint64_t full_ns[ACCOUNT_RATE_KINDS];
    _Atomic uint64_t refused[JUDGED_WORDS]; /* a bit for each of the last placements */
    _Atomic uint32_t judged;                /* placements so far, modulo 2^32 */
    _Atomic uint32_t is_unfunded;
    _Atomic uint64_t taken; /* the period << 32 | tokens taken in it */
};

/* What a bucket of a kind holds, for accounts alike. */
struct size {
    uint64_t interval_ns; /* the cost of one */
    uint64_t depth_ns;    /* an empty bucket is full again after it */
};

struct account_rate {
    struct size sizes[2][ACCOUNT_RATE_KINDS]; /* [is_unfunded] */
    struct size total;
    _Atomic uint64_t total_full_ns;
    _Atomic uint32_t halvings; /* of writes */
    uint32_t accounts;
    struct row rows[];
};

/* Cancels have twice the rate and twice the burst. */
static void set_sizes(struct size sizes[ACCOUNT_RATE_KINDS], uint64_t writes_s, uint64_t burst)
{
    for (uint64_t kind = 0; kind < ACCOUNT_RATE_KINDS; kind++) {
        uint64_t times = kind == ACCOUNT_RATE_CANCEL ? 2 : 1;
        sizes[kind].interval_ns = SECOND_NS / (times * writes_s);
        sizes[kind].depth_ns = times * burst * sizes[kind].interval_ns;
    }
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

int account_rate_create(struct account_rate **rates, const struct account_rate_limits *limits)
{
    struct account_rate *made = calloc(1, sizeof *made + limits->accounts * sizeof made->rows[0]);

    INVARIANT(limits->accounts > 0 && limits->writes_s > 0 && limits->burst > 0);
    INVARIANT(limits->total_s > 0 && limits->total_burst > 0);
    *rates = made;
    if (made == NULL)
        return -ENOMEM;
    made->accounts = limits->accounts;
    set_sizes(made->sizes[false], limits->writes_s, limits->burst);
    set_sizes(made->sizes[true], least(limits->writes_s, ACCOUNT_RATE_UNFUNDED_S),
              least(limits->burst, ACCOUNT_RATE_UNFUNDED_BURST));
    made->total.interval_ns = SECOND_NS / limits->total_s;
    made->total.depth_ns = limits->total_burst * made->total.interval_ns;
    return 0;
}

void account_rate_destroy(struct account_rate *rates)
{
    free(rates);
}

void account_rate_set_unfunded(struct account_rate *rates, uint64_t account_id, bool is_unfunded)
{
    if (rates == NULL)
        return;
    INVARIANT(account_id_slot(account_id) < rates->accounts);
    atomic_store_explicit(&rates->rows[account_id_slot(account_id)].is_unfunded, is_unfunded,
                          memory_order_relaxed);
}

void account_rate_begin(struct account_rate *rates, uint64_t account_id)
{
    if (rates == NULL)
        return;
    INVARIANT(account_id_slot(account_id) < rates->accounts);
    struct row *row = &rates->rows[account_id_slot(account_id)];

    for (unsigned kind = 0; kind < ACCOUNT_RATE_KINDS; kind++)
        atomic_store_explicit(&row->full_ns[kind], 0, memory_order_relaxed);
    for (unsigned i = 0; i < JUDGED_WORDS; i++)
        atomic_store_explicit(&row->refused[i], 0, memory_order_relaxed);
    atomic_store_explicit(&row->judged, 0, memory_order_relaxed);
    atomic_store_explicit(&row->taken, 0, memory_order_relaxed);
}

/* relaxed, both: it decides how much the next request costs, and no memory is read through it. */
void account_rate_slow(struct account_rate *rates, uint32_t halvings)
{
    INVARIANT(halvings <= ACCOUNT_RATE_HALVINGS_MAX);
    if (rates != NULL)
        atomic_store_explicit(&rates->halvings, halvings, memory_order_relaxed);
}

uint32_t account_rate_halvings(const struct account_rate *rates)
{
    return rates == NULL ? 0 : atomic_load_explicit(&rates->halvings, memory_order_relaxed);
}

static struct size size_of(const struct account_rate *rates, const struct row *row,
                           enum account_rate_kind kind)
{
    bool is_unfunded = atomic_load_explicit(&row->is_unfunded, memory_order_relaxed) != 0;
    struct size size = rates->sizes[is_unfunded][kind];

    if (kind == ACCOUNT_RATE_WRITE) /* a dearer write, and the same time to fill: fewer fit */
        size.interval_ns <<= account_rate_halvings(rates);
    return size;
}

/* Advances a bucket by the cost. The ms until it has so much, or is full; then it is as it was. */
static uint64_t advance(_Atomic uint64_t *bucket, uint64_t cost_ns, uint64_t depth_ns,
                        uint64_t now_ns)
{
    return gcra_charge(bucket, cost_ns, cost_ns > depth_ns ? cost_ns : depth_ns, now_ns);
}

/* Periods are as long as the bucket of all takes to fill. */
static uint64_t period_of(const struct account_rate *rates, uint64_t now_ns)
{
    return now_ns / rates->total.depth_ns & UINT32_MAX;
}

/* Tokens that the account has taken in the present period. */
static uint64_t taken_of(const struct account_rate *rates, const struct row *row, uint64_t now_ns)
{
    const uint64_t taken = atomic_load_explicit(&row->taken, memory_order_relaxed);

    return taken >> 32 == period_of(rates, now_ns) ? taken & UINT32_MAX : 0;
}

static void count_taken(const struct account_rate *rates, struct row *row, uint32_t cost,
                        uint64_t now_ns)
{
    const uint64_t period = period_of(rates, now_ns);
    uint64_t taken = atomic_load_explicit(&row->taken, memory_order_relaxed);
    uint64_t next;

    do {
        next = taken >> 32 == period ? taken + cost : period << 32 | cost;
    } while (!atomic_compare_exchange_weak_explicit(&row->taken, &taken, next, memory_order_relaxed,
                                                    memory_order_relaxed));
}

/* The ms until the account may take of what all accounts have, where little of it is left. */
static uint64_t share_wait(const struct account_rate *rates, const struct row *row, uint64_t now_ns)
{
    const struct size *total = &rates->total;
    const uint64_t full_ns = atomic_load_explicit(&rates->total_full_ns, memory_order_relaxed);
    const uint64_t missing_ns = full_ns > now_ns ? full_ns - now_ns : 0;
    const uint64_t free_ns = missing_ns < total->depth_ns ? total->depth_ns - missing_ns : 0;
    const uint64_t enough_ns = total->depth_ns / ACCOUNT_RATE_SHARED_PART;
    const uint64_t twice_ns = 2 * taken_of(rates, row, now_ns) * total->interval_ns;

    if (free_ns >= enough_ns || twice_ns < free_ns || twice_ns == 0)
        return 0;
    const uint64_t more_ns = (twice_ns + 1 < enough_ns ? twice_ns + 1 : enough_ns) - free_ns;
    const uint64_t period_ns = total->depth_ns - now_ns % total->depth_ns;
    return ((more_ns < period_ns ? more_ns : period_ns) + GCRA_MS_NS - 1) / GCRA_MS_NS;
}

uint64_t account_rate_take(struct account_rate *rates, uint64_t account_id,
                           enum account_rate_kind kind, uint32_t cost, uint64_t now_ns)
{
    if (rates == NULL)
        return 0;
    INVARIANT(account_id_slot(account_id) < rates->accounts);
    struct row *row = &rates->rows[account_id_slot(account_id)];
    const struct size size = size_of(rates, row, kind);
    _Atomic uint64_t *bucket = &row->full_ns[kind];
    const uint64_t cost_ns = cost * size.interval_ns;
    uint64_t wait_ms = advance(bucket, cost_ns, size.depth_ns, now_ns);

    if (wait_ms != 0)
        return wait_ms;
    wait_ms = share_wait(rates, row, now_ns);
    if (wait_ms == 0)
        wait_ms = advance(&rates->total_full_ns, cost * rates->total.interval_ns,
                          rates->total.depth_ns, now_ns);
    if (wait_ms != 0) /* nothing is executed: the account has its tokens back */
        atomic_fetch_sub_explicit(bucket, cost_ns, memory_order_relaxed);
    else
        count_taken(rates, row, cost, now_ns);
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
    INVARIANT(account_id_slot(account_id) < rates->accounts);
    struct row *row = &rates->rows[account_id_slot(account_id)];
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
        (uint64_t)dear * ACCOUNT_RATE_REFUSED * size_of(rates, row, ACCOUNT_RATE_WRITE).interval_ns;
    gcra_owe(bucket, cost_ns, now_ns);
}

uint64_t account_rate_remaining(const struct account_rate *rates, uint64_t account_id,
                                enum account_rate_kind kind, uint64_t now_ns)
{
    INVARIANT(account_id_slot(account_id) < rates->accounts);
    const struct row *row = &rates->rows[account_id_slot(account_id)];
    const struct size size = size_of(rates, row, kind);
    const uint64_t full_ns = atomic_load_explicit(&row->full_ns[kind], memory_order_relaxed);

    return gcra_remaining(full_ns, size.interval_ns, size.depth_ns, now_ns);
}
