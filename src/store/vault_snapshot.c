#include "store/vault_snapshot.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { PIECE_BYTES = 1 << 20, LISTED_MAX = 16, REMOVED_A_TIME = 16 };

static const char folder[] = "snapshot";

static void name_of(char out[DISK_PATH_BYTES], const struct vault_snapshot *snapshot)
{
    int used = snprintf(out, DISK_PATH_BYTES, "%s/%" PRIu64 "-%016" PRIx64 ".snap", folder,
                        snapshot->sequence, cc_load64(snapshot->file_hash));

    INVARIANT(used > 0 && used < DISK_PATH_BYTES);
}

static void own_name_of(char out[DISK_PATH_BYTES], uint64_t sequence, const char *end)
{
    int used = snprintf(out, DISK_PATH_BYTES, "%s/%" PRIu64 ".snap%s", folder, sequence, end);

    INVARIANT(used > 0 && used < DISK_PATH_BYTES);
}

static void part_of(char out[DISK_PATH_BYTES], const struct vault *vault)
{
    int used = snprintf(out, DISK_PATH_BYTES, "%s/part-%.16s", folder, vault->node);

    INVARIANT(used > 0 && used < DISK_PATH_BYTES);
}

void vault_snapshot_of(struct vault_snapshot *snapshot, const struct snapshot_head *head,
                       uint64_t segment)
{
    *snapshot = (struct vault_snapshot){ .sequence = head->sequence,
                                         .frame = head->frame,
                                         .t_ns = head->t_ns,
                                         .bytes = SNAPSHOT_IMAGE_OFFSET + head->image_bytes,
                                         .segment = segment,
                                         .rules_version = head->rules_version };
    memcpy(snapshot->image_hash, head->image_hash, HASH_BYTES);
    memcpy(snapshot->frame_hash, head->frame_hash, HASH_BYTES);
}

int vault_snapshot_find(const struct vault *vault, struct disk *journal,
                        struct vault_snapshot *found)
{
    uint64_t sequences[LISTED_MAX];
    struct snapshot_head head;
    int count = snapshot_list(journal, sequences, LISTED_MAX);

    if (count < 0)
        return count == -ENOENT ? 0 : count;
    for (int i = 0; i < count; i++) {
        uint64_t segment;
        if (snapshot_read_head(journal, vault->exchange, sequences[i], &head, NULL) != 0)
            continue;
        int ends = vault_ends_with(vault, journal, head.frame, head.frame_hash, &segment);
        if (ends < 0)
            return ends;
        if (ends == 0)
            continue;
        vault_snapshot_of(found, &head, segment);
        return 1;
    }
    return 0;
}

/* ---- a file that is read and copied ---------------------------------------------------------- */

static void copy_end(struct vault_copy *copy)
{
    if (copy->source >= 0)
        disk_close(copy->from, copy->source);
    if (copy->target >= 0)
        disk_close(copy->to, copy->target);
    free(copy->piece);
    copy->piece = NULL;
    copy->source = copy->target = -1;
}

static int copy_begin(struct vault_copy *copy, struct disk *from, const char *source,
                      struct disk *to, const char *target)
{
    *copy = (struct vault_copy){ .from = from, .to = to, .source = -1, .target = -1 };
    hash_begin(&copy->file);
    hash_begin(&copy->image);
    copy->piece = malloc(PIECE_BYTES);
    if (copy->piece == NULL)
        return -ENOMEM;
    copy->source = disk_open(from, source, 0);
    if (copy->source >= 0 && to != NULL)
        copy->target = disk_open(to, target, DISK_CREATE);
    int error = copy->source < 0 ? copy->source : to != NULL && copy->target < 0 ? copy->target : 0;
    if (error != 0)
        copy_end(copy);
    return error;
}

