/* command_login.c - makes a device key, and ends it together with the session. */
#include <stdio.h>

#include "perp/command/command.h"
#include "perp/invocation/choice.h"
#include "perp/invocation/secret_output.h"

static bool fill_login(struct context *context, struct draft *draft, uint32_t signature_type)
{
    uint64_t account_id, expires, pin;
    struct uuid id;
    if (!context_id(context, &id) ||
        !context_number(context, SETTING_account, INT64_MAX, &account_id) ||
        !choice_expires(context, &expires) || !choice_pin(context, &pin))
        return false;
    draft_begin(draft, REQUEST_login, signature_type, &id);
    draft_set(draft, "account_id", account_id);
    draft_set(draft, "expires_at", expires);
    draft_set(draft, "subaccount_pin", pin);
    return true;
}

int command_login(struct context *context)
{
    struct key_file key;
    struct outcome outcome;
    struct draft draft;
    if (!secret_output_is_free(context) || !choice_signer(context, &key))
        return context->exit_code;
    int code = fill_login(context, &draft, key.curve)
                   ? context_write(context, &draft, &key, &outcome)
                   : context->exit_code;
    key_file_wipe(&key);
    if (code == EXIT_CODE_accepted &&
        !secret_output_keep(context, SETTING_device_key, outcome.secret))
        code = context->exit_code;
    return code;
}

/* Code 14 of the session for itself, on the path that deletes the device key too (W6). */
static bool fill_logout(struct context *context, struct draft *draft, const struct key_file *key)
{
    uint64_t account_id;
    struct uuid id;
    if (!context_id(context, &id) ||
        !context_number(context, SETTING_account, INT64_MAX, &account_id))
        return false;
    draft_begin(draft, REQUEST_revoke_session, SIGNATURE_ED25519, &id);
    draft->path = "/api/v1/logout";
    draft_set(draft, "account_id", account_id);
    draft_set_bytes(draft, "session_pub", key->public_key, key->public_bytes);
    return true;
}

int command_logout(struct context *context)
{
    char device[CONTEXT_DEVICE_KEY_MAX], header[CONTEXT_DEVICE_KEY_MAX + 16];
    struct key_file key;
    struct outcome outcome;
    struct draft draft;
    if (!context_device_key(context, device) ||
        !context_key(context, SETTING_session_key, SIGNATURE_ED25519, false, &key))
        return context->exit_code;
    snprintf(header, sizeof header, "X-DEVICE-KEY: %s", device);
    context->ack_header = header;
    int code = fill_logout(context, &draft, &key) ? context_write(context, &draft, &key, &outcome)
                                                  : context->exit_code;
    key_file_wipe(&key);
    context->ack_header = NULL;
    return code;
}
