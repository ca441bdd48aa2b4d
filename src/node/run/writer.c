#include "node/run/writer.h"

#include <errno.h>

int writer_make(struct core *core)
{
    const struct core_config *config = &core->config;
    struct segment_pool_config pool = {
        .disk = config->disk,
        .exchange = &core->exchange,
        .boot = core->recovered.boot,
        .first = core->recovered.position.segment,
        .existing_end = core->recovered.segment_end,
        .bytes_per_s = config->segment_bytes_per_s,
        .segment_bytes = config->segment_bytes,
        .ahead = SEGMENT_POOL_AHEAD_DEFAULT,
    };
    core->pool = segment_pool_create(&pool);
    if (core->pool == NULL)
        return -ENOMEM;
    int failed = segment_pool_fill(core->pool, clock_monotonic_ns(config->clock));
    if (failed != 0 && (failed != -ENOSPC || segment_pool_ready(core->pool) == 0))
        return failed; /* one prepared segment is enough on a full disk; alarm.h */

    struct journal_config journal = {
        .disk = config->disk,
        .exchange = &core->exchange,
        .pool = core->pool,
        .position = core->recovered.position,
        .witness = core->recovered.witness_slots,
        .clock = config->clock,
        .frames = &core->frames,
        .durability = config->durability,
        .boot = core->recovered.boot,
        .buffer_bytes = config->journal_buffer_bytes,
        .segment_bytes = config->segment_bytes,
        .frames_in_flight = config->frames_in_flight,
        .group_bytes = config->group_bytes,
        .frame_bytes_max = config->frame_bytes_max,
    };
    core->journal = journal_create(&journal);
    return core->journal == NULL ? -ENOMEM : 0;
}
