/* whole_subaccount.h - a subaccount's row at one moment, made in one step. */
#ifndef TESTS_ENGINE_WHOLE_SUBACCOUNT_H
#define TESTS_ENGINE_WHOLE_SUBACCOUNT_H

#include "engine/view/read.h"

/* False: no such subaccount. */
static inline bool whole_subaccount(const struct engine *engine, uint64_t account_id,
                                    uint32_t subaccount_index, struct row_subaccount *row)
{
    uint32_t portfolio_index = 0;

    return read_subaccount_begin(engine, account_id, subaccount_index, row) &&
           read_subaccount_add(engine, account_id, &portfolio_index, UINT32_MAX, row) == 0;
}

#endif
