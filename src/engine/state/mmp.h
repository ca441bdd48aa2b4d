/* mmp.h - makers' protection (R10): codes 26 and 27, and what they set for a portfolio in a market.
 * Owned by the engine.
 *
 *   fill of a resting order ──> bucket of its step ── a limit reached ──> list of the command
 *   end of the own effect, and after the last unit: each of the list freezes (2116, post-only)
 *   frozen ── frozen_until has come (timer), code 27, or code 26 with zeros ──> open
 *
 * A setting is a row of its own, as a leverage is: it outlives position and orders. The record of
 * (portfolio, market) holds its index while there is one.
 *
 * Owner.  Index 0 is a dummy and never given; a portfolio's rows are linked by ascending market
 *         index, the map knows the first.
 * Units.  Quantities raw, times unix ns, steps of window_ms * 15,625 ns.
 * Bound.  As many rows as engine.positions allows records; a fill looks at MMP_STEPS buckets. */
#ifndef ENGINE_STATE_MMP_H
#define ENGINE_STATE_MMP_H

#include "base/status.h"
#include "engine/table/hash_index.h"
#include "engine/table/slot_table.h"
#include "engine/table/timer_heap.h"

enum { MMP_NONE = 0, MMP_STEPS = 64 };

#define MMP_FOR_EVER UINT64_MAX /* frozen until code 27 */

/* Maker fills of one step; a sum that would pass 2^62 stays there. */
struct mmp_bucket {
    uint64_t quantity;
    int64_t net;
};

struct mmp {
    uint64_t max_quantity; /* 0: off */
    uint64_t max_net_quantity;
    uint64_t frozen_until; /* 0: open */
    uint64_t step;         /* of the newest bucket; those before it that count are in the others */
    uint32_t window_ms;
    uint32_t frozen_ms;
    uint32_t portfolio;
    uint16_t market; /* index in the market table */
    bool is_reached; /* in this command's list */
    uint8_t zero;
    struct mmp_bucket buckets[MMP_STEPS]; /* by step mod 64 */
    uint32_t next;                        /* of the portfolio; in the free list: next free */
    uint32_t map_slot;                    /* of the portfolio's first */
    uint32_t reached_next;
    uint8_t zero2[4];
};

/* clang-format off */
#define MMP_FIELDS(X) \
    X(portfolio) X(market) X(max_quantity) X(max_net_quantity) X(frozen_until) X(step) \
    X(window_ms) X(frozen_ms) X(buckets)
#define MMP_CACHES(X) X(is_reached) X(zero) X(next) X(map_slot) X(reached_next) X(zero2)
/* clang-format on */

struct mmp_table {
    struct mmp *rows;          /* [slots.laid_out + 1]; 0 is the dummy */
    struct hash_index map;     /* by portfolio: its first row */
    struct timer_heap freezes; /* by frozen_until; rank: portfolio, then asset id */
    struct slot_table slots;   /* limit: engine.positions */
    uint32_t reached_head;     /* of those that reached a limit, in that order; C: empty between */
    uint32_t reached_tail;     /* commands */
};

struct engine;
struct command;
struct engine_result;
struct image_read;
struct image_sink;

/* Returns the bytes that mmp_table_init needs for that many. */
size_t mmp_table_bytes(uint32_t slots);

/* `memory`: mmp_table_bytes(slots) zero bytes, 64-byte aligned, that outlive the table. */
void mmp_table_init(struct mmp_table *table, void *memory, uint32_t slots);

/* Index of the setting of (portfolio, market index), or MMP_NONE. */
CC_MUST_USE uint32_t mmp_find(const struct engine *engine, uint32_t portfolio, uint32_t market);

/* Whether the portfolio has a setting. */
CC_MUST_USE bool mmp_is_set(const struct engine *engine, uint32_t portfolio);

/* Codes 26 and 27; row portfolio has passed, applying.portfolio is the body's. */
CC_MUST_USE enum status mmp_set(struct engine *engine, const struct command *command,
                                struct engine_result *result);
CC_MUST_USE enum status mmp_reset(struct engine *engine, const struct command *command,
                                  struct engine_result *result);

/* Drops all settings of a portfolio, whose account goes. */
void mmp_forget(struct engine *engine, uint32_t portfolio);

/* A resting order of a record that has a setting was filled by a signed quantity. */
void mmp_count(struct engine *engine, uint32_t mmp, int64_t quantity);

/* Whether new post-only orders of the portfolio are refused there at the engine's t. */
CC_MUST_USE bool mmp_is_frozen(const struct engine *engine, uint32_t portfolio, uint32_t market);

/* Freezes those that reached a limit: at the end of a command's own effect, and of its units. */
void mmp_freeze(struct engine *engine);

/* The first end of a freeze, UINT64_MAX: none; and the end itself. */
CC_MUST_USE uint64_t mmp_deadline(const struct engine *engine);
void mmp_fire(struct engine *engine);

/* Section 14: the rows by portfolio and market. */
void mmp_image(const struct engine *engine, struct image_sink *sink);
CC_MUST_USE bool mmp_load(struct engine *engine, struct image_read *read);

#endif
