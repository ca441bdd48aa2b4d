/* ended.h - the newest orders that have ended, kept in the follower's memory.
 *
 * Until history on disk exists, an order that is FILLED, CANCELED, EXPIRED or REJECTED is readable
 * from here while it is among the newest ENDED_ORDERS_DEFAULT. Once one was dropped, an id that is
 * unknown and not dated after the newest dropped one may have been an order: the reader answers
 * 503, never a false 404.
 *
 * Owner. The follower's thread.
 * Bound. `capacity` rows and a map of twice as many places, taken at start. */
#ifndef NODE_ENDED_H
#define NODE_ENDED_H

#include "base/mix.h"
#include "base/uuid.h"

enum { ENDED_ORDERS_DEFAULT = 1 << 20 };

/* An order as it ended; units as struct row_order. */
struct ended_order {
    uint64_t account_id;
    struct uuid id;
    uint64_t initial;
    uint64_t remaining; /* left unfilled when it ended */
    uint64_t filled;
    uint64_t filled_notional; /* micro-USDC, at most 2^50 (R1) */
    uint64_t price;
    uint64_t expiry;
    uint64_t sequence;
    uint64_t time_ns;
    uint64_t updated_at_ns;
    uint32_t index;
    uint32_t subaccount_index;
    uint32_t portfolio_index;
    uint16_t asset_id;
    uint8_t status; /* enum order_state */
    uint8_t order_type;
    uint8_t side;
    uint8_t reason; /* enum reason */
    uint8_t stp;
    bool post_only;
    bool reduce_only;
};

struct ended;

/* Room for `capacity` orders, a power of two; NULL without memory. */
struct ended *ended_create(uint32_t capacity, struct mix_key key);
void ended_destroy(struct ended *ended);

/* Adds an order; the oldest one is dropped when full. The same (account, id) replaces its row. */
void ended_add(struct ended *ended, const struct ended_order *order);

/* The row of (account, id), or NULL. Valid until the next ended_add. */
const struct ended_order *ended_find(const struct ended *ended, uint64_t account_id,
                                     const struct uuid *id);

/* Whether an unknown id may be that of a dropped order: one was dropped whose id is dated at or
 * after this one's. */
bool ended_may_have_dropped(const struct ended *ended, const struct uuid *id);

uint64_t ended_count(const struct ended *ended);

#endif
