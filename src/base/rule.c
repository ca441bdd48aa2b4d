#include "base/rule.h"

#define X(row_number, row_name, row_status, row_check) \
    { .number = (row_number),                          \
      .name = #row_name,                               \
      .check = (row_check),                            \
      .status = STATUS_##row_status },
static const struct rule rows[ROW_COUNT] = { ROW_LIST(X) };
static const struct rule steps[STEP_COUNT] = { STEP_LIST(X) };
#undef X

const struct rule *rule_row(enum rule_row row)
{
    INVARIANT((unsigned)row < ROW_COUNT);
    return &rows[row];
}

const struct rule *rule_step(enum rule_step step)
{
    INVARIANT((unsigned)step < STEP_COUNT);
    return &steps[step];
}
