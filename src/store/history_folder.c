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
    if (rename(path, aside) != 0)
        return -errno;
    if (!history_folder_path(path, folder, "lock.mdb"))
        return -ENAMETOOLONG;
    return unlink(path) == 0 || errno == ENOENT ? 0 : -errno;
}

static int remove_in(const char *folder, const char *name)
{
    char path[HISTORY_PATH_BYTES];

    if (!history_folder_path(path, folder, name))
        return -ENAMETOOLONG;
    return unlink(path) == 0 || errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
}

int history_folder_remove(const char *folder)
{
    int failed = remove_in(folder, "data.mdb");

    if (failed == 0)
        failed = remove_in(folder, "lock.mdb");
    if (failed != 0)
        return failed;
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
    int failed = remove_in(folder, "lock.mdb");
    if (failed == 0 && rename(made, path) != 0)
        failed = -errno;
    return failed != 0 ? failed : history_folder_remove(from);
}
