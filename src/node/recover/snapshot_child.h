/* snapshot_child.h - the snapshotter's child: `perpd --snapshot`, spawned, never forked, out of
 * everybody's way (roles.md, Snapshots and history).
 *
 *   perpd, background thread                    perpd --snapshot DATA LAST BYTES PARENT POLICY
 *   begin ── posix_spawn /proc/self/exe ──>     SCHED_IDLE, nice 19, idle I/O; dies with its parent
 *   poll  <── exit code ──────────────────      writes `snapshot_wanted`, folds, writes, verifies
 *
 * `snapshot_wanted` names a process and the first segment that it needs: none from there on is
 * retired while that process lives.
 *
 * Owner. The background thread; the child is a process of its own. */
#ifndef NODE_RECOVER_SNAPSHOT_CHILD_H
#define NODE_RECOVER_SNAPSHOT_CHILD_H

#include <sys/types.h>

#include "node/recover/recover.h"
#include "node/recover/snapshotter.h"

#define SNAPSHOT_CHILD_FLAG "--snapshot"

struct snapshot_child {
    struct disk *disk;
    const struct exchange_file *exchange;  /* may be filled in later, as may `engines` */
    const struct recover_engines *engines; /* say how much memory an engine takes */
    const char *data;                      /* path of the data directory */
    uint32_t segment_bytes;
    pid_t pid; /* 0: none */
};

/* The host that spawns processes. `child` outlives it; its pid is zero. */
struct snapshotter_host snapshot_child_host(struct snapshot_child *child);

/* What the process does: argv as above. Its exit code. */
CC_MUST_USE int snapshot_child_main(int argc, const char *const *argv);

/* The work alone: the state at the end of `last_segment` as a snapshot that was read back. */
CC_MUST_USE enum refusal_kind snapshot_child_fold(struct disk *disk,
                                                  const struct exchange_file *exchange,
                                                  uint32_t segment_bytes, uint64_t last_segment,
                                                  struct refusal *refusal);

/* snapshot_wanted: written for process `pid`; whether one that lives wants segments, from *first
 * on; removed. */
CC_MUST_USE int snapshot_child_want(struct disk *disk, const struct exchange_file *exchange,
                                    pid_t pid);
CC_MUST_USE bool snapshot_child_wanted(struct disk *disk, const struct exchange_file *exchange,
                                       uint64_t *first);
void snapshot_child_unwant(struct disk *disk);

#endif
