/* amend.h - codes 1 and 2: a resting order made smaller, or replaced (R3). Owned by the engine.
 *
 *   reduction     keeps id and place; all of it, or more: a cancel
 *   replacement   keeps its id; its place too when the price stays and the size does not grow;
 *                 else it leaves its queue and enters anew, as a placement would
 *
 * Any refusal leaves the order and all that is counted of it as they were. */
#ifndef ENGINE_TRADE_AMEND_H
#define ENGINE_TRADE_AMEND_H

#include "base/compiler.h"
#include "base/status.h"

struct engine;
struct command;
struct engine_result;
struct entry;
struct entry_plan;

/* What an amendment, or an item of a batch, names. */
struct amend_target {
    const uint8_t *id; /* 16 bytes */
    uint64_t hash;     /* mix_id of (account, id) */
    uint64_t expected; /* remaining that its owner expects, 0: whatever it is */
    uint32_t pads;     /* all pad bytes of a reduction, any bit (entry.pads of a replacement) */
    uint16_t asset_id;
};

/* Rows target_id to size of a reduction; *order is what it names. Nothing is changed. */
CC_MUST_USE enum status amend_reduce_decide(struct engine *engine,
                                            const struct amend_target *target, uint64_t reduce_by,
                                            struct engine_result *result, uint32_t *order);

/* Carries it out. */
void amend_reduce_act(struct engine *engine, uint32_t order, uint64_t reduce_by,
                      struct engine_result *result);

/* Rows target_id to liquidation of a replacement whose entry has its body's part; fills
 * entry->replaced. Nothing is changed. */
CC_MUST_USE enum status amend_replace_terms(struct engine *engine,
                                            const struct amend_target *target, struct entry *entry,
                                            struct engine_result *result);

/* All rows of a replacement whose entry has its body's part. */
CC_MUST_USE enum status amend_replace_rows(struct engine *engine, const struct amend_target *target,
                                           struct entry *entry, struct engine_result *result);

/* Carries out what entry_decide has let through. */
void amend_replace_act(struct engine *engine, const struct entry *entry,
                       const struct entry_plan *plan, struct engine_result *result);

/* Rows target_id to size; row portfolio has passed, turn.portfolio is the body's. */
CC_MUST_USE enum status amend_reduce(struct engine *engine, const struct command *command,
                                     struct engine_result *result);

/* Rows target_id to completed. */
CC_MUST_USE enum status amend_replace(struct engine *engine, const struct command *command,
                                      struct engine_result *result);

#endif
