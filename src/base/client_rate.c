#include "base/client_rate.h"

#include <errno.h>
#include <stdlib.h>

#include "base/gcra.h"

#define SECOND_NS UINT64_C(1000000000)

enum { SET_ROWS = 8, SETS = CLIENT_RATE_ROWS / SET_ROWS };

/* All zeros: nobody's, with a full bucket. */
struct row {
    _Atomic uint64_t name; /* of the client and the kind; 0: nobody's */
    _Atomic uint64_t full_ns;
    _Atomic uint32_t refusals;
};

struct client_rate {
    uint64_t interval_ns[CLIENT_RATE_KINDS]; /* the cost of one */
    uint64_t depth_ns[CLIENT_RATE_KINDS];    /* an empty bucket is full again after it */
    uint32_t burst[CLIENT_RATE_KINDS];
    struct mix_key hash_key;
    struct row rows[SETS][SET_ROWS];
};

int client_rate_create(struct client_rate **rates,
                       const struct client_rate_limit limits[CLIENT_RATE_KINDS],
                       struct mix_key hash_key)
{
    struct client_rate *made = calloc(1, sizeof *made);

    *rates = made;
    if (made == NULL)
        return -ENOMEM;
    made->hash_key = hash_key;
    for (unsigned kind = 0; kind < CLIENT_RATE_KINDS; kind++) {
        INVARIANT(limits[kind].rate > 0 && limits[kind].burst > 0);
        made->interval_ns[kind] = SECOND_NS / limits[kind].rate;
        made->burst[kind] = limits[kind].burst;
        made->depth_ns[kind] = made->interval_ns[kind] * limits[kind].burst;
    }
    return 0;
}

void client_rate_destroy(struct client_rate *rates)
{
    free(rates);
}

/* The name under which a client's bucket of the kind is kept: a keyed permutation would do, a hash
 * of 64 bits that nobody can aim at does too. */
static uint64_t name_of(const struct client_rate *rates, enum client_rate_kind kind,
                        uint64_t client)
{
    uint64_t name = mix_fold(client ^ rates->hash_key.low, rates->hash_key.high | 1);
    name = mix_fold(name ^ ((uint64_t)kind + 1) * 0x9E3779B97F4A7C15u, rates->hash_key.low | 1);
    return name != 0 ? name : 1;
}

static uint64_t load(const _Atomic uint64_t *word)
{
    return atomic_load_explicit(word, memory_order_relaxed);
}

/* The row of the name, or NULL. */
static const struct row *find(const struct client_rate *rates, uint64_t name)
{
    const struct row *set = rates->rows[name % SETS];

    for (unsigned i = 0; i < SET_ROWS; i++)
        if (load(&set[i].name) == name)
            return &set[i];
    return NULL;
}

/* The row of the name. It is given the row whose bucket is full first if it has none. */
static struct row *claim(struct client_rate *rates, uint64_t name)
{
    struct row *set = rates->rows[name % SETS];

    for (;;) {
        struct row *least = &set[0];
        for (unsigned i = 0; i < SET_ROWS; i++) {
            if (load(&set[i].name) == name)
                return &set[i];
            if (load(&set[i].full_ns) < load(&least->full_ns))
                least = &set[i];
        }
        uint64_t owner = load(&least->name);
        if (owner == name ||
            !atomic_compare_exchange_strong_explicit(&least->name, &owner, name,
                                                     memory_order_relaxed, memory_order_relaxed))
            continue; /* another thread has just given it away */
        atomic_store_explicit(&least->full_ns, 0, memory_order_relaxed);
        atomic_store_explicit(&least->refusals, 0, memory_order_relaxed);
        return least;
    }
}

/* client_rate_take, with how much a refusal adds to the row of refusals. */
static uint64_t spend(struct client_rate *rates, enum client_rate_kind kind, uint64_t client,
                      uint32_t cost, uint64_t now_ns, uint32_t refusal)
{
    if (rates == NULL)
        return 0;
    struct row *row = claim(rates, name_of(rates, kind, client));
    uint64_t cost_ns =
        (cost < rates->burst[kind] ? cost : rates->burst[kind]) * rates->interval_ns[kind];
    uint64_t wait_ms = gcra_charge(&row->full_ns, cost_ns, rates->depth_ns[kind], now_ns);

    if (wait_ms != 0)
        atomic_fetch_add_explicit(&row->refusals, refusal, memory_order_relaxed);
    else if (atomic_load_explicit(&row->refusals, memory_order_relaxed) != 0)
        atomic_store_explicit(&row->refusals, 0, memory_order_relaxed);
    return wait_ms;
}

uint64_t client_rate_take(struct client_rate *rates, enum client_rate_kind kind, uint64_t client,
                          uint32_t cost, uint64_t now_ns)
{
    return spend(rates, kind, client, cost, now_ns, 1);
}

uint64_t client_rate_again(struct client_rate *rates, enum client_rate_kind kind, uint64_t client,
                           uint32_t cost, uint64_t now_ns)
{
    return spend(rates, kind, client, cost, now_ns, 0);
}

uint64_t client_rate_redeem(struct client_rate *rates, enum client_rate_kind kind, uint64_t client,
                            uint64_t now_ns)
{
    if (rates == NULL)
        return 0;
    struct row *row = claim(rates, name_of(rates, kind, client));
    return gcra_charge(&row->full_ns, rates->interval_ns[kind], rates->depth_ns[kind], now_ns);
}

void client_rate_owe(struct client_rate *rates, enum client_rate_kind kind, uint64_t client,
                     uint32_t cost, uint64_t now_ns)
{
    if (rates == NULL)
        return;
    struct row *row = claim(rates, name_of(rates, kind, client));

    gcra_owe(&row->full_ns, cost * rates->interval_ns[kind], now_ns);
}

uint32_t client_rate_refusals(const struct client_rate *rates, enum client_rate_kind kind,
                              uint64_t client)
{
    const struct row *row = rates == NULL ? NULL : find(rates, name_of(rates, kind, client));
    return row == NULL ? 0 : atomic_load_explicit(&row->refusals, memory_order_relaxed);
}

struct client_rate_state client_rate_state(const struct client_rate *rates,
                                           enum client_rate_kind kind, uint64_t client,
                                           uint64_t now_ns)
{
    if (rates == NULL)
        return (struct client_rate_state){ 0 };
    const struct row *row = find(rates, name_of(rates, kind, client));
    uint64_t full_ns = row == NULL ? 0 : load(&row->full_ns);
    uint64_t missing_ns = full_ns > now_ns ? full_ns - now_ns : 0;

    return (struct client_rate_state){
        .limit = rates->burst[kind],
        .remaining =
            gcra_remaining(full_ns, rates->interval_ns[kind], rates->depth_ns[kind], now_ns),
        .reset_s = (uint32_t)((missing_ns + SECOND_NS - 1) / SECOND_NS),
    };
}
