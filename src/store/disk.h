/* disk.h - the disk seam: everything the store asks of files, real or simulated.
 *
 * A disk is one data directory. Blocking operations serve start, preparation of segments and the
 * follower's catching up; they may be called from any thread on the real disk. The asynchronous
 * pair submit/reap is the journal thread's alone, and at most DISK_WRITES_MAX writes are in flight.
 *
 *   journal thread                            disk
 *   disk_submit(file, offset, bytes, tag) --> write, in any order, torn at any block by a crash
 *   disk_reap(done[]) <--------------------- done { tag, bytes written or -errno }
 *
 * Order.  Nothing is promised between two writes. A durable write has reached the medium with its
 *         data when it is reaped; any other write may be lost until disk_sync of its file. A name
 *         (create, rename, remove, make_folder) may be lost until disk_sync_folder of its folder.
 * Wait.   submit and reap never block; wait does; the others block as files do.
 * Owner.  Bytes given to submit stay the disk's until their tag is reaped.
 * Errors. 0 or a count, or -errno; nothing is logged. After a failed write or sync nothing is known
 *         of the range: the caller must not write on as if it were (roles.md, Journal).
 * Units.  Offsets and counts are bytes. Paths are relative to the data directory: "exchange",
 *         "journal/0000000000.seg"; folders are "" (the directory itself), "journal", "snapshot",
 *         "archive". */
#ifndef STORE_DISK_H
#define STORE_DISK_H

#include "base/compiler.h"

enum {
    DISK_WRITES_MAX = 8,   /* asynchronous writes in flight */
    DISK_PATH_BYTES = 64,  /* longest path with its end */
    DISK_ALIGNMENT = 4096, /* of memory, offset and count on DISK_DIRECT files (submit: a block) */
    DISK_BLOCK_BYTES_MAX = 4096
};

/* How to open. Every file can be read. */
enum disk_flag {
    DISK_WRITE = 1,   /* may be written */
    DISK_CREATE = 2,  /* made if missing, emptied if not; implies DISK_WRITE */
    DISK_DIRECT = 4,  /* past the page cache where the file system allows, else through it */
    DISK_OWN = 8,     /* -EWOULDBLOCK while another process may still have writes under way to it */
    DISK_SECRET = 16, /* -EPERM if group or others may use it */
    DISK_NOFOLLOW = 32 /* -ELOOP for a symbolic link */
};

/* One finished asynchronous write. */
struct disk_done {
    uint64_t tag;
    int64_t result; /* bytes written (less than asked: a short write) or -errno */
};

struct disk;

/* Called once for each regular file in a folder, in no order; `name` without the folder. */
typedef void disk_visit(void *context, const char *name, uint64_t bytes);

struct disk_ops {
    int (*make_folder)(struct disk *disk, const char *folder);
    int (*sync_folder)(struct disk *disk, const char *folder);
    int (*list)(struct disk *disk, const char *folder, disk_visit *visit, void *context);
    int (*lock)(struct disk *disk);
    int (*rename)(struct disk *disk, const char *from, const char *to);
    int (*remove)(struct disk *disk, const char *path);
    int (*open)(struct disk *disk, const char *path, unsigned flags);
    void (*close)(struct disk *disk, int file);
    int64_t (*size)(struct disk *disk, int file);
    int64_t (*read)(struct disk *disk, int file, uint64_t offset, void *bytes, size_t count);
    int (*write)(struct disk *disk, int file, uint64_t offset, const void *bytes, size_t count);
    int (*allocate)(struct disk *disk, int file, uint64_t bytes);
    int (*sync)(struct disk *disk, int file);
    void (*random)(struct disk *disk, void *bytes, size_t count);
    int (*submit)(struct disk *disk, int file, uint64_t offset, const void *bytes, size_t count,
                  uint64_t tag, bool durable);
    int (*reap)(struct disk *disk, struct disk_done *done, int done_max);
    int (*wait)(struct disk *disk, int wake_file, uint64_t timeout_ns);
};

/* The common head of every disk, real or simulated; the functions below are its only users. */
struct disk {
    const struct disk_ops *ops;
    uint32_t block_bytes; /* logical block of the device: a power of two, 512..4096 */
    /* The archive's second place: archive.h reads there what is missing or wrong here. NULL: none.
     * Set before anything is read, and open as long as this one. */
    struct disk *archive_copy;
};

