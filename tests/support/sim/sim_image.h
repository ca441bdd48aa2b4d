/* sim_image.h - the medium behind disk_sim: files in memory that remember what was not yet synced.
 *
 * A file has durable bytes, current bytes (what a read gives) and *versions*: blocks written since
 * the last sync, in order. Names have the same: durable names, current names, and the changes
 * between them. A power loss keeps for each block the durable bytes or one version, and for each
 * folder a prefix of its changes; a sync makes the newest durable and forgets the rest.
 *
 * Single thread. Memory that runs out ends the process (INVARIANT): this is for tests.
 * Units. Bytes; blocks of block_bytes. `write` numbers tie the blocks of one write together. */
#ifndef TESTS_SUPPORT_SIM_SIM_IMAGE_H
#define TESTS_SUPPORT_SIM_SIM_IMAGE_H

#include "store/disk.h"

struct sim_image;

/* A pseudo-random word from *state (splitmix64); the same in every run. */
uint64_t sim_image_random(uint64_t *state);

struct sim_image *sim_image_create(uint32_t block_bytes);
void sim_image_destroy(struct sim_image *image);
struct sim_image *sim_image_copy(const struct sim_image *image);

/* Names. find: a node or -ENOENT. make: a new empty file under the name (replacing). rename:
 * within a folder; unlink: the name ends; -ENOENT. make_folder: 0 also if it is there, -ENOENT
 * without its parent. */
CC_MUST_USE int sim_image_find(const struct sim_image *image, const char *path);
CC_MUST_USE int sim_image_make(struct sim_image *image, const char *path);
CC_MUST_USE int sim_image_rename(struct sim_image *image, const char *from, const char *to);
CC_MUST_USE int sim_image_unlink(struct sim_image *image, const char *path);
CC_MUST_USE int sim_image_make_folder(struct sim_image *image, const char *folder);
CC_MUST_USE int sim_image_sync_folder(struct sim_image *image, const char *folder);
CC_MUST_USE int sim_image_list(const struct sim_image *image, const char *folder, disk_visit *visit,
                               void *context);

/* Damage: the name ends at once, durable or not. */
void sim_image_remove(struct sim_image *image, const char *path);

/* Gives back the files that no name means, now or after a crash, and that are not among the held
 * (nodes of open files; below 0: none). */
void sim_image_collect(struct sim_image *image, const int *held, int held_count);

/* Bytes of a node. resize grows with zeros, cut leaves none. write makes versions; they are read
 * back only when `visible`. settle: the first `bytes` of an invisible write become readable and, if
 * `durable`, durable; what is left of it stays a version that a crash may choose.
 * fail: what is not readable of a write may be on the medium, but not over what was written to the
 * same place later and synced. end_failed: of no failed write anything comes any more.
 * forget: what is not readable of a write will never be on the medium. */
CC_MUST_USE uint64_t sim_image_size(const struct sim_image *image, int node);
void sim_image_resize(struct sim_image *image, int node, uint64_t bytes);
void sim_image_cut(struct sim_image *image, int node);
size_t sim_image_read(const struct sim_image *image, int node, uint64_t offset, void *out,
                      size_t count);
void sim_image_write(struct sim_image *image, int node, uint64_t offset, const void *bytes,
                     size_t count, uint64_t write, bool visible);
void sim_image_settle(struct sim_image *image, int node, uint64_t write, uint64_t bytes,
                      bool durable);
void sim_image_forget(struct sim_image *image, int node, uint64_t write);
void sim_image_fail(struct sim_image *image, int node, uint64_t write);
void sim_image_end_failed(struct sim_image *image);
void sim_image_sync(struct sim_image *image, int node);
void sim_image_poke(struct sim_image *image, int node, uint64_t offset, const void *bytes,
                    size_t count);
CC_MUST_USE uint64_t sim_image_total(const struct sim_image *image);
CC_MUST_USE uint64_t sim_image_digest(const struct sim_image *image);

/* Power loss by chance; and by hand: the i-th block of write writes[k] is kept if bit i of masks[k]
 * is set, every other version and unsynced name is lost. */
void sim_image_crash(struct sim_image *image, uint64_t seed);
void sim_image_crash_exact(struct sim_image *image, const uint64_t *writes, const uint64_t *masks,
                           int count);

#endif
