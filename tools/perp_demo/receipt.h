/* receipt.h - what an account was told of its signed requests, kept to be asked for again.
 *
 * A receipt is written when an answer says how a request ended. `generation` counts the connections
 * lost before it, so that the receipts of generation 0 are those from before the exchange was
 * killed. A request whose answer was lost with a connection is sent again, the same bytes, until it
 * is answered: `found` then says whether it had been executed before. Where no answer says that,
 * because its id was too old by then, GET /requests/{id} does (statement.h).
 *
 * Owner. One process, one thread.
 * Bound. RECEIPTS_MAX are kept; later ones are only counted. */
#ifndef PERP_DEMO_RECEIPT_H
#define PERP_DEMO_RECEIPT_H

#include "base/uuid.h"

enum { RECEIPTS_MAX = 1 << 17 };

enum receipt_found {
    RECEIPT_ANSWERED, /* by its first answer */
    RECEIPT_BEFORE,   /* sent again: it had been executed when the answer was lost */
    RECEIPT_AFTER,    /* sent again: executed only then */
    RECEIPT_UNTOLD,   /* sent again: no answer says whether it was ever executed */
};

struct receipt {
    struct uuid id;
    uint64_t sequence; /* 0: not told (RECEIPT_BEFORE, RECEIPT_UNTOLD) */
    uint16_t status;   /* enum status: how it ended; no meaning in RECEIPT_UNTOLD */
    uint8_t found;     /* enum receipt_found */
    uint8_t generation;
    uint8_t zero[4];
};

struct receipts {
    uint32_t count;
    uint64_t left_out; /* beyond RECEIPTS_MAX */
    struct receipt rows[RECEIPTS_MAX];
};

/* Adds one. */
void receipt_add(struct receipts *receipts, const struct receipt *receipt);

/* How many there are of a kind. */
uint64_t receipt_count(const struct receipts *receipts, enum receipt_found found);

/* How many were answered before the first connection was lost. */
uint64_t receipt_first(const struct receipts *receipts);

#endif
