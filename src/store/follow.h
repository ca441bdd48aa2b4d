/* follow.h - a reader of durable records in order, from the journal's buffer or, once the writer
 * has overtaken it, from the segment files.
 *
 *   journal buffer  ... [ position ... durable ) ...   follow_next: one copy, one check
 *   segment files   ... frame with that sequence ...   follow_next: one read of a frame
 *
 * The writer never waits. The reader notices by position that it was overtaken, and reads the files
 * until the buffer holds the next record again. Segments that it has applied may be retired at any
 * time; it skips those that are gone.
 *
 * Wait.   The buffer path never blocks. The file path blocks for reads of 1 MiB, the longest frame:
 *         after an overrun it reads the first piece of each segment since the last position, then
 *         one segment up to the record it needs; from there on at most one piece a call.
 * Owner.  One thread per follower. A view is good until the next call on the same follower.
 * Bound.  Memory: one record, one frame. */
#ifndef STORE_FOLLOW_H
#define STORE_FOLLOW_H

#include "store/journal.h"

struct follow;

/* Makes a reader that begins with the first record of this start, position.tail.last_sequence + 1;
 * recovery delivered the ones before. Returns NULL without memory. */
CC_MUST_USE struct follow *follow_create(const struct journal *journal);

/* The same after a location of the chain: `position` in the buffer is after the last record of
 * from->tail. */
CC_MUST_USE struct follow *follow_create_at(const struct journal *journal, uint64_t position,
                                            const struct journal_position *from);
void follow_destroy(struct follow *follow);

/* Reads the next durable record. Returns 1 with `out` and *sequence filled, 0 if there is none yet,
 * -EBADMSG if a segment does not hold what was written, or another -errno. */
CC_MUST_USE int follow_next(struct follow *follow, struct record_view *out, uint64_t *sequence);

/* The last sequence given; and how often it was overtaken. */
CC_MUST_USE uint64_t follow_sequence(const struct follow *follow);
CC_MUST_USE uint64_t follow_overruns(const struct follow *follow);

#endif
