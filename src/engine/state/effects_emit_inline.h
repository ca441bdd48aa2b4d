/* effects_emit_inline.h - effects_emit as an inline function, for the effects that every order and
 * every fill emits. Owned by the engine.
 *
 * The body is folded out of registers as it is made, and nothing is called for a sink that ignores
 * the code. For rare effects the call of effects.h is the shorter code. */
#ifndef ENGINE_STATE_EFFECTS_EMIT_INLINE_H
#define ENGINE_STATE_EFFECTS_EMIT_INLINE_H

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

#endif
