#include "repl/lateness.h"

#include <string.h>

#define SECOND_NS UINT64_C(1000000000)

/* The least of the last seconds, `newest` among them. */
static int64_t least_of(const struct lateness *lateness, uint64_t newest)
{
    int64_t least_ns = INT64_MAX;

    for (uint64_t i = 0; i < LATENESS_SECONDS; i++)
        if (lateness->seconds[i].number != 0 &&
            lateness->seconds[i].number + LATENESS_SECONDS > newest &&
            lateness->seconds[i].least_ns < least_ns)
            least_ns = lateness->seconds[i].least_ns;
    return least_ns;
}

void lateness_add(struct lateness *lateness, uint64_t term, int64_t late_ns, uint64_t now_ns)
{
    uint64_t number = now_ns / SECOND_NS + 1;
    uint64_t at = number % LATENESS_SECONDS;

    if (lateness->term != term) {
        lateness->term = term;
        lateness->began_ns = now_ns;
        memset(lateness->seconds, 0, sizeof lateness->seconds);
    }
    if (lateness->seconds[at].number != number) {
        lateness->seconds[at].number = number;
        lateness->seconds[at].least_ns = late_ns;
    }
    if (late_ns < lateness->seconds[at].least_ns)
        lateness->seconds[at].least_ns = late_ns;
    lateness->has_second |= now_ns - lateness->began_ns >= SECOND_NS;
    if (!lateness->has_second || now_ns - lateness->began_ns >= SECOND_NS)
        lateness->difference_ns = least_of(lateness, number);
}

uint64_t lateness_off(int64_t difference_ns)
{
    return difference_ns < 0 ? -(uint64_t)difference_ns : (uint64_t)difference_ns;
}

uint64_t lateness_wait(int64_t difference_ns, uint64_t bound_ns)
{
    uint64_t off_ns = lateness_off(difference_ns);

    if (off_ns <= bound_ns)
        return 0;
    return LATENESS_WAIT_NS + (off_ns < LATENESS_OFF_MAX_NS ? off_ns : LATENESS_OFF_MAX_NS);
}
