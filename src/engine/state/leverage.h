/* leverage.h - the leverage that a portfolio has chosen in a market (rules.md R4). Owned by the
 * engine. Code 2001 (leverage_set.h) chooses it.
 *
 * A setting is a row of its own, not a part of the (portfolio, market) record: it outlives position
 * and orders, and what is only set counts neither to R1's 64 markets nor to a mark scan. The record
 * holds a copy while there is one. The default is no setting: choosing it takes the row out.
 *
 * Owner.  Index 0 is a dummy and never given; a portfolio's rows are linked by ascending market
 *         index, the map knows the first.
 * Bound.  A lookup walks the portfolio's settings, at most ENGINE_MARKETS_MAX; as many settings as
 *         engine.positions allows records. */
#ifndef ENGINE_STATE_LEVERAGE_H
#define ENGINE_STATE_LEVERAGE_H

#include "base/status.h"
#include "engine/state/market.h"
#include "engine/table/hash_index.h"
#include "engine/table/slot_table.h"

enum { LEVERAGE_NONE = 0 };

struct leverage {
    uint32_t portfolio;
    uint16_t market;   /* index in the market table */
    uint16_t setting;  /* 1..max_leverage when it was set */
    uint32_t next;     /* of the portfolio; in the free list: next free */
    uint32_t map_slot; /* of the portfolio's first */
};

/* clang-format off */
#define LEVERAGE_FIELDS(X) X(portfolio) X(market) X(setting)
#define LEVERAGE_CACHES(X) X(next) X(map_slot)
/* clang-format on */

struct leverage_table {
    struct leverage *rows;   /* [slots.laid_out + 1]; 0 is the dummy */
    struct hash_index map;   /* by portfolio: its first row */
    struct slot_table slots; /* limit: engine.positions */
};

struct engine;
struct image_read;
struct command;
struct engine_result;

/* Returns the bytes that leverage_table_init needs for that many. */
size_t leverage_table_bytes(uint32_t slots);

/* Prepares an empty table. `memory`: leverage_table_bytes(slots) zero bytes, 64-byte aligned,
 * which outlive it. */
void leverage_table_init(struct leverage_table *table, void *memory, uint32_t slots);

/* The portfolio's first row, or LEVERAGE_NONE. */
CC_MUST_USE uint32_t leverage_first(const struct engine *engine, uint32_t portfolio);

/* The portfolio's setting in the market (index), 0: none. */
CC_MUST_USE uint32_t leverage_setting(const struct engine *engine, uint32_t portfolio,
                                      uint32_t market);

/* What margin counts with: the setting, as far as the market still allows it, or the default. */
static inline uint32_t leverage_in_force(const struct market *market, uint32_t setting)
{
    if (CC_LIKELY(setting == 0))
        return market_leverage(market);
    return setting < market->record.max_leverage ? setting : market->record.max_leverage;
}

/* Keeps the portfolio's setting in the market, 0: none. False: the account may have no more
 * rows (share.h), nothing has changed. */
CC_MUST_USE bool leverage_keep(struct engine *engine, uint32_t portfolio, uint32_t market,
                               uint32_t setting);

/* Drops all settings of a portfolio, whose account goes. */
void leverage_forget(struct engine *engine, uint32_t portfolio);

/* Section 12 of an image, into the empty table; portfolios and markets are there. */
CC_MUST_USE bool leverage_load(struct engine *engine, struct image_read *read);

#endif
