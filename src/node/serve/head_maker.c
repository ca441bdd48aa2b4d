#include "node/serve/head_maker.h"

void head_maker_init(struct head_maker *maker, const struct clock *clock,
                     const struct journal *journal, const struct frame_board *frames)
{
    maker->clock = clock;
    maker->journal = journal;
    maker->frames = frames;
    head_maker_rest(maker, journal_config_of(journal)->durability >= JOURNAL_REPLICATED);
}

static bool is_due(const struct head_maker *maker, const struct frame_location *frame)
{
    return frame->segment != maker->segment || maker->drafted_ns == 0 ||
           clock_monotonic_ns(maker->clock) - maker->drafted_ns >= HEAD_MAKER_INTERVAL_NS;
}

void head_maker_aim(struct head_maker *maker, uint64_t applied)
{
    struct frame_location frame;

    if (maker->frames == NULL || head_maker_rests(maker) || maker->target > applied ||
        !frame_board_find(maker->frames, applied + 1, &frame) || !is_due(maker, &frame))
        return;
    maker->aimed = frame;
    maker->target = frame.last_sequence;
}

void head_maker_draft_fill(struct head_draft *draft, const struct frame_location *frame,
                           uint64_t wall_ns, const struct engine *engine)
{
    INVARIANT(engine_sequence(engine) == frame->last_sequence);
    draft->frame = *frame;
    draft->wall_ns = wall_ns;
    engine_effects_lanes(engine, draft->lanes);
}

void head_maker_draft(struct head_maker *maker, const struct engine *engine)
{
    uint64_t added = atomic_load_explicit(&maker->added, memory_order_relaxed); /* its own */

    maker->target = 0;
    maker->segment = maker->aimed.segment;
    maker->drafted_ns = clock_monotonic_ns(maker->clock);
    /* acquire (pairs: head_maker_next): the keeper has read what is overwritten. */
    if (added - atomic_load_explicit(&maker->removed, memory_order_acquire) == HEAD_MAKER_DRAFTS)
        return;
    head_maker_draft_fill(&maker->drafts[added % HEAD_MAKER_DRAFTS], &maker->aimed,
                          clock_now_ns(maker->clock), engine);
    atomic_store_explicit(&maker->added, added + 1, memory_order_release); /* pairs: next */
}

bool head_maker_next(struct head_maker *maker, struct head_draft *draft)
{
    uint64_t removed = atomic_load_explicit(&maker->removed, memory_order_relaxed); /* its own */

    if (atomic_load_explicit(&maker->added, memory_order_acquire) == removed) /* pairs: draft */
        return false;
    const struct head_draft *oldest = &maker->drafts[removed % HEAD_MAKER_DRAFTS];
    if (maker->journal != NULL && oldest->frame.last_sequence > journal_written_seq(maker->journal))
        return false;
    *draft = *oldest;
    atomic_store_explicit(&maker->removed, removed + 1, memory_order_release); /* pairs: draft */
    return true;
}
