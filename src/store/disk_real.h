/* disk_real.h - the disk seam on files: io_uring for the journal's writes, system calls otherwise.
 *
 * Journal files are opened O_DIRECT and each durable write has an fdatasync linked after it; a
 * file system that refuses O_DIRECT (tmpfs, some overlays) is written through the page cache.
 *
 * Wait.  disk_submit and disk_reap make at most one system call each and never wait.
 * Owner. The ring is made by disk_real_open; submit, reap and wait are one thread's at a time. */
#ifndef STORE_DISK_REAL_H
#define STORE_DISK_REAL_H

#include "store/disk.h"

/* Opens the data directory at `path`, or makes it (mode 0700, its name synced in the parent), and
 * sets up the ring. Returns NULL with *error = -errno; -EPERM, -ENOSYS or -ENOMEM with
 * *ring_refused set means that the kernel refused io_uring (exit 4). */
CC_MUST_USE struct disk *disk_real_open(const char *path, int *error, bool *ring_refused);

/* True if the data directory lies in memory (tmpfs or ramfs, statfs(2)): a power loss empties it,
 * whatever a write promised. False also if the file system does not say what it is. */
CC_MUST_USE bool disk_real_is_memory(struct disk *disk);

/* Releases the lock and frees everything; no write may be in flight. */
void disk_real_close(struct disk *disk);

#endif
