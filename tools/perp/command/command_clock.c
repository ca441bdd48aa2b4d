/* command_clock.c - shows and confirms the gap of the clock that a start has found. */
#include <jansson.h>
#include <stdio.h>
#include <strings.h>

#include "crypto/secret.h"
#include "perp/command/command.h"
#include "perp/print/report.h"

/* The integer member `name` of a public answer; `otherwise` if it is not there. */
static bool read_integer(struct context *context, const char *target, const char *name,
                         int64_t otherwise, int64_t *value)
{
    struct client_answer answer;
    if (!context_get(context, target, false, &answer))
        return false;
    json_t *root = json_loadb(answer.body, answer.body_count, 0, NULL);
    const json_t *member = json_object_get(root, name);
    *value = json_is_integer(member) ? json_integer_value(member) : otherwise;
    json_decref(root);
    return true;
}

static bool read_gap(struct context *context, int64_t *gap_ns)
{
    return read_integer(context, "/api/v1/status", "clock_gap_ns", 0, gap_ns);
}

/* An id of the exchange's own time, which stands while the gap is open. */
static bool exchange_id_now(struct context *context, struct uuid *id)
{
    uint8_t random[10];
    int64_t time_ms;
    if (context->arguments->values[FLAG_id] != NULL)
        return context_id(context, id);
    if (!read_integer(context, "/api/v1/time", "time_ms", 0, &time_ms))
        return false;
    int failure = secret_random(random, sizeof random);
    if (failure != 0)
        return context_fail(context, EXIT_CODE_usage, "no random bytes: %s", strerror(-failure));
    *id = uuid_make_v7((uint64_t)time_ms, random);
    return true;
}

static bool fill_confirm(struct context *context, struct draft *draft)
{
    struct uuid id;
    int64_t gap_ns;
    if (!read_gap(context, &gap_ns))
        return false;
    if (gap_ns == 0)
        return context_fail(context, EXIT_CODE_usage, "the clock of the exchange has no gap");
    if (!exchange_id_now(context, &id))
        return false;
    draft_begin(draft, REQUEST_clock_confirm, SIGNATURE_ED25519, &id);
    draft_set(draft, "gap_ns", (uint64_t)gap_ns);
    return true;
}

static int show(struct context *context)
{
    char text[64];
    int64_t gap_ns;
    if (!read_gap(context, &gap_ns))
        return context->exit_code;
    snprintf(text, sizeof text, "{\"clock_gap_ns\":%lld}", (long long)gap_ns);
    report_answer(stdout, text, strlen(text), context->arguments->json, NULL);
    return EXIT_CODE_accepted;
}

int command_admin_clock(struct context *context)
{
    const struct arguments *arguments = context->arguments;
    if (arguments->word_count == 0)
        return show(context);
    if (strcasecmp(arguments->words[0], "confirm") != 0) {
        (void)context_fail(context, EXIT_CODE_usage, "'%.40s' is not confirm", arguments->words[0]);
        return context->exit_code;
    }
    return context_submit(context, SETTING_operator_key, SIGNATURE_ED25519, fill_confirm);
}
