/* Compiled with AVX-512 DQ, which multiplies eight words at once: effects_mix of all the lanes. */
#include "engine/state/effects_avx512.h"

typedef uint64_t all_lanes __attribute__((vector_size(EFFECT_LANES * sizeof(uint64_t))));

void effects_avx512_fold(uint64_t lanes[EFFECT_LANES], const struct effects_row *row,
                         uint32_t count)
{
    all_lanes all, words;

    memcpy(&all, lanes, sizeof all);
    for (const struct effects_row *end = row + count; row != end; row++) {
        memcpy(&words, row, sizeof words);
        all ^= words;
        all =
            (all << EFFECT_LANE_ROTATION | all >> (64 - EFFECT_LANE_ROTATION)) * EFFECT_LANE_FACTOR;
    }
    memcpy(lanes, &all, sizeof all);
}
