#include "node/serve/restart_bound.h"

#include "base/log.h"

#define LOOK_NS UINT64_C(1000000000)

enum { FIRST_STEP = 1024 };

static void mark(struct restart_bound *bound, uint64_t sequence)
{
    bound->marks[bound->count++] = (struct restart_mark){ sequence, bound->spent_ns };
}

/* Leaves out every second mark, and the next ones come at twice the distance. */
static void thin(struct restart_bound *bound)
{
    for (uint32_t i = 0; i < RESTART_BOUND_MARKS / 2; i++)
        bound->marks[i] = bound->marks[2 * i];
    bound->count = RESTART_BOUND_MARKS / 2;
    bound->step *= 2;
}

void restart_bound_begin(struct restart_bound *bound, uint64_t from, uint64_t sequence,
                         uint64_t spent_ns)
{
    bound->step = FIRST_STEP;
    bound->count = 0;
    bound->spent_ns = 0;
    mark(bound, from);
    restart_bound_add(bound, sequence, spent_ns);
}

void restart_bound_add(struct restart_bound *bound, uint64_t sequence, uint64_t spent_ns)
{
    bound->spent_ns += spent_ns;
    if (bound->count == 0 || sequence - bound->marks[bound->count - 1].sequence < bound->step)
        return;
    if (bound->count == RESTART_BOUND_MARKS)
        thin(bound);
    mark(bound, sequence);
}

/* The time of the commands above `sequence`, and drops the marks that no later snapshot needs. */
static uint64_t spent_above(struct restart_bound *bound, uint64_t sequence)
{
    uint32_t at = 0;

    if (bound->count == 0)
        return 0;
    while (at + 1 < bound->count && bound->marks[at + 1].sequence <= sequence)
        at++;
    memmove(&bound->marks[0], &bound->marks[at], (bound->count - at) * sizeof bound->marks[0]);
    bound->count -= at;
    return bound->spent_ns - bound->marks[0].spent_ns;
}

void restart_bound_step(struct restart_bound *bound, uint64_t now_ns)
{
    uint32_t before = (uint32_t)published_get(&bound->halvings), halvings = 0;

    if (bound->snapshot == NULL || now_ns < bound->look_ns)
        return;
    bound->look_ns = now_ns + LOOK_NS;
    uint64_t estimate_ns = spent_above(bound, published_get(bound->snapshot));
    published_set(&bound->estimate_ns, estimate_ns);
    if (estimate_ns > bound->target_ns)
        halvings = before < ACCOUNT_RATE_HALVINGS_MAX ? before + 1 : before;
    if (halvings == before)
        return;
    account_rate_slow(bound->rates, halvings);
    published_set(&bound->halvings, halvings);
    log_line(halvings == 0 ? LOG_INFO : LOG_WARN, "restart",
             "a start would replay for %lu ms: writes of an account are at 1/%u of their rate",
             estimate_ns / 1000000, 1u << halvings);
}
