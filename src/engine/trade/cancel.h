/* cancel.h - codes 3 and 4: one order, or all of a portfolio's. Owned by the engine.
 *
 * A cancel-all makes its orders unmatchable at once and leaves their removal to deferred work. */
#ifndef ENGINE_TRADE_CANCEL_H
#define ENGINE_TRADE_CANCEL_H

#include "base/compiler.h"
#include "base/status.h"

struct engine;
struct command;
struct engine_result;

/* The order that a cancel, or an item of a batch, names. */
struct cancel_target {
    const uint8_t *id; /* 16 bytes */
    uint64_t hash;     /* mix_id of (account, id) */
    uint32_t pads;     /* all pad bytes, any bit */
    uint16_t asset_id;
};

/* Rows target_id to target: the live order of the command's portfolio that it names. */
CC_MUST_USE enum status cancel_find(struct engine *engine, const struct cancel_target *target,
                                    uint32_t *order);

/* The same, and the order is canceled. */
CC_MUST_USE enum status cancel_one(struct engine *engine, const struct cancel_target *target,
                                   struct engine_result *result);

/* Row portfolio has passed; applying.portfolio is the body's. */
CC_MUST_USE enum status cancel_order(struct engine *engine, const struct command *command,
                                     struct engine_result *result);

/* The same; applying.portfolio is PORTFOLIO_NONE for "every portfolio of the subaccount". */
CC_MUST_USE enum status cancel_all(struct engine *engine, const struct command *command,
                                   struct engine_result *result);

#endif
