/* effects_avx512.h - folds rows of effects in a register of 512 bits, for effects.c alone. Owned by
 * the engine. */
#ifndef ENGINE_STATE_EFFECTS_AVX512_H
#define ENGINE_STATE_EFFECTS_AVX512_H

#include "engine/state/effects.h"

/* Folds `count` rows, one at least, into the lanes. It needs cpu_has_lanes(). */
void effects_avx512_fold(uint64_t lanes[EFFECT_LANES], const struct effects_row *row,
                         uint32_t count);

#endif
