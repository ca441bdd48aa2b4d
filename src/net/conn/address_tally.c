#include "net/conn/address_tally.h"

#include <errno.h>

#include "base/region.h"

struct address_sum {
    uint64_t address;
    uint64_t amount;
    uint32_t round;
    uint32_t zero;
};

static size_t rows_bytes(const struct address_tally *tally)
{
    return (tally->mask + (size_t)1) * sizeof *tally->rows;
}

int address_tally_init(struct address_tally *tally, uint32_t addresses, struct mix_key hash_key)
{
    *tally = (struct address_tally){ .mask = 2 * addresses - 1, .hash_key = hash_key };
    tally->rows = region_map(REGION_connections, rows_bytes(tally));
    return tally->rows == NULL ? -ENOMEM : 0;
}

void address_tally_free(struct address_tally *tally)
{
    region_unmap(tally->rows, rows_bytes(tally));
    tally->rows = NULL;
}

void address_tally_begin(struct address_tally *tally)
{
    tally->most = 0;
    tally->address = 0;
    if (++tally->round != 0)
        return;
    memset(tally->rows, 0, rows_bytes(tally));
    tally->round = 1;
}

void address_tally_add(struct address_tally *tally, uint64_t address, uint64_t amount)
{
    uint64_t at = mix_word(tally->hash_key, address);
    struct address_sum *row = &tally->rows[at & tally->mask];

    while (row->round == tally->round && row->address != address)
        row = &tally->rows[++at & tally->mask];
    if (row->round != tally->round)
        *row = (struct address_sum){ .address = address, .round = tally->round };
    row->amount += amount;
    if (row->amount <= tally->most)
        return;
    tally->most = row->amount;
    tally->address = address;
}
