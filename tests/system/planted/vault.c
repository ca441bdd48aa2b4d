/* vault.c - a vault on a file system that hangs: linked into a perpd in front of vault_put and
 * vault_load (-Wl,--wrap). VAULT_HANGS=N:FILE: the N-th load hangs while FILE exists, each later
 * one while FILE.later does, and puts are done; without it puts hang. VAULT_UPLOAD_HANGS=FILE: the
 * snapshot of a leader that stops for an upgrade waits while FILE exists. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/vault_snapshot.h"

int __real_vault_put(struct vault *vault, struct disk *journal, uint64_t segment, uint64_t released,
                     struct archive_row *row, uint64_t *log_bytes);
int __real_vault_load(const struct vault *vault, uint64_t segment, uint64_t file_bytes,
                      const uint8_t file_hash[HASH_BYTES], uint8_t *out);
int __wrap_vault_load(const struct vault *vault, uint64_t segment, uint64_t file_bytes,
                      const uint8_t file_hash[HASH_BYTES], uint8_t *out);

int __wrap_vault_put(struct vault *vault, struct disk *journal, uint64_t segment, uint64_t released,
                     struct archive_row *row, uint64_t *log_bytes);

int __real_vault_snapshot_upload_begin(struct vault_upload *upload, const struct vault *vault,
                                       struct disk *journal, const struct vault_snapshot *snapshot);
int __wrap_vault_snapshot_upload_begin(struct vault_upload *upload, const struct vault *vault,
                                       struct disk *journal, const struct vault_snapshot *snapshot);

/* A thread of the stop calls it, or the vault's. */
int __wrap_vault_snapshot_upload_begin(struct vault_upload *upload, const struct vault *vault,
                                       struct disk *journal, const struct vault_snapshot *snapshot)
{
    const char *file = getenv("VAULT_UPLOAD_HANGS");
    char name[16] = "";

    (void)pthread_getname_np(pthread_self(), name, sizeof name);
    while (file != NULL && strcmp(name, "perpd-upload") == 0 && access(file, F_OK) == 0)
        usleep(10000);
    return __real_vault_snapshot_upload_begin(upload, vault, journal, snapshot);
}

int __wrap_vault_put(struct vault *vault, struct disk *journal, uint64_t segment, uint64_t released,
                     struct archive_row *row, uint64_t *log_bytes)
{
    if (getenv("VAULT_HANGS") != NULL)
        return __real_vault_put(vault, journal, segment, released, row, log_bytes);
    for (;;)
        pause();
}

int __wrap_vault_load(const struct vault *vault, uint64_t segment, uint64_t file_bytes,
                      const uint8_t file_hash[HASH_BYTES], uint8_t *out)
{
    static _Atomic int loads;
    const char *hangs = getenv("VAULT_HANGS");
    char *file = NULL;

    if (hangs == NULL)
        return __real_vault_load(vault, segment, file_bytes, file_hash, out);
    int load = ++loads, hanging = (int)strtol(hangs, &file, 10);
    char name[512];
    snprintf(name, sizeof name, "%s%s", file + 1, load > hanging ? ".later" : "");
    while (load >= hanging && access(name, F_OK) == 0)
        usleep(10000);
    return __real_vault_load(vault, segment, file_bytes, file_hash, out);
}
