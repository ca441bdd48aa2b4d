/* effects_emit_inline.h - effects_emit as an inline function, for the effects that every order and
 * every fill emits. Owned by the engine.
 *
 * The body is folded out of registers as it is made, and nothing is called for a sink that ignores
 * the code. For rare effects the call of effects.h is the shorter code. The effects of one event
 * may wait in rows where the sink ignores all of them. */
#ifndef ENGINE_STATE_EFFECTS_EMIT_INLINE_H
#define ENGINE_STATE_EFFECTS_EMIT_INLINE_H

#include "base/word.h"
#include "engine/state/state.h"

/* As effects_emit. `body` is a local of the caller, its words stored whole (effects_put). */
static inline void effects_emit_inline(struct engine *engine, enum effect_code code,
                                       uint32_t record, uint16_t asset_id, const void *body)
{
    struct engine_sink *sink = engine->applying.sink;
    uint32_t index = effects_fold(&engine->effects, code, engine->sequence, body);

    INVARIANT(sink != NULL);
    if (CC_UNLIKELY((sink->ignores & EFFECT_BIT(code)) == 0))
        effects_hand_over(engine, code, index, record, asset_id, body);
}

/* True if the sink ignores all effects of these bits (EFFECT_BIT). */
static inline bool effects_are_ignored(const struct engine *engine, uint32_t codes)
{
    const struct engine_sink *sink = engine->applying.sink;

    INVARIANT(sink != NULL);
    return (sink->ignores & codes) == codes;
}

/* Begins to collect effects that the sink ignores. */
static inline void effects_rows_begin(const struct engine *engine, struct effects_rows *rows)
{
    rows->end = rows->rows;
    rows->next_index = (uint64_t)engine->effects.count << 32;
    rows->sequence = engine->sequence;
}

/* As effects_emit_inline, or into `rows`, unless they are NULL: for a sink that ignores it. */
static inline __attribute__((always_inline)) void
effects_emit_into(struct engine *engine, struct effects_rows *rows, enum effect_code code,
                  uint32_t record, uint16_t asset_id, const void *body)
{
    if (rows == NULL) {
        effects_emit_inline(engine, code, record, asset_id, body);
        return;
    }
    struct effects_row *row = rows->end++;
    word_store(&row->code_and_index, code | rows->next_index);
    word_store(&row->sequence, rows->sequence);
    rows->next_index += UINT64_C(1) << 32;
    for (unsigned i = 0; i < EFFECT_WORDS; i++)
        word_store(&row->words[i], cc_load64((const uint8_t *)body + 8 * i));
}

#endif
