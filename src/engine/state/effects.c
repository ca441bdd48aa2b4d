#include "engine/state/effects.h"

#include "engine/state/effects_emit_inline.h"

#define X(name, code) \
    static_assert(sizeof(struct effect_##name) == EFFECT_BODY_BYTES, "W3c: 48 bytes");
EFFECT_LIST(X)
#undef X

void effects_hand_over(struct engine *engine, enum effect_code code, uint32_t index,
                       uint32_t record, uint16_t asset_id, const void *body)
{
    struct engine_sink *sink = engine->applying.sink;
    struct effect effect = {
        .code = (uint16_t)code,
        .asset_id = asset_id,
        .index = index,
        .sequence = engine->sequence,
        .t_ns = engine->t_ns,
        .record = record,
        .engine = engine,
        .command = engine->applying.command,
    };

    memcpy(effect.bytes, body, sizeof effect.bytes);
    sink->emit(sink, &effect);
}

void effects_emit(struct engine *engine, enum effect_code code, uint32_t record, uint16_t asset_id,
                  const void *body)
{
    effects_emit_inline(engine, code, record, asset_id, body);
}
