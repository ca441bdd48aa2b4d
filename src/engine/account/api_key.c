#include "engine/account/api_key.h"

#include "base/command_hash.h"
#include "base/rule.h"
#include "base/text.h"
#include "engine/account/grant.h"
#include "engine/state/access.h"
#include "engine/state/state.h"

/* Body of code 34 (W3). */
struct create_body {
    uint64_t account_id;
    int32_t subaccount_pin;
    uint8_t scope; /* 0 READ, 1 READ_WRITE */
    uint8_t pad[3];
    uint8_t label[CREDENTIAL_LABEL_BYTES];
};

static_assert(sizeof(struct create_body) == 48, "W3: code 34");

static bool is_sound(const struct engine *engine, const struct command *command,
                     const struct create_body *body)
{
    const struct credential *signer = &engine->credentials.rows[engine->applying.credential];
    const char *label = (const char *)body->label;

    return access_body_is_clean(command) &&
           !text_has_control(label, text_trim(label, sizeof body->label)) &&
           grant_pin_is_within(signer, body->subaccount_pin) &&
           grant_pin_exists(engine, engine->applying.account, body->subaccount_pin);
}

enum status api_key_create(struct engine *engine, const struct command *command,
                           struct engine_result *result)
{
    struct account *account = &engine->accounts.rows[engine->applying.account];
    struct create_body body;

    memcpy(&body, command_body(command), sizeof body);
    INVARIANT(command->extra_bytes >= SECRET_HASH_BYTES);
    if (!is_sound(engine, command, &body))
        return STATUS_order_rejected_invalid;
    if (account->api_key_count >= state_option(engine, OPTION_limits_api_keys) ||
        !share_fits(engine, engine->applying.account, SHARE_credentials, 1)) {
        result->reason = REASON_limit_reached;
        return STATUS_order_rejected_invalid;
    }
    struct credential_make make = {
        .key = command_secret_hash(command),
        .account = engine->applying.account,
        .key_bytes = SECRET_HASH_BYTES,
        .kind = CREDENTIAL_API_KEY,
        .scope = body.scope,
        .pin = body.subaccount_pin,
        .expires_ns = UINT64_MAX,
        .parent_sequence = engine->credentials.rows[engine->applying.credential].created_sequence,
        .label = body.label,
    };
    uint32_t key = credential_create(engine, &make);
    account->api_key_count++;
    credential_id(&engine->credentials.rows[key], result->id);
    result->members |= ANSWER_HAS_ID;
    return STATUS_request_completed;
}

/* An unknown key changes nothing; that of another subaccount is beyond the reach of a pinned
 * session, whatever its scope (R11, 35). The id may be a device key's. */
enum status api_key_revoke(struct engine *engine, const struct command *command,
                           struct engine_result *result)
{
    const struct credential *signer = &engine->credentials.rows[engine->applying.credential];
    const uint8_t *id = command_body(command) + sizeof(uint64_t);
    uint32_t index = credential_find_id(engine, id, CREDENTIAL_API_KEY);

    (void)result;
    if (index == CREDENTIAL_NONE)
        index = credential_find_id(engine, id, CREDENTIAL_DEVICE_KEY);
    const struct credential *key = &engine->credentials.rows[index];
    if (index == CREDENTIAL_NONE || key->account != engine->applying.account ||
        !credential_is_live(key, engine->t_ns))
        return STATUS_order_rejected_invalid;
    if (signer->pin != CREDENTIAL_NO_PIN && key->pin != signer->pin)
        return ROW_STATUS(credential);
    if (key->kind == CREDENTIAL_API_KEY)
        engine->accounts.rows[engine->applying.account].api_key_count--;
    credential_revoke(engine, index);
    return STATUS_request_completed;
}