/* One piece: 1 at the end of the file, 0 before it, or -errno. */
static int copy_step(struct vault_copy *copy)
{
    int64_t count = disk_read(copy->from, copy->source, copy->at, copy->piece, PIECE_BYTES);

    if (count <= 0)
        return count < 0 ? (int)count : 1;
    size_t skip = copy->at == 0 ? SNAPSHOT_IMAGE_OFFSET : 0;
    hash_add(&copy->file, copy->piece, (size_t)count);
    if ((size_t)count > skip)
        hash_add(&copy->image, copy->piece + skip, (size_t)count - skip);
    int error = copy->target < 0
                    ? 0
                    : disk_write(copy->to, copy->target, copy->at, copy->piece, (size_t)count);
    copy->at += (uint64_t)count;
    return error;
}

/* Syncs what was written; both files are closed. */
static int copy_finish(struct vault_copy *copy, uint8_t file_hash[HASH_BYTES],
                       uint8_t image_hash[HASH_BYTES])
{
    int error = copy->target < 0 ? 0 : disk_sync(copy->to, copy->target);

    hash_end(&copy->file, file_hash);
    hash_end(&copy->image, image_hash);
    copy_end(copy);
    return error;
}

/* ---- putting --------------------------------------------------------------------------------- */

/* The only writer of the state. The table must allow the move (INVARIANT). */
static void move(struct vault_upload *upload, enum vault_upload_state next)
{
#define TO(name)             (1U << VAULT_UPLOAD_##name)
#define X(name, next_states) next_states,
    static const unsigned allowed[VAULT_UPLOAD_STATE_COUNT] = { VAULT_UPLOAD_STATE_LIST(X) };
#undef X
#undef TO

    INVARIANT((unsigned)upload->state < VAULT_UPLOAD_STATE_COUNT);
    INVARIANT((allowed[upload->state] >> next & 1U) != 0);
    upload->state = next;
}

int vault_snapshot_upload_begin(struct vault_upload *upload, const struct vault *vault,
                                struct disk *journal, const struct vault_snapshot *snapshot)
{
    char own[DISK_PATH_BYTES], part[DISK_PATH_BYTES];

    *upload = (struct vault_upload){ .vault = vault, .snapshot = *snapshot };
    own_name_of(own, snapshot->sequence, "");
    part_of(part, vault);
    int error = copy_begin(&upload->copy, journal, own, vault->disk, part);
    if (error == 0)
        move(upload, VAULT_UPLOAD_WRITES);
    return error;
}

/* The file is written aside: it gets its name, and is read back. */
static int end_writing(struct vault_upload *upload)
{
    const struct vault *vault = upload->vault;
    struct vault_snapshot *snapshot = &upload->snapshot;
    char part[DISK_PATH_BYTES], path[DISK_PATH_BYTES];
    uint8_t image_hash[HASH_BYTES];

    snapshot->bytes = upload->copy.at;
    int error = copy_finish(&upload->copy, snapshot->file_hash, image_hash);
    if (error == 0 && memcmp(image_hash, snapshot->image_hash, HASH_BYTES) != 0)
        error = -EBADMSG;
    part_of(part, vault);
    name_of(path, snapshot);
    if (error == 0)
        error = disk_rename(vault->disk, part, path);
    if (error == 0)
        error = disk_sync_folder(vault->disk, folder);
    if (error == 0)
        error = copy_begin(&upload->copy, vault->disk, path, NULL, NULL);
    move(upload, VAULT_UPLOAD_READS);
    return error;
}

static int end_reading(struct vault_upload *upload)
{
    uint8_t file_hash[HASH_BYTES], image_hash[HASH_BYTES];
    int error = copy_finish(&upload->copy, file_hash, image_hash);

    if (error != 0)
        return error;
    return memcmp(file_hash, upload->snapshot.file_hash, HASH_BYTES) == 0 ? 1 : -EBADMSG;
}

int vault_snapshot_upload_step(struct vault_upload *upload)
{
    int done = copy_step(&upload->copy);

    if (done == 1)
        done = upload->state == VAULT_UPLOAD_WRITES ? end_writing(upload) : end_reading(upload);
    if (done != 0)
        vault_snapshot_upload_end(upload);
    return done;
}

