/* ended_orders.h - the newest ended orders, found by id, in the follower's memory.
 *
 * The order log (order_log.h) adds an order here when it ends after its own row was dropped there.
 * Once a row was dropped from here too, an unknown id dated no later than the newest dropped one
 * may have been an order: the reader answers 503, never a false 404.
 *
 * Owner. The follower's thread.
 * Bound. `capacity` rows and a map of twice as many slots, allocated at start. */
#ifndef NODE_HISTORY_ENDED_ORDERS_H
#define NODE_HISTORY_ENDED_ORDERS_H

#include "base/mix.h"
#include "node/history/order_summary.h"

struct ended_orders;

/* Room for `capacity` orders, a power of two; NULL without memory. */
struct ended_orders *ended_orders_create(uint32_t capacity, struct mix_key key);
void ended_orders_destroy(struct ended_orders *ended);

/* Adds an order; drops the oldest one when full. The same (account, id) replaces its row. */
void ended_orders_add(struct ended_orders *ended, const struct order_summary *order);

/* The row of (account, id), or NULL. Valid until the next ended_orders_add. */
const struct order_summary *ended_orders_find(const struct ended_orders *ended, uint64_t account_id,
                                              const struct uuid *id);

/* Whether an unknown id may belong to a dropped order: an order with the same or a later date was
 * dropped. */
bool ended_orders_may_have_dropped(const struct ended_orders *ended, const struct uuid *id);

/* Returns how many ended orders are kept. */
uint64_t ended_orders_count(const struct ended_orders *ended);

#endif
