/* disk_sim.h - the disk seam in memory: a disk that is lawful and as unkind as the law allows.
 *
 * Writes complete out of order under a seed; a power loss keeps any subset of the blocks that were
 * not yet synced (so a write may be torn at every block) and any prefix of each folder's names that
 * were not yet synced. Calls fail on request. Single thread; nothing blocks.
 *
 *   run 1: disk_sim_create -> journal ... disk_sim_crash -> run 2: recovery ... on the same disk
 *
 * Order.  A write that is in flight or not synced is a *version* of its blocks: a crash leaves the
 *         durable bytes of a block or any version written since, each block by itself.
 * Bound.  Files live in memory: use small segments. */
#ifndef TESTS_SUPPORT_SIM_DISK_SIM_H
#define TESTS_SUPPORT_SIM_DISK_SIM_H

#include "store/disk.h"

struct disk_sim_config {
    uint64_t seed;
    uint32_t block_bytes; /* 512 or 4,096 */
    uint32_t latency_max; /* a write ends at one of the next 1..latency_max reaps; 0: by hand */
    uint64_t bytes_max;   /* space of the disk: -ENOSPC beyond; 0: endless */
};

/* Calls that can be made to fail, counted together from 1 since the last disk_sim_fail. */
enum disk_sim_fault {
    DISK_SIM_EIO, /* the call fails; of a write, any of its blocks may have been written */
    DISK_SIM_ENOSPC,
    DISK_SIM_SHORT /* an asynchronous write stops at a block; any other call: as EIO */
};

/* An empty disk without even the data directory; NULL without memory. */
CC_MUST_USE struct disk *disk_sim_create(const struct disk_sim_config *config);
void disk_sim_destroy(struct disk *disk);

/* A copy in every detail (versions, in-flight writes, PRNG): to try several crashes of one run. */
CC_MUST_USE struct disk *disk_sim_copy(const struct disk *disk);

/* Power loss: each block keeps its durable bytes or one of its versions, each folder a prefix of
 * its unsynced names, as `seed` decides; then all of it is durable, no file open, no lock held. */
void disk_sim_crash(struct disk *disk, uint64_t seed);

/* Death of the process alone: what was written stays readable (and stays unsynced); each write in
 * flight happens or not, as `seed` decides. */
void disk_sim_kill(struct disk *disk, uint64_t seed);

/* Power loss by hand: of each write in flight (in order of submission) the blocks whose bit is set
 * in `masks[i]` are on the medium, of every other unsynced write none. */
void disk_sim_crash_exact(struct disk *disk, const uint64_t *masks, int mask_count);

/* Writes in flight, and completing the i-th of them (in order of submission) at the next reap. */
CC_MUST_USE int disk_sim_in_flight(const struct disk *disk);
void disk_sim_complete(struct disk *disk, int index);

/* Changes config.latency_max for the writes that are still to be submitted. */
void disk_sim_set_latency(struct disk *disk, uint32_t latency_max);

/* Full: no file grows beyond what is used now (-ENOSPC). Not full: the space is endless. */
void disk_sim_set_full(struct disk *disk, bool is_full);

/* Makes the n-th of the coming calls that change something (make_folder, sync_folder, rename,
 * remove, create, write, allocate, sync, submit's completion) fail; 0: none. `sticky`: every later
 * one too. */
void disk_sim_fail(struct disk *disk, uint64_t call, enum disk_sim_fault fault, bool sticky);

/* Makes the disk die at the n-th changing call, as disk_sim_fail counts: that call and every later
 * one gives -EIO and changes nothing (a write in flight stays in flight). 0: never. */
void disk_sim_stop_at(struct disk *disk, uint64_t call);
CC_MUST_USE uint64_t disk_sim_calls(const struct disk *disk);
/* Whether it has died of disk_sim_stop_at. */
CC_MUST_USE bool disk_sim_is_stopped(const struct disk *disk);

/* Inspection and damage. `path` of a file that exists; the bytes are the current ones and change
 * the durable ones alike. */
CC_MUST_USE uint64_t disk_sim_file_bytes(const struct disk *disk, const char *path);
CC_MUST_USE bool disk_sim_exists(const struct disk *disk, const char *path);
void disk_sim_peek(const struct disk *disk, const char *path, uint64_t offset, void *out,
                   size_t count);
void disk_sim_poke(struct disk *disk, const char *path, uint64_t offset, const void *bytes,
                   size_t count);
void disk_sim_remove(struct disk *disk, const char *path);

/* Changes whenever the content or name of any file changes: two equal images are equal disks. */
CC_MUST_USE uint64_t disk_sim_digest(const struct disk *disk);

#endif
