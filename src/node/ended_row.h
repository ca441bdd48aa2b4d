/* ended_row.h - rows of ended orders: made from effect 2101 as they end, shown to a read later.
 *
 * Owner. The follower's thread. Units as struct row_order. */
#ifndef NODE_ENDED_ROW_H
#define NODE_ENDED_ROW_H

#include "base/row.h"
#include "engine/effects.h"
#include "node/ended.h"

struct engine;

/* From the record that the effect names, still in the engine's table. */
void ended_row_of_record(struct ended_order *order, const struct effect *effect,
                         const struct effect_order_state *state);

/* From the command of a placement that was refused (it never had a record). */
void ended_row_of_refusal(struct ended_order *order, const struct effect *effect,
                          const struct effect_order_state *state);

/* The row of a read; the market's symbol and decimals come from the engine. */
void ended_row_show(struct row_order *row, const struct ended_order *order,
                    const struct engine *engine);

#endif
