/* archive_index.h - the text of archive/index: the list of archived segments, one a line.
 *
 *   perpd-archive 1 EXCHANGE_ID JOURNAL_ID
 *   SEGMENT FRAME FRAME SEQUENCE SEQUENCE T_NS BYTES HASH HASH      each first, last; T_NS of its
 *   ...                                                             last record; of file, of frame
 *   check HASH_OF_THE_LINES_ABOVE
 *
 * Numbers are decimal without leading zeros, ids and hashes lower-case hexadecimal, one space
 * between, each line ended by a newline: a list has one text. Any thread; no state.
 * Bound. ARCHIVE_INDEX_ROWS_MAX lines of ARCHIVE_INDEX_LINE_BYTES_MAX. */
#ifndef STORE_ARCHIVE_INDEX_H
#define STORE_ARCHIVE_INDEX_H

#include "store/archive.h"

enum {
    ARCHIVE_INDEX_ROWS_MAX = 1 << 20, /* 64 TiB of segments */
    ARCHIVE_INDEX_LINE_BYTES_MAX = 288,
    ARCHIVE_INDEX_BYTES_MAX = (ARCHIVE_INDEX_ROWS_MAX + 2) * ARCHIVE_INDEX_LINE_BYTES_MAX
};

/* Writes the list as text; the caller frees *text. Returns 0, -ENOMEM, or -EFBIG. */
CC_MUST_USE int archive_index_encode(char **text, size_t *bytes, const struct archive *archive,
                                     const struct exchange_file *exchange);

/* Parses a list; the caller frees out->rows (archive_close). Returns 0, -ENOMEM, -EXDEV if the list
 * is another exchange's, or -EBADMSG if the text is malformed or its segments, frames and sequences
 * do not follow one another; *line (from 1) then says where. On failure out is empty. */
CC_MUST_USE int archive_index_decode(struct archive *out, const char *text, size_t bytes,
                                     const struct exchange_file *exchange, uint64_t *line);

#endif
