/* passkey.h - what the exchange keeps of a master key that is a passkey, beside its credential: the
 * id by which clients name it and the authenticator's count of signatures. Owned by the engine.
 *
 * A credential id names one live passkey of the exchange. The row of a key that was removed stays
 * as long as its credential's, then it is free.
 *
 * Owner.  An index is valid as long as its credential; index 0 is a dummy and never given.
 * Bound.  As many rows as engine.credentials allows credentials, so none is short of a row. */
#ifndef ENGINE_STATE_PASSKEY_H
#define ENGINE_STATE_PASSKEY_H

#include "base/assertion.h"
#include "engine/table/hash_index.h"
#include "engine/table/slot_table.h"

enum { PASSKEY_NONE = 0 };

struct passkey {
    uint64_t created_sequence; /* that of its credential */
    uint32_t sign_count;       /* of the newest command that it signed; 0: does not count */
    uint16_t id_bytes;         /* 1..256 */
    uint8_t zero[2];
    uint8_t id[ASSERTION_CREDENTIAL_MAX]; /* zeros after id_bytes */
    uint32_t id_slot;                     /* in by_id, until the credential ends */
    uint32_t next;                        /* in the free list: next free */
};

/* clang-format off */
#define PASSKEY_FIELDS(X) X(created_sequence) X(sign_count) X(id_bytes) X(zero) X(id)
#define PASSKEY_CACHES(X) X(id_slot) X(next)
/* clang-format on */

struct passkey_table {
    struct passkey *rows;    /* [slots + 1] */
    struct hash_index by_id; /* those whose credential has not ended */
    struct slot_table slots;
};

/* What a new passkey is known by. */
struct passkey_make {
    const uint8_t *id;
    uint16_t id_bytes;   /* 1..256 */
    uint32_t sign_count; /* 0: not known yet */
};

struct command;
struct engine;
struct image_read;
struct image_sink;

size_t passkey_table_bytes(uint32_t slots);
void passkey_table_init(struct passkey_table *table, void *memory, uint32_t slots);

/* Reads the WebAuthn fields of a command that a passkey signed. False if they are not of the form
 * of base/assertion.h. */
CC_MUST_USE bool passkey_assertion(const struct command *command, struct assertion *assertion);

/* What the passkey that signed the command is known by; the command has an assertion, which keeps
 * the id. */
CC_MUST_USE struct passkey_make passkey_of_signer(const struct command *command);

/* Whether a live passkey of any account has this credential id. */
CC_MUST_USE bool passkey_is_known(const struct engine *engine, const uint8_t *id,
                                  uint32_t id_bytes);

/* Makes the row of a passkey for the credential that the command makes next: that one fits, and the
 * id is not known. Returns its index. */
CC_MUST_USE uint32_t passkey_create(struct engine *engine, const struct passkey_make *make);

/* Its credential ends: the id is free. */
void passkey_end(struct engine *engine, uint32_t passkey);

/* Its credential, which has ended, leaves the table: the row is free. */
void passkey_release(struct engine *engine, uint32_t passkey);

/* Stores the count of signatures of the command that this passkey signed. Returns whether it fell:
 * both counts are positive and the new one is not higher. */
bool passkey_count(struct engine *engine, uint32_t passkey, const struct command *command);

/* Section 20, by creation; after the credentials. */
void passkey_image(const struct engine *engine, struct image_sink *sink);
CC_MUST_USE bool passkey_load(struct engine *engine, struct image_read *read);

#endif
