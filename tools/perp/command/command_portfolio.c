/* command_portfolio.c - creates, closes, reopens and renames portfolios. */
#include <stdio.h>

#include "base/text.h"
#include "perp/command/command.h"
#include "perp/invocation/choice.h"
#include "perp/print/report.h"

enum { NAME_BYTES_MAX = 32, BODY_MAX = 512, TARGET_MAX = 64 };

static bool check_name(struct context *context, const char *name, bool may_be_empty)
{
    size_t count = strlen(name);
    return (count <= NAME_BYTES_MAX && (count > 0 || may_be_empty) && text_is_utf8(name, count) &&
            !text_has_control(name, count)) ||
           context_fail(context, EXIT_CODE_usage,
                        "NAME has 1 to %d bytes of UTF-8 without control characters",
                        NAME_BYTES_MAX);
}

static bool fill_portfolio(struct context *context, struct draft *draft, uint32_t curve)
{
    const struct arguments *arguments = context->arguments;
    const char *name = arguments->word_count > 0 ? arguments->words[0] : "";
    uint64_t account, subaccount;
    struct uuid id;
    if (!check_name(context, name, true) || !context_id(context, &id) ||
        !context_number(context, SETTING_account, INT64_MAX, &account) ||
        !context_number(context, SETTING_subaccount, INT32_MAX, &subaccount))
        return false;
    draft_begin(draft, REQUEST_create_portfolio, curve, &id);
    draft_set(draft, "account_id", account);
    draft_set(draft, "subaccount_index", subaccount);
    draft_set_bytes(draft, "name", name, strlen(name));
    return true;
}

int command_portfolio_create(struct context *context)
{
    struct key_file key;
    struct outcome outcome;
    struct draft draft;
    if (!choice_signer(context, &key))
        return context->exit_code;
    int code = fill_portfolio(context, &draft, key.curve)
                   ? context_write(context, &draft, &key, &outcome)
                   : context->exit_code;
    key_file_wipe(&key);
    return code;
}

static int send_plain(struct context *context, const char *method, const char *target,
                      const char *body)
{
    struct client_answer answer;
    if (!context_plain(context, method, target, body, &answer))
        return context->exit_code;
    report_answer(stdout, answer.body, answer.body_count, context->arguments->json, NULL);
    return EXIT_CODE_accepted;
}

static int send_status(struct context *context, const char *target)
{
    char body[BODY_MAX];
    uint64_t subaccount, portfolio;
    if (!context_number(context, SETTING_subaccount, INT32_MAX, &subaccount) ||
        !context_number(context, SETTING_portfolio, INT32_MAX, &portfolio))
        return context->exit_code;
    snprintf(body, sizeof body, "{\"subaccount_index\":%llu,\"portfolio_index\":%llu}",
             (unsigned long long)subaccount, (unsigned long long)portfolio);
    return send_plain(context, "POST", target, body);
}

int command_portfolio_close(struct context *context)
{
    return send_status(context, "/api/v1/portfolio/close");
}

int command_portfolio_reopen(struct context *context)
{
    return send_status(context, "/api/v1/portfolio/reopen");
}

int command_portfolio_rename(struct context *context)
{
    const char *name = context->arguments->words[0];
    char body[BODY_MAX], target[TARGET_MAX];
    uint64_t subaccount, portfolio;
    if (!check_name(context, name, false) ||
        !context_number(context, SETTING_subaccount, INT32_MAX, &subaccount) ||
        !context_number(context, SETTING_portfolio, INT32_MAX, &portfolio))
        return context->exit_code;
    size_t at = (size_t)snprintf(body, sizeof body, "{\"subaccount_index\":%llu,\"name\":\"",
                                 (unsigned long long)subaccount);
    for (const char *c = name; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\')
            body[at++] = '\\';
        body[at++] = *c;
    }
    snprintf(body + at, sizeof body - at, "\"}");
    snprintf(target, sizeof target, "/api/v1/portfolio/%llu/name", (unsigned long long)portfolio);
    return send_plain(context, "PATCH", target, body);
}
