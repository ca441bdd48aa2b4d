/* stall.c - a perpd whose disk stands still while the file DISK_STALLS exists: linked in front of
 * disk_real_open (-Wl,--wrap). What is written then is done only once the file is gone. */
#include <stdlib.h>
#include <unistd.h>

#include "store/disk_real.h"

static struct disk_ops stalled;
static int (*reap)(struct disk *disk, struct disk_done *done, int done_max);

static int reap_unless_stalled(struct disk *disk, struct disk_done *done, int done_max)
{
    const char *file = getenv("DISK_STALLS");

    return file != NULL && access(file, F_OK) == 0 ? 0 : reap(disk, done, done_max);
}

struct disk *__real_disk_real_open(const char *path, int *error, bool *ring_refused);
struct disk *__wrap_disk_real_open(const char *path, int *error, bool *ring_refused);

struct disk *__wrap_disk_real_open(const char *path, int *error, bool *ring_refused)
{
    struct disk *disk = __real_disk_real_open(path, error, ring_refused);

    if (disk == NULL)
        return NULL;
    stalled = *disk->ops;
    reap = stalled.reap;
    stalled.reap = reap_unless_stalled;
    disk->ops = &stalled;
    return disk;
}
