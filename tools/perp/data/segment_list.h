/* segment_list.h - lists the segments of a data directory, in archive/ and journal/, each by its
 * own
 * frames. It does not check whether the frames chain.
 *
 * Owner. The command's thread.
 * Bound. Memory: one segment, a row for each. */
#ifndef PERP_DATA_SEGMENT_LIST_H
#define PERP_DATA_SEGMENT_LIST_H

#include "perp/data/data_directory.h"

enum segment_state {
    SEGMENT_PREPARED, /* no frame in it */
    SEGMENT_OPEN,     /* the last one with frames */
    SEGMENT_SEALED,
};

struct segment_row {
    uint64_t number;
    uint64_t frames, first_frame, last_frame;
    uint64_t first_sequence, last_sequence; /* last < first: no record */
    uint64_t first_boot, last_boot;         /* 0: not known (only in the archive) */
    uint64_t frame_bytes;                   /* 0: not known */
    uint64_t file_bytes;
    uint64_t archive_bytes; /* 0: not archived */
    uint64_t stray_offset;  /* of the first bytes that are neither frame nor zero; 0: none */
    bool in_journal, bad_header;
    enum segment_state state;
};

struct segment_list {
    struct segment_row *rows; /* by number */
    size_t count;
};

CC_MUST_USE enum refusal_kind segment_list_read(const struct data_directory *directory,
                                                struct segment_list *list, struct refusal *refusal);
void segment_list_free(struct segment_list *list);

#endif
