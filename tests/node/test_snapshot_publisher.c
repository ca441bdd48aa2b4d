/* Which snapshot of a node is shown to its cluster, and when (replication.md, Snapshots in the
 * vault). */
#include "base/log.h"
#include "check.h"
#include "core_rig.h"
#include "node/replicator/snapshot_publisher.h"
#include "store/segment.h"

#define SECOND_NS UINT64_C(1000000000)

static struct steward steward;

/* The sequence that is shown; 0: none. */
static uint64_t look(struct snapshot_publisher *publisher, uint64_t now_ns)
{
    (void)snapshot_publisher_step(publisher, now_ns);
    return atomic_load(&steward.is_offered) && !steward.is_in_vault ? steward.offer.sequence : 0;
}

/* The newest one ends a segment only when the next one has a frame, which may come late. */
int main(void)
{
    static uint8_t frame[DISK_ALIGNMENT], none[DISK_ALIGNMENT];
    char path[DISK_PATH_BYTES];
    struct vault_snapshot found;

    log_set_level(LOG_NOTHING);
    core_rig_make();
    core_rig_start();
    const struct published *made = &core_rig.core.snapshotter.counters.snapshots;
    for (int i = 0; i < 400 && published_get(made) == 0; i++)
        core_rig_run(8);
    core_rig_settle();
    const struct vault vault = { .exchange = &core_rig.core.exchange,
                                 .node = "a",
                                 .segment_bytes = CORE_RIG_SEGMENT_BYTES };
    struct snapshot_publisher publisher = { .vault = &vault,
                                            .journal = core_rig.disk,
                                            .steward = &steward };
    CHECK(vault_snapshot_find(&vault, core_rig.disk, &found) == 1);
    segment_path(path, found.segment + 1, true);
    disk_sim_peek(core_rig.disk, path, SEGMENT_FRAMES_OFFSET, frame, sizeof frame);
    disk_sim_poke(core_rig.disk, path, SEGMENT_FRAMES_OFFSET, none, sizeof none);
    CHECK(look(&publisher, SECOND_NS) == 0);
    disk_sim_poke(core_rig.disk, path, SEGMENT_FRAMES_OFFSET, frame, sizeof frame);
    CHECK(look(&publisher, 12 * SECOND_NS) == found.sequence);
    /* Once: the next step has nothing to show. */
    atomic_store(&steward.is_offered, false);
    CHECK(look(&publisher, 30 * SECOND_NS) == 0);
    /* Again, if etcd refused its key: not at once. */
    atomic_store(&steward.is_refused, true);
    CHECK(look(&publisher, 40 * SECOND_NS) == 0);
    CHECK(look(&publisher, 49 * SECOND_NS) == 0);
    CHECK(look(&publisher, 50 * SECOND_NS) == found.sequence);
    atomic_store(&steward.is_offered, false);
    CHECK(look(&publisher, 60 * SECOND_NS) == 0);
    core_rig_kill();
    core_rig_free();
    return 0;
}
