#include "perp/data/invite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "perp/invocation/exit_code.h"
#include "perp/request/instant.h"
#include "store/file_head.h"
#include "store/segment.h"
#include "store/small_file.h"

enum { HEADER_BYTES = 256, FILE_MAX = HEADER_BYTES + INVITE_SIGNING_MAX + INVITE_ORIGIN_MAX };

struct header {
    struct file_head head;
    uint64_t made_ns, expires_ns;
    char cluster[32], node[16]; /* without an end if they are that long */
    uint32_t segment_bytes, signing_bytes, origin_bytes;
    uint8_t pad[4];
    uint64_t boot, epoch;
    uint8_t journal_id[16], exchange_id[32], hash_key[16], secret_key[32], signing_public[32];
    uint8_t zero[16];
};

static_assert(sizeof(struct header) == HEADER_BYTES, "replication.md, Invitation");
static_assert(offsetof(struct header, segment_bytes) == 80, "replication.md, Invitation");
static_assert(offsetof(struct header, boot) == 96, "replication.md, Invitation");
static_assert(offsetof(struct header, exchange_id) == 128, "replication.md, Invitation");
static_assert(offsetof(struct header, signing_public) == 208, "replication.md, Invitation");

static const struct file_kind kind = {
    .magic = { 'p', 'e', 'r', 'p', 'd', 'I', 'N', 'V' },
    .format_version = 1,
    .header_bytes = HEADER_BYTES,
};

void invite_wipe(struct invite *invite)
{
    explicit_bzero(invite, sizeof *invite);
}

/* ---- of a data directory --------------------------------------------------------------------- */

static bool take_file(struct context *context, const struct data_directory *directory,
                      const char *name, uint8_t *bytes, uint32_t capacity, uint32_t *count)
{
    int64_t got = small_file_read(directory->disk, name, bytes, capacity);

    if (got < 0 || got == (int64_t)capacity)
        return context_fail(context, EXIT_CODE_problem, "%s/%s: %s", directory->path, name,
                            got < 0 ? strerror((int)-got) : "too long");
    *count = (uint32_t)got;
    return true;
}

bool invite_take(struct context *context, const struct data_directory *directory,
                 struct invite *invite)
{
    uint8_t origin[INVITE_ORIGIN_MAX + 1] = { 0 };

    *invite =
        (struct invite){ .made_ns = instant_now_ns(), .segment_bytes = directory->segment_bytes };
    invite->expires_ns = invite->made_ns + INVITE_LIFE_NS;
    int error = exchange_file_read(directory->disk, &invite->exchange); /* with secret_key */
    if (error != 0)
        return context_fail(context, EXIT_CODE_problem, "%s/exchange: %s", directory->path,
                            strerror(-error));
    if (!take_file(context, directory, "signing.key", invite->signing, sizeof invite->signing,
                   &invite->signing_bytes))
        return false;
    if (invite->exchange.era_count != 0 &&
        !take_file(context, directory, "origin", origin, sizeof origin, &invite->origin_bytes))
        return false;
    memcpy(invite->origin, origin, sizeof invite->origin);
    return true;
}

/* ---- as a file ------------------------------------------------------------------------------- */

static size_t encode(uint8_t bytes[FILE_MAX], const struct invite *invite)
{
    const struct exchange_file *exchange = &invite->exchange;
    struct header header = { .made_ns = invite->made_ns,
                             .expires_ns = invite->expires_ns,
                             .segment_bytes = invite->segment_bytes,
                             .signing_bytes = invite->signing_bytes,
                             .origin_bytes = invite->origin_bytes,
                             .boot = exchange->boot,
                             .epoch = exchange->epoch };
    size_t count = HEADER_BYTES;

    memcpy(header.cluster, invite->cluster, strlen(invite->cluster));
    memcpy(header.node, invite->node, strlen(invite->node));
    memcpy(header.journal_id, exchange->journal_id, sizeof header.journal_id);
    memcpy(header.exchange_id, exchange->exchange_id, sizeof header.exchange_id);
    memcpy(header.hash_key, exchange->hash_key, sizeof header.hash_key);
    memcpy(header.secret_key, exchange->secret_key, sizeof header.secret_key);
    memcpy(header.signing_public, exchange->signing_public, sizeof header.signing_public);
    memcpy(bytes, &header, sizeof header);
    memcpy(bytes + count, invite->signing, invite->signing_bytes);
    count += invite->signing_bytes;
    memcpy(bytes + count, invite->origin, invite->origin_bytes);
    count += invite->origin_bytes;
    file_head_seal(bytes, count, &kind);
    explicit_bzero(&header, sizeof header);
    return count;
}

