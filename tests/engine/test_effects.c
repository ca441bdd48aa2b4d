/* Effects that wait in rows are folded as each by itself (effects.h), whichever way the machine
 * folds them. */

#include "base/cpu.h"
#include "engine/state/effects.h"
#include "rig.h"

/* Random effects, at most a full set of rows, behind a random start. */
static void random_rows(uint64_t *random, struct effects *effects, struct effects_rows *rows)
{
    rows->sequence = rig_random(random);
    *effects = (struct effects){ .count = rig_below(random, 1000) };
    for (unsigned lane = 0; lane < EFFECT_LANES; lane++)
        effects->lanes[lane] = rig_random(random);
    rows->end = rows->rows + 1 + rig_below(random, EFFECTS_ROWS);
    rows->next_index = (uint64_t)effects->count << 32;
    for (struct effects_row *row = rows->rows; row != rows->end; row++) {
        row->code_and_index = rows->next_index | (EFFECT_FIRST + rig_below(random, 22));
        row->sequence = rows->sequence;
        rows->next_index += UINT64_C(1) << 32;
        for (unsigned i = 0; i < EFFECT_WORDS; i++)
            row->words[i] = rig_random(random);
    }
}

static void check_fold(uint64_t *random, uint32_t wide)
{
    struct effects one_by_one;
    struct effects_rows rows;

    random_rows(random, &one_by_one, &rows);
    struct effects together = one_by_one;
    together.wide = wide;
    effects_fold_rows(&together, &rows);
    for (const struct effects_row *row = rows.rows; row != rows.end; row++) {
        uint32_t code = (uint32_t)row->code_and_index;
        uint32_t index =
            effects_fold(&one_by_one, (enum effect_code)code, rows.sequence, row->words);
        CHECK(index == row->code_and_index >> 32);
    }
    CHECK(memcmp(together.lanes, one_by_one.lanes, sizeof together.lanes) == 0);
    CHECK(together.count == one_by_one.count);
}

int main(void)
{
    uint64_t random = 1;
    struct effects found = { 0 };

    effects_init(&found);
    CHECK(found.wide == (cpu_has_lanes() ? 1 : 0));
    for (uint32_t turn = 0; turn < 20000; turn++)
        for (uint32_t wide = 0; wide <= found.wide; wide++)
            check_fold(&random, wide);
    return 0;
}
