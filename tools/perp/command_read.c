#include <stdio.h>

#include "perp/choice.h"
#include "perp/command.h"
#include "perp/report.h"

enum { TARGET_MAX = 256, DEPTH_DEFAULT = 10, DEPTH_MAX = 1000 };

/* A market's name as a part of a path: what no market has is refused here. */
static bool market_in_path(struct context *context, const char *market)
{
    size_t count = strspn(market, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-");
    return (count > 0 && market[count] == '\0' && count <= 32) ||
           context_fail(context, EXIT_CODE_usage,
                        "MARKET '%.40s' is no market name; they look like BTC-PERP", market);
}

int command_read_order(struct context *context)
{
    const char *text = context->arguments->words[0];
    char target[TARGET_MAX], id[UUID_TEXT_BYTES + 1];
    struct uuid uuid;
    if (!uuid_parse(&uuid, text, strlen(text))) {
        (void)context_fail(context, EXIT_CODE_usage, "ORDER_ID '%.60s' is no UUID", text);
        return EXIT_CODE_usage;
    }
    uuid_format(&uuid, id);
    snprintf(target, sizeof target, "/api/v1/orders/%s", id);
    return context_read(context, target, true);
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
    if (!market_in_path(context, market) ||
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
    if (!market_in_path(context, context->arguments->words[0]))
        return context->exit_code;
    snprintf(target, sizeof target, "/api/v1/markets/%s", context->arguments->words[0]);
    return context_read(context, target, false);
}

int command_read_exchange(struct context *context)
{
    return context_read(context, "/api/v1/exchange", false);
}

int command_read_time(struct context *context)
{
    return context_read(context, "/api/v1/time", false);
}