/* Makes a folder (mode 0700); 0 also if it is there. "" makes the data directory itself. */
static inline CC_MUST_USE int disk_make_folder(struct disk *disk, const char *folder)
{
    return disk->ops->make_folder(disk, folder);
}

/* Makes the names in a folder durable; for "" also the directory's own name in its parent. */
static inline CC_MUST_USE int disk_sync_folder(struct disk *disk, const char *folder)
{
    return disk->ops->sync_folder(disk, folder);
}

/* Visits each regular file of a folder; 0, -ENOENT without the folder, or -errno. */
static inline CC_MUST_USE int disk_list(struct disk *disk, const char *folder, disk_visit *visit,
                                        void *context)
{
    return disk->ops->list(disk, folder, visit, context);
}

/* Takes `lock` for the life of the disk; -EWOULDBLOCK if another process holds it. */
static inline CC_MUST_USE int disk_lock(struct disk *disk)
{
    return disk->ops->lock(disk);
}

/* Replaces `to` by `from` at once: a crash leaves the one or the other. */
static inline CC_MUST_USE int disk_rename(struct disk *disk, const char *from, const char *to)
{
    return disk->ops->rename(disk, from, to);
}

/* Ends a file's name (-ENOENT: there is none); an open file can still be read. It may come back
 * after a crash until disk_sync_folder. */
static inline CC_MUST_USE int disk_remove(struct disk *disk, const char *path)
{
    return disk->ops->remove(disk, path);
}

/* A file number (0 or more) or -errno; `flags` of enum disk_flag. A pipe or a device is neither
 * waited for nor read: -EMEDIUMTYPE, and -EISDIR for a folder. */
static inline CC_MUST_USE int disk_open(struct disk *disk, const char *path, unsigned flags)
{
    return disk->ops->open(disk, path, flags);
}

/* Gives the number back. No write to it may be in flight. */
static inline void disk_close(struct disk *disk, int file)
{
    disk->ops->close(disk, file);
}

/* The file's bytes or -errno. */
static inline CC_MUST_USE int64_t disk_size(struct disk *disk, int file)
{
    return disk->ops->size(disk, file);
}

/* Reads; fewer than `count` only at the end of the file. */
static inline CC_MUST_USE int64_t disk_read(struct disk *disk, int file, uint64_t offset,
                                            void *bytes, size_t count)
{
    return disk->ops->read(disk, file, offset, bytes, count);
}

/* Writes all of it or fails; durable after disk_sync only. */
static inline CC_MUST_USE int disk_write(struct disk *disk, int file, uint64_t offset,
                                         const void *bytes, size_t count)
{
    return disk->ops->write(disk, file, offset, bytes, count);
}

/* Sets the file's space aside, so that -ENOSPC comes here and not later. */
static inline CC_MUST_USE int disk_allocate(struct disk *disk, int file, uint64_t bytes)
{
    return disk->ops->allocate(disk, file, bytes);
}

/* Makes data and size durable (fdatasync). */
static inline CC_MUST_USE int disk_sync(struct disk *disk, int file)
{
    return disk->ops->sync(disk, file);
}

/* Fills `bytes` with random bytes for ids and keys. */
static inline void disk_random(struct disk *disk, void *bytes, size_t count)
{
    disk->ops->random(disk, bytes, count);
}

/* Starts one write; with `durable` it completes when it is on the medium. 0, or -errno and nothing
 * started. `tag` comes back from disk_reap. */
static inline CC_MUST_USE int disk_submit(struct disk *disk, int file, uint64_t offset,
                                          const void *bytes, size_t count, uint64_t tag,
                                          bool durable)
{
    return disk->ops->submit(disk, file, offset, bytes, count, tag, durable);
}

/* Collects up to `done_max` finished writes, in order of completion; their number or -errno. */
static inline CC_MUST_USE int disk_reap(struct disk *disk, struct disk_done *done, int done_max)
{
    return disk->ops->reap(disk, done, done_max);
}

/* Parks the journal thread until a write is done, `wake_file` (an eventfd; -1: none) is readable,
 * or the time is over. The wake file is left unread. 0, or -ENOENT when there is neither a write in
 * flight nor a wake file, or -errno. */
static inline CC_MUST_USE int disk_wait(struct disk *disk, int wake_file, uint64_t timeout_ns)
{
    return disk->ops->wait(disk, wake_file, timeout_ns);
}

#endif
