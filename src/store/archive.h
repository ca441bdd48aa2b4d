/* archive.h - sealed segments, kept for ever as zstd of their frames without padding, and the list
 * of them (journal.md, Archive).
 *
 *   journal/N.seg ── archive_store ──> archive/N.seg.zst   written, synced, listed in `index`,
 *        │                                                 read back, compared
 *        └── recycled only when that returned 0
 *
 * A file holds, compressed: the segment's header block, then each frame's first 128 + record_bytes
 * bytes. archive_load restores the segment, with zeros as padding.
 *
 * Wait.   Blocking; background thread, start, tools.
 * Bound.  Memory: two segments and zstd's own. */
#ifndef STORE_ARCHIVE_H
#define STORE_ARCHIVE_H

#include "base/hash.h"
#include "store/disk.h"
#include "store/exchange_file.h"
#include "store/refusal.h"

/* One line of archive/index. */
struct archive_row {
    uint64_t segment;
    uint64_t first_frame, last_frame;
    uint64_t first_sequence, last_sequence; /* last_sequence < first_sequence: no record in it */
    uint64_t last_t_ns;                     /* of its last record: its age; 0: none */
    uint64_t bytes;                         /* of the file */
    uint8_t file_hash[HASH_BYTES];
    uint8_t last_frame_hash[HASH_BYTES];
};

/* The list, in order of segments without a gap. Its text: archive_index.h. */
struct archive {
    struct archive_row *rows;
    uint64_t count;
};

/* Reads archive/index; no file is an empty list. Refused when a line is malformed, out of order, of
 * another exchange, or names a file that is missing or of another size, also in the disk's second
 * place (disk->archive_copy). archive_load checks the contents. A file that no line names is
 * unfinished and does not count. */
CC_MUST_USE enum refusal_kind archive_open(struct archive *archive, struct disk *disk,
                                           const struct exchange_file *exchange,
                                           struct refusal *refusal);
void archive_close(struct archive *archive);

/* archive_open for a start: a list that is damaged, or ends below segment `journal_first` (a
 * missing one too), is made again: of the files N.seg.zst the highest and all below it without a
 * gap. Each is read whole, and must be a segment of this exchange that chains to the one before.
 * No file is an empty list, and none is written. *relisted is the number of segments of a list
 * made again, which is durable then; else 0. Refused (archive_damaged) when a file is wrong;
 * nothing was written then, and `archive` is empty. Which lower segments were listed before,
 * nobody can tell from the others. Time: to make a list again the whole archive is read. */
CC_MUST_USE enum refusal_kind archive_mend(struct archive *archive, struct disk *disk,
                                           const struct exchange_file *exchange,
                                           uint32_t segment_bytes, uint64_t journal_first,
                                           uint64_t *relisted, struct refusal *refusal);

/* What archive/index says, without a look at the files; refused as archive_open, and the list is
 * empty then. */
CC_MUST_USE enum refusal_kind archive_read_list(struct archive *archive, struct disk *disk,
                                                const struct exchange_file *exchange,
                                                struct refusal *refusal);

/* Replaces archive/index by this list: a crash leaves the one or the other. 0 or -errno. */
CC_MUST_USE int archive_write_list(const struct archive *archive, struct disk *disk,
                                   const struct exchange_file *exchange);

/* The row of a segment, or NULL. */
CC_MUST_USE const struct archive_row *archive_find(const struct archive *archive, uint64_t segment);

/* Archives the sealed segment after the last one listed (segment 0 if the list is empty) and adds
 * it to the list, in memory and in the file. The segment must be whole to its end, and its first
 * frame must chain to the last one archived. Returns 0; -EBADMSG if the segment, its number or what
 * was read back is wrong; or -errno. On failure the list in memory is unchanged, the list on the
 * disk is the old or the new one, and the call may be repeated. A caller that retires segments by a
 * list that archive_open read must first sync the folder, because a killed process may have left it
 * unsynced; segment_pool_retire does. */
CC_MUST_USE int archive_store(struct archive *archive, struct disk *disk,
                              const struct exchange_file *exchange, uint64_t segment,
                              uint32_t segment_bytes);

/* Restores a segment: writes its `segment_bytes` to `out`, with zeros after the last frame. Refused
 * when the file's hash, its frames or their number differ from the list, and the second place has
 * none that is right. */
CC_MUST_USE enum refusal_kind archive_load(const struct archive *archive, struct disk *disk,
                                           const struct exchange_file *exchange, uint64_t segment,
                                           uint32_t segment_bytes, uint8_t *out,
                                           struct refusal *refusal);

/* Removes the oldest segments whose last record is older than `before_ns` and whose number is below
 * `below_segment` (store.archive_keep), but never the last one listed, because the next must chain
 * to it. Returns their number or -errno. The list is written first, so a crash leaves files that no
 * line names. The next call that removes a segment removes all files below it too: their records
 * are older than its own. A call that removes none leaves them: below a list that was made again
 * they may be the only ones of their records. */
CC_MUST_USE int archive_prune(struct archive *archive, struct disk *disk,
                              const struct exchange_file *exchange, uint64_t before_ns,
                              uint64_t below_segment);

#endif
