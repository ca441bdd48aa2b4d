/* archive_file.h - one archived segment as bytes: zstd of its header block and of each frame's
 * header and records, one after the other (journal.md, Archive).
 *
 *   segment   | header 4096 | 128 + records | zeros | 128 + records | zeros | ... zeros |
 *   in zstd   | header 4096 | 128 + records | 128 + records | ...
 *
 * Any thread; no state. Padding is made again as zeros, so that length, checksum and hash of every
 * frame are those of the segment as it stood.
 * Bound. Memory: the packed file and zstd's own (some MiB). */
#ifndef STORE_ARCHIVE_FILE_H
#define STORE_ARCHIVE_FILE_H

#include "store/archive.h"
#include "store/frame.h"

enum {
    ARCHIVE_FILE_LEVEL = 1,      /* of zstd */
    ARCHIVE_FILE_WINDOW_LOG = 23 /* more is refused: 8 MiB to unpack */
};

/* The most bytes that a packed segment may have. */
CC_MUST_USE uint64_t archive_file_bytes_max(uint32_t segment_bytes);

/* Looks at a whole segment: header of this exchange and number, frames that are whole and chain,
 * the first of them after `before` (NULL: after whatever it names), records that parse, then
 * zeros. Fills what the list says of it but for `bytes` and `file_hash`. 0, or -EBADMSG, also
 * without any frame. */
CC_MUST_USE int archive_file_survey(struct archive_row *out, const uint8_t *segment,
                                    uint32_t segment_bytes, const struct exchange_file *exchange,
                                    uint64_t number, const struct frame_tail *before);

/* Packs a segment that survey accepted: *file is the caller's to free. 0, or -ENOMEM. */
CC_MUST_USE int archive_file_pack(uint8_t **file, size_t *file_bytes, const uint8_t *segment,
                                  uint32_t segment_bytes);

/* Makes the segment again, `segment_bytes` of it into `out`. 0, -ENOMEM, or -EBADMSG when these
 * bytes are no packed segment of that size; whether it is the right one, survey says. */
CC_MUST_USE int archive_file_unpack(uint8_t *out, uint32_t segment_bytes, const uint8_t *file,
                                    size_t file_bytes);

#endif
