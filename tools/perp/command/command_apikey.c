/* command_apikey.c - creates and revokes API keys, and revokes device keys. */
#include "perp/command/command.h"
#include "perp/invocation/choice.h"
#include "perp/invocation/secret_output.h"

static bool fill_create(struct context *context, struct draft *draft, uint32_t signature_type)
{
    uint64_t account_id, pin, scope;
    const char *label;
    struct uuid id;
    if (!context_id(context, &id) ||
        !context_number(context, SETTING_account, INT64_MAX, &account_id) ||
        !choice_pin(context, &pin) || !choice_label(context, &label) ||
        !choice_enum(context, FLAG_scope, REQUEST_create_api_key, "scope", 0, &scope))
        return false;
    draft_begin(draft, REQUEST_create_api_key, signature_type, &id);
    draft_set(draft, "account_id", account_id);
    draft_set(draft, "subaccount_pin", pin);
    draft_set(draft, "scope", scope);
    draft_set_bytes(draft, "label", label, strlen(label));
    return true;
}

int command_apikey_create(struct context *context)
{
    struct key_file key;
    struct outcome outcome;
    struct draft draft;
    if (!secret_output_is_free(context) || !choice_signer(context, &key))
        return context->exit_code;
    int code = fill_create(context, &draft, key.curve)
                   ? context_write(context, &draft, &key, &outcome)
                   : context->exit_code;
    key_file_wipe(&key);
    if (code == EXIT_CODE_accepted && !secret_output_keep(context, SETTING_api_key, outcome.secret))
        code = context->exit_code;
    return code;
}

static bool fill_revoke(struct context *context, struct draft *draft, uint32_t signature_type)
{
    struct uuid id, api_key_id;
    uint64_t account_id;
    if (!context_id(context, &id) ||
        !context_number(context, SETTING_account, INT64_MAX, &account_id) ||
        !choice_uuid(context, context->arguments->command->positionals,
                     context->arguments->words[0], &api_key_id))
        return false;
    draft_begin(draft, REQUEST_revoke_api_key, signature_type, &id);
    draft_set(draft, "account_id", account_id);
    draft_set_bytes(draft, "api_key_id", api_key_id.bytes, UUID_BYTES);
    return true;
}

int command_apikey_revoke(struct context *context)
{
    struct key_file key;
    struct outcome outcome;
    struct draft draft;
    if (!choice_signer(context, &key))
        return context->exit_code;
    int code = fill_revoke(context, &draft, key.curve)
                   ? context_write(context, &draft, &key, &outcome)
                   : context->exit_code;
    key_file_wipe(&key);
    return code;
}
