/* address_tally.h - sums by client address: which address holds most of something, counted when
 * somebody must know.
 *
 * Owner. The net thread.
 * Bound. Two rows for each connection of the table, mapped at the start. */
#ifndef NET_CONN_ADDRESS_TALLY_H
#define NET_CONN_ADDRESS_TALLY_H

#include "base/compiler.h"
#include "base/mix.h"

struct address_tally {
    struct address_sum *rows;
    uint32_t mask;
    uint32_t round; /* rows of another round are empty */
    struct mix_key hash_key;
    uint64_t most; /* the greatest sum of this round; 0: there is none */
    uint64_t address;
};

/* 0 or -ENOMEM. At most `addresses`, a power of two, are added in a round. */
CC_MUST_USE int address_tally_init(struct address_tally *tally, uint32_t addresses,
                                   struct mix_key hash_key);
void address_tally_free(struct address_tally *tally);

/* Begins a round: all sums are 0. */
void address_tally_begin(struct address_tally *tally);

/* Adds to the sum of the address; `most` and `address` follow. */
void address_tally_add(struct address_tally *tally, uint64_t address, uint64_t amount);

#endif
