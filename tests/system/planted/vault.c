/* vault.c - a vault on a file system that hangs: linked into a perpd in front of vault_put
 * (-Wl,--wrap). */
#include "store/vault.h"

#include <unistd.h>

int __wrap_vault_put(struct vault *vault, struct disk *journal, uint64_t segment, uint64_t released,
                     struct archive_row *row, uint64_t *log_bytes);

int __wrap_vault_put(struct vault *vault, struct disk *journal, uint64_t segment, uint64_t released,
                     struct archive_row *row, uint64_t *log_bytes)
{
    (void)vault, (void)journal, (void)segment, (void)released, (void)row, (void)log_bytes;
    for (;;)
        pause();
}
