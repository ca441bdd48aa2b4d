#include "store/history_folder.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

bool history_folder_path(char path[HISTORY_PATH_BYTES], const char *folder, const char *name)
{
    int count = snprintf(path, HISTORY_PATH_BYTES, "%s/%s", folder, name);
    return count > 0 && count < HISTORY_PATH_BYTES;
}

int history_folder_set_aside(const char *folder)
{
    char path[HISTORY_PATH_BYTES], aside[HISTORY_PATH_BYTES];

    if (!history_folder_path(path, folder, "data.mdb") ||
        !history_folder_path(aside, folder, "data.mdb.damaged"))
        return -ENAMETOOLONG;
    return rename(path, aside) == 0 ? 0 : -errno;
}

int history_folder_remove(const char *folder)
{
    /* lock.mdb is of a binary that used LMDB's locks. */
    static const char *const names[] = { "data.mdb", "lock.mdb" };
    char path[HISTORY_PATH_BYTES];

    for (size_t i = 0; i < CC_COUNT(names); i++) {
        if (!history_folder_path(path, folder, names[i]))
            return -ENAMETOOLONG;
        if (unlink(path) != 0 && errno != ENOENT && errno != ENOTDIR)
            return -errno;
    }
    return rmdir(folder) == 0 || errno == ENOENT ? 0 : -errno;
}

int history_folder_replace(const char *folder, const char *from)
{
    char path[HISTORY_PATH_BYTES], made[HISTORY_PATH_BYTES];

    if (!history_folder_path(path, folder, "data.mdb") ||
        !history_folder_path(made, from, "data.mdb"))
        return -ENAMETOOLONG;
    if (mkdir(folder, 0700) != 0 && errno != EEXIST)
        return -errno;
    return rename(made, path) == 0 ? history_folder_remove(from) : -errno;
}