void vault_snapshot_upload_end(struct vault_upload *upload)
{
    if (upload->state == VAULT_UPLOAD_IDLE)
        return;
    copy_end(&upload->copy);
    move(upload, VAULT_UPLOAD_IDLE); /* the next one empties the part */
}

/* ---- fetching -------------------------------------------------------------------------------- */

static int copy_whole(const struct vault *vault, const struct vault_snapshot *snapshot,
                      struct disk *to, const char *part)
{
    uint8_t file_hash[HASH_BYTES], image_hash[HASH_BYTES];
    struct vault_copy copy;
    char path[DISK_PATH_BYTES];

    name_of(path, snapshot);
    int done = copy_begin(&copy, vault->disk, path, to, part);
    if (done != 0)
        return done;
    while (done == 0 && copy.at <= snapshot->bytes)
        done = copy_step(&copy);
    bool is_whole = done == 1 && copy.at == snapshot->bytes;
    int error = copy_finish(&copy, file_hash, image_hash);
    if (done < 0 || error != 0)
        return done < 0 ? done : error;
    return is_whole && memcmp(file_hash, snapshot->file_hash, HASH_BYTES) == 0 &&
                   memcmp(image_hash, snapshot->image_hash, HASH_BYTES) == 0
               ? 0
               : -EBADMSG;
}

/* What the head of the file says must be what the pointer says. */
static int check_head(const struct vault *vault, const struct vault_snapshot *snapshot,
                      struct disk *to)
{
    struct snapshot_head head;
    int error = snapshot_read_head(to, vault->exchange, snapshot->sequence, &head, NULL);

    if (error != 0)
        return error;
    return head.frame == snapshot->frame && head.t_ns == snapshot->t_ns &&
                   head.rules_version == snapshot->rules_version &&
                   memcmp(head.frame_hash, snapshot->frame_hash, HASH_BYTES) == 0 &&
                   memcmp(head.image_hash, snapshot->image_hash, HASH_BYTES) == 0
               ? 0
               : -EBADMSG;
}

int vault_snapshot_fetch(const struct vault *vault, const struct vault_snapshot *snapshot,
                         struct disk *to)
{
    char part[DISK_PATH_BYTES], own[DISK_PATH_BYTES];

    own_name_of(part, snapshot->sequence, ".part");
    own_name_of(own, snapshot->sequence, "");
    int error = copy_whole(vault, snapshot, to, part);
    if (error == 0)
        error = disk_rename(to, part, own);
    if (error == 0)
        error = disk_sync_folder(to, folder);
    if (error == 0)
        error = check_head(vault, snapshot, to);
    if (error != 0) {
        (void)!snapshot_remove_part(to, snapshot->sequence); /* whichever of the two is there */
        (void)!snapshot_remove(to, snapshot->sequence);
    }
    return error;
}

/* ---- what is kept ---------------------------------------------------------------------------- */

struct old_files {
    uint64_t below;
    uint32_t count;
    char names[REMOVED_A_TIME][DISK_PATH_BYTES];
};

static void see_file(void *context, const char *name, uint64_t bytes)
{
    struct old_files *old = context;
    char *end = NULL;
    uint64_t sequence = strtoull(name, &end, 10);

    (void)bytes;
    if (end == name || *end != '-' || sequence >= old->below || old->count == REMOVED_A_TIME)
        return;
    int used =
        snprintf(old->names[old->count], sizeof old->names[old->count], "%s/%s", folder, name);
    old->count += used > 0 && (size_t)used < sizeof old->names[old->count];
}

int vault_snapshot_prune(const struct vault *vault, uint64_t sequence)
{
    struct old_files old = { .below = sequence };
    int error = disk_list(vault->disk, folder, see_file, &old);

    for (uint32_t i = 0; i < old.count; i++) {
        int removed = disk_remove(vault->disk, old.names[i]);
        if (removed != 0 && removed != -ENOENT && error == 0) /* another node may have been first */
            error = removed;
    }
    return error;
}
