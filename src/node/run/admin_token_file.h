/* admin_token_file.h - admin.token of the data directory: the secret that opens /audit and /admin
 * on admin.listen (wire.md W10). Who may read the file may read the pages.
 *
 * Main thread, at a start; blocks. */
#ifndef NODE_RUN_ADMIN_TOKEN_FILE_H
#define NODE_RUN_ADMIN_TOKEN_FILE_H

#include "net/conn/net_config.h"
#include "store/disk.h"

/* Reads the token, or makes a random one where the file is missing (mode 0600 by the umask).
 * Returns 0; -EPERM if group or others may use the file; -EBADMSG if the file is not
 * NET_ADMIN_TOKEN_BYTES hexadecimal digits and at most a line end; or -errno. */
CC_MUST_USE int admin_token_file_open(struct disk *disk, char token[NET_ADMIN_TOKEN_BYTES]);

#endif
