/* journal_cluster.h - the journal of a node of a cluster: frames of the log adopted by a standby,
 * frames of its own lent by a leader (replication.md).
 *
 *   standby   log ──> journal_cluster_adopt ──> disk, readers
 *   leader    matcher ──> frame ──> disk, journal_cluster_next_frame ──> log
 *                                   journal_cluster_replicated(n) ──> released up to n
 *
 * A journal of durability `replicated` or `replicated+local` begins as a standby's. A leader that
 * hands over becomes a standby again when every frame of its term counts.
 *
 * Owner. The journal's thread, unless a function says otherwise. */
#ifndef STORE_JOURNAL_CLUSTER_H
#define STORE_JOURNAL_CLUSTER_H

#include "store/journal.h"

/* Takes the next frame of the chain: `count` bytes, header and records without the padding. It
 * counts already, so its records may be shown at once. Returns 1; 0 while no slot or segment is
 * free: ask again after journal_step; -EBADMSG when it is no frame, does not follow the last one or
 * belongs elsewhere: none of it was taken, and no other frame is; or -errno, the fault. */
CC_MUST_USE int journal_cluster_adopt(struct journal *journal, const uint8_t *bytes, size_t count);

/* Begins to lead: frames from now on have `term` as their boot, which is above the last one's
 * (INVARIANT). The matcher may have published before. */
void journal_cluster_lead(struct journal *journal, uint64_t term);

/* Whether everything that was published is in frames that count. The matcher publishes no more. */
CC_MUST_USE bool journal_cluster_is_quiet(const struct journal *journal);

/* Ends leading: frames are adopted again. The journal is quiet (INVARIANT). */
void journal_cluster_follow(struct journal *journal);

/* Where the chain ends: the position in the buffer after its last record, and the location of the
 * next frame. The journal is quiet or adopts. */
CC_MUST_USE struct journal_position journal_cluster_end(const struct journal *journal,
                                                        uint64_t *position);

/* Lends the next frame that this journal formed, in order, each once. Returns its bytes without
 * padding, which stay until the frame is released, *count and *number; NULL: there is none. */
CC_MUST_USE const uint8_t *journal_cluster_next_frame(struct journal *journal, size_t *count,
                                                      uint64_t *number);

/* Every frame up to `number` counts. Takes effect in the next step. */
void journal_cluster_replicated(struct journal *journal, uint64_t number);

/* The last frame of the chain: formed or adopted; and the last one whose records may be shown. */
CC_MUST_USE struct frame_tail journal_cluster_last_frame(const struct journal *journal);
CC_MUST_USE uint64_t journal_cluster_released_frame(const struct journal *journal);

/* The segment of the last frame; the next one is in it or in the one after. */
CC_MUST_USE uint64_t journal_cluster_segment(const struct journal *journal);

/* Bytes of records that were published and may not be shown yet. Any thread. */
CC_MUST_USE uint64_t journal_cluster_unreleased_bytes(const struct journal *journal);

/* The last frame that is on this medium and counts. */
CC_MUST_USE uint64_t journal_cluster_durable_frame(const struct journal *journal);

#endif
