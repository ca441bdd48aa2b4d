#include "engine/trade/walk_debt.h"

#include "engine/state/state.h"

#define MS                UINT64_C(1000000)
#define BURST_NS          (16000 * MS)   /* an account owes at most so much, or enters no order */
#define UNFUNDED_NS       UINT64_C(8000) /* a maker, of all unfunded accounts together */
#define UNFUNDED_BURST_NS (1000 * MS)

/* What a maker costs an account. */
static uint64_t maker_ns(enum share_class class)
{
    static const uint64_t costs[SHARE_CLASS_COUNT] = {
        [SHARE_CLASS_unfunded] = 16 * MS,
        [SHARE_CLASS_small] = 2 * MS,
        [SHARE_CLASS_full] = MS / 4,
    };

    return costs[class];
}

static void owe(struct account *owner, uint64_t t_ns, uint64_t cost_ns)
{
    uint64_t from = owner->walk_paid_ns > t_ns ? owner->walk_paid_ns : t_ns;

    owner->walk_paid_ns = from + cost_ns;
}

void walk_debt_add(struct engine *engine, uint32_t account, uint32_t makers)
{
    struct account *rows = engine->accounts.rows;
    enum share_class class = (enum share_class)rows[account].share_class;

    owe(&rows[account], engine->t_ns, makers * maker_ns(class));
    if (class == SHARE_CLASS_unfunded)
        owe(&rows[0], engine->t_ns, makers * UNFUNDED_NS);
}

static uint64_t wait_ms(const struct account *owner, uint64_t t_ns, uint64_t burst_ns)
{
    if (CC_LIKELY(owner->walk_paid_ns <= t_ns + burst_ns))
        return 0;
    return (owner->walk_paid_ns - t_ns - burst_ns + MS - 1) / MS;
}

uint64_t walk_debt_wait_ms(const struct engine *engine, uint32_t account, uint64_t t_ns)
{
    const struct account *rows = engine->accounts.rows;
    uint64_t own = wait_ms(&rows[account], t_ns, BURST_NS);

    if (CC_LIKELY(rows[account].share_class != SHARE_CLASS_unfunded))
        return own;
    uint64_t together = wait_ms(&rows[0], t_ns, UNFUNDED_BURST_NS);
    return own > together ? own : together;
}
