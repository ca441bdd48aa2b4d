/* disconnect.h - the connections whose end cancels orders (W9), and code 2012, which arms them.
 * Owned by the engine.
 *
 * An arm is found by its id and belongs to the account that armed it. The state keeps it, so that
 * the author of 2011 (connection_end.h) finds all arms after a start.
 *
 * Owner.  Index 0 is a dummy and never given.
 * Units.  grace_ms: what the author of 2011 waits; the engine keeps no time of it.
 * Bound.  As many arms as engine.credentials allows, DISCONNECT_ARMS_MAX of one account. */
#ifndef ENGINE_STATE_DISCONNECT_H
#define ENGINE_STATE_DISCONNECT_H

#include "base/status.h"
#include "engine/table/hash_index.h"
#include "engine/table/slot_table.h"

enum { DISCONNECT_NONE = 0, DISCONNECT_ARMS_MAX = 256, DISCONNECT_GRACE_MAX_MS = 10000 };

struct disconnect_arm {
    uint64_t id[2]; /* the UUID's 16 bytes in wire order, loaded as two words */
    uint64_t armed_sequence;
    uint32_t account;
    uint32_t subaccount_index;
    uint32_t grace_ms;
    uint32_t next; /* all arms in the order of arming; in the free list: next free */
    uint32_t prev;
    uint32_t id_slot; /* in by_id */
    uint8_t zero[8];
};

/* clang-format off */
#define DISCONNECT_FIELDS(X) X(id) X(armed_sequence) X(account) X(subaccount_index) X(grace_ms)
#define DISCONNECT_CACHES(X) X(next) X(prev) X(id_slot) X(zero)
/* clang-format on */

struct disconnect_table {
    struct disconnect_arm *rows; /* [slots.laid_out + 1]; 0 is the dummy */
    struct hash_index by_id;
    struct slot_table slots; /* limit: engine.credentials */
    uint32_t head;           /* armed first */
    uint32_t tail;
};

struct engine;
struct command;
struct engine_result;
struct image_read;
struct image_sink;

/* Returns the bytes that disconnect_table_init needs for that many. */
size_t disconnect_table_bytes(uint32_t slots);

/* `memory`: disconnect_table_bytes(slots) zero bytes, 64-byte aligned, that outlive the table. */
void disconnect_table_init(struct disconnect_table *table, void *memory, uint32_t slots);

/* Code 2012. */
CC_MUST_USE enum status disconnect_set(struct engine *engine, const struct command *command,
                                       struct engine_result *result);

/* Index of the arm of this id, or DISCONNECT_NONE. */
CC_MUST_USE uint32_t disconnect_find(const struct engine *engine, const uint64_t id[2]);

/* Frees the arm. */
void disconnect_drop(struct engine *engine, uint32_t arm);

/* Frees all arms of an account, which goes. Cost: it looks at every arm there is. */
void disconnect_forget(struct engine *engine, uint32_t account);

/* The next arm in the order of arming, after `after` (DISCONNECT_NONE: the first): its index, and a
 * copy of it. Returns DISCONNECT_NONE if there is none. Only reads. */
CC_MUST_USE uint32_t disconnect_next_arm(const struct engine *engine, uint32_t after,
                                         struct disconnect_arm *arm);

/* The arm of this id, as a copy. False: nobody has armed it. Only reads. */
CC_MUST_USE bool disconnect_find_arm(const struct engine *engine, const uint64_t id[2],
                                     struct disconnect_arm *arm);

/* Section 17: the arms in the order of arming. */
void disconnect_image(const struct engine *engine, struct image_sink *sink);
CC_MUST_USE bool disconnect_load(struct engine *engine, struct image_read *read);

#endif
