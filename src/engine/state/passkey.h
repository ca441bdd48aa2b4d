/* passkey.h - what the exchange keeps of a master key that is a passkey, beside its credential: the
 * id by which clients name it and the authenticator's count of signatures. Owned by the engine.
 *
 * Owner.  Indexes are valid until the engine ends; index 0 is a dummy and never given.
 * Bound.  As many rows as engine.accounts allows accounts, which have one master key each. */
#ifndef ENGINE_STATE_PASSKEY_H
#define ENGINE_STATE_PASSKEY_H

#include "base/assertion.h"

enum { PASSKEY_NONE = 0 };

struct passkey {
    uint64_t created_sequence; /* that of its credential */
    uint32_t sign_count;       /* of the newest command that it signed; 0: does not count */
    uint16_t id_bytes;         /* 1..256 */
    uint8_t zero[2];
    uint8_t id[ASSERTION_CREDENTIAL_MAX]; /* zeros after id_bytes */
};

/* clang-format off */
#define PASSKEY_FIELDS(X) X(created_sequence) X(sign_count) X(id_bytes) X(zero) X(id)
/* clang-format on */

struct passkey_table {
    struct passkey *rows; /* [slots + 1] */
    uint32_t slots;
    uint32_t count;
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

/* Makes the row of the passkey that signed the command, for the credential that the command makes
 * next. The command has an assertion, and there is an account for it. Returns its index. */
CC_MUST_USE uint32_t passkey_create(struct engine *engine, const struct command *command);

/* Stores the count of signatures of the command that this passkey signed. Returns whether it fell:
 * both counts are positive and the new one is not higher. */
bool passkey_count(struct engine *engine, uint32_t passkey, const struct command *command);

/* Section 20, by creation; after the credentials. */
void passkey_image(const struct engine *engine, struct image_sink *sink);
CC_MUST_USE bool passkey_load(struct engine *engine, struct image_read *read);

#endif
