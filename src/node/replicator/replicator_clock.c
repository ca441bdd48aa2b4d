/* replicator_clock.c - a standby's clock, judged by the frames of its leader (replication.md,
 * Clocks). */
#include "base/log.h"
#include "node/replicator/replicator_state.h"

void replicator_clock_look(struct replicator *replicator, const uint8_t *bytes, size_t count)
{
    struct record_view record;

    if (count <= FRAME_HEADER_BYTES ||
        record_decode(&record, bytes + FRAME_HEADER_BYTES, count - FRAME_HEADER_BYTES) < 0)
        return;
    lateness_add(&replicator->lateness, journal_cluster_last_frame(replicator->journal).boot,
                 (int64_t)(clock_now_ns(replicator->config.clock) - record.t_ns),
                 clock_monotonic_ns(replicator->config.clock));
    atomic_store_explicit(&replicator->clock_difference_ns, replicator->lateness.difference_ns,
                          memory_order_relaxed);
}

void replicator_clock_end(struct replicator *replicator)
{
    replicator->lateness = (struct lateness){ 0 };
    atomic_store_explicit(&replicator->clock_difference_ns, 0, memory_order_relaxed);
}

void replicator_clock_say(const struct replicator *replicator)
{
    const struct elect_status *status = &replicator->elect.status;
    bool is_first = replicator->last_frame == replicator->elect.genesis.frame;

    if (status->clock_wait_ns != 0)
        log_line(LOG_ERROR, "cluster",
                 "the clock of this leader was judged %ld ms off, and nobody else led for %lu ms: "
                 "look after the clocks, then hand over",
                 status->clock_difference_ns / 1000000, status->clock_wait_ns / 1000000);
    if (!status->is_judged && !is_first)
        log_line(LOG_WARN, "cluster",
                 "the clock of this leader is not judged: it has had no frame of another leader "
                 "since it began, or led");
}