bool invite_write(struct context *context, const char *path, const struct invite *invite)
{
    uint8_t bytes[FILE_MAX];
    size_t count = encode(bytes, invite);
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    if (file < 0) {
        explicit_bzero(bytes, sizeof bytes);
        return context_fail(context, EXIT_CODE_usage, "%s: %s", path, strerror(errno));
    }
    bool is_whole = write(file, bytes, count) == (ssize_t)count && fsync(file) == 0;
    int error = errno;
    explicit_bzero(bytes, sizeof bytes);
    close(file);
    if (is_whole)
        return true;
    unlink(path);
    return context_fail(context, EXIT_CODE_problem, "%s: %s", path, strerror(error));
}

/* A name of a cluster or a node, which ends with its field or before it. */
static bool read_name(char *out, const char *field, size_t size)
{
    size_t length = strnlen(field, size);

    memcpy(out, field, length);
    out[length] = '\0';
    return cluster_option_is_name(out, size) &&
           cc_is_zero((const uint8_t *)field + length, size - length);
}

static bool decode(struct invite *invite, const uint8_t *bytes, size_t count)
{
    struct exchange_file *exchange = &invite->exchange;
    struct header header;

    *invite = (struct invite){ 0 };
    if (count < HEADER_BYTES || !file_head_is(bytes, &kind) || !file_head_is_intact(bytes, count))
        return false;
    memcpy(&header, bytes, sizeof header);
    *invite = (struct invite){ .made_ns = header.made_ns,
                               .expires_ns = header.expires_ns,
                               .segment_bytes = header.segment_bytes,
                               .signing_bytes = header.signing_bytes,
                               .origin_bytes = header.origin_bytes };
    exchange->boot = header.boot;
    exchange->epoch = header.epoch;
    memcpy(exchange->journal_id, header.journal_id, sizeof header.journal_id);
    memcpy(exchange->exchange_id, header.exchange_id, sizeof header.exchange_id);
    memcpy(exchange->hash_key, header.hash_key, sizeof header.hash_key);
    memcpy(exchange->secret_key, header.secret_key, sizeof header.secret_key);
    memcpy(exchange->signing_public, header.signing_public, sizeof header.signing_public);
    explicit_bzero(header.secret_key, sizeof header.secret_key);
    if (!read_name(invite->cluster, header.cluster, sizeof header.cluster) ||
        !read_name(invite->node, header.node, sizeof header.node) ||
        !cc_is_zero(header.pad, sizeof header.pad) || !cc_is_zero(header.zero, sizeof header.zero))
        return false;
    if (header.signing_bytes == 0 || header.signing_bytes > INVITE_SIGNING_MAX ||
        header.origin_bytes > INVITE_ORIGIN_MAX || header.origin_bytes % ERA_ROW_BYTES != 0 ||
        count != HEADER_BYTES + header.signing_bytes + (size_t)header.origin_bytes ||
        header.segment_bytes < SEGMENT_BYTES_MIN || header.segment_bytes > UINT32_C(1) << 30 ||
        header.segment_bytes % SEGMENT_FRAMES_OFFSET != 0)
        return false;
    memcpy(invite->signing, bytes + HEADER_BYTES, header.signing_bytes);
    memcpy(invite->origin, bytes + HEADER_BYTES + header.signing_bytes, header.origin_bytes);
    return true;
}

/* The bytes of the file; -1 after a printed error. */
static ssize_t read_file(struct context *context, const char *path, uint8_t bytes[FILE_MAX + 1])
{
    struct stat status;
    int file = open(path, O_RDONLY | O_CLOEXEC);

    if (file < 0 || fstat(file, &status) != 0) {
        (void)context_fail(context, EXIT_CODE_usage, "%s: %s", path, strerror(errno));
        if (file >= 0)
            close(file);
        return -1;
    }
    bool is_open = (status.st_mode & (S_IRWXG | S_IRWXO)) != 0;
    ssize_t count = is_open ? -1 : read(file, bytes, FILE_MAX + 1);
    int error = errno;
    close(file);
    if (is_open)
        (void)context_fail(context, EXIT_CODE_usage,
                           "%s is open to group or others; its mode must be 0600", path);
    else if (count < 0)
        (void)context_fail(context, EXIT_CODE_usage, "%s: %s", path, strerror(error));
    return count;
}

bool invite_read(struct context *context, const char *path, struct invite *invite)
{
    uint8_t bytes[FILE_MAX + 1];
    ssize_t count = read_file(context, path, bytes);

    if (count < 0)
        return false;
    bool is_whole = decode(invite, bytes, (size_t)count);
    explicit_bzero(bytes, sizeof bytes);
    if (!is_whole) {
        invite_wipe(invite);
        return context_fail(context, EXIT_CODE_usage, "%s is no whole invitation to a cluster",
                            path);
    }
    uint64_t now_ns = instant_now_ns();
    if (now_ns < invite->expires_ns)
        return true;
    invite_wipe(invite);
    return context_fail(context, EXIT_CODE_rejected,
                        "%s is older than 24 hours: remove it, and make another one with 'perp "
                        "cluster invite' on the leader",
                        path);
}
