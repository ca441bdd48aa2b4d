/* archive_file.h - one archived segment as bytes: zstd of its header block and of each frame's
 * header and records, one after the other (journal.md, Archive).
 *
 *   segment   | header 4096 | 128 + records | zeros | 128 + records | zeros | ... zeros |
 *   in zstd   | header 4096 | 128 + records | 128 + records | ...
 *
 * Any thread; no state. Unpacking restores padding as zeros, so that length, checksum and hash of
 * every frame are those of the segment.
 * Bound. Memory: the packed file and zstd's own (some MiB). */
#ifndef STORE_ARCHIVE_FILE_H
#define STORE_ARCHIVE_FILE_H

#include "store/archive.h"
#include "store/frame.h"

enum {
    ARCHIVE_FILE_LEVEL = 1,      /* of zstd */
    ARCHIVE_FILE_WINDOW_LOG = 23 /* more is refused: 8 MiB to unpack */
};

/* Returns the largest size of a packed segment. */
CC_MUST_USE uint64_t archive_file_bytes_max(uint32_t segment_bytes);

/* Checks a whole segment: the header is of this exchange and number, the frames are whole and
 * chain, the first of them to `before` (NULL: to whatever it names), their records parse, and zeros
 * follow. Fills *out but for `bytes` and `file_hash`. Returns 0 or -EBADMSG; a segment without a
 * frame is -EBADMSG too. */
CC_MUST_USE int archive_file_survey(struct archive_row *out, const uint8_t *segment,
                                    uint32_t segment_bytes, const struct exchange_file *exchange,
                                    uint64_t number, const struct frame_tail *before);

/* Packs a segment that survey accepted. The caller frees *file. Returns 0 or -ENOMEM. */
CC_MUST_USE int archive_file_pack(uint8_t **file, size_t *file_bytes, const uint8_t *segment,
                                  uint32_t segment_bytes);

/* Unpacks a segment of `segment_bytes` to `out`. Returns 0, -ENOMEM, or -EBADMSG if these bytes are
 * no packed segment of that size; survey then checks that it is the right one. */
CC_MUST_USE int archive_file_unpack(uint8_t *out, uint32_t segment_bytes, const uint8_t *file,
                                    size_t file_bytes);

#endif
