/* frame_reader.h - gives the bytes of the journal's frames as they lie in the segment files, to who
 * copies a running exchange frame by frame (journal.md, Backup), and single records (Receipts).
 *
 *   begin: from frame N ──> step ... step: find its segment and offset, a piece of file each
 *                      ──> whole frames from N on, of one segment, released, as many as fit
 *
 * Only frames whose records may be shown are given: up to journal_durable_seq. A frame that is
 * longer than the answer is given in pieces.
 *
 * Wait.  Blocking; a step reads at most FRAME_READER_STEP_BYTES of the files.
 * Owner. One thread. The copies of the cursor are the callers', so several may search at a time.
 * Bound. Memory: one piece of FRAME_READER_STEP_BYTES. */
#ifndef STORE_FRAME_READER_H
#define STORE_FRAME_READER_H

#include "store/journal.h"

enum { FRAME_READER_STEP_BYTES = FRAME_BYTES_MAX + DISK_ALIGNMENT };

struct frame_reader {
    const struct journal *journal;
    uint8_t *piece;           /* NULL: before frame_reader_init */
    uint64_t next;            /* a hint: the frame after the last ones given ... */
    uint64_t segment, offset; /* ... comes here or in the next segment; `next` 0: none */
    /* Another: the frame of the last record that was found. Sequence 0: none. */
    uint64_t record_sequence, record_segment, record_offset;
};

/* A search that is under way. */
struct frame_cursor {
    uint64_t from;            /* the frame wanted */
    uint64_t segment, offset; /* where the search goes on; offset 0: it has not begun */
};

/* What was found. Bytes 0: no frame `from` is released yet. */
struct frame_stretch {
    uint64_t segment, offset; /* of the first byte */
    uint64_t first_frame, last_frame;
    uint64_t last_sequence;
    uint64_t boot;         /* of the first frame */
    uint32_t block_bytes;  /* of the segment */
    uint32_t bytes;        /* given */
    uint32_t first_length; /* of the first frame; more than bytes given: a piece of it */
};

/* 0 or -ENOMEM. The reader must be all zeros before. */
CC_MUST_USE int frame_reader_init(struct frame_reader *reader, const struct journal *journal);
void frame_reader_free(struct frame_reader *reader);

/* Begins a search. */
CC_MUST_USE struct frame_cursor frame_reader_begin(const struct frame_reader *reader,
                                                   uint64_t from);

/* Goes on. `skip`: bytes of frame `from` to leave out; then no other frame is given. Returns 1 with
 * *found filled and found->bytes of at most `capacity` at `out`; 0: ask again; -ENOENT: that frame
 * is not in the journal's files any more (the archive has it); -ERANGE: frame `from` has not more
 * than `skip` bytes; or another -errno. */
CC_MUST_USE int frame_reader_step(struct frame_reader *reader, struct frame_cursor *cursor,
                                  uint32_t skip, uint8_t *out, uint32_t capacity,
                                  struct frame_stretch *found);

/* A record and the frame that holds it. */
struct frame_record {
    uint64_t frame; /* number */
    uint64_t segment;
    uint8_t frame_hash[HASH_BYTES];
    struct record_view record; /* in the reader's memory until the next call */
};

/* Looks for the record of cursor->from, here a sequence; begin with offset 0. Returns 1 with *found
 * filled; 0: ask again, also while it is released and not yet in the file; -ENOENT: it is not
 * released, or not in the journal's files any more; or another -errno. */
CC_MUST_USE int frame_reader_record(struct frame_reader *reader, struct frame_cursor *cursor,
                                    struct frame_record *found);

#endif
