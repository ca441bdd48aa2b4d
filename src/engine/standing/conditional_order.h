/* conditional_order.h - codes 6 and 7: an order that waits for a price is placed, and canceled
 * (rules.md R8, R11). Owned by the engine. */
#ifndef ENGINE_STANDING_CONDITIONAL_ORDER_H
#define ENGINE_STANDING_CONDITIONAL_ORDER_H

#include "base/status.h"

struct engine;
struct command;
struct engine_result;

/* Code 6: the rows after row portfolio (R11). applying.portfolio is the body's. A refusal after row
 * expiry_of_conditional emits a REJECTED order (2101). */
CC_MUST_USE enum status conditional_order_place(struct engine *engine,
                                                const struct command *command,
                                                struct engine_result *result);

/* Rows target_id to form of code 7, then the order: it is CANCELED, or it rests already, or there
 * is none. */
CC_MUST_USE enum status conditional_order_cancel(struct engine *engine,
                                                 const struct command *command,
                                                 struct engine_result *result);

#endif
