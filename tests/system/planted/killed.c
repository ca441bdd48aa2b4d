/* killed.c - a perpd that is killed at a write: linked in front of what changes a file
 * (-Wl,--wrap). KILLED_AT=N: before the N-th such call of the process SIGKILL ends it.
 * KILLED_CALLS=FILE: that file gets a byte for each of them. */
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static _Atomic long calls;

static void count(void)
{
    const char *at = getenv("KILLED_AT"), *to = getenv("KILLED_CALLS");

    if (at != NULL && atomic_fetch_add(&calls, 1) + 1 == strtol(at, NULL, 10))
        kill(getpid(), SIGKILL);
    if (to != NULL) {
        int file = open(to, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        if (file < 0 || write(file, ".", 1) != 1)
            abort();
        close(file);
    }
}

#define WRAP(type, name, parameters, arguments) \
    type __real_##name parameters;              \
    type __wrap_##name parameters;              \
    type __wrap_##name parameters               \
    {                                           \
        count();                                \
        return __real_##name arguments;         \
    }

WRAP(ssize_t, pwrite, (int file, const void *bytes, size_t size, off_t at), (file, bytes, size, at))
WRAP(int, fdatasync, (int file), (file))
WRAP(int, fsync, (int file), (file))
WRAP(int, fallocate, (int file, int mode, off_t at, off_t size), (file, mode, at, size))
WRAP(int, renameat, (int from_folder, const char *from, int to_folder, const char *to),
     (from_folder, from, to_folder, to))
WRAP(int, unlinkat, (int folder, const char *path, int flags), (folder, path, flags))
WRAP(int, mkdirat, (int folder, const char *path, mode_t mode), (folder, path, mode))
