#include "node/run/admin_token_file.h"

#include <errno.h>

#include "base/hex.h"
#include "store/small_file.h"

#define FILE_NAME "admin.token"

static int make(struct disk *disk, char token[NET_ADMIN_TOKEN_BYTES])
{
    uint8_t secret[NET_ADMIN_TOKEN_BYTES / 2];
    char text[NET_ADMIN_TOKEN_BYTES + 1];

    disk_random(disk, secret, sizeof secret);
    hex_encode(text, secret, sizeof secret);
    memcpy(token, text, NET_ADMIN_TOKEN_BYTES);
    text[NET_ADMIN_TOKEN_BYTES] = '\n';
    int failed = small_file_replace(disk, FILE_NAME, text, sizeof text);
    explicit_bzero(secret, sizeof secret);
    explicit_bzero(text, sizeof text);
    return failed;
}

int admin_token_file_open(struct disk *disk, char token[NET_ADMIN_TOKEN_BYTES])
{
    uint8_t secret[NET_ADMIN_TOKEN_BYTES / 2];
    char text[NET_ADMIN_TOKEN_BYTES + 2];
    int file = disk_open(disk, FILE_NAME, DISK_SECRET);

    if (file == -ENOENT)
        return make(disk, token);
    if (file < 0)
        return file;
    int64_t count = disk_read(disk, file, 0, text, sizeof text);
    disk_close(disk, file);
    if (count < 0)
        return (int)count;
    bool is_token = count == NET_ADMIN_TOKEN_BYTES ||
                    (count == NET_ADMIN_TOKEN_BYTES + 1 && text[NET_ADMIN_TOKEN_BYTES] == '\n');
    if (!is_token || !hex_decode(secret, sizeof secret, text, NET_ADMIN_TOKEN_BYTES))
        return -EBADMSG;
    memcpy(token, text, NET_ADMIN_TOKEN_BYTES);
    explicit_bzero(secret, sizeof secret);
    explicit_bzero(text, sizeof text);
    return 0;
}
