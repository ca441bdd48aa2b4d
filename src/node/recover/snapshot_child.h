/* snapshot_child.h - the snapshotter's child: `perpd --snapshot`, spawned, never forked, at idle
 * priority (roles.md, Snapshots and history).
 *
 *   perpd, background thread                    perpd --snapshot DATA LAST BYTES PARENT POLICY
 *   begin ── posix_spawn /proc/self/exe ──>     SCHED_IDLE, nice 19, idle I/O; dies with its parent
 *   poll  <── exit code ──────────────────      writes `snapshot_wanted`, folds, writes, verifies
 *
 * `snapshot_wanted` names a process and the first segment that it needs. While that process lives,
 * no segment from there on is retired.
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
    const struct exchange_file *exchange;  /* may be filled later, as may `engines` */
    const struct recover_engines *engines; /* tell how much memory an engine uses */
    const char *data;                      /* path of the data directory */
    uint32_t segment_bytes;
    pid_t pid; /* 0: none */
};

/* The host that spawns processes. `child`, whose pid is 0, outlives it. */
struct snapshotter_host snapshot_child_host(struct snapshot_child *child);

/* The main function of the child, argv as above. Returns its exit code. */
CC_MUST_USE int snapshot_child_main(int argc, const char *const *argv);

/* The file snapshot_wanted: written for process `pid`; whether a living process needs segments,
 * from *first on; removed. */
CC_MUST_USE int snapshot_child_want(struct disk *disk, const struct exchange_file *exchange,
                                    pid_t pid);
CC_MUST_USE bool snapshot_child_wanted(struct disk *disk, const struct exchange_file *exchange,
                                       uint64_t *first);
void snapshot_child_unwant(struct disk *disk);

#endif
