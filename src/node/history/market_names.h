/* market_names.h - symbols and decimals of the markets, for rows that keep an asset id only.
 *
 * Neither ever changes and no market is taken out (R10), so a copy of the engine's is as good.
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

/* Takes over the markets that the engine has by now; to be called before the two below. */
void market_names_refresh(struct market_names *names, const struct engine *engine);

/* The market is known: some row was made in it. */
const struct market_name *market_names_of(const struct market_names *names, uint16_t asset_id);

/* By its zero-padded symbol; NULL: there is none. */
const struct market_name *market_names_find(const struct market_names *names,
                                            const char symbol[32]);

#endif
