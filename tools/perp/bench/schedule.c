#include "perp/bench/schedule.h"

#include <math.h>
#include <stdlib.h>

const char *schedule_name(enum schedule_kind kind)
{
    static const char *const names[] = {
#define X(name) #name,
        SCHEDULE_LIST(X)
#undef X
    };

    INVARIANT(kind < SCHEDULE_COUNT);
    return names[kind];
}

/* splitmix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators). */
uint64_t schedule_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* The distance to the next request, in ns: 0 within a burst. */
static double distance(const struct schedule *schedule, uint32_t next, uint64_t *state)
{
    double mean = 1e9 / schedule->rate_per_s;

    if (schedule->kind == SCHEDULE_poisson)
        return -mean * log(((double)(schedule_random(state) >> 11) + 1) / 9007199254740993.0);
    if (schedule->kind == SCHEDULE_bursts)
        return next % schedule->burst == 0 ? mean * schedule->burst : 0;
    return mean;
}

uint64_t *schedule_make(const struct schedule *schedule, uint32_t most, uint32_t *count)
{
    uint64_t state = schedule->seed;
    uint64_t *due_ns;

    *count = 0;
    if (schedule->kind == SCHEDULE_closed)
        return NULL;
    INVARIANT(schedule->rate_per_s > 0 && schedule->burst > 0);
    due_ns = malloc(most * sizeof *due_ns);
    if (due_ns == NULL)
        return NULL;
    /* Not summed up where the distances are equal: rounding would move the last ones. */
    for (double at = 0; *count < most && at < (double)schedule->length_ns;) {
        due_ns[(*count)++] = (uint64_t)at;
        if (schedule->kind == SCHEDULE_constant)
            at = *count * 1e9 / schedule->rate_per_s;
        else
            at += distance(schedule, *count, &state);
    }
    return due_ns;
}
