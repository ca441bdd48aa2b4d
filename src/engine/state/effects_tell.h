/* effects_tell.h - effects_emit where it stands: for the effects that every order and every fill
 * tells. Owned by the engine.
 *
 * The body is folded out of registers as it is made, and nothing is called for a sink that ignores
 * the code. For rare effects the call of effects.h is the shorter code. */
#ifndef ENGINE_STATE_EFFECTS_TELL_H
#define ENGINE_STATE_EFFECTS_TELL_H

#include "engine/state/state.h"

/* As effects_emit. `body` is a local of the caller, its words stored whole (effects_put). */
static inline void effects_tell(struct engine *engine, enum effect_code code, uint32_t record,
                                uint16_t asset_id, const void *body)
{
    struct engine_sink *sink = engine->turn.sink;
    uint32_t index = effects_fold(&engine->effects, code, engine->sequence, body);

    INVARIANT(sink != NULL);
    if (CC_UNLIKELY((sink->ignores & EFFECT_BIT(code)) == 0))
        effects_hand_over(engine, code, index, record, asset_id, body);
}

#endif
