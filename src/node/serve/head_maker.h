/* head_maker.h - chooses the frames that heads are made of, and says what they hold
 * (journal.md, Heads).
 *
 *   journal ── frame_board ──> follower: applies to the frame's end ── head_draft ──> head_keeper
 *
 * A head is due each second while frames are written, and with the first frame of a segment. Its
 * effects hash is that of the replica when it has applied exactly the frame's last record.
 *
 * Wait.   Nothing blocks. A draft without room is left out: the next one comes.
 * Owner.  aim and draft: the follower's thread. head_maker_next: the keeper's. */
#ifndef NODE_SERVE_HEAD_MAKER_H
#define NODE_SERVE_HEAD_MAKER_H

#include "base/clock.h"
#include "engine/engine.h"
#include "store/frame_board.h"
#include "store/journal.h"

enum { HEAD_MAKER_DRAFTS = 16, HEAD_MAKER_LANES = 8 };

#define HEAD_MAKER_INTERVAL_NS UINT64_C(1000000000)

/* What a head says of a frame, before it is signed. */
struct head_draft {
    struct frame_location frame;
    uint64_t wall_ns;
    uint64_t lanes[HEAD_MAKER_LANES]; /* of the effects hash, after the frame's last record */
};

struct head_maker {
    const struct frame_board *frames; /* NULL: no heads are made */
    _Atomic bool rests;               /* another node of the cluster leads */
    const struct clock *clock;
    const struct journal *journal; /* in whose files a frame is before its head is made; or NULL */
    struct frame_location aimed;
    uint64_t target;     /* the last sequence of `aimed`; 0: none is aimed at */
    uint64_t segment;    /* of the last draft */
    uint64_t drafted_ns; /* clock_monotonic_ns of it */
    struct head_draft drafts[HEAD_MAKER_DRAFTS];
    CC_NO_SHARE _Atomic uint64_t added;
    CC_NO_SHARE _Atomic uint64_t removed;
};

/* Before the first of the records that follow `applied`: aims at the end of the frame that holds
 * the next one, if a head is due. */
void head_maker_aim(struct head_maker *maker, uint64_t applied);

/* The maker must be all zeros before. In a cluster it rests until the node leads. */
void head_maker_init(struct head_maker *maker, const struct clock *clock,
                     const struct journal *journal, const struct frame_board *frames);

/* In a cluster, any thread: whether another node leads, whose heads are that one's. A head of a
 * frame that counts is true under any leader, so no order is needed. */
static inline void head_maker_rest(struct head_maker *maker, bool rests)
{
    atomic_store_explicit(&maker->rests, rests, memory_order_relaxed);
}

CC_MUST_USE static inline bool head_maker_rests(const struct head_maker *maker)
{
    return atomic_load_explicit(&maker->rests, memory_order_relaxed);
}

/* After the record `maker->target` was applied to the engine. */
void head_maker_draft(struct head_maker *maker, const struct engine *engine);

/* Writes what a head of this frame says of the engine, which has applied exactly that far. */
void head_maker_draft_fill(struct head_draft *draft, const struct frame_location *frame,
                           uint64_t wall_ns, const struct engine *engine);

/* The oldest draft, which is removed. False: there is none, or its frame counts and is not in the
 * file here yet. */
CC_MUST_USE bool head_maker_next(struct head_maker *maker, struct head_draft *draft);

#endif
