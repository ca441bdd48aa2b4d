/* command_apikey.c - creates and revokes API keys. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "perp/command/command.h"
#include "perp/invocation/choice.h"

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

/* The secret exists nowhere else: when the file fails, it is shown after all. */
static bool write_secret(struct context *context, const char *path, const char *secret)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool good = fd >= 0 && dprintf(fd, "%s\n", secret) > 0 && fsync(fd) == 0;
    int reason = errno;
    if (fd >= 0)
        close(fd);
    if (good)
        return true;
    fprintf(stderr, "api_key %s\n", secret);
    return context_fail(context, EXIT_CODE_usage,
                        "cannot write %s: %s; the key is printed above, and nowhere else", path,
                        strerror(reason));
}

static bool keep(struct context *context, const struct outcome *outcome)
{
    char error[SETTINGS_ERROR_MAX];
    const char *out = context->arguments->values[FLAG_out];
    if (out != NULL && !write_secret(context, out, outcome->api_key))
        return false;
    if (!arguments_has(context->arguments, FLAG_save))
        return true;
    if (!settings_save(context->settings, SETTING_api_key, outcome->api_key, error)) {
        fprintf(stderr, "api_key %s\n", outcome->api_key);
        return context_fail(context, EXIT_CODE_usage, "%s", error);
    }
    fprintf(stderr, "saved in %s [%s]\n", context->settings->config_path,
            context->settings->profile);
    return true;
}

int command_apikey_create(struct context *context)
{
    struct key_file key;
    struct outcome outcome;
    struct draft draft;
    const char *out = context->arguments->values[FLAG_out];
    if (out != NULL && access(out, F_OK) == 0) {
        (void)context_fail(context, EXIT_CODE_usage, "%s exists", out);
        return EXIT_CODE_usage;
    }
    if (!choice_signer(context, &key))
        return context->exit_code;
    context->hide_secret = out != NULL || arguments_has(context->arguments, FLAG_save);
    int code = fill_create(context, &draft, key.curve)
                   ? context_write(context, &draft, &key, &outcome)
                   : context->exit_code;
    key_file_wipe(&key);
    if (code == EXIT_CODE_accepted && outcome.api_key[0] != '\0' && !keep(context, &outcome))
        code = context->exit_code;
    return code;
}

static bool fill_revoke(struct context *context, struct draft *draft, uint32_t signature_type)
{
    struct uuid id, api_key_id;
    uint64_t account_id;
    if (!context_id(context, &id) ||
        !context_number(context, SETTING_account, INT64_MAX, &account_id) ||
        !choice_uuid(context, "API_KEY_ID", context->arguments->words[0], &api_key_id))
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
