/* command_account.c - opens, shows and closes an account. */
#include <stdio.h>

#include "perp/command/command.h"
#include "perp/invocation/choice.h"

/* Puts account and key files of a new account into the profile. */
static bool save_account(struct context *context, uint64_t account_id)
{
    char error[SETTINGS_ERROR_MAX], text[24];
    const struct settings *settings = context->settings;
    snprintf(text, sizeof text, "%llu", (unsigned long long)account_id);
    if (!settings_save(settings, SETTING_account, text, error) ||
        !settings_save_path(settings, SETTING_session_key, error) ||
        !settings_save_path(settings, SETTING_master_key, error))
        return context_fail(context, EXIT_CODE_usage, "%s", error);
    fprintf(stderr, "saved in %s [%s]\n", settings->config_path, settings->profile);
    return true;
}

static bool fill_create(struct context *context, struct draft *draft, const struct uuid *id,
                        const struct key_file *session)
{
    uint64_t expires, scope;
    const char *label;
    if (!choice_expires(context, &expires) || !choice_label(context, &label) ||
        !choice_enum(context, FLAG_scope, REQUEST_create_account_secp256k1, "session_scope", 0,
                     &scope))
        return false;
    draft_begin(draft, REQUEST_create_account_secp256k1, SIGNATURE_SECP256K1, id);
    draft_set_bytes(draft, "session_pub", session->public_key, session->public_bytes);
    draft_set(draft, "session_expires_at", expires);
    draft_set_bytes(draft, "label", label, strlen(label));
    draft_set(draft, "session_scope", scope);
    return true;
}

int command_account_create(struct context *context)
{
    struct key_file master = { 0 }, session = { 0 };
    struct draft draft;
    struct uuid id;
    if (!context_id(context, &id) ||
        !context_key(context, SETTING_master_key, SIGNATURE_SECP256K1, true, &master) ||
        !context_key(context, SETTING_session_key, SIGNATURE_ED25519, true, &session) ||
        !context_bind(context, context->settings->values[SETTING_session_key], &session) ||
        !fill_create(context, &draft, &id, &session)) {
        key_file_wipe(&master);
        key_file_wipe(&session);
        return context->exit_code;
    }
    struct outcome outcome;
    int code = context_write(context, &draft, &master, &outcome);
    if (code == EXIT_CODE_accepted && outcome.account_id != 0 &&
        arguments_has(context->arguments, FLAG_save) && !save_account(context, outcome.account_id))
        code = context->exit_code;
    key_file_wipe(&master);
    key_file_wipe(&session);
    return code;
}

int command_account_show(struct context *context)
{
    return context_read(context, "/api/v1/account", true);
}

static bool fill_close(struct context *context, struct draft *draft)
{
    uint64_t account;
    struct uuid id;
    if (!context_id(context, &id) || !context_number(context, SETTING_account, INT64_MAX, &account))
        return false;
    draft_begin(draft, REQUEST_close_account, SIGNATURE_SECP256K1, &id);
    draft_set(draft, "account_id", account);
    return true;
}

int command_account_close(struct context *context)
{
    return context_submit(context, SETTING_master_key, SIGNATURE_SECP256K1, fill_close);
}
