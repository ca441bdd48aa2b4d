#include "base/newcomer_rate.h"

#include <errno.h>
#include <stdlib.h>

#include "base/gcra.h"

#define SECOND_NS UINT64_C(1000000000)

/* IPv4 addresses are the prefixes below this one (rate_limit.h), which nobody has. */
#define IPV4_MARK UINT64_C(0xffff)

enum { IPV4_BITS = 32, IPV4_HOST_BITS = 8 /* /24 */, IPV6_SITE_BITS = 16 /* /48 of /64 */ };

/* All zeros: nobody's, with a full bucket. */
struct row {
    _Atomic uint64_t name; /* of the address; 0: nobody's */
    _Atomic uint64_t full_ns;
};

struct newcomer_rate {
    uint64_t interval_ns; /* the cost of one */
    uint64_t depth_ns;    /* an empty bucket is full again after it */
    struct mix_key hash_key;
    struct row rows[NEWCOMER_RATE_SETS][NEWCOMER_RATE_ADDRESSES];
};

int newcomer_rate_create(struct newcomer_rate **rate, uint32_t burst, uint32_t life_s,
                         struct mix_key hash_key)
{
    INVARIANT(burst > 0 && life_s > 0);
    struct newcomer_rate *made = calloc(1, sizeof *made);

    *rate = made;
    if (made == NULL)
        return -ENOMEM;
    made->hash_key = hash_key;
    made->interval_ns = life_s * SECOND_NS / burst;
    made->depth_ns = made->interval_ns * burst;
    return 0;
}

void newcomer_rate_destroy(struct newcomer_rate *rate)
{
    free(rate);
}

static uint64_t load(const _Atomic uint64_t *word)
{
    return atomic_load_explicit(word, memory_order_relaxed);
}

/* 64 bits of an address or of a prefix that nobody can aim at; not 0. */
static uint64_t name_of(const struct newcomer_rate *rate, uint64_t value)
{
    uint64_t name = mix_fold(value ^ rate->hash_key.low, rate->hash_key.high | 1);
    name = mix_fold(name ^ rate->hash_key.high, rate->hash_key.low | 1);
    return name != 0 ? name : 1;
}

/* The number of the set in which the address has its row. */
static size_t set_of(const struct newcomer_rate *rate, uint64_t address)
{
    bool is_ipv4 = address >> IPV4_BITS == IPV4_MARK;
    uint64_t prefix = address >> (is_ipv4 ? IPV4_HOST_BITS : IPV6_SITE_BITS);

    return name_of(rate, prefix) % NEWCOMER_RATE_SETS;
}

/* The row in which the address would be charged: its own, or that which owes least. */
static size_t row_of(const struct newcomer_rate *rate, size_t set, uint64_t name)
{
    const struct row *rows = rate->rows[set];
    size_t least = 0;

    for (size_t i = 0; i < NEWCOMER_RATE_ADDRESSES; i++) {
        if (load(&rows[i].name) == name)
            return i;
        if (load(&rows[i].full_ns) < load(&rows[least].full_ns))
            least = i;
    }
    return least;
}

uint64_t newcomer_rate_take(struct newcomer_rate *rate, uint64_t address, uint64_t now_ns)
{
    if (rate == NULL)
        return 0;
    uint64_t name = name_of(rate, address);
    size_t set = set_of(rate, address);
    struct row *row = &rate->rows[set][row_of(rate, set, name)];
    uint64_t wait_ms = gcra_charge(&row->full_ns, rate->interval_ns, rate->depth_ns, now_ns);

    if (wait_ms == 0)
        atomic_store_explicit(&row->name, name, memory_order_relaxed);
    return wait_ms;
}

uint32_t newcomer_rate_remaining(const struct newcomer_rate *rate, uint64_t address,
                                 uint64_t now_ns)
{
    if (rate == NULL)
        return UINT32_MAX;
    size_t set = set_of(rate, address);
    uint64_t full_ns = load(&rate->rows[set][row_of(rate, set, name_of(rate, address))].full_ns);

    return gcra_remaining(full_ns, rate->interval_ns, rate->depth_ns, now_ns);
}
