#include "engine/account/signup.h"

#include "base/text.h"
#include "engine/account/reclaim.h"
#include "engine/account/session.h"
#include "engine/state/state.h"

/* Body of codes 11 and 12 (W3). */
struct signup_body {
    uint8_t session_pub[32];
    uint64_t session_expires_at;
    uint8_t label[ACCOUNT_LABEL_BYTES];
    uint8_t session_scope;
    uint8_t pad[7];
};

static_assert(sizeof(struct signup_body) == 80, "W3: codes 11 and 12");

/* What makes the whole creation fail. The key is a good point: it verified the request. */
static bool is_sound(const struct engine *engine, const struct command *command,
                     const struct signup_body *body)
{
    static const uint8_t zero[sizeof body->pad];
    const char *label = (const char *)body->label;

    if (memcmp(body->pad, zero, sizeof zero) != 0)
        return false;
    if (text_has_control(label, text_trim(label, sizeof body->label)))
        return false;
    if (credential_find_master(engine, command_key(command)) != CREDENTIAL_NONE)
        return false;
    if (command->kind == COMMAND_PASSKEY) {
        struct passkey_make passkey = passkey_of_signer(command);
        if (passkey_is_known(engine, passkey.id, passkey.id_bytes))
            return false;
    }
    return true;
}

enum status signup_create(struct engine *engine, const struct command *command,
                          struct engine_result *result)
{
    struct signup_body body;

    memcpy(&body, command_body(command), sizeof body);
    INVARIANT(command->key_bytes == CREDENTIAL_KEY_BYTES);
    if (!is_sound(engine, command, &body) || (!account_fits(engine) && !reclaim_for_new(engine)))
        return STATUS_creation_rejected;

    bool is_passkey = command->kind == COMMAND_PASSKEY;
    struct passkey_make passkey = { 0 };
    if (is_passkey)
        passkey = passkey_of_signer(command);
    uint32_t account = account_create(engine, body.label);
    struct credential_make make = {
        .key = command_key(command),
        .account = account,
        .key_bytes = CREDENTIAL_KEY_BYTES,
        .kind = is_passkey ? CREDENTIAL_MASTER_PASSKEY : CREDENTIAL_MASTER_SECP256K1,
        .scope = SCOPE_FULL_ACCESS,
        .pin = CREDENTIAL_NO_PIN,
        .expires_ns = UINT64_MAX,
        .passkey = is_passkey ? passkey_create(engine, &passkey) : PASSKEY_NONE,
    };
    uint32_t master = credential_create(engine, &make);
    struct session_ask ask = {
        .public_key = body.session_pub,
        .expires_ns = body.session_expires_at,
        .pin = CREDENTIAL_NO_PIN,
        .scope = body.session_scope,
    };
    enum status status = session_open(engine, command, master, &ask, result);
    engine->applying.account = account;
    result->account_id = state_account_id(engine, account);
    result->members |= ANSWER_HAS_ACCOUNT;
    result->reason = REASON_none;
    return status == STATUS_session_created ? STATUS_account_created_with_session
                                            : STATUS_account_created_session_failed;
}
