/* settlement_pass.h - how far the settlement of a closed market has come (rules.md R9). Owned by
 * the engine; settlement.h does it.
 *
 * Units.  Amounts micro-USDC. */
#ifndef ENGINE_STATE_SETTLEMENT_PASS_H
#define ENGINE_STATE_SETTLEMENT_PASS_H

#include "base/compiler.h"

enum settlement_pass { SETTLEMENT_NONE, SETTLEMENT_LOSSES, SETTLEMENT_PROFITS };

/* The settlement of one market. The image holds it with its item of work. */
struct settlement {
    int128 shortfall; /* D of the first pass, D' of the second */
    int128 profits;   /* G: of the positions that pass 2 pays */
    uint32_t from;    /* next portfolio number */
    uint8_t pass;     /* enum settlement_pass; NONE: not in the queue */
    uint8_t zero[11];
};

/* clang-format off */
#define SETTLEMENT_FIELDS(X) X(shortfall) X(profits) X(from) X(pass)
#define SETTLEMENT_CACHES(X) X(zero)
/* clang-format on */

#endif
