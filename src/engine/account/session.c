#include "engine/account/session.h"

#include "base/command_hash.h"
#include "base/rule.h"
#include "engine/account/grant.h"
#include "engine/state/access.h"
#include "engine/state/state.h"

enum { SESSION_KEY_BYTES = 32 };

/* Body of code 13 (W3). */
struct create_body {
    uint64_t account_id;
    uint8_t session_pub[SESSION_KEY_BYTES];
    uint64_t expires_at;
    int32_t subaccount_pin;
    uint8_t scope;
    uint8_t pad[3];
};

static_assert(sizeof(struct create_body) == 56, "W3: code 13");

/* R10: scope, pin and expiry never exceed the parent's. */
static bool is_within(const struct credential *parent, const struct session_ask *ask,
                      uint64_t expires_ns)
{
    return ask->scope >= parent->scope && grant_pin_is_within(parent, ask->pin) &&
           expires_ns <= parent->expires_ns;
}

/* Sets *expires_ns. */
static bool is_sound(const struct engine *engine, const struct command *command,
                     const struct credential *parent, const struct session_ask *ask,
                     uint64_t *expires_ns)
{
    if (ask->scope > SCOPE_TRADING_ONLY || (command->flags & COMMAND_SESSION_KEY_VALID) == 0)
        return false;
    if (credential_find(engine, parent->account, ask->public_key, SESSION_KEY_BYTES,
                        engine->t_ns) != CREDENTIAL_NONE)
        return false;
    if (!grant_expiry(engine, ask->expires_ns, expires_ns))
        return false;
    if (ask->pin != CREDENTIAL_NO_PIN &&
        !subaccount_is_open(engine, parent->account, (uint32_t)ask->pin))
        return false;
    return is_within(parent, ask, *expires_ns);
}

enum status session_open(struct engine *engine, const struct command *command, uint32_t parent,
                         const struct session_ask *ask, struct engine_result *result)
{
    const struct credential *above = &engine->credentials.rows[parent];
    uint64_t expires_ns;

    if (!is_sound(engine, command, above, ask, &expires_ns))
        return STATUS_session_rejected;
    struct credential_count live =
        credential_count_sessions(engine, above->account, above->created_sequence);
    if (live.account >= state_option(engine, OPTION_limits_sessions) ||
        live.parent >= state_option(engine, OPTION_limits_sessions_per_parent) ||
        !share_fits(engine, above->account, SHARE_credentials, 1)) {
        result->reason = REASON_max_sessions_exceeded;
        return STATUS_session_rejected_max_sessions;
    }
    struct credential_make make = {
        .key = ask->public_key,
        .account = above->account,
        .key_bytes = SESSION_KEY_BYTES,
        .kind = CREDENTIAL_SESSION,
        .scope = ask->scope,
        .pin = ask->pin,
        .expires_ns = expires_ns,
        .parent_sequence = above->created_sequence,
    };
    uint32_t session = credential_create(engine, &make);
    credential_id(&engine->credentials.rows[session], result->id);
    result->expires_at_ns = expires_ns;
    result->members |= ANSWER_HAS_ID | ANSWER_HAS_EXPIRY;
    return STATUS_session_created;
}

enum status session_create(struct engine *engine, const struct command *command,
                           struct engine_result *result)
{
    struct create_body body;

    memcpy(&body, command_body(command), sizeof body);
    if (!access_body_is_clean(command))
        return STATUS_session_rejected;
    struct session_ask ask = {
        .public_key = body.session_pub,
        .expires_ns = body.expires_at,
        .pin = body.subaccount_pin,
        .scope = body.scope,
    };
    return session_open(engine, command, engine->applying.credential, &ask, result);
}

/* A session knows itself alone, a scoped key the sessions that it made, an admin key all (R11). */
static bool is_known_to_signer(const struct engine *engine, uint32_t session)
{
    const struct credential *rows = engine->credentials.rows;
    uint32_t at = engine->applying.credential;

    if (rows[at].kind == CREDENTIAL_SESSION)
        return session == at;
    return credential_is_admin(&rows[at]) ||
           rows[session].parent_sequence == rows[at].created_sequence;
}

/* Ends the device key that a logout presents, if it is one of the account. */
static void end_device(struct engine *engine, const struct command *command,
                       struct engine_result *result)
{
    bool is_passkey = command->kind == COMMAND_PASSKEY;

    if (command_hash_bytes(command->code, is_passkey, command_extra(command),
                           command->extra_bytes) == 0)
        return;
    uint32_t key =
        credential_find_device(engine, engine->applying.account, command_secret_hash(command));
    if (key == CREDENTIAL_NONE)
        return;
    credential_id(&engine->credentials.rows[key], result->id);
    result->members |= ANSWER_HAS_ID;
    credential_revoke(engine, key);
}

enum status session_revoke(struct engine *engine, const struct command *command,
                           struct engine_result *result)
{
    const uint8_t *public_key = command_body(command) + sizeof(uint64_t);
    uint32_t session = credential_find(engine, engine->applying.account, public_key,
                                       SESSION_KEY_BYTES, engine->t_ns);
    bool is_known = session != CREDENTIAL_NONE && is_known_to_signer(engine, session);

    if (is_known)
        credential_revoke(engine, session);
    end_device(engine, command, result);
    return is_known ? STATUS_session_revoked : STATUS_session_rejected;
}

/* Newest first. */
enum status session_revoke_all(struct engine *engine, const struct command *command,
                               struct engine_result *result)
{
    const struct credential *rows = engine->credentials.rows;
    uint32_t at = engine->accounts.rows[engine->applying.account].credential_head;

    (void)result;
    (void)command;
    for (; at != CREDENTIAL_NONE; at = rows[at].account_next)
        if (rows[at].kind == CREDENTIAL_SESSION && is_known_to_signer(engine, at) &&
            credential_is_live(&rows[at], engine->t_ns))
            credential_revoke(engine, at);
    return STATUS_session_revoked;
}
