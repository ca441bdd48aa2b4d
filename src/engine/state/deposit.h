/* deposit.h - the external references of deposits, each credited once (R10). Owned by the engine.
 *
 * Code 1003 (credit.h) adds them. They are kept for ever, in order of crediting. */
#ifndef ENGINE_STATE_DEPOSIT_H
#define ENGINE_STATE_DEPOSIT_H

#include "base/compiler.h"
#include "base/status.h"
#include "engine/table/hash_index.h"

enum { DEPOSIT_REF_BYTES = 32 };

#define DEPOSIT_FUND_MAX (INT64_C(1) << 62) /* R1: cash of the fund */

struct deposit {
    uint8_t external_ref[DEPOSIT_REF_BYTES];
    uint64_t sequence; /* of the 1003 that credited it */
};

#define DEPOSIT_FIELDS(X) X(external_ref) X(sequence)

struct deposit_table {
    struct deposit *rows; /* [slots + 1], from 1 */
    struct hash_index map;
    uint32_t slots;
    uint32_t limit; /* may be used (engine.deposits) */
    uint32_t count;
};

struct engine;
struct image_read;
struct command;
struct engine_result;

/* Returns the bytes that deposit_table_init needs for that many. */
size_t deposit_table_bytes(uint32_t slots);

/* Prepares an empty table. `memory`: deposit_table_bytes(slots) zero bytes, 64-byte aligned,
 * which outlive it. */
void deposit_table_init(struct deposit_table *table, void *memory, uint32_t slots);

/* Whether a deposit of this reference was credited. */
CC_MUST_USE bool deposit_is_known(const struct engine *engine,
                                  const uint8_t external_ref[DEPOSIT_REF_BYTES]);
CC_MUST_USE bool deposit_fits(const struct engine *engine);

/* The running command credits this reference; it fits. */
void deposit_add(struct engine *engine, const uint8_t external_ref[DEPOSIT_REF_BYTES]);

/* Section 9 of an image, into the empty table. */
CC_MUST_USE bool deposit_load(struct engine *engine, struct image_read *read);

#endif
