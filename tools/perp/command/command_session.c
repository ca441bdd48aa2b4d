/* command_session.c - creates and revokes sessions. */
#include <unistd.h>

#include "base/base64.h"
#include "perp/command/command.h"
#include "perp/invocation/choice.h"

/* The key to be admitted: --new-key, else the session key; made when the file does not exist. */
static bool admitted_key(struct context *context, struct key_file *key)
{
    const char *path = context->arguments->values[FLAG_new_key];
    if (path != NULL)
        return context_key_at(context, path, "--new-key", SIGNATURE_ED25519, true, key) &&
               context_bind(context, path, key);
    return context_key(context, SETTING_session_key, SIGNATURE_ED25519, true, key) &&
           context_bind(context, context->settings->values[SETTING_session_key], key);
}

static bool fill_create(struct context *context, struct draft *draft)
{
    struct key_file session = { 0 };
    uint64_t account_id, expires, pin, scope;
    struct uuid id;
    if (!context_id(context, &id) ||
        !context_number(context, SETTING_account, INT64_MAX, &account_id) ||
        !choice_expires(context, &expires) || !choice_pin(context, &pin) ||
        !choice_enum(context, FLAG_scope, REQUEST_create_session, "scope", 0, &scope) ||
        !admitted_key(context, &session)) {
        key_file_wipe(&session);
        return false;
    }
    draft_begin(draft, REQUEST_create_session, SIGNATURE_SECP256K1, &id);
    draft_set(draft, "account_id", account_id);
    draft_set_bytes(draft, "session_pub", session.public_key, session.public_bytes);
    draft_set(draft, "expires_at", expires);
    draft_set(draft, "subaccount_pin", pin);
    draft_set(draft, "scope", scope);
    key_file_wipe(&session);
    return true;
}

/* A public key written as Base64, or the name of a file that holds it. */
static bool public_key(struct context *context, const char *text,
                       uint8_t key[SIGNER_ED25519_KEY_BYTES])
{
    struct key_file file;
    if (base64_decode(key, SIGNER_ED25519_KEY_BYTES, text, strlen(text), NULL) ==
        SIGNER_ED25519_KEY_BYTES)
        return true;
    if (access(text, F_OK) != 0)
        return context_fail(context, EXIT_CODE_usage,
                            "PUBLIC_KEY '%.60s' is neither the Base64 of 32 bytes nor a key file",
                            text);
    if (!context_key_at(context, text, "PUBLIC_KEY", SIGNATURE_ED25519, false, &file))
        return false;
    memcpy(key, file.public_key, SIGNER_ED25519_KEY_BYTES);
    key_file_wipe(&file);
    return true;
}

static bool fill_revoke(struct context *context, struct draft *draft)
{
    uint8_t key[SIGNER_ED25519_KEY_BYTES];
    uint64_t account_id;
    struct uuid id;
    if (!context_id(context, &id) ||
        !context_number(context, SETTING_account, INT64_MAX, &account_id) ||
        !public_key(context, context->arguments->words[0], key))
        return false;
    draft_begin(draft, REQUEST_revoke_session, SIGNATURE_SECP256K1, &id);
    draft_set(draft, "account_id", account_id);
    draft_set_bytes(draft, "session_pub", key, sizeof key);
    return true;
}

static bool fill_revoke_all(struct context *context, struct draft *draft)
{
    uint64_t account_id;
    struct uuid id;
    if (!context_id(context, &id) ||
        !context_number(context, SETTING_account, INT64_MAX, &account_id))
        return false;
    draft_begin(draft, REQUEST_revoke_all_sessions, SIGNATURE_SECP256K1, &id);
    draft_set(draft, "account_id", account_id);
    return true;
}

int command_session_create(struct context *context)
{
    return context_submit(context, SETTING_master_key, SIGNATURE_SECP256K1, fill_create);
}

int command_session_revoke(struct context *context)
{
    return context_submit(context, SETTING_master_key, SIGNATURE_SECP256K1, fill_revoke);
}

int command_session_revoke_all(struct context *context)
{
    return context_submit(context, SETTING_master_key, SIGNATURE_SECP256K1, fill_revoke_all);
}
