/* segment_set.h - the segment files of a data directory for recovery: listed, checked, and read
 * whole, one at a time.
 *
 * Main thread, blocking. recovery.c reads the struct and writes first_frame; the functions here
 * write everything else.
 * Bound.  Memory: one segment, one frame, a note for each segment. */
#ifndef STORE_SEGMENT_SET_H
#define STORE_SEGMENT_SET_H

#include "store/frame.h"
#include "store/refusal.h"
#include "store/segment.h"

/* What is known of one segment file. */
struct segment_note {
    uint64_t bytes;       /* of the file */
    uint64_t first_frame; /* of the chain in it; UINT64_MAX: none. Recovery writes it. */
    uint32_t block_bytes;
    bool blank; /* zero but for a wrong header: gets a right one when recovery ends */
};

struct segment_set {
    struct disk *disk;
    const struct exchange_file *exchange;
    struct refusal *refusal;
    uint32_t segment_bytes;
    uint64_t first; /* the set is the segments [first, first + count) */
    uint64_t count;
    uint64_t boot_max;          /* of the headers */
    struct segment_note *notes; /* of segment n at n - first */
    uint8_t *bytes;             /* one whole segment ... */
    uint64_t loaded;            /* ... this one; UINT64_MAX: none */
    uint8_t *frame_bytes;       /* for whatever is short */
    size_t frame_bytes_max;     /* the largest frame that a segment can hold, or its header */
};

/* Lists the segments and checks every header: each number once from the lowest to the highest, the
 * right size, this exchange. A file with a wrong header and zeros after it is noted as blank: it
 * was prepared and never used. A directory
 * without segments gives an empty set. */
CC_MUST_USE enum refusal_kind segment_set_open(struct segment_set *set, struct disk *disk,
                                               const struct exchange_file *exchange,
                                               uint32_t segment_bytes, struct refusal *refusal);

/* Frees the memory; also after a refusal. */
void segment_set_close(struct segment_set *set);

/* True if segment `number` is one of the set; its note (INVARIANT: it is). */
CC_MUST_USE bool segment_set_has(const struct segment_set *set, uint64_t number);
CC_MUST_USE struct segment_note *segment_set_note(struct segment_set *set, uint64_t number);

/* Reads a segment into `bytes` unless it is there. Waits for writes of a dead process to end. */
CC_MUST_USE enum refusal_kind segment_set_load(struct segment_set *set, uint64_t number);

/* Drops the loaded segment, because its file was changed. */
void segment_set_unload(struct segment_set *set);

/* Reads the start of a segment, as much as its first frame can be, into `frame_bytes`; *count
 * bytes. */
CC_MUST_USE enum refusal_kind segment_set_peek(struct segment_set *set, uint64_t number,
                                               size_t *count);

/* Gives every blank segment a right header, of the start `boot`, durable when it returns. */
CC_MUST_USE enum refusal_kind segment_set_head_blanks(struct segment_set *set, uint64_t boot);

/* Opens a segment for writing and syncing. Returns a file number or -errno. */
CC_MUST_USE int segment_set_edit(struct segment_set *set, uint64_t number);

#endif
