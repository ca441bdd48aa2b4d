/* disk_stall.h - whether this leader's disk has stopped: frames that count are not on it, and none
 * has come to it for a time (replication.md, A node).
 *
 * Owner. The journal's thread. Times are CLOCK_MONOTONIC, ns. */
#ifndef NODE_REPLICATOR_DISK_STALL_H
#define NODE_REPLICATOR_DISK_STALL_H

#include "base/compiler.h"

struct disk_stall {
    uint64_t durable;  /* at the last look */
    uint64_t since_ns; /* since when it lacks frames and writes none; 0: it does not */
};

/* A look: the last frame that is on this disk and counts, and the last one that counts in the log.
 * True once nothing has come to the disk for `most_ns` although it lacks frames. */
CC_MUST_USE bool disk_stall_look(struct disk_stall *stall, uint64_t durable, uint64_t landed,
                                 uint64_t most_ns, uint64_t now_ns);

#endif
