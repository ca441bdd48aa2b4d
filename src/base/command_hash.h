/* command_hash.h - the keyed hash that ends the extra of some commands: that of the secret that
 * codes 33 and 34 make, or of the device key that a logout presents (journal.md, Record).
 *
 * Any thread; no state. The command owns the bytes. */
#ifndef BASE_COMMAND_HASH_H
#define BASE_COMMAND_HASH_H

#include "base/assertion.h"
#include "base/message.h"

/* The bytes of the keyed hash of a new secret, which end the extra of the codes that make one. */
static inline uint32_t command_secret_bytes(uint16_t code)
{
    return code == REQUEST_create_api_key || code == REQUEST_login ? SECRET_HASH_BYTES : 0;
}

/* The bytes of the hash that ends this extra: that of a new secret, or of the device key that a
 * logout (code 14) presents. `is_passkey`: the WebAuthn fields begin the extra. */
static inline uint32_t command_hash_bytes(uint16_t code, bool is_passkey, const uint8_t *extra,
                                          uint32_t extra_bytes)
{
    if (code != REQUEST_revoke_session)
        return command_secret_bytes(code);
    uint32_t others = is_passkey ? assertion_bytes(extra, extra_bytes) : 0;
    return extra_bytes == others + SECRET_HASH_BYTES ? SECRET_HASH_BYTES : 0;
}

/* Returns that hash; the extra ends with one. */
static inline const uint8_t *command_secret_hash(const struct command *command)
{
    return command_extra(command) + command->extra_bytes - SECRET_HASH_BYTES;
}

#endif
