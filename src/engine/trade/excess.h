/* excess.h - reduce-only orders beyond the position that they oppose: how many of them may rest,
 * and the end of those that a position leaves which has become smaller (R3).
 *
 *   excess_left ──> the record is queued ── the hindmost leave, in slices ──> the others hold it
 *
 * Order.  A portfolio's records by market. Of a record the order that is last in the book leaves
 *         first, so those stay that would have filled before it.
 * Owner.  The engine. */
#ifndef ENGINE_TRADE_EXCESS_H
#define ENGINE_TRADE_EXCESS_H

#include "engine/state/state.h"

enum {
    EXCESS_ORDERS = 4,      /* so many of a side may rest, whatever they hold ... */
    EXCESS_ORDERS_MANY = 1, /* ... or so many, when the account has more records there than */
    EXCESS_RECORDS = 16,
    EXCESS_AT_ONCE = 64, /* orders that one step ends at most */
};

/* How many reduce-only orders of a side may rest in the record before they must lie within the
 * position. */
static inline uint32_t excess_orders(const struct engine *engine, const struct holding *holding)
{
    uint32_t records = engine->account_positions.rows[holding->account_position].count;

    return CC_UNLIKELY(records > EXCESS_RECORDS) ? EXCESS_ORDERS_MANY : EXCESS_ORDERS;
}

/* A fill made the record's position smaller and left some of it: queues the record if its
 * reduce-only orders are more than the position and may be too many. */
void excess_left(struct engine *engine, uint32_t holding);

/* WORK_EXCESS (work.h). */
CC_MUST_USE bool excess_unit(struct engine *engine, uint32_t portfolio, uint32_t *units);
void excess_finish(struct engine *engine, uint32_t portfolio);
void excess_image(const struct engine *engine, uint32_t portfolio, struct image_sink *sink);
CC_MUST_USE bool excess_load(struct engine *engine, uint32_t portfolio, struct image_read *read);

#endif
