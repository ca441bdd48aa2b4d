#include "crypto/derive.h"

#include "base/account_id.h"
#include "base/hash.h"
#include "crypto/ed25519.h"
#include "crypto/p256.h"
#include "crypto/secp256k1.h"

enum {
    OPERATOR_FIRST = 1000,
    OPERATOR_LAST = 1099,
    ORDER_ID_OFFSET = 16, /* of the body of codes 1, 2, 3 and 7 (wire.md W3) */
    ORDER_ID_END = ORDER_ID_OFFSET + 16,
    CREATE_ACCOUNT_SESSION_OFFSET = 0,
    CREATE_SESSION_KEY_OFFSET = 8,
    ADMIN_KEY_OFFSET = 8,   /* codes 16 and 19 */
    SCOPED_KEY_OFFSET = 16, /* codes 28 and 30 */
};

/* The account of the duplicate set for account creation and operator codes (wire.md W5). */
static uint64_t duplicate_account(const uint8_t *key, uint32_t key_bytes)
{
    uint8_t hash[HASH_BYTES];
    hash_blake2b256(hash, key, key_bytes);
    return cc_load64(hash) | 1ull << 63;
}

static bool names_no_account(uint16_t code)
{
    return code == REQUEST_create_account_secp256k1 || code == REQUEST_create_account_passkey ||
           (code >= OPERATOR_FIRST && code <= OPERATOR_LAST);
}

static bool names_target(const struct command *command)
{
    uint16_t code = command->code;
    if (command_body_bytes(command) < ORDER_ID_END)
        return false;
    return code == REQUEST_order_reduction || code == REQUEST_order_replacement ||
           code == REQUEST_order_cancel || code == REQUEST_conditional_order_cancel;
}

static bool session_key_valid(const struct command *command)
{
    const uint8_t *body = command_body(command);
    if (command_body_bytes(command) < CREATE_SESSION_KEY_OFFSET + ED25519_KEY_BYTES)
        return false;
    switch (command->code) {
    case REQUEST_create_account_secp256k1:
    case REQUEST_create_account_passkey:
        return ed25519_key_is_valid(body + CREATE_ACCOUNT_SESSION_OFFSET);
    case REQUEST_create_session:
        return ed25519_key_is_valid(body + CREATE_SESSION_KEY_OFFSET);
    default:
        return false;
    }
}

static bool master_key_valid(const struct command *command)
{
    uint16_t code = command->code;
    bool is_admin = code == REQUEST_add_admin_secp256k1_master_key ||
                    code == REQUEST_add_admin_passkey_master_key;
    bool is_scoped = code == REQUEST_add_scoped_secp256k1_master_key ||
                     code == REQUEST_add_scoped_passkey_master_key;
    uint32_t offset = is_admin ? ADMIN_KEY_OFFSET : SCOPED_KEY_OFFSET;
    if ((!is_admin && !is_scoped) || command_body_bytes(command) < offset + P256_KEY_BYTES)
        return false;
    const uint8_t *key = command_body(command) + offset;
    return code == REQUEST_add_admin_secp256k1_master_key ||
                   code == REQUEST_add_scoped_secp256k1_master_key
               ? secp256k1_key_is_valid(key)
               : p256_key_is_valid(key);
}

void derive_command(struct command *command, struct mix_key key)
{
    command->duplicate_account = 0;
    command->request_hash = 0;
    command->target_hash = 0;
    command->flags &= (uint8_t) ~(COMMAND_SESSION_KEY_VALID | COMMAND_MASTER_KEY_VALID);
    if (command->kind == COMMAND_UNSIGNED || command_body_bytes(command) < sizeof(uint64_t))
        return;

    const uint8_t *body = command_body(command);
    if (names_no_account(command->code))
        command->duplicate_account = duplicate_account(command_key(command), command->key_bytes);
    uint64_t account = account_id_hashed(
        command->duplicate_account != 0 ? command->duplicate_account : cc_load64(body));
    command->request_hash = mix_id(key, account, command_request_id(command));
    if (names_target(command))
        command->target_hash = mix_id(key, account, body + ORDER_ID_OFFSET);
    if (session_key_valid(command))
        command->flags |= COMMAND_SESSION_KEY_VALID;
    if (master_key_valid(command))
        command->flags |= COMMAND_MASTER_KEY_VALID;
}
