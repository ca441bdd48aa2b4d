/* clock_sample.h - measures the offset between this machine's clock and the exchange's, and judges
 * it for request ids (wire.md W5).
 *
 * A sample is one GET of the exchange's time. The exchange's clock was read within the round trip,
 * so that the offset is known to half a round trip. The sample with the shortest round trip is the
 * best one.
 *
 * Units. Nanoseconds; an offset is the exchange's clock minus this machine's.
 * Owner. Pure functions. */
#ifndef PERP_REQUEST_CLOCK_SAMPLE_H
#define PERP_REQUEST_CLOCK_SAMPLE_H

#include "base/compiler.h"

struct clock_sample {
    int64_t offset_ns;
    int64_t round_trip_ns; /* the offset is known to half of it */
    uint64_t exchange_ns;  /* the exchange's answer */
};

/* Ids from `past_ms` before to `future_ms` after the exchange's clock are accepted. */
struct clock_window {
    int64_t past_ms, future_ms;
};

enum clock_verdict {
    CLOCK_OK,
    CLOCK_DRIFTING, /* more than half way to an edge, as far as it is known */
    CLOCK_REFUSED,  /* beyond an edge */
};

/* From this machine's clock before the request, the round trip, and the answer. */
struct clock_sample clock_sample_make(uint64_t sent_ns, uint64_t round_trip_ns,
                                      uint64_t exchange_ns);

enum clock_verdict clock_sample_judge(const struct clock_sample *sample,
                                      const struct clock_window *window);

#endif
