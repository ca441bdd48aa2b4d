/* follow.h - a reader of durable records in order: from the journal's buffer, or from the segment
 * files once it was overtaken.
 *
 *   journal buffer  ... [ position ... durable ) ...   follow_next: one copy, one check
 *   segment files   ... frame with that sequence ...   follow_next: one read of a frame
 *
 * Segments that it has applied may be retired at any time: it passes over those that are gone.
 * The writer never waits for it: being overtaken is noticed by position, and the same records are
 * then read from the files until the buffer holds the next one again.
 *
 * Wait.   The buffer path never blocks. The file path reads in pieces of a frame's longest (1 MiB):
 *         when it was overtaken the first of each segment since it last was, then one segment up to
 *         the record that is wanted; from there on at most one piece a call.
 * Owner.  One thread per follower. A view is good until the next call on the same follower.
 * Bound.  Memory: one record, one frame. */
#ifndef STORE_FOLLOW_H
#define STORE_FOLLOW_H

#include "store/journal.h"

struct follow;

/* A follower whose next record is the journal's first of this start (position.tail.last_sequence
 * + 1: recovery gave the ones before). NULL without memory. */
CC_MUST_USE struct follow *follow_create(const struct journal *journal);
void follow_destroy(struct follow *follow);

/* The next durable record: 1 with `out` and *sequence filled, 0 when there is none yet, -errno when
 * a segment could not be read or holds something else than was written (-EBADMSG). */
CC_MUST_USE int follow_next(struct follow *follow, struct record_view *out, uint64_t *sequence);

/* The last sequence given; and how often it was overtaken. */
CC_MUST_USE uint64_t follow_sequence(const struct follow *follow);
CC_MUST_USE uint64_t follow_overruns(const struct follow *follow);

#endif
