#include "store/small_file.h"

#include <stdio.h>
#include <string.h>

int small_file_replace(struct disk *disk, const char *name, const void *bytes, size_t count)
{
    char next[SMALL_FILE_NAME_MAX + sizeof ".next"];

    INVARIANT(strlen(name) < SMALL_FILE_NAME_MAX);
    (void)snprintf(next, sizeof next, "%s.next", name);
    int file = disk_open(disk, next, DISK_CREATE);
    if (file < 0)
        return file;
    int error = disk_write(disk, file, 0, bytes, count);
    if (error == 0)
        error = disk_sync(disk, file);
    disk_close(disk, file);
    if (error == 0)
        error = disk_rename(disk, next, name);
    if (error == 0)
        error = disk_sync_folder(disk, "");
    return error;
}

int64_t small_file_read(struct disk *disk, const char *name, void *bytes, size_t capacity)
{
    int file = disk_open(disk, name, 0);

    if (file < 0)
        return file;
    int64_t count = disk_read(disk, file, 0, bytes, capacity);
    disk_close(disk, file);
    return count;
}
