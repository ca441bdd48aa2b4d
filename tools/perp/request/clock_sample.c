#include "perp/request/clock_sample.h"

enum { NS_PER_MS = 1000000 };

struct clock_sample clock_sample_make(uint64_t sent_ns, uint64_t round_trip_ns,
                                      uint64_t exchange_ns)
{
    return (struct clock_sample){
        .offset_ns = (int64_t)(exchange_ns - (sent_ns + round_trip_ns / 2)),
        .round_trip_ns = (int64_t)round_trip_ns,
        .exchange_ns = exchange_ns,
    };
}

/* An id made now is checked half a round trip later, when it arrives. */
enum clock_verdict clock_sample_judge(const struct clock_sample *sample,
                                      const struct clock_window *window)
{
    int64_t past = window->past_ms * NS_PER_MS, future = window->future_ms * NS_PER_MS;
    int64_t unsure = sample->round_trip_ns / 2;
    int64_t ahead = -sample->offset_ns, behind = sample->offset_ns;
    if (ahead > future || behind + unsure > past)
        return CLOCK_REFUSED;
    if (ahead + unsure > future / 2 || behind + unsure + sample->round_trip_ns > past / 2)
        return CLOCK_DRIFTING;
    return CLOCK_OK;
}
