/* vault_snapshot.h - snapshots of a cluster's nodes in the vault, beside its segments
 * (replication.md, Snapshots in the vault).
 *
 *   snapshot/SEQUENCE.snap ── vault_upload ──> snapshot/SEQUENCE-HASH.snap   synced, read back
 *   of a node's directory  <── vault_snapshot_fetch ──
 *
 * A file is a snapshot's (snapshot.h), byte for byte. Its name has the first 8 bytes of its hash,
 * as a segment's has: who writes another file of the same sequence does not replace it. Which files
 * count, pointers in etcd say.
 *
 * Wait.   Blocking. An upload is done in pieces, so that who does it can end between two.
 * Owner.  One thread for each vault and upload.
 * Bound.  Memory: one piece of 1 MiB. */
#ifndef STORE_VAULT_SNAPSHOT_H
#define STORE_VAULT_SNAPSHOT_H

#include "store/snapshot.h"
#include "store/vault.h"

struct vault_snapshot {
    uint64_t sequence, frame, t_ns;
    uint64_t bytes;   /* of its file */
    uint64_t segment; /* that ends with its frame */
    uint32_t rules_version;
    uint8_t image_hash[HASH_BYTES];
    uint8_t frame_hash[HASH_BYTES];
    uint8_t file_hash[HASH_BYTES];
};

/* What `head` says of a snapshot that ends `segment`: *snapshot, but for the file's hash. */
void vault_snapshot_of(struct vault_snapshot *snapshot, const struct snapshot_head *head,
                       uint64_t segment);

/* The newest snapshot of the node's directory `journal` that ends a sealed segment: 1, with *found
 * but for the file's hash; 0: there is none; or -errno. One that is damaged is passed over. */
CC_MUST_USE int vault_snapshot_find(const struct vault *vault, struct disk *journal,
                                    struct vault_snapshot *found);

/* A file that is read, and copied if `to` is not NULL. */
struct vault_copy {
    struct disk *from, *to;
    int source, target; /* -1: none */
    uint64_t at;
    uint8_t *piece;
    struct hash_state file, image; /* of all, of what lies behind the head */
};

/* clang-format off */
/*    state    may become */
#define VAULT_UPLOAD_STATE_LIST(X)                                                                 \
    X(IDLE,    TO(WRITES))            /* memset 0 and ended ones */                                \
    X(WRITES,  TO(READS) | TO(IDLE))  /* the file is written aside */                              \
    X(READS,   TO(IDLE))              /* it has its name and is read back */
/* clang-format on */

enum vault_upload_state {
#define X(name, next) VAULT_UPLOAD_##name,
    VAULT_UPLOAD_STATE_LIST(X)
#undef X
        VAULT_UPLOAD_STATE_COUNT
};

/* One upload. */
struct vault_upload {
    const struct vault *vault;
    struct vault_snapshot snapshot;
    struct vault_copy copy;
    enum vault_upload_state state;
};

/* Begins to put a snapshot of `journal`, but for the file's hash known. 0 or -errno, then it is
 * idle. */
CC_MUST_USE int vault_snapshot_upload_begin(struct vault_upload *upload, const struct vault *vault,
                                            struct disk *journal,
                                            const struct vault_snapshot *snapshot);

/* One piece of it: 0: there is more; 1: it is in the vault, and upload->snapshot is whole; -EBADMSG
 * when the node's file is not the one that its head describes, or what was read back differs; or
 * -errno. It is idle after all but 0. */
CC_MUST_USE int vault_snapshot_upload_step(struct vault_upload *upload);

/* Gives it up. */
void vault_snapshot_upload_end(struct vault_upload *upload);

/* Copies a snapshot to the directory `to`, whose folder snapshot/ exists and whose `exchange` is
 * the vault's. 0; -EBADMSG when the file has another length or hash, or its head is not what
 * `snapshot` says; -EXDEV when it is another exchange's; or -errno. On failure `to` has none of
 * this sequence. */
CC_MUST_USE int vault_snapshot_fetch(const struct vault *vault,
                                     const struct vault_snapshot *snapshot, struct disk *to);

/* Removes the files of the vault below `sequence`. 0 or -errno. */
CC_MUST_USE int vault_snapshot_prune(const struct vault *vault, uint64_t sequence);

#endif
