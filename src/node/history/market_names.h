/* market_names.h - symbols and decimals of the markets, for rows that store only an asset id.
 *
 * They never change and no market is removed (R10), so that a copy of the engine's is always right.
 *
 * Owner. The follower's thread. */
#ifndef NODE_HISTORY_MARKET_NAMES_H
#define NODE_HISTORY_MARKET_NAMES_H

#include "engine/state/market.h"

struct engine;

struct market_name {
    char symbol[32]; /* zero-padded */
    uint16_t asset_id;
    uint8_t price_decimals;
    uint8_t size_decimals;
};

struct market_names {
    uint32_t count;
    struct market_name rows[ENGINE_MARKETS_MAX]; /* ascending asset id */
};

/* Copies the markets that the engine has now. Call it before the two functions below. */
void market_names_refresh(struct market_names *names, const struct engine *engine);

/* The name of a market that a row refers to, which must exist. */
const struct market_name *market_names_of(const struct market_names *names, uint16_t asset_id);

/* Finds a market by its zero-padded symbol; NULL: none. */
const struct market_name *market_names_find(const struct market_names *names,
                                            const char symbol[32]);

#endif
