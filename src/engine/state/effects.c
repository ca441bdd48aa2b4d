#include "engine/state/effects.h"

#include "base/cpu.h"
#include "engine/state/effects_avx512.h"
#include "engine/state/effects_emit_inline.h"

#define X(name, code) \
    static_assert(sizeof(struct effect_##name) == EFFECT_BODY_BYTES, "W3c: 48 bytes");
EFFECT_LIST(X)
#undef X

void effects_init(struct effects *effects)
{
    effects->wide = cpu_has_lanes();
}

/* Eight registers while it goes on. */
static void fold_narrow(uint64_t lanes[EFFECT_LANES], const struct effects_row *row, uint32_t count)
{
    uint64_t codes = lanes[0], sequences = lanes[1];
    uint64_t a = lanes[2], b = lanes[3], c = lanes[4], d = lanes[5], e = lanes[6], f = lanes[7];

    for (const struct effects_row *end = row + count; row != end; row++) {
        codes = effects_mix(codes, row->code_and_index);
        sequences = effects_mix(sequences, row->sequence);
        a = effects_mix(a, row->words[0]);
        b = effects_mix(b, row->words[1]);
        c = effects_mix(c, row->words[2]);
        d = effects_mix(d, row->words[3]);
        e = effects_mix(e, row->words[4]);
        f = effects_mix(f, row->words[5]);
    }
    lanes[0] = codes;
    lanes[1] = sequences;
    lanes[2] = a;
    lanes[3] = b;
    lanes[4] = c;
    lanes[5] = d;
    lanes[6] = e;
    lanes[7] = f;
}

void effects_fold_rows(struct effects *effects, const struct effects_rows *rows)
{
    uint32_t count = (uint32_t)(rows->end - rows->rows);

    INVARIANT(count != 0 && count <= EFFECTS_ROWS);
    effects->count += count;
    INVARIANT(rows->next_index == (uint64_t)effects->count << 32);
    if (effects->wide)
        effects_avx512_fold(effects->lanes, rows->rows, count);
    else
        fold_narrow(effects->lanes, rows->rows, count);
}

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
