#include "engine/account/device_key.h"

#include "base/command_hash.h"
#include "base/rule.h"
#include "engine/account/grant.h"
#include "engine/state/access.h"
#include "engine/state/state.h"

/* Body of code 33 (W3). */
struct login_body {
    uint64_t account_id;
    uint64_t expires_at; /* 0: the default life of a session from now */
    int32_t subaccount_pin;
    uint8_t pad[4];
};

static_assert(sizeof(struct login_body) == 24, "W3: code 33");

/* Sets *expires_ns. */
static bool is_sound(const struct engine *engine, const struct command *command,
                     const struct login_body *body, uint64_t *expires_ns)
{
    const struct credential *signer = &engine->credentials.rows[engine->applying.credential];

    return access_body_is_clean(command) && grant_expiry(engine, body->expires_at, expires_ns) &&
           grant_pin_is_within(signer, body->subaccount_pin) &&
           grant_pin_exists(engine, engine->applying.account, body->subaccount_pin);
}

enum status device_key_create(struct engine *engine, const struct command *command,
                              struct engine_result *result)
{
    uint32_t account = engine->applying.account;
    uint64_t expires_ns;
    struct login_body body;

    memcpy(&body, command_body(command), sizeof body);
    INVARIANT(command->extra_bytes >= SECRET_HASH_BYTES);
    if (!is_sound(engine, command, &body, &expires_ns))
        return STATUS_session_rejected;
    if (credential_count_devices(engine, account) >=
            state_option(engine, OPTION_limits_device_keys) ||
        !share_fits(engine, account, SHARE_credentials, 1))
        return STATUS_session_rejected;
    struct credential_make make = {
        .key = command_secret_hash(command),
        .account = account,
        .key_bytes = SECRET_HASH_BYTES,
        .kind = CREDENTIAL_DEVICE_KEY,
        .scope = SCOPE_READ_WRITE,
        .pin = body.subaccount_pin,
        .expires_ns = expires_ns,
        .parent_sequence = engine->credentials.rows[engine->applying.credential].created_sequence,
    };
    uint32_t key = credential_create(engine, &make);
    credential_id(&engine->credentials.rows[key], result->id);
    result->expires_at_ns = expires_ns;
    result->members |= ANSWER_HAS_ID | ANSWER_HAS_EXPIRY;
    return STATUS_request_completed;
}
