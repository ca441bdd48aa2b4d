#include "base/text_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char *refuse(char *text, int file, char why[TEXT_FILE_WHY], const char *reason)
{
    (void)snprintf(why, TEXT_FILE_WHY, "%s", reason);
    free(text);
    if (file >= 0)
        (void)close(file);
    return NULL;
}

char *text_file_read(const char *path, size_t *count, char why[TEXT_FILE_WHY])
{
    struct stat about;
    ssize_t part = 1;
    char *text = malloc(TEXT_FILE_MAX + 2);
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    *count = 0;
    if (text == NULL)
        return refuse(text, file, why, "no memory");
    if (file < 0 || fstat(file, &about) != 0)
        return refuse(text, file, why, strerror(errno));
    if (!S_ISREG(about.st_mode))
        return refuse(text, file, why, "it is not a regular file");
    for (; part > 0 && *count <= TEXT_FILE_MAX; *count += (size_t)part)
        if ((part = read(file, text + *count, TEXT_FILE_MAX + 1 - *count)) < 0)
            return refuse(text, file, why, strerror(errno));
    if (*count > TEXT_FILE_MAX)
        return refuse(text, file, why, "it is larger than 1 MiB");
    if (memchr(text, '\0', *count) != NULL)
        return refuse(text, file, why, "it has a byte 0, so it is no text");
    (void)close(file);
    text[*count] = '\0';
    return text;
}
