#include "engine/effects.h"

#include "engine/state.h"

#define EFFECT_LANE_FACTOR UINT64_C(0x9E3779B97F4A7C15)

enum { EFFECT_LANE_ROTATION = 29 };

#define X(name, code) \
    static_assert(sizeof(struct effect_##name) == EFFECT_BODY_BYTES, "W3c: 48 bytes");
EFFECT_LIST(X)
#undef X

static uint64_t rotate_left(uint64_t word, unsigned count)
{
    return word << count | word >> (64 - count);
}

static void fold_word(struct effects *effects, unsigned lane, uint64_t word)
{
    effects->lanes[lane] =
        rotate_left(effects->lanes[lane] ^ word, EFFECT_LANE_ROTATION) * EFFECT_LANE_FACTOR;
}

void effects_emit(struct engine *engine, enum effect_code code, uint32_t record, uint16_t asset_id,
                  const void *body)
{
    struct effects *effects = &engine->effects;
    struct engine_sink *sink = engine->turn.sink;
    struct effect effect;

    INVARIANT(sink != NULL);
    effect.index = effects->count++;
    fold_word(effects, 0, code | (uint64_t)effect.index << 32);
    fold_word(effects, 1, engine->sequence);
    for (unsigned i = 0; i < EFFECT_BODY_BYTES / 8; i++) {
        uint64_t word = cc_load64((const uint8_t *)body + 8 * i);
        CC_OPAQUE(word); /* the caller has just stored it word by word */
        fold_word(effects, 2 + i, word);
    }
    if ((sink->ignores & EFFECT_BIT(code)) != 0)
        return;
    effect.code = (uint16_t)code;
    effect.asset_id = asset_id;
    effect.sequence = engine->sequence;
    effect.t_ns = engine->t_ns;
    effect.record = record;
    effect.engine = engine;
    effect.command = engine->turn.command;
    memcpy(effect.bytes, body, sizeof effect.bytes);
    sink->emit(sink, &effect);
}
