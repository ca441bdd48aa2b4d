/* place.h - codes 0 and 5, a limit and a market order: R11 from row market_id on. Owned by the
 * engine. */
#ifndef ENGINE_TRADE_PLACE_H
#define ENGINE_TRADE_PLACE_H

#include "base/status.h"

struct engine;
struct order_request;
struct command;
struct engine_result;

/* Codes 0 and 5. Row portfolio has passed: applying.portfolio is the body's. A refusal after row
 * expiry emits a REJECTED order (2101). Any refusal leaves the state as check-on-touch left it. */
CC_MUST_USE enum status place_limit(struct engine *engine, const struct command *command,
                                    struct engine_result *result);

/* The id of a request and its owner. */
struct place_name {
    const uint8_t *id; /* 16 bytes: the request id, that of a batch's item, or that of a trigger */
    uint64_t hash;     /* mix_id of (account, id) */
    uint32_t account;
    uint32_t conditional; /* what was triggered (conditional.h), else CONDITIONAL_NONE */
};

/* The rows after expiry, of a request that passed order_request_form: decides, allocates the order
 * and acts. The caller emits a refusal (place_emit_refused). */
CC_MUST_USE enum status place_request(struct engine *engine, const struct place_name *name,
                                      struct order_request *request, struct engine_result *result);

/* All rows from market_id on; the caller has filled the body's part of the request. Emits a refusal
 * after row expiry itself. */
CC_MUST_USE enum status place_rows(struct engine *engine, const struct place_name *name,
                                   struct order_request *request, struct engine_result *result);

/* Allocates the record of an order that passed its rows, and its holding if there is none. */
CC_MUST_USE uint32_t place_alloc(struct engine *engine, const struct place_name *name,
                                 const struct order_request *request);

/* 2101 of a placement that was refused after row expiry: there is no record (R3). */
void place_emit_refused(struct engine *engine, const struct place_name *name,
                        const struct order_request *request, enum status status,
                        struct engine_result *result);

/* The same for a market order: it matches up to the bound of its slippage and never rests. */
CC_MUST_USE enum status place_market(struct engine *engine, const struct command *command,
                                     struct engine_result *result);

#endif
