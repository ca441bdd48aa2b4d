#include "node/match/stopped_clock.h"

#include "base/log.h"

enum { CONFIRM_BODY_BYTES = 16 }; /* W3a: 1011 */

/* Whether this time, `waited_ns` after the known one was left, opens no gap. */
static bool is_right(const struct stopped_clock *stopped, uint64_t wall_ns, uint64_t waited_ns)
{
    return wall_ns >= stopped->known_ns &&
           wall_ns - stopped->known_ns <= stopped->gap_max_ns + waited_ns;
}

enum stopped_clock_verdict stopped_clock_judge(struct stopped_clock *stopped, struct clock *clock,
                                               uint64_t gap_max_ns, uint64_t last_t_ns,
                                               uint64_t witness_ns)
{
    uint64_t wall_ns = clock_wall_ns(clock), now_ns = clock_monotonic_ns(clock);

    if (stopped->asked_ns == 0)
        stopped->asked_ns = now_ns;
    stopped->clock = clock;
    stopped->gap_max_ns = gap_max_ns;
    stopped->known_ns = witness_ns > last_t_ns ? witness_ns : last_t_ns;
    if (is_right(stopped, wall_ns, 0))
        return STOPPED_CLOCK_GOES;
    if (wall_ns < stopped->known_ns && now_ns - stopped->asked_ns < STOPPED_CLOCK_WAIT_NS)
        return STOPPED_CLOCK_WAITS;
    stopped->judged_ns = now_ns;
    stopped->ticked_ns = now_ns;
    stopped->is_open = true;
    int64_t gap_ns = (int64_t)(wall_ns - stopped->known_ns);
    /* relaxed: shown, and read by its own thread. */
    atomic_store_explicit(&stopped->gap_ns, gap_ns, memory_order_relaxed);
    clock_hold(clock, last_t_ns);
    log_line(LOG_WARN, "clock",
             "clock_gap_ns=%ld: the clock is %s the last known time by that much; all markets are "
             "halted and time stands still. Put the clock right, or if it is right run `perp admin "
             "clock confirm`",
             gap_ns, gap_ns > 0 ? "ahead of" : "behind");
    return STOPPED_CLOCK_STANDS;
}

int64_t stopped_clock_gap_ns(const struct stopped_clock *stopped)
{
    return atomic_load_explicit(&stopped->gap_ns, memory_order_relaxed); /* see above */
}

bool stopped_clock_is_right(const struct stopped_clock *stopped)
{
    return is_right(stopped, clock_wall_ns(stopped->clock),
                    clock_monotonic_ns(stopped->clock) - stopped->judged_ns);
}

void stopped_clock_end(struct stopped_clock *stopped, uint64_t t_ns)
{
    int64_t gap_ns = stopped_clock_gap_ns(stopped);
    uint64_t at_ns = t_ns;

    if (stopped_clock_is_right(stopped))
        at_ns = clock_wall_ns(stopped->clock);
    else if (gap_ns > 0)
        at_ns = stopped->known_ns + (uint64_t)gap_ns + clock_monotonic_ns(stopped->clock) -
                stopped->judged_ns;
    clock_release(stopped->clock, at_ns > t_ns ? at_ns : t_ns);
    stopped->is_open = false;
    atomic_store_explicit(&stopped->gap_ns, 0, memory_order_relaxed); /* see above */
    log_line(LOG_INFO, "clock", "the gap of %ld ns is confirmed: time goes on from %lu", gap_ns,
             clock_now_ns(stopped->clock));
}

bool stopped_clock_author(struct sequencer *sequencer, int64_t gap_ns)
{
    struct engine_result result;
    uint8_t body[CONFIRM_BODY_BYTES] = { 0 };

    cc_store64(body, (uint64_t)gap_ns);
    return sequencer_author_hash(sequencer) &&
           sequencer_author(sequencer, REQUEST_clock_confirm, body, sizeof body, &result);
}

bool stopped_clock_ticks(struct stopped_clock *stopped, uint64_t interval_ns)
{
    uint64_t now_ns = clock_monotonic_ns(stopped->clock);

    if (now_ns - stopped->ticked_ns < interval_ns)
        return false;
    stopped->ticked_ns = now_ns;
    return true;
}
