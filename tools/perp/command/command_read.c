/* command_read.c - single reads: an order, a request, a balance, a book, markets, limits. */
#include <stdio.h>

#include "perp/command/command.h"
#include "perp/invocation/choice.h"
#include "perp/print/report.h"

enum { TARGET_MAX = 256, DEPTH_DEFAULT = 10, DEPTH_MAX = 1000 };

/* One record named by a UUID. */
static int read_by_id(struct context *context, const char *what, const char *path)
{
    char target[TARGET_MAX], id[UUID_TEXT_BYTES + 1];
    struct uuid uuid;
    if (!choice_uuid(context, what, context->arguments->words[0], &uuid))
        return context->exit_code;
    uuid_format(&uuid, id);
    snprintf(target, sizeof target, "%s/%s", path, id);
    return context_read(context, target, true);
}

int command_read_order(struct context *context)
{
    return read_by_id(context, "ORDER_ID", "/api/v1/orders");
}

int command_read_request(struct context *context)
{
    return read_by_id(context, "REQUEST_ID", "/api/v1/requests");
}

int command_read_balance(struct context *context)
{
    char target[TARGET_MAX];
    uint64_t subaccount, portfolio;
    if (!context_number(context, SETTING_subaccount, INT32_MAX, &subaccount) ||
        !context_number(context, SETTING_portfolio, INT32_MAX, &portfolio))
        return context->exit_code;
    snprintf(target, sizeof target,
             "/api/v1/portfolio/balance?subaccount_index=%llu&portfolio_index=%llu",
             (unsigned long long)subaccount, (unsigned long long)portfolio);
    return context_read(context, target, true);
}

int command_read_book(struct context *context)
{
    const char *market = context->arguments->words[0];
    char target[TARGET_MAX];
    struct client_answer answer;
    uint64_t depth;
    if (!choice_market(context, market) ||
        !choice_number(context, FLAG_depth, 1, DEPTH_MAX, DEPTH_DEFAULT, &depth))
        return context->exit_code;
    snprintf(target, sizeof target, "/api/v1/markets/%s/book?depth=%llu", market,
             (unsigned long long)depth);
    if (context->arguments->json)
        return context_read(context, target, false);
    if (!context_get(context, target, false, &answer))
        return context->exit_code;
    report_book(stdout, answer.body, answer.body_count);
    return EXIT_CODE_accepted;
}

int command_read_markets(struct context *context)
{
    char target[TARGET_MAX];
    if (context->arguments->word_count == 0)
        return context_read(context, "/api/v1/markets", false);
    if (!choice_market(context, context->arguments->words[0]))
        return context->exit_code;
    snprintf(target, sizeof target, "/api/v1/markets/%s", context->arguments->words[0]);
    return context_read(context, target, false);
}

int command_read_exchange(struct context *context)
{
    return context_read(context, "/api/v1/exchange", false);
}

int command_read_status(struct context *context)
{
    return context_read(context, "/api/v1/status", false);
}

/* An API key that is set is sent: the answer is 401 if it is not live. */
int command_read_limits(struct context *context)
{
    return context_read(context, "/api/v1/limits", context_is_set(context, SETTING_api_key));
}
