#include "engine/account/master_key.h"

#include "base/credential_field.h"
#include "base/rule.h"
#include "engine/state/access.h"
#include "engine/state/state.h"

/* Offsets in the bodies (W3). */
enum {
    ADMIN_KEY_AT = 8,
    SCOPED_PIN_AT = 8,
    SCOPED_SCOPE_AT = 12,
    SCOPED_KEY_AT = 16,
    REMOVED_KEY_AT = 8,
};

/* What a body asks for. */
struct ask {
    const uint8_t *key; /* CREDENTIAL_KEY_BYTES */
    const uint8_t *id;  /* credential id of a passkey, else NULL */
    uint32_t id_bytes;
    int32_t pin;
    uint8_t kind; /* enum credential_kind */
    uint8_t scope;
};

static enum credential_kind kind_of(uint16_t code)
{
    switch (code) {
    case REQUEST_add_admin_secp256k1_master_key:
    case REQUEST_remove_admin_secp256k1_master_key:
        return CREDENTIAL_MASTER_SECP256K1;
    case REQUEST_add_admin_passkey_master_key:
    case REQUEST_remove_admin_passkey_master_key:
        return CREDENTIAL_MASTER_PASSKEY;
    case REQUEST_add_scoped_secp256k1_master_key:
    case REQUEST_remove_scoped_secp256k1_master_key:
        return CREDENTIAL_SCOPED_SECP256K1;
    default:
        INVARIANT(code == REQUEST_add_scoped_passkey_master_key ||
                  code == REQUEST_remove_scoped_passkey_master_key);
        return CREDENTIAL_SCOPED_PASSKEY;
    }
}

static struct ask ask_of(const struct command *command)
{
    const uint8_t *body = command_body(command);
    struct ask ask = {
        .kind = (uint8_t)kind_of(command->code),
        .scope = SCOPE_FULL_ACCESS,
        .pin = CREDENTIAL_NO_PIN,
        .key = body + ADMIN_KEY_AT,
    };

    if (ask.kind == CREDENTIAL_SCOPED_SECP256K1 || ask.kind == CREDENTIAL_SCOPED_PASSKEY) {
        ask.pin = (int32_t)cc_load32(body + SCOPED_PIN_AT);
        ask.scope = body[SCOPED_SCOPE_AT];
        ask.key = body + SCOPED_KEY_AT;
    }
    bool is_passkey = credential_field_find(command->code, body, command_body_bytes(command),
                                            &ask.id, &ask.id_bytes);
    INVARIANT(is_passkey == (ask.kind == CREDENTIAL_MASTER_PASSKEY ||
                             ask.kind == CREDENTIAL_SCOPED_PASSKEY)); /* engine_admits */
    return ask;
}

/* The zeros after a credential id. */
static bool is_padded(const struct command *command, const struct ask *ask)
{
    const uint8_t *end = command_body(command) + command_body_bytes(command);

    if (ask->id == NULL)
        return true;
    for (const uint8_t *at = ask->id + ask->id_bytes; at < end; at++)
        if (*at != 0)
            return false;
    return true;
}

static bool is_sound(const struct engine *engine, const struct command *command,
                     const struct ask *ask)
{
    const struct account *account = &engine->accounts.rows[engine->applying.account];

    if (!access_body_is_clean(command) || !is_padded(command, ask))
        return false;
    if ((command->flags & COMMAND_MASTER_KEY_VALID) == 0)
        return false;
    if (credential_find_master(engine, ask->key) != CREDENTIAL_NONE)
        return false;
    if (ask->id != NULL && passkey_is_known(engine, ask->id, ask->id_bytes))
        return false;
    return ask->pin == CREDENTIAL_NO_PIN ||
           (ask->pin >= 0 && (uint32_t)ask->pin < account->subaccount_count);
}

static bool is_within_limit(const struct engine *engine, const struct ask *ask)
{
    struct credential_master_count count =
        credential_count_masters(engine, engine->applying.account);

    if (ask->kind == CREDENTIAL_MASTER_SECP256K1 || ask->kind == CREDENTIAL_MASTER_PASSKEY)
        return count.admin < state_option(engine, OPTION_limits_admin_keys);
    return count.scoped < state_option(engine, OPTION_limits_scoped_keys);
}

enum status master_key_add(struct engine *engine, const struct command *command,
                           struct engine_result *result)
{
    struct ask ask = ask_of(command);

    if (!is_sound(engine, command, &ask))
        return STATUS_master_key_rejected_invalid;
    if (!is_within_limit(engine, &ask)) {
        result->reason = REASON_limit_reached;
        return STATUS_master_key_rejected_invalid;
    }
    if (!share_fits(engine, engine->applying.account, SHARE_credentials, 1))
        return STATUS_master_key_rejected_invalid;
    struct passkey_make passkey = { .id = ask.id, .id_bytes = (uint16_t)ask.id_bytes };
    struct credential_make make = {
        .key = ask.key,
        .account = engine->applying.account,
        .key_bytes = CREDENTIAL_KEY_BYTES,
        .kind = ask.kind,
        .scope = ask.scope,
        .pin = ask.pin,
        .expires_ns = UINT64_MAX,
        .parent_sequence = engine->credentials.rows[engine->applying.credential].created_sequence,
        .passkey = ask.id != NULL ? passkey_create(engine, &passkey) : PASSKEY_NONE,
    };
    (void)credential_create(engine, &make);
    return STATUS_master_key_added;
}

enum status master_key_remove(struct engine *engine, const struct command *command,
                              struct engine_result *result)
{
    enum credential_kind kind = kind_of(command->code);
    uint32_t index = credential_find_master(engine, command_body(command) + REMOVED_KEY_AT);
    const struct credential *key = &engine->credentials.rows[index];

    (void)result;
    if (!access_body_is_clean(command) || index == CREDENTIAL_NONE ||
        key->account != engine->applying.account || key->kind != kind)
        return STATUS_master_key_rejected_invalid;
    if (credential_is_admin(key) &&
        credential_count_masters(engine, engine->applying.account).admin == 1)
        return STATUS_master_key_rejected_last_key;
    if (index == engine->applying.credential)
        return STATUS_master_key_rejected_self_removal;
    credential_revoke(engine, index);
    credential_revoke_children(engine, index);
    return STATUS_master_key_removed;
}
