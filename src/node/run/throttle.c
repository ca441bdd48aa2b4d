#include "node/run/throttle.h"

#define NS_PER_S  UINT64_C(1000000000)
#define NS_PER_MS UINT64_C(1000000)

/* Measures a second, without a bound. */
static void measure(struct throttle *throttle, uint64_t sequence, uint64_t now_ns)
{
    uint64_t passed_ns = now_ns - throttle->seen_ns;

    if (passed_ns < NS_PER_S)
        return;
    throttle->rate = (uint64_t)((uint128)(sequence - throttle->seen) * NS_PER_S / passed_ns);
    throttle->seen = sequence;
    throttle->seen_ns = now_ns;
}

bool throttle_holds(struct throttle *throttle, bool halves, uint64_t sequence, uint64_t now_ns)
{
    if (throttle->seen_ns == 0) {
        throttle->seen_ns = now_ns;
        throttle->seen = sequence;
    }
    if (!halves) {
        throttle->halves = false;
        measure(throttle, sequence, now_ns);
        return false;
    }
    if (!throttle->halves) {
        throttle->halves = true;
        throttle->tokens = 0;
        throttle->seen_ns = now_ns;
        throttle->seen = sequence;
    }
    uint64_t half = throttle->rate / 2 > THROTTLE_LEAST ? throttle->rate / 2 : THROTTLE_LEAST;
    throttle->tokens -= (int64_t)(sequence - throttle->seen) * 1000;
    throttle->seen = sequence;
    /* In whole milliseconds: half a sequence a ms is 500 of them. */
    uint64_t passed_ms = (now_ns - throttle->seen_ns) / NS_PER_MS;
    throttle->seen_ns += passed_ms * NS_PER_MS;
    throttle->tokens += (int64_t)(half * passed_ms);
    if (throttle->tokens > (int64_t)(half * 100))
        throttle->tokens = (int64_t)(half * 100);
    return throttle->tokens < 0;
}
