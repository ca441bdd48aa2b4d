/* clock_sample.h - how far this machine's clock is from the exchange's, and what that means for
 * request ids (wire.md W5).
 *
 * A sample is one GET of the exchange's time. Had both ways taken the same time, the exchange's
 * clock was read in the middle of the round trip; whatever they took, it was read within it, so the
 * offset is known to half a round trip. The sample of the shortest round trip says most.
 *
 * Units. Nanoseconds; an offset is the exchange's clock minus this machine's.
 * Owner. Pure functions. */
#ifndef PERP_REQUEST_CLOCK_SAMPLE_H
#define PERP_REQUEST_CLOCK_SAMPLE_H

#include "base/compiler.h"

struct clock_sample {
    int64_t offset_ns;
    int64_t round_trip_ns; /* the offset is known to half of it */
    uint64_t exchange_ns;  /* what the exchange said */
};

/* Ids from `past_ms` behind to `future_ms` ahead of the exchange's clock are taken. */
struct clock_window {
    int64_t past_ms, future_ms;
};

enum clock_verdict {
    CLOCK_OK,
    CLOCK_DRIFTING, /* more than half of the way to an edge, as far as one can tell */
    CLOCK_REFUSED,  /* beyond an edge */
};

/* From this machine's clock before the request, the round trip, and the answer. */
struct clock_sample clock_sample_make(uint64_t sent_ns, uint64_t round_trip_ns,
                                      uint64_t exchange_ns);

enum clock_verdict clock_sample_judge(const struct clock_sample *sample,
                                      const struct clock_window *window);

#endif
