/* vault.h - sealed segments of a cluster's journal in a folder that outlives each of its machines
 * (replication.md, Vault). Snapshots are beside them: vault_snapshot.h.
 *
 *   journal/N.seg, sealed ── vault_put ──> segment/N-HASH.zst   synced, read back, compared
 *                            vault_load <──
 *
 * A file is an archive's (archive_file.h). Its name has the first 8 bytes of its hash: nodes that
 * write the same segment at once, packed in another way perhaps, never replace each other's. Which
 * files count, pointers in etcd say.
 *
 * Wait.   Blocking. The vault may be a mounted file system.
 * Owner.  One thread for each vault.
 * Bound.  Memory: two segments and zstd's own. */
#ifndef STORE_VAULT_H
#define STORE_VAULT_H

#include "store/archive.h"
#include "store/frame.h"

struct vault {
    struct disk *disk;                    /* the vault's folder */
    const struct exchange_file *exchange; /* outlives it */
    const char *node;                     /* which writes; outlives it */
    uint32_t segment_bytes;
};

/* Makes the folders of segments and snapshots. 0 or -errno. */
CC_MUST_USE int vault_begin(struct vault *vault);

/* Puts a sealed segment of the journal on `journal`, or of its archive, whose frames are released
 * up to the sequence `released`. Returns 1 and fills *row and *log_bytes (of its frames without
 * padding); 0 while the segment is not sealed; -EBADMSG if it, or what was read back, is not whole;
 * or -errno. */
CC_MUST_USE int vault_put(struct vault *vault, struct disk *journal, uint64_t segment,
                          uint64_t released, struct archive_row *row, uint64_t *log_bytes);

/* The lowest segment that the journal on `journal`, or its archive, still has. 0, -ENOENT without
 * any, -EBADMSG when the archive's list is damaged, or -errno. */
CC_MUST_USE int vault_first(const struct vault *vault, struct disk *journal, uint64_t *segment);

/* Which segment of journal/ on `journal` ends with this frame: 1 and *segment; 0: none does, or the
 * next one has no frame yet; -EBADMSG: the next one goes on after another frame of that number; or
 * -errno. */
CC_MUST_USE int vault_ends_with(const struct vault *vault, struct disk *journal, uint64_t frame,
                                const uint8_t frame_hash[HASH_BYTES], uint64_t *segment);

/* Reads a segment to `out`, segment_bytes of memory, with its padding. 0; -EBADMSG when the file
 * has another size or hash or is no segment; or -errno. */
CC_MUST_USE int vault_load(const struct vault *vault, uint64_t segment, uint64_t file_bytes,
                           const uint8_t file_hash[HASH_BYTES], uint8_t *out);

/* The whole frame at *offset (0: the first) of a loaded segment; *offset is then after it. NULL:
 * there is none. */
CC_MUST_USE const uint8_t *vault_next(const struct vault *vault, uint64_t segment,
                                      const uint8_t *bytes, uint32_t *offset,
                                      struct frame_header *header);

#endif
