/* legs.h - the live legs of a portfolio, its positions in markets that are not frozen, in the order
 * of their liquidation: maintenance margin descending, ties by lower asset id (rules.md R7). Owned
 * by the engine.
 *
 * Units.  Sizes raw, amounts micro-USDC. */
#ifndef ENGINE_LIQUIDATE_LEGS_H
#define ENGINE_LIQUIDATE_LEGS_H

#include "engine/state/market.h"
#include "engine/state/portfolio.h"

enum { LEGS_MAX = ENGINE_MARKETS_MAX };

struct leg {
    uint32_t holding;
    uint32_t market;
    int64_t size;
    int64_t maintenance;
};

struct legs {
    uint32_t count;
    struct leg rows[LEGS_MAX];
};

struct engine;

/* Of a portfolio that is up to date (margin_bring). The fund may have more than a portfolio's
 * markets. */
void legs_make(const struct engine *engine, uint32_t portfolio, struct legs *legs);

#endif
