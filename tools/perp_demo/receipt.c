#include "perp_demo/receipt.h"

void receipt_add(struct receipts *receipts, const struct receipt *receipt)
{
    if (receipts->count == RECEIPTS_MAX)
        receipts->left_out++;
    else
        receipts->rows[receipts->count++] = *receipt;
}

uint64_t receipt_count(const struct receipts *receipts, enum receipt_found found)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < receipts->count; i++)
        count += receipts->rows[i].found == found;
    return count;
}

uint64_t receipt_first(const struct receipts *receipts)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < receipts->count; i++)
        count += receipts->rows[i].generation == 0;
    return count;
}
