#include "node/recover/run_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hex.h"

enum { NAME_BYTES = 16, BOOT_ID_BYTES = 36 };

/* A folder, not a link, of this user, to which nobody else may write. */
static int check(const char *path)
{
    struct stat folder;

    if (lstat(path, &folder) != 0)
        return -errno;
    if (!S_ISDIR(folder.st_mode))
        return -ENOTDIR;
    return folder.st_uid == geteuid() && (folder.st_mode & 022) == 0 ? 0 : -EPERM;
}

static int make(const char *path)
{
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return -errno;
    return check(path);
}

static bool is_named(const char *text)
{
    return text != NULL && text[0] != '\0';
}

CC_PRINTF(2, 3) static int name(struct run_folder *folder, const char *format, ...)
{
    va_list values;

    va_start(values, format);
    int wrote = vsnprintf(folder->path, sizeof folder->path, format, values);
    va_end(values);
    return wrote >= 0 && wrote < (int)sizeof folder->path ? 0 : -ENAMETOOLONG;
}

/* Linux makes a new text of BOOT_ID_BYTES at each start of the machine (random(4)). */
static int read_boot_id(char *out)
{
    int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);

    if (file < 0)
        return -errno;
    ssize_t got = read(file, out, BOOT_ID_BYTES);
    int failed = got == BOOT_ID_BYTES ? 0 : got < 0 ? -errno : -EIO;
    close(file);
    return failed;
}

/* The name differs at each start of the machine, so that a former one does not give it away. */
static int open_in_memory(struct run_folder *folder, const char *memory,
                          const uint8_t secret[HASH_KEY_BYTES])
{
    static const char domain[] = "perpd run folder 1";
    char named[sizeof domain - 1 + BOOT_ID_BYTES], text[2 * NAME_BYTES + 1];
    uint8_t hash[HASH_BYTES];

    memcpy(named, domain, sizeof domain - 1);
    int failed = read_boot_id(named + sizeof domain - 1);
    if (failed != 0)
        return failed;
    hash_blake2b256_keyed(hash, secret, named, sizeof named);
    hex_encode(text, hash, NAME_BYTES);
    failed = name(folder, "%s/perpd-%s", memory, text);
    if (failed == 0)
        failed = make(folder->path);
    folder->is_made = failed == 0;
    return failed;
}

int run_folder_open(struct run_folder *folder, const struct run_places *places,
                    const uint8_t secret[HASH_KEY_BYTES])
{
    *folder = (struct run_folder){ .is_made = false };
    if (is_named(places->option)) {
        int failed = name(folder, "%s", places->option);
        return failed == 0 ? make(folder->path) : failed;
    }
    if (is_named(places->manager)) {
        int failed = name(folder, "%.*s", (int)strcspn(places->manager, ":"), places->manager);
        return failed == 0 ? check(folder->path) : failed;
    }
    if (is_named(places->system) && name(folder, "%s", places->system) == 0 &&
        check(folder->path) == 0)
        return 0;
    if (is_named(places->user) && check(places->user) == 0 &&
        name(folder, "%s/perpd", places->user) == 0 && make(folder->path) == 0)
        return 0;
    return open_in_memory(folder, places->memory, secret);
}

void run_folder_close(struct run_folder *folder)
{
    if (folder->is_made)
        (void)rmdir(
            folder->path); /* what a process left that was killed stays for the next start */
    folder->is_made = false;
}
