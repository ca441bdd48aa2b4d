/* command_leverage.c - sets or shows the leverage of a portfolio in a market. */
#include <jansson.h>
#include <stdio.h>

#include "perp/command/command.h"
#include "perp/invocation/choice.h"
#include "perp/print/report.h"

enum { TARGET_MAX = 256, BODY_MAX = 256 };

struct holding_path {
    uint64_t subaccount, portfolio;
};

static bool is(const json_t *object, const char *name, uint64_t value)
{
    const json_t *member = json_object_get(object, name);
    return json_is_integer(member) && (uint64_t)json_integer_value(member) == value;
}

/* Positions are where the exchange shows a leverage; without one it is null here. */
static void show_one(struct context *context, const json_t *positions,
                     const struct holding_path *path)
{
    const char *market = context->arguments->words[0];
    const json_t *found = NULL;
    json_t *position;
    char text[TARGET_MAX], number[32] = "null";
    size_t i;
    json_array_foreach((json_t *)(uintptr_t)positions, i, position)
    {
        if (is(position, "subaccount_index", path->subaccount) &&
            is(position, "portfolio_index", path->portfolio))
            found = json_object_get(position, "leverage");
    }
    if (json_is_integer(found))
        snprintf(number, sizeof number, "%lld", (long long)json_integer_value(found));
    snprintf(text, sizeof text,
             "{\"market\":\"%s\",\"subaccount_index\":%llu,\"portfolio_index\":%llu,"
             "\"leverage\":%s}",
             market, (unsigned long long)path->subaccount, (unsigned long long)path->portfolio,
             number);
    report_answer(stdout, text, strlen(text), context->arguments->json, NULL);
    if (!json_is_integer(found))
        fprintf(stderr,
                "no position in %s: the exchange shows a leverage beside its position only\n",
                market);
}

static int read_leverage(struct context *context, const struct holding_path *path)
{
    char target[TARGET_MAX];
    struct client_answer answer;
    snprintf(target, sizeof target, "/api/v1/positions?portfolio_index=%llu&market=%s",
             (unsigned long long)path->portfolio, context->arguments->words[0]);
    if (!context_get(context, target, true, &answer))
        return context->exit_code;
    json_t *positions = json_loadb(answer.body, answer.body_count, 0, NULL);
    if (!json_is_array(positions)) {
        json_decref(positions);
        (void)context_fail(context, EXIT_CODE_problem, "the answer holds no list of positions");
        return context->exit_code;
    }
    show_one(context, positions, path);
    json_decref(positions);
    return EXIT_CODE_accepted;
}

static int write_leverage(struct context *context, const struct holding_path *path)
{
    const char *const *words = context->arguments->words;
    char body[BODY_MAX];
    struct client_answer answer;
    int64_t leverage;
    if (decimal_parse(words[1], strlen(words[1]), 0, 1, INT32_MAX, &leverage) != DECIMAL_OK) {
        (void)context_fail(context, EXIT_CODE_usage, "N '%.40s' is no whole number above 0",
                           words[1]);
        return context->exit_code;
    }
    snprintf(body, sizeof body,
             "{\"subaccount_index\":%llu,\"portfolio_index\":%llu,\"market\":\"%s\","
             "\"leverage\":%lld}",
             (unsigned long long)path->subaccount, (unsigned long long)path->portfolio, words[0],
             (long long)leverage);
    if (!context_plain(context, "PUT", "/api/v1/leverage", body, &answer))
        return context->exit_code;
    report_answer(stdout, answer.body, answer.body_count, context->arguments->json, NULL);
    return EXIT_CODE_accepted;
}

int command_leverage_market(struct context *context)
{
    struct holding_path path;
    if (!choice_market(context, context->arguments->words[0]) ||
        !context_number(context, SETTING_subaccount, INT32_MAX, &path.subaccount) ||
        !context_number(context, SETTING_portfolio, INT32_MAX, &path.portfolio))
        return context->exit_code;
    return context->arguments->word_count == 2 ? write_leverage(context, &path)
                                               : read_leverage(context, &path);
}
